"""What must hold for every header: read alone, without harm to the body, with bounded output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import yaml
from tests.fuzz.note_checks import PATH, SURROGATE

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.frontmatter import Header, read_frontmatter, split_frontmatter
from memoranda.markdown.yaml_values import YamlFault, iso_date, load_entries

BODY = "body\n\n- [fact] of the body\n"
MAX_GROWTH = 64
"""Characters that a header may give for each of its own, aliases included."""
ALLOWANCE = 20_000

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})


def check_header(header: str) -> Header:
    """Read a text as a header and hold the result against what its lines say."""
    header = SURROGATE.sub("\ufffd", header)  # as `parse_note` does
    text = f"---\n{header}\n---\n{BODY}"
    cut = split_frontmatter(text)
    assert cut.header is not None
    assert text[cut.header_start :].startswith(cut.header)
    assert text[: cut.body_start].rstrip("\r\n \t").endswith("---")
    found = read_frontmatter(cut)
    size = sum(map(len, _texts(found)))
    assert size <= MAX_GROWTH * len(header) + ALLOWANCE, f"{size} characters out of {len(header)}"
    note = parse_note(text, PATH)
    if cut.header == header + "\n":
        assert [one.content for one in note.observations] == ["of the body"]
        assert note.content == BODY
    _check_second_opinion(cut.header)
    return found


def _texts(header: Header) -> Iterator[str]:
    for key, value in header.values.items():
        yield key
        yield from [value] if isinstance(value, str) else value
    for link in header.links:
        yield from (link.target, link.anchor, link.label, link.relation_type)
    yield from (header.title, header.note_type, header.permalink or "", header.raw)
    yield from (*header.tags, *header.aliases, *header.problems)


def _check_second_opinion(header: str) -> None:
    """PyYAML's own construction of the same text gives the same values.

    Left out are headers with a fault, aliases and merge keys, tags, double keys, and lists in lists
    (`[[A]]` is a link to us).
    """
    try:
        entries = load_entries(header)
    except YamlFault:
        return
    if any(sign in header for sign in ("&", "*", "<<", "!", "[[")):
        return
    keys = [entry.key for entry in entries]
    if len(set(keys)) != len(keys):
        return
    try:
        expected: Any = yaml.load(header, yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, TypeError, ValueError):
        return
    given = {entry.key: entry.value for entry in entries}
    if not expected or (isinstance(expected, str) and expected in _NULLS):
        assert not given, header
        return
    assert isinstance(expected, dict)
    assert [*given] == [*expected], header
    for key, value in expected.items():
        assert _same(given[key], value), (key, given[key], value)


def _same(ours: Any, theirs: Any) -> bool:
    """Whether they agree but for nulls, booleans and dates, which we write in one form."""
    match theirs:
        case str():
            if ours is None:
                return theirs in _NULLS
            return ours in (theirs, iso_date(theirs)) or (
                theirs in _BOOLEANS and ours == theirs.capitalize()
            )
        case list():
            return (
                isinstance(ours, list)
                and len(ours) == len(theirs)
                and all(map(_same, ours, theirs))
            )
        case dict():
            return (
                isinstance(ours, dict)
                and [*ours] == [*theirs]
                and all(_same(ours[key], theirs[key]) for key in theirs)
            )
        case _:
            return False


def plain_value(value: object) -> object:
    """A value to be set in a header as the reader gives it back: text, list of texts, JSON or None."""
    match value:
        case None:
            return None
        case list() | tuple():
            return [
                one if isinstance(one := _text(item), str) else json.dumps(one, ensure_ascii=False)
                for item in value
                if item is not None
            ]
        case dict():
            return json.dumps(_text(value), ensure_ascii=False)
        case _:
            return _text(value)


def _text(value: object) -> Any:
    match value:
        case None:
            return None
        case datetime() | date():
            return value.isoformat()
        case dict():
            return {str(key): _text(one) for key, one in value.items()}
        case list() | tuple():
            return [_text(one) for one in value]
        case _:
            return str(value)

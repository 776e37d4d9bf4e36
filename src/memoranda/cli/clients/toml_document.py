"""Entries of a client's TOML file: found, put in, changed and taken out as text. Pure.

A new entry becomes a table at the end of the text. Where all servers are in an inline table, which no
table may extend, it goes into that. Every text that is given back was read again by `tomllib` and holds
exactly the value that was meant.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from memoranda.cli.clients.json_edit import line_end
from memoranda.cli.clients.toml_text import (
    Statement,
    inline_members,
    key_path,
    key_text,
    statements,
    value_text,
)
from memoranda.cli.clients.trace import Edited, Trace, Unusable

_Span = tuple[int, int]


def table_of(text: str, table: str) -> dict[str, Any]:
    """The entries of a table by name; {} when it is not there.

    Raises:
        Unusable: the text is not TOML, or has another shape.
    """
    return dict(_table(_read(text), table))


def with_entry(text: str, table: str, name: str, value: Mapping[str, Any]) -> Edited:
    """The text with an entry of that name and value, put in or in place of the one there.

    Raises:
        Unusable: the text is not TOML, has another shape, or cannot be changed safely.
    """
    data = _read(text)
    servers = _table(data, table)
    expected = {**data, table: {**servers, name: dict(value)}}
    if name in servers:
        edited = _replaced(text, (table, name), value)
    elif (inline := _inline(text, table)) is not None:
        edited = _put_inline(text, inline, name, value)
    else:
        edited = _appended(text, (table, name), value)
    _check(edited.text, expected)
    return edited


def without_entry(text: str, table: str, name: str, trace: Trace) -> str:
    """The text without that entry, or with what it took the place of.

    Raises:
        Unusable: as above; also when there is no such entry.
    """
    data = _read(text)
    servers = dict(_table(data, table))
    if name not in servers:
        raise Unusable(f"it has no {name} in {table}")
    if trace.previous is not None:
        return _put_back(text, table, name, trace.previous)
    del servers[name]
    expected = {**data, table: servers}
    inline = _inline(text, table)
    if inline is not None:
        new = _out_of_inline(text, inline, name, trace)
    else:
        spans = _spans(text, (table, name))
        new = _without(text, spans, trace.lead)
        if not servers and not _table(_read(new), table) and table not in _read(new):
            del expected[table]
    _check(new, expected)
    return new


def is_empty(text: str) -> bool:
    """Whether the text says nothing."""
    return not _read(text) and not text.strip("\ufeff \t\r\n")


def _appended(text: str, path: tuple[str, ...], value: Mapping[str, Any]) -> Edited:
    end = line_end(text)
    lead = "" if not text.strip("\ufeff") else end if text.endswith("\n") else end * 2
    if text.endswith(end * 2):
        lead = ""
    return Edited(f"{text}{lead}{_block(path, value, end)}{end}", Trace(lead=lead))


def _block(path: tuple[str, ...], value: Mapping[str, Any], end: str) -> str:
    lines = [f"[{key_text(path)}]"]
    lines += [f"{key_text((key,))} = {_value(each)}" for key, each in value.items()]
    return end.join(lines)


def _replaced(text: str, path: tuple[str, ...], value: Mapping[str, Any]) -> Edited:
    """The new value where the old one begins; whatever else belongs to the old one is taken out."""
    start, end = _only_span(text, path)
    first = next((each for each in statements(text) if each.start == start), None)
    if first is None:  # in an inline table
        new = _value(value)
    elif first.value is None:
        new = _block(path, value, line_end(text))
    else:
        written = len(key_path(text[start : first.value].rstrip(" \t=")))
        key = first.path[len(first.path) - written : len(path)]
        new = f"{key_text(key)} = {_value(value)}"
    return Edited(f"{text[:start]}{new}{text[end:]}", Trace(previous=text[start:end]))


def _put_back(text: str, table: str, name: str, previous: str) -> str:
    start, end = _only_span(text, (table, name))
    new = f"{text[:start]}{previous}{text[end:]}"
    before, after = _read(text), _read(new)
    kept = {key: value for key, value in _table(before, table).items() if key != name}
    if {key: value for key, value in _table(after, table).items() if key != name} != kept:
        raise Unusable("could not be changed without changing something else")
    _check(new, {**before, table: _table(after, table)})
    return new


def _only_span(text: str, path: tuple[str, ...]) -> _Span:
    """The one stretch of the text that is the entry's; in an inline table that of its value."""
    if (inline := _inline(text, path[0])) is not None:
        for member in inline_members(text, inline.value or 0):
            if member.path == path[1:]:
                return member.value or 0, member.end
        raise Unusable(f"has {'.'.join(path)} written in a way that is not changed here")
    spans = _spans(text, path)
    if len(spans) != 1:
        raise Unusable(f"has the parts of {'.'.join(path)} in several places")
    return spans[0]


def _spans(text: str, path: tuple[str, ...]) -> list[_Span]:
    """The stretches of the text that are the entry's alone."""
    spans: list[_Span] = []
    is_going_on = False
    for each in statements(text):
        if each.path[:2] != path:
            is_going_on = False
        elif is_going_on:
            spans[-1] = (spans[-1][0], each.end)
        else:
            spans.append((each.start, each.end))
            is_going_on = True
    return spans


def _without(text: str, spans: list[_Span], lead: str) -> str:
    """The text without these stretches and the rest of their lines where that is blank."""
    for start, end in reversed(spans):
        rest = text[end:].lstrip(" \t")
        if rest.startswith(("\n", "\r\n")):
            rest = rest[rest.index("\n") + 1 :]
        elif rest:
            rest = text[end:]
        before = text[:start]
        if lead and before.endswith(lead):
            before = before.removesuffix(lead)
            if rest and not before.endswith("\n"):
                before += line_end(text)
        text = before + rest
    return text


def _inline(text: str, table: str) -> Statement | None:
    """The statement that gives all servers as one inline table."""
    for each in statements(text):
        if each.path == (table,) and each.value is not None:
            return each
    return None


def _put_inline(text: str, holder: Statement, name: str, value: Mapping[str, Any]) -> Edited:
    start = holder.value or 0
    entry = f"{key_text((name,))} = {_value(value)}"
    members = inline_members(text, start)
    if not members:
        gap = text[start + 1 : holder.end - 1]
        return Edited(f"{text[: start + 1]} {entry} {text[holder.end - 1 :]}", Trace(gap=gap))
    at = members[-1].end
    return Edited(f"{text[:at]}, {entry}{text[at:]}", Trace())


def _out_of_inline(text: str, holder: Statement, name: str, trace: Trace) -> str:
    start = holder.value or 0
    members = inline_members(text, start)
    own = [each for each in members if each.path[0] == name]
    if len(own) != 1:
        raise Unusable(f"has {name} written in a way that is not changed here")
    index = members.index(own[0])
    if len(members) == 1:
        return f"{text[: start + 1]}{trace.gap or ''}{text[holder.end - 1 :]}"
    if index:
        return f"{text[: members[index - 1].end]}{text[own[0].end :]}"
    return f"{text[: own[0].start]}{text[members[1].start :]}"


def _value(value: object) -> str:
    try:
        return value_text(dict(value) if isinstance(value, Mapping) else value)
    except ValueError as error:
        raise Unusable(str(error)) from error


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise Unusable(f"is not TOML: {error}") from error
    except (RecursionError, ValueError) as error:
        raise Unusable(f"is not usable TOML: {error}") from error


def _table(data: Mapping[str, Any], table: str) -> dict[str, Any]:
    servers = data.get(table, {})
    if not isinstance(servers, dict):
        raise Unusable(f"has {table!r}, which is not a table")
    return servers


def _check(text: str, expected: Mapping[str, Any]) -> None:
    if _read(text) != expected:
        raise Unusable("could not be changed without changing something else")

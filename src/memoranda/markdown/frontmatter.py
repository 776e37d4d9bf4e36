"""The header of a note: found line by line, read with care, never in the way of the body.

Source: spec 3.2, FORMAT "Frontmatter".
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from memoranda.markdown.broken_frontmatter import salvage
from memoranda.markdown.frontmatter_links import frontmatter_links
from memoranda.markdown.yaml_values import Entry, Value, YamlFault, line_count, load_entries
from memoranda.model.address import Permalink, declared_permalink
from memoranda.model.dates import parse_date
from memoranda.model.note import Link, MetadataValue

_FIRST_LINE: Final = re.compile(r"---[ \t]*(?:\r\n|\r|\n)")
_LAST_LINE: Final = re.compile(r"[\r\n]---[ \t]*(?:\r\n|\r|\n|\Z)")
_COMMENTED_TAG: Final = re.compile(
    r"^(?:tags?:[ \t]+(?:[^\n\"'#]*[ \t])?|[ \t]*-[ \t]+)#\w", re.MULTILINE
)
_TAG_KEYS: Final = ("tags", "tag")
_MOST_ALIKE: Final = 5
"""Problems of one kind that are told."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where the header ends.

    Attributes:
        header: its text without the two `---` lines; None if there is no header.
        header_start: character where it begins.
        body_start: character where the body begins.
        body_line: 1-based line of it.
    """

    header: str | None
    header_start: int
    body_start: int
    body_line: int


@dataclass(frozen=True, slots=True)
class Header:
    """What the header says; see `model.note.ParsedNote` for the fields of the same names."""

    values: Mapping[str, MetadataValue] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    title: str = ""
    note_type: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    permalink: Permalink | None = None
    created: datetime | None = None
    modified: datetime | None = None
    raw: str = ""
    problems: tuple[str, ...] = ()


def split_frontmatter(text: str) -> Cut:
    """Find the header: the first line is `---`, a later line is `---`, blanks allowed after both.

    A blank line first, `----`, `+++`, `{` or a header that never ends: all is body.
    """
    first = _FIRST_LINE.match(text)
    last = _LAST_LINE.search(text, first.end() - 1) if first else None
    if first is None or last is None:
        return Cut(None, 0, 0, 1)
    header = text[first.end() : max(last.start() + 1, first.end())]
    lines = 2 + line_count(header, 0, len(header))
    if header.endswith("\r") and text[last.start() + 1] == "\n":  # a CRLF cut in two by the match
        header += "\n"
    return Cut(header, first.end(), last.end(), lines + 1)


def read_frontmatter(cut: Cut) -> Header:
    """Read the header; every fault becomes a problem and what can be read with certainty is kept."""
    if cut.header is None:
        return Header()
    raw = ""
    fault: YamlFault | None = None
    try:
        entries = load_entries(cut.header)
    except YamlFault as broken:
        fault = broken
        raw = cut.header
        entries = salvage(cut.header)
    given: dict[str, Value] = {}
    for entry in entries:
        given[entry.key] = entry.value  # the last one counts
    values: dict[str, MetadataValue] = {}
    for key, value in given.items():
        if (shown := _metadata(value)) is not None:
            values[key] = shown
    problems = _problems(cut.header, entries, fault, len(given))
    links: tuple[Link, ...] = ()
    if "[[" in cut.header:
        links, complete = frontmatter_links(cut.header, cut.header_start, entries)
        if not complete:
            problems.append("The frontmatter has more links than are read of a header.")
    return Header(
        values=values,
        links=links,
        title=_line_of_text(given.get("title")),
        note_type=_note_type(given.get("type")),
        tags=_tags(given),
        aliases=_aliases(given),
        permalink=_permalink(given.get("permalink")),
        created=_first_date(given, ("created", "date")),
        modified=_first_date(given, ("modified", "updated", "generated")),
        raw=raw,
        problems=tuple(problems),
    )


def _problems(
    header: str, entries: Sequence[Entry], fault: YamlFault | None, distinct: int
) -> list[str]:
    """One sentence each, with the line of the file."""
    problems = []
    if fault is not None:
        problems.append(f"The frontmatter is broken in line {fault.line + 2}: {fault.reason}.")
    bad_dates = [entry for entry in entries if entry.bad_date]
    problems += [
        f"The frontmatter has a date that does not exist (line {entry.line + 2}: {entry.key[:50]})."
        for entry in bad_dates[:_MOST_ALIKE]
    ]
    if distinct < len(entries):
        problems += _repeated(entries)
    if "#" in header:
        starts = [entry.at for entry in entries]
        for match in _COMMENTED_TAG.finditer(header):
            number = bisect_right(starts, match.end()) - 1
            if number >= 0 and entries[number].key in _TAG_KEYS:
                line = line_count(header, 0, match.start()) + 2
                problems.append(
                    f"The frontmatter has a tag with an unquoted #, which begins a comment (line {line})."
                )
                break
    return problems


def _repeated(entries: Sequence[Entry]) -> list[str]:
    """Keys that stand more than once with different values: all but the last are lost."""
    last = {entry.key: entry for entry in entries}
    lost = {
        entry.key: None
        for entry in entries
        if entry is not last[entry.key] and entry.value != last[entry.key].value
    }
    return [
        f"The frontmatter has the key {key[:50]} more than once; line {last[key].line + 2} counts."
        for key in list(lost)[:_MOST_ALIKE]
    ]


def _metadata(value: Value) -> MetadataValue | None:
    """Spec 3.2: text, list of texts; nested maps and lists as JSON text; nulls left out."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _json(value)
    return [item if isinstance(item, str) else _json(item) for item in value if item is not None]


def _json(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False)


def _texts(value: Value) -> list[str]:
    """The texts of a value that is a text or a list of texts; maps have none."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str)]
    return []


def _line_of_text(value: Value) -> str:
    return " ".join(", ".join(_texts(value)).split())


def _note_type(value: Value) -> str:
    """The first type of a list; `[[Book]]` is the type Book."""
    for text in _texts(value):
        text = text.strip()
        if text.startswith("[[") and text.endswith("]]"):
            text = text[2:-2].rpartition("|")[2].strip()
        if text:
            return " ".join(text.split())
    return ""


def _tags(given: Mapping[str, Value]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for key in _TAG_KEYS:
        value = given.get(key)
        parts: Iterable[str] = _texts(value)
        if isinstance(value, str):
            parts = value.split(",") if "," in value else value.split()
        for part in parts:
            if name := " ".join(part.lstrip("# \t").split()):
                found[name] = None
    return tuple(found)


def _aliases(given: Mapping[str, Value]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for key in ("aliases", "alias"):
        value = given.get(key)
        for part in value.split(",") if isinstance(value, str) else _texts(value):
            if name := " ".join(part.split()):
                found[name] = None
    return tuple(found)


def _permalink(value: Value) -> Permalink | None:
    return declared_permalink(value) if isinstance(value, str) else None


def _first_date(given: Mapping[str, Value], keys: Iterable[str]) -> datetime | None:
    for key in keys:
        value = given.get(key)
        if isinstance(value, dict):  # OKF: generated: {by, at}
            value = value.get("at")
        if isinstance(value, str) and (found := parse_date(value)) is not None:
            return found
    return None

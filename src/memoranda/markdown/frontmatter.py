"""The header of a note: found line by line, read with care, never in the way of the body.

Source: spec 3.2, FORMAT "Frontmatter".
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from memoranda.markdown.relations import LINKS_TO, wiki_link, wiki_spans
from memoranda.markdown.yaml_values import Entry, Value, YamlFault, load_entries
from memoranda.model.address import Permalink, declared_permalink
from memoranda.model.note import Link, LinkForm, MetadataValue

_FIRST_LINE: Final = re.compile(r"---[ \t]*(?:\r\n|\r|\n)")
_LAST_LINE: Final = re.compile(r"[\r\n]---[ \t]*(?:\r\n|\r|\n|\Z)")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_PLAIN_KEY: Final = re.compile(
    r"([^\s#:\-?,\[\]{}&*!|>'\"%@`][^:#\"']{0,100}?)[ \t]*:(?:[ \t]+(.*))?"
)
_NOT_PLAIN: Final = "[{|>&*!'\"%@`#"
_HASH_COMMENT: Final = re.compile(r"^(?:tags?:[ \t]+|[ \t]*-[ \t]+)#\w", re.MULTILINE)
_EPOCH_S: Final = re.compile(r"\d{10}", re.ASCII)
_EPOCH_MS: Final = re.compile(r"\d{13}", re.ASCII)
_MAX_MISSES: Final = 20  # keeps a header of many such links linear
_NO_RELATIONS: Final = frozenset({"title", "permalink"})


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
    lines = 2 + len(_LINE_END.findall(header))
    if header.endswith("\r") and text[last.start() + 1] == "\n":  # a CRLF cut in two by the match
        header += "\n"
    return Cut(header, first.end(), last.end(), lines + 1)


def read_frontmatter(cut: Cut) -> Header:
    """Read the header; every fault becomes a problem and what can be read with certainty is kept."""
    if cut.header is None:
        return Header()
    problems: list[str] = []
    raw = ""
    try:
        entries = load_entries(cut.header)
    except YamlFault as fault:
        problems.append(
            f"The frontmatter is not usable YAML (line {fault.line + 2}: {fault.reason})."
        )
        raw = cut.header
        entries = _salvage(cut.header)
    problems += [
        f"The frontmatter has a date that does not exist (line {entry.line + 2}: {entry.key})."
        for entry in entries
        if entry.bad_date
    ]
    if "#" in cut.header and _HASH_COMMENT.search(cut.header):
        problems.append(
            "The frontmatter has a tag with an unquoted #, which starts a comment in YAML."
        )
    given: dict[str, Value] = {}
    for entry in entries:
        given[entry.key] = entry.value
    values: dict[str, MetadataValue] = {}
    for key, value in given.items():
        if (shown := _metadata(value)) is not None:
            values[key] = shown
    return Header(
        values=values,
        links=_links(cut, entries) if "[[" in cut.header else (),
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
    for key in ("tags", "tag"):
        value = given.get(key)
        parts: Iterable[str] = _texts(value)
        if isinstance(value, str):
            parts = value.split(",") if "," in value else value.split()
        for part in parts:
            if name := " ".join(part.strip().lstrip("#").split()):
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


def parse_date(text: str) -> datetime | None:
    """ISO 8601 (`/` for `-` too) or seconds or milliseconds since 1970 -> aware UTC; else None.

    A date without zone is in the zone of this machine. Touches no clock.
    """
    text = text.strip()
    try:
        if _EPOCH_MS.fullmatch(text):
            return datetime.fromtimestamp(int(text) / 1000, UTC)
        if _EPOCH_S.fullmatch(text):
            return datetime.fromtimestamp(int(text), UTC)
        if text.isdigit():
            return None
        return datetime.fromisoformat(text.replace("/", "-")).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _salvage(header: str) -> list[Entry]:
    """Read a broken header key by key: what is YAML alone, and `key: value` lines as written.

    A chunk is a line that begins with a key and the lines below it that do not.
    """
    chunks: list[tuple[int, int, list[str]]] = []
    at = 0
    for row, line in enumerate(_LINE.findall(header)):
        if _PLAIN_KEY.match(line):
            chunks.append((at, row, [line]))
        elif chunks:
            chunks[-1][2].append(line)
        at += len(line)
    entries = []
    for start, row, lines in chunks:
        try:
            entries += [
                Entry(entry.key, entry.value, entry.at + start, entry.line + row, entry.bad_date)
                for entry in load_entries("".join(lines))
            ]
        except YamlFault:
            entry = _plain_entry("".join(lines).rstrip(), start, row)
            if entry is not None:
                entries.append(entry)
    return entries


def _plain_entry(chunk: str, start: int, row: int) -> Entry | None:
    match = _PLAIN_KEY.fullmatch(chunk)
    if match is None or not (value := (match[2] or "").strip()):
        return None
    if value[0] in _NOT_PLAIN and not (value.startswith("[[") and value.endswith("]]")):
        return None
    if " #" in value:
        return None
    return Entry(match[1].strip(), value, start, row)


def _links(cut: Cut, entries: Sequence[Entry]) -> tuple[Link, ...]:
    """Wiki links in values; the relation's type is the top key. Placed by looking them up in the source."""
    header = cut.header or ""
    place = _Place(header, cut.header_start)
    found: list[Link] = []
    ends = [*(entry.at for entry in entries), len(header)][1:]
    for entry, end in zip(entries, ends, strict=False):
        if entry.key.strip().lower() in _NO_RELATIONS:
            continue
        kind = "_".join(entry.key.lower().split()) or LINKS_TO
        at = entry.at
        misses = 0
        for text in _all_texts(entry.value):
            if "[[" not in text:
                continue
            for span in wiki_spans(text, 0, len(text)):
                written = text[span.start : span.end]
                left = header.find(written, at, end) if misses < _MAX_MISSES else -1
                right = left + len(written)
                if left >= 0:
                    at = right
                else:  # written with escapes or folded: the key stands for it
                    misses += 1
                    left, right = entry.at, entry.at + len(entry.key)
                link = wiki_link(
                    text[span.inner_start : span.inner_end],
                    form=LinkForm.FRONTMATTER,
                    relation_type=kind,
                    line=place.line(left),
                    start=place.byte(left),
                    end=place.byte(right),
                )
                if link is not None:
                    found.append(link)
    return tuple(found)


def _all_texts(value: Value) -> Iterator[str]:
    """Every text inside a value, in order, without recursion."""
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            stack.extend(reversed(value.values()))
        elif value is not None:
            stack.extend(reversed(value))


class _Place:
    """Characters of the header -> bytes and lines of the file."""

    def __init__(self, header: str, header_start: int) -> None:
        self.header = header
        self.base = header_start  # the first line is ASCII: its characters are its bytes
        self.ascii = header.isascii()
        self.known = (0, 0)
        self.ends = [match.end() for match in _LINE_END.finditer(header)]

    def byte(self, at: int) -> int:
        """Cheap for offsets that mostly grow."""
        if self.ascii:
            return self.base + at
        if at < self.known[0]:
            self.known = (0, 0)
        char, byte = self.known
        self.known = (at, byte + len(self.header[char:at].encode("utf-8")))
        return self.base + self.known[1]

    def line(self, at: int) -> int:
        return bisect_right(self.ends, at) + 2

"""YAML -> plain values with the scalars as written.

Built over the parser's events, not over the constructed objects: no guess (`007`, `NO`, `12:30`,
`1.10` stay text), no recursion, no object from a tag, and five times faster than `yaml.load`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from typing import Any, Final

import yaml

Value = str | None | list["Value"] | dict[str, "Value"]
"""A scalar is its text, "True", "False", an ISO 8601 date, or None."""

MAX_DEPTH: Final = 50
MAX_COPIES: Final = 10_000
"""Values that aliases may add; honest files use a handful, an alias bomb billions."""

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {
    "true": "True", "True": "True", "TRUE": "True",
    "false": "False", "False": "False", "FALSE": "False",
}  # fmt: skip
_KNOWN_TAGS: Final = frozenset(
    f"tag:yaml.org,2002:{name}"
    for name in ("str", "int", "float", "bool", "null", "timestamp", "seq", "map")
)
_TIMESTAMP: Final = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:(?:[Tt]|[ \t]+)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d*))?)?"
    r"(?:[ \t]*(Z|([-+])(\d{1,2})(?::?(\d{2}))?))?)?",
    re.ASCII,
)


class YamlFault(Exception):
    """The text is not YAML that can be used. `line` is 0-based in the text given."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of the top mapping; `at` is the character where the key stands, `line` its 0-based line."""

    key: str
    value: Value
    at: int
    line: int
    bad_date: bool = False


class _Frame:
    __slots__ = ("anchor", "at", "bad_date", "key", "key_at", "key_line", "link", "value", "weight")

    def __init__(self, value: list[Value] | dict[str, Value], at: int, anchor: str | None) -> None:
        self.value, self.at, self.anchor = value, at, anchor
        self.key: str | None = None
        self.key_at = self.key_line = 0
        self.link = False
        self.bad_date = False
        self.weight = 1


def load_entries(text: str) -> list[Entry]:
    """The top mapping of a YAML text in order; [] if there is nothing in it.

    `[[A, b]]`, to YAML a list in a list, is the text between its brackets, brackets included. A date
    that no calendar has stays text and is marked. Of keys that occur twice all are returned.

    Raises:
        YamlFault: not YAML, no mapping, more than one document, an unknown tag, nesting deeper than
            `MAX_DEPTH`, a value that contains itself, or aliases that would add too many values.
    """
    try:
        return _Builder(text).build()
    except yaml.MarkedYAMLError as error:
        line = getattr(error.problem_mark or error.context_mark, "line", 0)
        reason = error.problem or error.context or "not valid YAML"
        raise YamlFault(str(reason), line) from error
    except yaml.YAMLError as error:
        raise YamlFault(str(error).split("\n", 1)[0], 0) from error


class _Builder:
    def __init__(self, text: str) -> None:
        self.text = text
        self.entries: list[Entry] = []
        self.anchors: dict[str, tuple[Value, int]] = {}
        self.open_anchors: set[str] = set()
        self.copies = 0
        self.stack: list[_Frame] = []

    def build(self) -> list[Entry]:
        documents = 0
        event: Any
        for event in yaml.parse(self.text, Loader=_LOADER):
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._open(event, {} if kind is yaml.MappingStartEvent else [])
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._close(event)
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    raise YamlFault("a second document", event.start_mark.line)
        return self.entries

    def _scalar(self, event: Any) -> None:
        text: str = event.value
        self._check_tag(event)
        line = event.start_mark.line
        if self.stack:
            top = self.stack[-1]
            if top.key is None and top.value.__class__ is dict:
                top.key = text
                top.key_at, top.key_line = event.start_mark.index, line
                if event.anchor is not None:
                    self.anchors[event.anchor] = (text, 1)
                return
        value: str | None = text
        if event.implicit[0] and not event.style:
            if text in _NULLS:
                value = None
            elif text in _BOOLEANS:
                value = _BOOLEANS[text]
            elif text[0].isdigit() and (match := _TIMESTAMP.fullmatch(text)):
                value = self._date(match)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 1)
        self._put(value, 1, line)

    def _date(self, match: re.Match[str]) -> str:
        if (written := _iso(match)) is not None:
            return written
        if self.stack:
            self.stack[0].bad_date = True
        return match[0]

    def _open(self, event: Any, value: list[Value] | dict[str, Value]) -> None:
        self._check_tag(event)
        mark = event.start_mark
        if len(self.stack) >= MAX_DEPTH:
            raise YamlFault("nested too deeply", mark.line)
        if not self.stack and value.__class__ is list:
            raise YamlFault("not a mapping of keys to values", mark.line)
        if event.anchor is not None:
            self.open_anchors.add(event.anchor)
        self.stack.append(_Frame(value, mark.index, event.anchor))

    def _close(self, event: Any) -> None:
        frame = self.stack.pop()
        value: Value = frame.value
        if frame.value.__class__ is list and self.text[frame.at : frame.at + 1] == "[":
            end = event.end_mark.index
            # A flow list with one flow list in it: a link without quotes.
            if frame.link and len(frame.value) == 1:
                value, frame.weight = self.text[frame.at : end], 1
            elif self.stack:
                self.stack[-1].link = True
        if frame.anchor is not None:
            self.open_anchors.discard(frame.anchor)
            self.anchors[frame.anchor] = (value, frame.weight)
        if self.stack:
            self._put(value, frame.weight, event.start_mark.line)

    def _alias(self, event: Any) -> None:
        line = event.start_mark.line
        if event.anchor in self.open_anchors:
            raise YamlFault("a value contains itself", line)
        if event.anchor not in self.anchors:
            raise YamlFault(f"undefined alias {event.anchor!r}", line)
        value, weight = self.anchors[event.anchor]
        self.copies += weight
        if self.copies > MAX_COPIES:
            raise YamlFault("aliases repeat too much", line)
        if self.stack:
            top = self.stack[-1]
            if top.key is None and isinstance(top.value, dict):
                top.key = value if isinstance(value, str) else ""
                top.key_at, top.key_line = event.start_mark.index, line
                return
        self._put(value, weight, line)

    def _put(self, value: Value, weight: int, line: int) -> None:
        if not self.stack:
            if value is not None:
                raise YamlFault("not a mapping of keys to values", line)
            return
        top = self.stack[-1]
        top.weight += weight
        if isinstance(top.value, list):
            top.value.append(value)
            return
        if top.key is None:
            raise YamlFault("a key is not text", line)
        key, top.key = top.key, None
        top.link = False
        if len(self.stack) == 1:
            self._put_top(top, key, value)
        elif key == "<<":
            top.value = {**_merged(value), **top.value}
        else:
            top.value[key] = value

    def _put_top(self, top: _Frame, key: str, value: Value) -> None:
        if key == "<<" and not isinstance(value, str):
            for inner, inherited in _merged(value).items():
                self.entries.append(Entry(inner, inherited, top.key_at, top.key_line))
            return
        self.entries.append(Entry(key, value, top.key_at, top.key_line, top.bad_date))
        top.bad_date = False

    def _check_tag(self, event: Any) -> None:
        if event.tag is not None and event.tag != "!" and event.tag not in _KNOWN_TAGS:
            raise YamlFault(f"unknown tag {event.tag!r}", event.start_mark.line)


def _merged(value: Value) -> dict[str, Value]:
    """What a merge key `<<` brings in: one mapping or a list of them, earlier ones first."""
    if isinstance(value, dict):
        return value
    merged: dict[str, Value] = {}
    if isinstance(value, list):
        for part in reversed(value):
            if isinstance(part, dict):
                merged |= part
    return merged


def iso_date(text: str) -> str | None:
    """The ISO 8601 form of a YAML date; None if it is none or no calendar has it."""
    match = _TIMESTAMP.fullmatch(text)
    return _iso(match) if match else None


def _iso(match: re.Match[str]) -> str | None:
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    try:
        if match[4] is None:
            return date(year, month, day).isoformat()
        zone = None
        if match[8] == "Z":
            zone = timezone.utc  # noqa: UP017 - one spelling beside timezone(offset)
        elif match[8]:
            offset = timedelta(hours=int(match[10]), minutes=int(match[11] or 0))
            zone = timezone(offset if match[9] == "+" else -offset)
        micro = int(((match[7] or "") + "000000")[:6])
        time = (int(match[4]), int(match[5]), int(match[6] or 0), micro)
        return datetime(year, month, day, *time, tzinfo=zone).isoformat()
    except ValueError:
        return None

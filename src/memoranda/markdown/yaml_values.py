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

from memoranda.markdown.lines import LINE_END
from memoranda.markdown.yaml_faults import plain_reason

Value = str | None | list["Value"] | dict[str, "Value"]
"""A scalar is its text, "True", "False", an ISO 8601 date, or None."""

MAX_DEPTH: Final = 50
MAX_COPIES: Final = 10_000
"""Values that aliases may add; honest files use a handful, an alias bomb billions."""
MAX_EVENTS: Final = 500_000
"""Keys, values and ends of lists: more than any header has, so that one of 5 MB costs bounded time."""
_CHARS_PER_VALUE: Final = 100
"""A long text counts as one more value for each so many characters."""

_PARSER: Final[Any] = getattr(getattr(yaml, "cyaml", None), "CParser", yaml.SafeLoader)
_OTHER_LINE_END: Final = re.compile("[\x85\u2028\u2029]")
"""Line ends to YAML 1.1 alone; to people and to YAML 1.2 they are text."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SPECIAL: Final[dict[str, str | None]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
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


_FOUND_LATE: Final = re.compile(
    "end of stream|document indicator|expected ':'|expected ',' or|node content"
)
"""Faults that are found far behind the place where they began."""
_POSITION: Final = re.compile(r"position (\d+)")
_NO_MAPPING: Final = "it has no lines of the form `key: value`"
_KEY_NO_TEXT: Final = "a key is not text"


class YamlFault(Exception):
    """The text is not YAML that can be used; `reason` is for people. `line` is 0-based in the text given."""

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
    __slots__ = (
        "anchor", "at", "bad_date", "depth", "is_list", "key", "key_at", "key_line", "link", "value",
        "weight",
    )  # fmt: skip

    def __init__(self, value: list[Value] | dict[str, Value], at: int, anchor: str | None) -> None:
        self.value, self.at, self.anchor = value, at, anchor
        self.is_list = value.__class__ is list
        self.key: str | None = None
        self.key_at = self.key_line = 0
        self.link = False
        self.bad_date = False
        self.weight = 1
        self.depth = 1


class _Fault(Exception):
    def __init__(self, reason: str, mark: Any) -> None:
        super().__init__(reason)
        self.reason, self.mark = reason, mark


def readable(text: str) -> str:
    """The text as the YAML parser can take it: no surrogates, and only line ends that end lines for us.

    Every character stays at its place.
    """
    return _OTHER_LINE_END.sub(" ", _SURROGATE.sub("\ufffd", text))


def load_entries(text: str, max_copies: int = MAX_COPIES) -> list[Entry]:
    """The top mapping of a YAML text in order; [] if there is nothing in it.

    `[[A, b]]`, to YAML a list in a list, is the text between its brackets, brackets included. A date
    that no calendar has stays text and is marked. Of keys that occur twice all are returned. A merge
    key `<<` gives the keys that the mapping has not itself. NUL is U+FFFD.

    Raises:
        YamlFault: not YAML, no mapping, more than one document, an unknown tag, nesting deeper than
            `MAX_DEPTH`, a value that contains itself, or aliases that would add too many values.
    """
    if not text.isascii():
        text = readable(text)
    builder = _Builder(text, max_copies)
    try:
        builder.build()
    except _Fault as fault:
        raise builder.fault(fault.reason, fault.mark) from fault
    except yaml.MarkedYAMLError as error:
        problem = str(error.problem or error.context or "it is not valid YAML")
        mark: Any = error.problem_mark or error.context_mark
        if error.context_mark is not None and _FOUND_LATE.search(problem):
            mark = error.context_mark
        raise builder.fault(problem, mark) from error
    except yaml.YAMLError as error:
        match = _POSITION.search(str(error))
        before = text.encode("utf-8")[: int(match[1])] if match else b""
        at = len(before.decode("utf-8", "ignore"))
        raise builder.fault(str(error).split("\n", 1)[0], at) from error
    return builder.result()


class _Builder:
    def __init__(self, text: str, max_copies: int) -> None:
        self.text = text
        self.escapes = "\\" in text
        self.shift = int(text.startswith("\ufeff"))  # the parser does not count it
        self.entries: list[Entry] = []
        self.merged: set[int] = set()
        self.anchors: dict[str, tuple[Value, int, int]] = {}
        self.open_anchors: set[str] = set()
        self.copies_left = max_copies
        self.stack: list[_Frame] = []

    def build(self) -> None:
        documents = 0
        next_event = _PARSER(self.text).get_event
        event: Any = None
        for _ in range(MAX_EVENTS):
            event = next_event()
            kind = event.__class__
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent:
                self._open(event, {})
            elif kind is yaml.SequenceStartEvent:
                self._open(event, [])
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._close(event)
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    raise _Fault("a second document begins", event.start_mark)
            elif event is None:
                return
        raise _Fault("it is too long to be a header", event.start_mark)

    def result(self) -> list[Entry]:
        entries = self.entries
        if self.merged:
            own = {each.key for index, each in enumerate(entries) if index not in self.merged}
            entries = [
                each
                for index, each in enumerate(entries)
                if index not in self.merged or each.key not in own
            ]
        return entries

    def fault(self, problem: str, mark: Any) -> YamlFault:
        at = self.shift + (mark if isinstance(mark, int) else getattr(mark, "index", 0))
        if "node content" in problem:  # of `[#tag]` the parser complains lines below
            hidden = max(self.text.rfind(sign, max(0, at - 500), at) for sign in ("[#", ", #"))
            at = hidden if hidden >= 0 else at
        lines = line_count(self.text, 0, at)
        start = max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1
        end = LINE_END.search(self.text, at)
        line = self.text[start : end.start() if end else len(self.text)]
        return YamlFault(plain_reason(problem, line, self.text[at : at + 1]), lines)

    def _scalar(self, event: Any) -> None:
        text: str = event.value
        if event.tag is not None:
            self._check_tag(event)
        if self.escapes and "\0" in text:
            text = text.replace("\0", "\ufffd")
        weight = 1 if len(text) < _CHARS_PER_VALUE else 1 + len(text) // _CHARS_PER_VALUE
        stack = self.stack
        if stack:
            top = stack[-1]
            if top.key is None and not top.is_list:
                top.key = text
                if len(stack) == 1:
                    mark = event.start_mark
                    top.key_at, top.key_line = mark.index + self.shift, mark.line
                if event.anchor is not None:
                    self.anchors[event.anchor] = (text, weight, 0)
                return
        value: str | None = text
        if not event.style and event.implicit[0]:
            if text in _SPECIAL:
                value = _SPECIAL[text]
            elif text[0].isdigit() and (match := _TIMESTAMP.fullmatch(text)):
                value = self._date(match)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, weight, 0)
        self._put(value, weight, event)

    def _date(self, match: re.Match[str]) -> str:
        if (written := _iso(match)) is not None:
            return written
        if self.stack:
            self.stack[0].bad_date = True
        return match[0]

    def _open(self, event: Any, value: list[Value] | dict[str, Value]) -> None:
        if event.tag is not None:
            self._check_tag(event)
        mark = event.start_mark
        if len(self.stack) >= MAX_DEPTH:
            raise _Fault("nested too deeply", mark)
        if not self.stack and value.__class__ is list:
            raise _Fault(_NO_MAPPING, mark)
        if event.anchor is not None:
            self.open_anchors.add(event.anchor)
        self.stack.append(_Frame(value, mark.index, event.anchor))

    def _close(self, event: Any) -> None:
        frame = self.stack.pop()
        value: Value = frame.value
        at = frame.at + self.shift
        if frame.is_list and self.text[at : at + 1] == "[":
            # A flow list with one flow list in it: a link without quotes.
            if frame.link and len(frame.value) == 1:
                value = self.text[at : event.end_mark.index + self.shift]
                frame.weight, frame.depth = 1 + len(value) // _CHARS_PER_VALUE, 0
            elif self.stack:
                self.stack[-1].link = True
        if frame.anchor is not None:
            self.open_anchors.discard(frame.anchor)
            self.anchors[frame.anchor] = (value, frame.weight, frame.depth)
        if self.stack:
            parent = self.stack[-1]
            parent.depth = max(parent.depth, frame.depth + 1)
            self._put(value, frame.weight, event)

    def _alias(self, event: Any) -> None:
        if event.anchor in self.open_anchors:
            raise _Fault("a value contains itself", event.start_mark)
        if event.anchor not in self.anchors:
            raise _Fault("undefined alias", event.start_mark)
        value, weight, depth = self.anchors[event.anchor]
        self.copies_left -= weight
        if self.copies_left < 0:
            raise _Fault("aliases repeat too much", event.start_mark)
        if len(self.stack) + depth > MAX_DEPTH:
            raise _Fault("nested too deeply", event.start_mark)
        if self.stack:
            top = self.stack[-1]
            top.depth = max(top.depth, depth + 1)
            if top.key is None and not top.is_list:
                if not isinstance(value, str):
                    raise _Fault(_KEY_NO_TEXT, event.start_mark)
                top.key = value
                mark = event.start_mark
                top.key_at, top.key_line = mark.index + self.shift, mark.line
                return
        self._put(value, weight, event)

    def _put(self, value: Value, weight: int, event: Any) -> None:
        stack = self.stack
        if not stack:
            if value is not None:
                raise _Fault(_NO_MAPPING, event.start_mark)
            return
        top = stack[-1]
        top.weight += weight
        if top.is_list:
            top.value.append(value)  # type: ignore[union-attr] # is_list says so, and fast
            return
        key = top.key
        if key is None:
            raise _Fault(_KEY_NO_TEXT, event.start_mark)
        top.key = None
        top.link = False
        if len(stack) == 1:
            self._put_top(top, key, value)
        elif key == "<<":
            for inner, inherited in _merged(value).items():
                top.value.setdefault(inner, inherited)  # type: ignore[union-attr]
        else:
            top.value[key] = value  # type: ignore[call-overload]

    def _put_top(self, top: _Frame, key: str, value: Value) -> None:
        if key == "<<" and not isinstance(value, str):
            for inner, inherited in _merged(value).items():
                self.merged.add(len(self.entries))
                self.entries.append(Entry(inner, inherited, top.key_at, top.key_line))
            return
        self.entries.append(Entry(key, value, top.key_at, top.key_line, top.bad_date))
        top.bad_date = False

    def _check_tag(self, event: Any) -> None:
        if event.tag != "!" and event.tag not in _KNOWN_TAGS:
            raise _Fault("unknown tag", event.start_mark)


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


def scalar_value(text: str) -> tuple[Value, bool]:
    """What an unquoted scalar means, and whether it is a date that no calendar has."""
    if text in _SPECIAL:
        return _SPECIAL[text], False
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return text, False
    written = _iso(match)
    return (text, True) if written is None else (written, False)


def line_count(text: str, start: int, end: int) -> int:
    """How many lines end in a part of a text that does not begin inside a line end."""
    both = text.count("\r\n", start, end)
    return text.count("\n", start, end) + text.count("\r", start, end) - both


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

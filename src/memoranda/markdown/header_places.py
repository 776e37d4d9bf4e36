"""Where the keys of a frontmatter header and their values stand, by the marks of the YAML reader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import yaml

from memoranda.markdown.lines import line_start, line_stop, next_line

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PROPERTIES: Final = re.compile(r"(?:[&!]\S*(?:[ \t]+[&!]\S*)*)?")
_INDICATOR: Final = re.compile(r"[ \t]*[|>][-0-9]*\+")
_COLON: Final = re.compile(r"[ \t]*:")
_COMMENT: Final = re.compile(r"[ \t]+#[^\r\n]*")
_COMMENT_LINE: Final = re.compile(r"( *)#[^\r\n]*")
_DASH: Final = re.compile(r" *-(?=[ \t\r\n])")


class Style(StrEnum):
    """How a value is written."""

    INLINE = "inline"  # plain, in quotes, an alias, or not there at all
    TEXT = "text"  # | or > and the lines below
    FLOW_LIST = "flow list"
    FLOW_MAP = "flow map"
    LIST = "list"
    MAP = "map"


@dataclass(frozen=True, slots=True)
class Place:
    """A key and its value, as characters of the header.

    Attributes:
        line: where the key's line begins; `key` the key itself.
        colon: behind the colon after the key.
        start, end: the value with its anchor and tag; equal if there is none.
        items: the elements of a list (without dashes), or the keys and values of a map in turn, each
            with its anchor and tag.
        after: the first character behind the lines of the key; a comment that stands in a list or
            map, or deeper than the key right below it, belongs to them.
    """

    line: int
    key: int
    colon: int
    start: int
    end: int
    style: Style
    items: tuple[tuple[int, int], ...]
    after: int


class Unplaced(Exception):
    """The marks of the YAML reader do not tell where something stands."""


def find_place(header: str, key: str, at: int, bound: int) -> Place | None:
    """The place of the entry `key` that begins at `at`; None if a merge key brings it in.

    The header is readable YAML whose top is a block mapping; the entry ends before `bound`, where the
    next one begins.

    Raises:
        Unplaced: the key is written with `?`, as an alias, or otherwise not to be told.
    """
    line = line_start(header, at)
    blanks = header[line:at]
    if blanks.strip(" "):
        raise Unplaced
    try:
        return _place(header, key, line, blanks + header[at:bound])
    except (yaml.YAMLError, StopIteration) as error:
        raise Unplaced from error


def lone_place(text: str) -> Place:
    """The place of a value that is all of a text; its key and colon stand at 0.

    Raises:
        Unplaced: the text is not readable.
    """
    try:
        events: Iterator[Any] = iter(yaml.parse(text, Loader=_LOADER))
        while not isinstance(next(events), yaml.DocumentStartEvent):
            pass
        start, end, style, items = _value(text, events)
    except (yaml.YAMLError, StopIteration) as error:
        raise Unplaced from error
    return Place(0, 0, 0, start, end, style, tuple(items), len(text))


def is_flow(header: str) -> bool:
    """Whether the whole header is one `{...}`."""
    for event in yaml.parse(header, Loader=_LOADER):
        if isinstance(event, yaml.MappingStartEvent):
            return bool(event.flow_style)
    return False


def comment_at(header: str, at: int) -> str:
    """The comment that stands there, with the blanks before it; "" if none does."""
    match = _COMMENT.match(header, at)
    return match[0] if match else ""


def after_properties(header: str, at: int) -> int:
    """Behind the anchor and the tag that stand there."""
    match = _PROPERTIES.match(header, at)
    return match.end() if match else at


def dash_lines(header: str, place: Place) -> list[int]:
    """Where the line of each dash of a block list begins.

    Raises:
        Unplaced: a dash is not where it should be.
    """
    found: list[int] = []
    at = line_start(header, place.start)
    for start, end in place.items:
        while not _DASH.match(header, at):
            if at >= start:
                raise Unplaced
            at = next_line(header, at)
        found.append(at)
        at = next_line(header, end)
    return found


def _place(header: str, key: str, line: int, chunk: str) -> Place | None:
    """Offsets of `chunk`, which begins at `line`, are added up at the end."""
    events: Iterator[Any] = iter(yaml.parse(chunk, Loader=_LOADER))
    while not isinstance(next(events), yaml.MappingStartEvent):
        pass
    name: Any = next(events)
    if not isinstance(name, yaml.ScalarEvent):
        raise Unplaced
    if name.value != key:
        return None
    key_at, key_end = _span(name)
    colon = _COLON.match(chunk, key_end)
    if colon is None:
        raise Unplaced
    start, end, style, items = _value(chunk, events)
    after = next_line(chunk, end)
    if style in (Style.LIST, Style.MAP):
        while (match := _COMMENT_LINE.match(chunk, after)) and len(match[1]) > key_at:
            after = next_line(chunk, match.end())
    return Place(
        line=line,
        key=line + key_at,
        colon=line + colon.end(),
        start=line + start,
        end=line + end,
        style=style,
        items=tuple((line + left, line + right) for left, right in items),
        after=line + after,
    )


def _value(chunk: str, events: Iterator[Any]) -> tuple[int, int, Style, list[tuple[int, int]]]:
    first: Any = next(events)
    start = _span(first)[0]
    items: list[tuple[int, int]] = []
    if isinstance(first, yaml.ScalarEvent | yaml.AliasEvent):
        is_text = isinstance(first, yaml.ScalarEvent) and first.style in ("|", ">")
        return start, _end(chunk, first), Style.TEXT if is_text else Style.INLINE, items
    if isinstance(first, yaml.SequenceStartEvent):
        style = Style.FLOW_LIST if first.flow_style else Style.LIST
    else:
        style = Style.FLOW_MAP if first.flow_style else Style.MAP
    depth = 1
    end = item_start = start
    while depth:
        event: Any = next(events)
        if isinstance(event, yaml.CollectionStartEvent):
            if depth == 1:
                item_start = _span(event)[0]
            depth += 1
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            left, right = _span(event)
            if chunk[left:right] in ("]", "}"):
                end = right
        else:
            end = _end(chunk, event)
            if depth == 1:
                item_start = _span(event)[0]
        if depth == 1:
            items.append((item_start, end))
    return start, end, style, items


def _end(chunk: str, event: Any) -> int:
    """Where a scalar or an alias ends; a block of text with its last line, before the line ending."""
    start, end = _span(event)
    if not isinstance(event, yaml.ScalarEvent) or event.style not in ("|", ">"):
        return end
    text = chunk[start:end]
    if _INDICATOR.match(text, after_properties(text, 0)):  # `|+` owns the blank lines below
        return end - len(text) + len(re.sub(r"(?:\r\n|\r|\n)\Z", "", text))
    return line_stop(chunk, start + len(text.rstrip(" \t\r\n")))


def _span(event: Any) -> tuple[int, int]:
    return event.start_mark.index, event.end_mark.index

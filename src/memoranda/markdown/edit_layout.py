"""A note as its edits see it: what was read, and where items, blocks and links stand in the file.

All offsets are bytes of the file's text in UTF-8, as in `model.note`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NamedTuple

from memoranda.errors import InvalidArgument
from memoranda.markdown.body import Span
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.events import is_panic, markdown_events
from memoranda.model.address import NotePath
from memoranda.model.note import ParsedNote

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_BEFORE_BULLET: Final = re.compile(rb"[ \t\r\n]*")
_INLINE_TAGS: Final = frozenset(
    {"Emphasis", "Strong", "Strikethrough", "Superscript", "Subscript", "Link", "Image"}
)
_VERBATIM: Final = frozenset({"CodeBlock", "HtmlBlock", "MetadataBlock"})
_OUTSIDE_TEXT: Final = frozenset({"Html", "TaskListMarker"})
_QUOTES: Final = frozenset({"BlockQuote", "FootnoteDefinition"})


@dataclass(slots=True)
class Item:
    """A list item.

    Attributes:
        start: where its bullet or number stands.
        end: after its last line, what is nested in it included.
        own: the range of the first text in it that is not in another item; None if there is none.
        outer: index of the item that it is nested in; -1 at the top.
        in_list: index of its list.
        quoted: it stands in a quote or a footnote.
    """

    start: int
    end: int
    outer: int
    in_list: int
    quoted: bool
    own: Span | None = None


@dataclass(slots=True)
class ItemList:
    """A list; `items` are the indexes of its own items."""

    start: int
    end: int
    numbered: bool
    nested: bool
    items: list[int] = field(default_factory=list)


class Block(NamedTuple):
    """What must stay where it is when something else is edited.

    Attributes:
        kind: "Text" for a run of inline text, else the event's name.
        start, end: its range; `end` is -1 where its end says nothing.
        inside: start of the innermost item, quote or footnote that holds it; -1 at the top.
    """

    kind: str
    start: int
    end: int
    inside: int


class WrittenLink(NamedTuple):
    """A link or image as the Markdown reader finds it.

    Attributes:
        style: "Inline", "Reference", "Collapsed", "Shortcut", "WikiLink", ...
        destination: with escapes resolved, not percent-decoded.
        name: label of the definition that a reference link uses.
        inner_end: where its label ends, before `]`.
    """

    start: int
    end: int
    style: str
    destination: str
    name: str
    inner_end: int


@dataclass(slots=True)
class Layout:
    """Where things stand, each kind in the order of the file."""

    items: list[Item] = field(default_factory=list)
    lists: list[ItemList] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    links: list[WrittenLink] = field(default_factory=list)
    covered: list[Span] = field(default_factory=list)
    """Text and code: what is outside is markup, blank or a link definition."""

    def item_with(self, at: int) -> int | None:
        """Index of the item whose own text holds this offset."""
        index = bisect_right(self.items, at, key=lambda item: item.start) - 1
        own = self.items[index].own if index >= 0 else None
        return index if own is not None and own[0] <= at < own[1] else None


@dataclass(frozen=True, slots=True)
class Reading:
    """A text, what it says and where.

    Attributes:
        data: its UTF-8 bytes; a lone surrogate has three.
    """

    text: str
    data: bytes
    note: ParsedNote
    layout: Layout

    def line(self, at: int) -> int:
        """1-based line of an offset."""
        before = self.data[:at]
        return before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n") + 1

    def line_range(self, line: int) -> Span:
        """The range of a 1-based line with its line ending; an empty one behind the last."""
        start = 0
        for match in islice(_LINE_END.finditer(self.data), max(line - 1, 0)):
            start, line = match.end(), line - 1
        return (start, after_line(self.data, start)) if line == 1 else (start, start)


def read_for_edit(text: str, path: NotePath) -> Reading:
    """Parse a note and find its layout.

    Raises:
        InvalidArgument: the Markdown reader fails on the text.
    """
    data = text.encode("utf-8", "surrogatepass")
    note = parse_note(text, path)
    walk = _Walk(data, note.body_start)
    try:
        walk.run(markdown_events(note.content))
    except BaseException as error:
        if not is_panic(error):
            raise
        raise InvalidArgument(
            "path",
            f"{path} cannot be read as Markdown, so that nothing was changed",
            hint="Change it with find_replace.",
        ) from error
    return Reading(text, data, note, walk.layout)


class _Walk:
    """One pass over the events: `base` is where the body begins in the file."""

    def __init__(self, data: bytes, base: int) -> None:
        self.layout = Layout()
        self._data = data
        self._base = base
        self._open_items: list[int] = []
        self._open_lists: list[int] = []
        self._inside: list[int] = []
        self._quotes = 0
        self._open_links: list[WrittenLink] = []
        self._text = (-1, -1)

    def run(self, events: Iterable[tuple[Any, Any]]) -> None:
        for event, span in events:
            start, end = span["start"] + self._base, span["end"] + self._base
            if event.__class__ is str:
                if event == "Rule":
                    self._block("Rule", start)
                else:
                    self._inline(start, start)
                continue
            kind = next(iter(event))
            value = event[kind]
            if kind == "Start":
                tag = value if value.__class__ is str else next(iter(value))
                if tag in _INLINE_TAGS:
                    self._inline(start, end)
                    if tag in {"Link", "Image"}:
                        self._open_link(start, end, value[tag])
                else:
                    self._start(tag, value, start, end)
            elif kind == "End":
                tag = value if value.__class__ is str else next(iter(value))
                if tag in {"Link", "Image"}:
                    self._close_link(end)
                elif tag not in _INLINE_TAGS:
                    self._end(tag)
            elif kind == "TaskListMarker":
                self.layout.blocks.append(Block("Task", start, end, self._holder()))
            elif kind not in _OUTSIDE_TEXT:
                self._inline(start, end)
        self._close_text()
        self.layout.links.sort()

    def _holder(self) -> int:
        return self._inside[-1] if self._inside else -1

    def _block(self, kind: str, start: int) -> None:
        self._close_text()
        self.layout.blocks.append(Block(kind, start, -1, self._holder()))

    def _start(self, tag: str, value: Any, start: int, end: int) -> None:
        self._close_text()
        if tag == "Item":
            layout = self.layout
            # The reader lets it begin at blanks before, with tabs even at the end of the line above.
            if match := _BEFORE_BULLET.match(self._data, start):
                start = match.end()
            outer = self._open_items[-1] if self._open_items else -1
            in_list = self._open_lists[-1]
            layout.blocks.append(Block("Item", start, -1, self._holder()))
            layout.lists[in_list].items.append(len(layout.items))
            self._open_items.append(len(layout.items))
            layout.items.append(Item(start, end, outer, in_list, self._quotes > 0))
            self._inside.append(start)
            return
        if tag == "List":
            self._open_lists.append(len(self.layout.lists))
            self.layout.lists.append(
                ItemList(start, end, value[tag] is not None, bool(self._inside))
            )
        elif tag in _QUOTES:
            self._quotes += 1
            self._inside.append(start)
        elif tag == "Heading":
            self.layout.blocks.append(Block(str(value[tag]["level"]), start, -1, self._holder()))
        elif tag in _VERBATIM:
            self.layout.blocks.append(Block(tag, start, -1, self._holder()))
            self.layout.covered.append((start, end))

    def _end(self, tag: str) -> None:
        self._close_text()
        if tag == "Item":
            self._open_items.pop()
            self._inside.pop()
        elif tag == "List":
            self._open_lists.pop()
        elif tag in _QUOTES:
            self._quotes -= 1
            self._inside.pop()

    def _inline(self, start: int, end: int) -> None:
        if self.layout.covered and start < self.layout.covered[-1][1]:
            return  # text of a code block
        if self._open_links and end > self._open_links[-1].inner_end:
            self._open_links[-1] = self._open_links[-1]._replace(inner_end=end)
        if self._text[0] < 0:
            self._text = (start, end)
        elif end > self._text[1]:
            self._text = (self._text[0], end)

    def _close_text(self) -> None:
        start, end = self._text
        if start < 0:
            return
        self._text = (-1, -1)
        self.layout.blocks.append(Block("Text", start, end, self._holder()))
        self.layout.covered.append((start, end))
        if self._open_items and (item := self.layout.items[self._open_items[-1]]).own is None:
            item.own = (start, end)

    def _open_link(self, start: int, end: int, detail: Any) -> None:
        style = detail["link_type"]
        name = style if style.__class__ is str else next(iter(style))
        self._open_links.append(WrittenLink(start, end, name, detail["dest_url"], detail["id"], -1))

    def _close_link(self, end: int) -> None:
        self.layout.links.append(self._open_links.pop()._replace(end=end))


def line_start(data: bytes, at: int) -> int:
    """Where the line of an offset begins."""
    width = 256
    while True:  # in growing steps: a file may have only one of the two line endings
        left = max(0, at - width)
        end = max(data.rfind(b"\n", left, at), data.rfind(b"\r", left, at))
        if end >= 0 or left == 0:
            return end + 1
        width *= 4


def line_above(data: bytes, start: int) -> int:
    """Where the line before the one that begins at `start` (not 0) begins."""
    return line_start(data, start - (2 if data.endswith(b"\r\n", 0, start) else 1))


def line_text_end(data: bytes, at: int) -> int:
    """Where the line of an offset ends, before its line ending."""
    match = _LINE_END.search(data, at)
    return match.start() if match else len(data)


def after_line(data: bytes, at: int) -> int:
    """Where the line after that of an offset begins."""
    match = _LINE_END.search(data, at)
    return match.end() if match else len(data)

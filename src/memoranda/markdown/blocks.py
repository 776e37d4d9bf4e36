"""The structure of a body: one pass over the events of pulldown-cmark.

The only module that knows pyromark. All offsets are bytes of the body's UTF-8 text. Scans for
ASCII signs run over `Body.shadow`, the bytes seen as Latin-1 text, in which every byte is one
character: an offset found there is a byte offset, in any script.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple

import pyromark

from memoranda.model.note import Heading

_OPTIONS: Final = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_WIKILINKS
    | pyromark.Options.ENABLE_GFM
    | pyromark.Options.ENABLE_MATH
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_TASKLISTS
)
_INLINE: Final = frozenset(
    {"Emphasis", "Strong", "Strikethrough", "Superscript", "Subscript", "Link", "Image"}
)
_OPAQUE: Final = frozenset({"Code", "InlineHtml", "InlineMath", "DisplayMath", "FootnoteReference"})
_VERBATIM: Final = frozenset({"CodeBlock", "HtmlBlock", "MetadataBlock"})
_WRAP: Final = re.compile(r"[\r\n][ \t\r\n>]*")
MASK: Final = "\x00"
"""Stands for every character of code, HTML, math and links in the second text of `Body.inline`."""

Span = tuple[int, int]


class MarkdownLink(NamedTuple):
    """`[label](destination)` or a reference link or image, anywhere but in code."""

    start: int
    end: int
    destination: str
    label: str


class Leaf(NamedTuple):
    """A run of inline text: a paragraph, a heading, a table cell or the text of a tight list item.

    Attributes:
        pieces: its lines without indentation and quote signs.
        opaque: code, HTML, math and footnote marks, in order.
        item_start: where the list item begins whose first child this is, else -1.
        section: index of the heading above it, -1 before the first.
    """

    start: int
    end: int
    pieces: tuple[Span, ...]
    opaque: tuple[Span, ...]
    links: tuple[MarkdownLink, ...]
    item_start: int
    is_task: bool
    section: int


class Document(NamedTuple):
    """A body's structure.

    Attributes:
        leaves: those that can hold an observation, a relation or a link, in order.
        blocks: where each top-level block starts, in order.
        headings: the outline, offsets and lines of the whole file. Headings inside lists and quotes
            are text, not outline.
        heading_starts: where they start in the body.
        paths: for each heading its own and all outer headings' texts, outermost first.
        failed: the Markdown library gave up; the body is one block without structure.
    """

    leaves: Sequence[Leaf]
    blocks: Sequence[int]
    headings: Sequence[Heading]
    heading_starts: Sequence[int]
    paths: Sequence[tuple[str, ...]]
    failed: bool = False

    def path(self, section: int) -> tuple[str, ...]:
        """The heading path of a section; () before the first heading."""
        return self.paths[section] if section >= 0 else ()


class Body:
    """The text after the frontmatter with its offsets.

    Args:
        text: without lone surrogates.
        base: byte offset of the body in the file.
        base_line: its first line in the file.
    """

    __slots__ = ("base", "base_line", "data", "line_starts", "shadow", "text")

    def __init__(self, text: str, base: int, base_line: int) -> None:
        self.text = text
        self.base = base
        self.base_line = base_line
        self.data = text.encode("utf-8")
        self.shadow = text if text.isascii() else self.data.decode("latin-1")
        # bytes.splitlines knows \n, \r and \r\n only; str.splitlines would also cut at \f, \v, NEL.
        self.line_starts = [0, *accumulate(map(len, self.data.splitlines(keepends=True)))]

    def cut(self, start: int, end: int) -> str:
        """The text of a byte range."""
        return self.data[start:end].decode("utf-8", "replace")

    def row(self, offset: int) -> int:
        """0-based line of an offset inside the body."""
        return bisect_right(self.line_starts, offset) - 1

    def line(self, offset: int) -> int:
        """1-based line of the file."""
        return bisect_right(self.line_starts, offset) - 1 + self.base_line

    def inline(
        self, pieces: Iterable[Span], masked: Iterable[Span], dropped: Iterable[Span] = ()
    ) -> tuple[str, str]:
        """The lines joined by one blank, twice: as written, and with the masked spans as `MASK`.

        Both are of one length. Dropped spans (comments) are in neither.
        """
        spans = sorted([(*span, True) for span in masked] + [(*span, False) for span in dropped])
        shown: list[str] = []
        visible: list[str] = []
        index = 0
        for start, end in pieces:
            if shown:
                shown.append(" ")
                visible.append(" ")
            at = start
            while index < len(spans) and spans[index][0] < end:
                left, right, keep = spans[index]
                if left > at:
                    self._append(shown, visible, at, left, hide=False)
                    at = left
                right_here = min(right, end)
                if right_here > at:
                    if keep:
                        self._append(shown, visible, at, right_here, hide=True)
                    at = right_here
                if right > end:
                    break
                index += 1
            if end > at:
                self._append(shown, visible, at, end, hide=False)
        return "".join(shown), "".join(visible)

    def _append(
        self, shown: list[str], visible: list[str], start: int, end: int, *, hide: bool
    ) -> None:
        text = self.cut(start, end)
        if "\n" in text or "\r" in text:
            text = _WRAP.sub(" ", text)
        shown.append(text)
        visible.append(MASK * len(text) if hide else text)


def read_blocks(body: Body) -> Document:
    """Walk the body once. A panic of the library gives a document without structure, never an error."""
    reader = _Reader(body)
    try:
        reader.walk(pyromark.events_with_range(body.text, options=_OPTIONS))
    except BaseException as error:
        # A Rust panic arrives as pyo3's PanicException, a BaseException without an importable class.
        if type(error).__name__ != "PanicException":
            raise
        return Document((), (0,), (), (), (), failed=True)
    return reader.document()


class _Item:
    __slots__ = ("fresh", "is_task", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.fresh = True
        self.is_task = False


class _Reader:
    """State of the walk: the open leaf and the open list items."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self._shadow = body.shadow
        self._wants_all = "%%" in body.shadow  # comments may span leaves
        self.leaves: list[Leaf] = []
        self.blocks: list[int] = []
        self.headings: list[Heading] = []
        self.heading_starts: list[int] = []
        self.paths: list[tuple[str, ...]] = []
        self._above: list[tuple[int, str]] = []
        self._items: list[_Item] = []
        self._start = -1
        self._end = 0
        self._piece = -1
        self._pieces: list[Span] = []
        self._opaque: list[Span] = []
        self._links: list[MarkdownLink] = []

    def document(self) -> Document:
        return Document(self.leaves, self.blocks, self.headings, self.heading_starts, self.paths)

    def walk(self, events: Iterable[tuple[Any, Any]]) -> None:
        depth = 0
        verbatim = False
        open_links: list[tuple[int, int, str]] = []
        spoken: list[str] = []
        listening = False
        items = self._items
        for event, span in events:
            if event.__class__ is str:
                if event == "Rule":
                    self._close()
                    self._no_longer_fresh()
                    if depth == 0:
                        self.blocks.append(span["start"])
                elif self._start >= 0:
                    self._pieces.append((self._piece, span["start"]))
                    self._piece = -1
                    self._end = span["start"]
                    if listening:
                        spoken.append(" ")
                continue
            kind = next(iter(event))  # an event is a mapping with one key
            value = event[kind]
            if kind == "Text" or kind in _OPAQUE:
                if verbatim:
                    continue
                start = span["start"]
                self._end = span["end"]
                if self._piece < 0:
                    self._open(start)
                if kind != "Text":
                    self._opaque.append((start, self._end))
                    if kind == "InlineHtml":
                        continue
                if listening:
                    spoken.append(value)
            elif kind == "Start":
                if value.__class__ is str:
                    tag, detail = value, {}
                else:
                    tag = next(iter(value))
                    detail = value[tag]
                if tag in _INLINE:
                    start = span["start"]
                    self._end = span["end"]
                    if self._piece < 0:
                        self._open(start)
                    if tag == "Link" or tag == "Image":
                        style = detail["link_type"]
                        wanted = style.__class__ is str and style not in ("Autolink", "Email")
                        open_links.append(
                            (start, len(spoken), detail["dest_url"] if wanted else "")
                        )
                        listening = True
                    continue
                self._close()
                if depth == 0:
                    self.blocks.append(span["start"])
                depth += 1
                if tag == "Item":
                    items.append(_Item(span["start"]))
                elif tag == "Heading":
                    self._no_longer_fresh()
                    spoken.clear()
                    listening = True
                elif tag in _VERBATIM:
                    verbatim = True
                    self._no_longer_fresh()
                elif tag != "Paragraph":
                    self._no_longer_fresh()
            elif kind == "End":
                tag = value if value.__class__ is str else next(iter(value))
                if tag in _INLINE:
                    self._end = span["end"]
                    if tag == "Link" or tag == "Image":
                        start, mark, destination = open_links.pop()
                        if destination:
                            label = "".join(spoken[mark:])
                            self._links.append(MarkdownLink(start, self._end, destination, label))
                    continue
                depth -= 1
                verbatim = False
                self._close()
                if tag == "Item":
                    items.pop()
                elif tag == "Heading":
                    if depth == 0:
                        self._heading(span["start"], int(value[tag][1]), "".join(spoken))
                    listening = False
                    spoken.clear()
                elif listening:
                    listening = False
                    spoken.clear()
            elif kind == "TaskListMarker" and items:
                items[-1].is_task = True

    def _open(self, start: int) -> None:
        """A line begins: of a new leaf, or after a break inside one."""
        if (
            start and self._shadow[start - 1] == "\\"
        ):  # the event of an escaped sign starts after the \
            start -= 1
        self._piece = start
        if self._start < 0:
            self._start = start

    def _close(self) -> None:
        start, end = self._start, self._end
        if start < 0:
            return
        item = self._items[-1] if self._items else None
        if item is not None and not item.fresh:
            item = None
        if (
            self._links
            or self._wants_all
            or (item is not None and self._shadow[start] == "[")
            or self._shadow.find("[[", start, end) >= 0
        ):
            if self._piece >= 0:
                self._pieces.append((self._piece, end))
            self.leaves.append(
                Leaf(
                    start,
                    end,
                    tuple(self._pieces),
                    tuple(self._opaque),
                    tuple(self._links),
                    item.start if item is not None else -1,
                    item is not None and item.is_task,
                    len(self.paths) - 1,
                )
            )
        if item is not None:
            item.fresh = False
        self._start = self._piece = -1
        if self._pieces:
            self._pieces.clear()
        if self._opaque:
            self._opaque.clear()
        if self._links:
            self._links.clear()

    def _no_longer_fresh(self) -> None:
        """Another block came first in the innermost item, so that no text of it is its own text."""
        if self._items:
            self._items[-1].fresh = False

    def _heading(self, start: int, level: int, text: str) -> None:
        text = " ".join(text.split())
        above = self._above
        while above and above[-1][0] >= level:
            above.pop()
        above.append((level, text))
        self.paths.append(tuple(text for _, text in above))
        row = self.body.row(start)
        self.heading_starts.append(start)
        begin = self.body.line_starts[row] + self.body.base
        self.headings.append(Heading(level, text, row + self.body.base_line, begin))

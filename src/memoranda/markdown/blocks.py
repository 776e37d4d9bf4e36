"""The structure of a body: one pass over the events of pulldown-cmark.

All offsets are bytes of the body's UTF-8 text, see `body`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from memoranda.markdown.body import Body, Span
from memoranda.markdown.events import is_panic, markdown_events
from memoranda.markdown.values import maker
from memoranda.model.note import Heading

_INLINE: Final = frozenset(
    {"Emphasis", "Strong", "Strikethrough", "Superscript", "Subscript", "Link", "Image"}
)
_LINKS: Final = frozenset({"Link", "Image"})
_OPAQUE: Final = frozenset({"Code", "InlineHtml", "InlineMath", "DisplayMath", "FootnoteReference"})
_VERBATIM: Final = frozenset({"CodeBlock", "HtmlBlock", "MetadataBlock"})
_SIGN: Final = re.compile(r"\[|%%")
_COMMENT: Final = re.compile("%%.*?%%")
_new_heading: Final = maker(Heading)


class MarkdownLink(NamedTuple):
    """`[label](destination)` or a reference link or image, anywhere but in code."""

    start: int
    end: int
    destination: str
    label: str


class Holder(NamedTuple):
    """A list item that holds a list.

    Attributes:
        pieces: the lines of its own text, empty if another block comes first.
        opaque: code, HTML, math and footnote marks in them.
    """

    start: int
    pieces: tuple[Span, ...]
    opaque: tuple[Span, ...]
    is_task: bool


class Leaf(NamedTuple):
    """A run of inline text: a paragraph, a heading, a table cell or the text of a tight list item.

    Attributes:
        pieces: its lines without indentation and quote signs.
        opaque: code, HTML, math and footnote marks, in order.
        item_start: where the list item begins whose first child this is, else -1.
        heading_path: the texts of the headings above it, outermost first.
        holder: the item around the list that it is in.
    """

    start: int
    end: int
    pieces: tuple[Span, ...]
    opaque: tuple[Span, ...]
    links: tuple[MarkdownLink, ...]
    item_start: int
    is_task: bool
    heading_path: tuple[str, ...]
    holder: Holder | None


class Document(NamedTuple):
    """A body's structure.

    Attributes:
        blocks: where each top-level block starts, in order.
        headings: the outline, offsets and lines of the whole file. Headings inside lists and quotes
            are text, not outline.
        heading_starts: where they start in the body.
        paths: for each heading its own and all outer headings' texts, outermost first.
        failed: the Markdown library gave up; the body is one block without structure.
    """

    blocks: list[int]
    headings: list[Heading]
    heading_starts: list[int]
    paths: list[tuple[str, ...]]
    failed: bool = False


def read_blocks(body: Body, take: Callable[[Leaf], None], text: str | None = None) -> Document:
    """Walk the body once. A fault of the library gives a document without structure, never an error.

    Args:
        body: the text and its offsets.
        take: gets each leaf that can hold an observation, a relation, a link or a comment, in order.
            Leaves are handed on and not kept: of a large body they would fill the memory.
        text: read in place of the body's own text; byte for byte as long.
    """
    document = Document([], [], [], [])
    try:
        _walk(body, document, take, markdown_events(body.text if text is None else text))
    except BaseException as error:
        if not (isinstance(error, _EndMissing) or is_panic(error)):
            raise
        return Document([0], [], [], [], failed=True)
    return document


class _EndMissing(Exception):
    """The events ended inside a block."""


def _walk(
    body: Body,
    document: Document,
    take: Callable[[Leaf], None],
    events: Iterator[tuple[Any, Any]],
) -> None:
    """Fill the document and hand on the leaves.

    One loop over local variables, because it runs several times for every line of a note. An event is
    a mapping with one key, or the name of a break or a rule, in which none of the keys asked for
    first occurs. A block without a bracket or a comment sign is left at once: nothing in it counts.
    """
    shadow = body.shadow
    has_comments = "%%" in shadow
    sign = -1  # the first of these signs that does not lie before the block at hand
    depth = 0
    levels: list[int] = []  # of the headings in the path
    heading_path: tuple[str, ...] = ()
    items: list[tuple[int, tuple[Span, ...], tuple[Span, ...], bool]] = []
    holders: list[Holder | None] = []
    holder: Holder | None = None
    # The innermost item while nothing of it was read yet, else -1.
    item = -1
    is_task = False
    # The open leaf, the line of it that is being read, and its last event.
    start = piece = -1
    last: Any = None
    pieces: list[Span] = []
    opaque: list[Span] = []
    links: list[MarkdownLink] = []
    open_links: list[tuple[int, int, str, bool]] = []
    spoken: list[str] = []
    listening = in_heading = False
    for event, span in events:
        if "Text" in event:
            if piece < 0:
                piece = _line_start(shadow, span["start"])
                if start < 0:
                    start = piece
            last = span
            if listening:
                spoken.append(event["Text"])
            continue
        tag: Any = None
        begins = "Start" in event
        if begins or "End" in event:
            tag = event["Start" if begins else "End"]
            name = tag if tag.__class__ is str else next(iter(tag))
            if name in _INLINE:
                last = span
                if begins:
                    if piece < 0:
                        piece = _line_start(shadow, span["start"])
                        if start < 0:
                            start = piece
                    if (
                        name in _LINKS
                        and tag[name]["link_type"].__class__ is str  # wiki links are read elsewhere
                        and (destination := _destination(tag[name]))
                    ):
                        is_collapsed = tag[name]["link_type"] == "Collapsed"
                        open_links.append((span["start"], len(spoken), destination, is_collapsed))
                        listening = True
                elif open_links and open_links[-1][0] == span["start"] and name in _LINKS:
                    at, mark, destination, is_collapsed = open_links.pop()
                    label = "".join(spoken[mark:])
                    end = span["end"]
                    if is_collapsed and shadow.startswith("[]", end):
                        end += 2  # the library leaves the second pair out
                    links.append(MarkdownLink(at, end, destination, label))
                    if not open_links and not in_heading:
                        listening = False
                        spoken.clear()
                continue
        elif event.__class__ is str:
            if event != "Rule":
                if start >= 0:
                    if piece >= 0:
                        pieces.append((piece, span["start"]))
                    piece = -1
                    last = None
                    if listening:
                        spoken.append(" ")
                continue
            name = event
        else:
            kind = next(iter(event))
            if kind in _OPAQUE:
                if piece < 0:
                    piece = _line_start(shadow, span["start"])
                    if start < 0:
                        start = piece
                last = span
                opaque.append((span["start"], span["end"]))
                if listening and kind != "InlineHtml":
                    spoken.append(event[kind])
            elif kind == "TaskListMarker":
                is_task = True
            continue
        # A block begins or ends: the open leaf ends.
        if start >= 0:
            end = pieces[-1][1] if last is None else last["end"]
            if sign < end or item >= 0:
                if piece >= 0:
                    pieces.append((piece, end))
                lines, hidden = tuple(pieces), tuple(opaque)
                if item >= 0:
                    items[-1] = (item, lines, hidden, is_task)
                    if name == "Heading" and not begins:
                        item = -1
                if (
                    links
                    or (item >= 0 and shadow[start] == "[")
                    or shadow.find("[[", start, end) >= 0
                    or (has_comments and shadow.find("%%", start, end) >= 0)
                ):
                    found = tuple(links)
                    take(
                        Leaf(start, end, lines, hidden, found, item, is_task, heading_path, holder)
                    )
                    links.clear()
            item = start = piece = -1
            pieces.clear()
            opaque.clear()
        if begins:
            at = span["start"]
            if depth == 0:
                document.blocks.append(at)
            if sign < at:
                sign = _next_sign(shadow, at, has_comments)
            if name in _VERBATIM or (
                sign >= span["end"]
                and name != "Heading"
                and (item < 0 or name != "Paragraph")  # it may be the text of a holder
            ):
                _skip(events, name, span)
                item = -1
                continue
            depth += 1
            if name == "Item":
                item = at
                while shadow[item] in " \t\r\n":  # the span may begin before an indented bullet
                    item += 1
                is_task = False
                items.append((item, (), (), False))
            elif name == "List":
                item = -1
                holders.append(holder)
                if items:
                    holder = Holder(*items[-1])
            elif name == "Heading":
                listening = in_heading = depth == 1
            elif name != "Paragraph":
                item = -1
        elif name == "Rule":
            item = -1
            if depth == 0:
                document.blocks.append(span["start"])
        else:
            depth -= 1
            if name == "Item":
                item = -1
                items.pop()
            elif name == "List":
                holder = holders.pop()
            elif name == "Heading":
                item = -1
                if in_heading:
                    listening = in_heading = False
                    said = "".join(spoken)
                    if has_comments:
                        said = _COMMENT.sub("", said)
                    level, text = int(tag[name][1]), " ".join(said.split())
                    spoken.clear()
                    while levels and levels[-1] >= level:
                        levels.pop()
                    heading_path = (*heading_path[: len(levels)], text)
                    levels.append(level)
                    document.heading_starts.append(span["start"])
                    document.paths.append(heading_path)
                    document.headings.append(_heading(body, level, text, span))


def _line_start(shadow: str, at: int) -> int:
    """Where a line of a leaf begins: the event of an escaped sign starts after the backslash."""
    return at - 1 if at and shadow[at - 1] == "\\" else at


def _destination(link: Any) -> str:
    """Where a Markdown link leads; "" for `<addresses>`."""
    return "" if link["link_type"] in ("Autolink", "Email") else link["dest_url"]


def _next_sign(shadow: str, at: int, has_comments: bool) -> int:
    """The next place where a link, a category or a comment may begin; the length if there is none."""
    if has_comments:
        match = _SIGN.search(shadow, at)
        return match.start() if match else len(shadow)
    found = shadow.find("[", at)
    return found if found >= 0 else len(shadow)


def _skip(events: Iterator[tuple[Any, Any]], name: str, span: Any) -> None:
    """Go on to the end of the block that has just begun."""
    for event, inner in events:
        if inner == span and "End" in event:
            tag = event["End"]
            if tag == name or name in tag:
                return
    raise _EndMissing


def _heading(body: Body, level: int, text: str, span: Any) -> Heading:
    starts, base = body.line_starts, body.base
    row = body.row(span["start"])
    after = starts[row + 1]
    if span["end"] > after:  # underlined
        after = starts[body.row(span["end"] - 1) + 1]
    return _new_heading(level, text, row + body.base_line, starts[row] + base, after + base)

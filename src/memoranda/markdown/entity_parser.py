"""One note's text -> `ParsedNote`. Pure: no disk, no clock, never raises."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from memoranda.markdown.blocks import Document, Holder, Leaf, read_blocks
from memoranda.markdown.body import Body, Span
from memoranda.markdown.frontmatter import read_frontmatter, split_frontmatter
from memoranda.markdown.observations import read_fact
from memoranda.markdown.passages import read_passages
from memoranda.markdown.relations import WikiSpan, leaf_links, wiki_spans
from memoranda.markdown.values import maker
from memoranda.model.address import NotePath, stem
from memoranda.model.note import Link, Observation, ParsedNote

PARSER_VERSION: Final = 2
"""Raised when the same text gives another `ParsedNote`, so that an index knows it is outdated."""

_REMEMBERED: Final = 32
_REMEMBERED_CHARS: Final = 50_000
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_COMMENT_SIGN: Final = re.compile("%%")
_LINE_LEAD: Final = " \t>-+*"
_HEADING_SIGN: Final = re.compile(r"(?<=[\r\n])[ ]{0,3}(?:#{1,6}|=+|-+)")
_HTML_COMMENT: Final = "<!--"
_BOX: Final = re.compile(r"\[[\x00-\x7f]\](?:\s+|\Z)")
MAX_PARENT_CHARS: Final = 200
_new_observation: Final = maker(Observation)


def parse_note(text: str, path: NotePath) -> ParsedNote:
    """Read a note. Every fault of the text is contained; `problems` names those of the frontmatter.

    A lone surrogate, which no UTF-8 file holds, is read as U+FFFD. The last texts are remembered: an edit asks
    for the same one several times, and a note that was read is often the next that is changed.

    Args:
        text: a decoded file without its byte order mark, see `source.decode`.
        path: gives the title when the frontmatter has none.

    Source: spec 3, FORMAT.
    """
    return (_remembered if len(text) <= _REMEMBERED_CHARS else _parsed)(text, path)


def _parsed(text: str, path: NotePath) -> ParsedNote:
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    cut = split_frontmatter(text)
    head = text[: cut.body_start]
    header = read_frontmatter(cut)
    base = len(head) if head.isascii() else len(head.encode("utf-8"))
    body = Body(text[cut.body_start :], base, cut.body_line)
    found, document = _read_body(body)
    problems = header.problems
    if document.failed:
        problems = (
            *problems,
            "The Markdown reader failed on the body; it is indexed as plain text.",
        )
    return ParsedNote(
        path=path,
        title=header.title or stem(path),
        note_type=header.note_type or "note",
        frontmatter=header.values,
        content=body.text,
        body_start=base,
        body_line=cut.body_line,
        observations=tuple(found.observations),
        links=(*header.links, *found.links),
        outline=tuple(document.headings),
        passages=read_passages(body, document, found.rows),
        declared_permalink=header.permalink,
        tags=header.tags,
        aliases=header.aliases,
        created=header.created,
        modified=header.modified,
        raw_frontmatter=header.raw,
        problems=problems,
    )


_remembered: Final = lru_cache(maxsize=_REMEMBERED)(_parsed)


class _Findings:
    """What the leaves of a body say.

    Attributes:
        rows: 0-based, of the items that are searched as items of their own.
    """

    __slots__ = ("_body", "_holders", "links", "observations", "rows")

    def __init__(self, body: Body) -> None:
        self._body = body
        self._holders: dict[int, tuple[str, int]] = {}
        self.observations: list[Observation] = []
        self.links: list[Link] = []
        self.rows: set[int] = set()

    def add(self, leaf: Leaf, comments: Sequence[Span] = ()) -> None:
        """Read one leaf. `comments` are those of the body, in order."""
        body = self._body
        shadow = body.shadow
        start, end, _, opaque, written, item, is_task, heading_path, holder = leaf
        hidden: Sequence[Span] = ()
        outside: Sequence[Span] = opaque
        if comments and (hidden := _overlapping(comments, start, end)):
            if hidden[0][0] <= start and hidden[0][1] >= end:
                return
            outside = _merged([*opaque, *hidden])
        dropped = _dropped(body, opaque, hidden) if item >= 0 and (opaque or hidden) else ()
        wikis: Sequence[WikiSpan] = ()
        if shadow.find("[[", start, end) >= 0:
            wikis = wiki_spans(shadow, start, end, outside)
        if dropped and (begin := _after_comments(shadow, start, end, dropped)) != start:
            leaf = leaf._replace(start=begin)
            start = begin
        fact = None
        if item >= 0 and shadow.startswith("[", start) and not is_task:
            text = visible = body.cut(start, end)
            if wikis or hidden or opaque or written or "\n" in text or "\r" in text:
                text, visible = _texts(body, leaf, wikis, dropped)
                lead = len(visible) - len(visible.lstrip())  # behind a comment
                text, visible = text[lead:], visible[lead:]
            fact = read_fact(text, visible)
        typed = False
        if wikis or written:
            links, typed = leaf_links(body, leaf, wikis, dropped, is_fact=fact is not None)
            if hidden:
                links = [link for link in links if not _covers(hidden, link.start - body.base)]
            self.links += links
        if typed or fact is not None:
            first = last = body.row(item)
            self.rows.add(first)
            if end > body.line_starts[first + 1]:
                last = body.row(end - 1)
                self.rows.update(range(first + 1, last + 1))
            if fact is not None:
                category, content, tags, context, block_id, attributes = fact
                parent, parent_line = self._parent(holder, comments) if holder else ("", 0)
                self.observations.append(
                    _new_observation(
                        category,
                        content,
                        first + body.base_line,
                        last + body.base_line,
                        item + body.base,
                        end + body.base,
                        tags,
                        context,
                        block_id,
                        attributes,
                        heading_path,
                        parent,
                        parent_line,
                    )
                )

    def _parent(self, holder: Holder, comments: Sequence[Span]) -> tuple[str, int]:
        parent = self._holders.get(holder.start)
        if parent is None:
            parent = _holder_text(self._body, holder, comments), self._body.line(holder.start)
            self._holders[holder.start] = parent
        return parent


def _read_body(body: Body) -> tuple[_Findings, Document]:
    found = _Findings(body)
    if "%%" in body.shadow:  # a comment may span leaves
        leaves: list[Leaf] = []
        document = read_blocks(body, leaves.append)
        comments = _comments(body, leaves)
        if any(_covers(comments, at) for at in document.heading_starts):
            leaves.clear()
            document = read_blocks(body, leaves.append, _without_headings(body.shadow, comments))
        for leaf in leaves:
            found.add(leaf, comments)
    else:
        document = read_blocks(body, found.add)
    return (_Findings(body) if document.failed else found), document


def _dropped(body: Body, opaque: Sequence[Span], hidden: Sequence[Span]) -> list[Span]:
    """Comments of both kinds."""
    html = [span for span in opaque if body.shadow.startswith(_HTML_COMMENT, span[0])]
    return [*html, *hidden]


def _after_comments(shadow: str, start: int, end: int, dropped: Iterable[Span]) -> int:
    """Where a leaf begins for a reader: behind the comments at its start."""
    for left, right in sorted(dropped):
        if left != start:
            break
        start = right
        while start < end and shadow[start] in " \t\r\n":
            start += 1
    return start


def _texts(
    body: Body, leaf: Leaf, wikis: Sequence[WikiSpan], dropped: Sequence[Span]
) -> tuple[str, str]:
    """A leaf's text on one line without comments, as written and with what is opaque masked."""
    masked = [(link.start, link.end) for link in leaf.links]
    masked += [(wiki.start, wiki.end) for wiki in wikis]
    gone = set(dropped)
    masked += [span for span in leaf.opaque if span not in gone]
    return body.inline(leaf.pieces, masked, dropped)


def _holder_text(body: Body, holder: Holder, comments: Sequence[Span]) -> str:
    """What an item says that holds a list: as written, without its box and comments, shortened."""
    if not holder.pieces:
        return ""
    hidden = _overlapping(comments, holder.pieces[0][0], holder.pieces[-1][1])
    dropped = _dropped(body, holder.opaque, hidden)
    text = body.inline(holder.pieces, (), dropped)[0]
    if not holder.is_task and (box := _BOX.match(text)):
        text = text[box.end() :]
    return _shortened(" ".join(text.split()))


def _shortened(text: str) -> str:
    if len(text) <= MAX_PARENT_CHARS:
        return text
    head = text[: MAX_PARENT_CHARS - 1]
    word, _, rest = text[:MAX_PARENT_CHARS].rpartition(" ")
    return (word if word and len(rest) < MAX_PARENT_CHARS // 4 else head).rstrip() + "…"


def _comments(body: Body, leaves: Sequence[Leaf]) -> list[Span]:
    """The `%% %%` comments: inside one leaf, or from a line that begins with `%%` to the next `%%`.

    A `%%` without a partner is text.
    """
    signs: list[tuple[int, int]] = []
    for number, leaf in enumerate(leaves):
        for match in _COMMENT_SIGN.finditer(body.shadow, leaf.start, leaf.end):
            at = match.start()
            if not _covers(leaf.opaque, at):
                signs.append((at, number))
    found: list[Span] = []
    opened: tuple[int, int] | None = None
    for at, number in signs:
        if opened is not None and (opened[1] == number or _begins_line(body, opened[0])):
            found.append((opened[0], at + 2))
            opened = None
        else:
            opened = (at, number)
    return found


def _without_headings(shadow: str, comments: Sequence[Span]) -> str:
    """The text in which no comment makes a heading; as long in bytes."""
    parts: list[str] = []
    at = 0
    for start, end in comments:
        hidden = _HEADING_SIGN.sub(lambda match: "x" * len(match[0]), shadow[start:end])
        parts += (shadow[at:start], hidden)
        at = end
    parts.append(shadow[at:])
    return "".join(parts).encode("latin-1").decode("utf-8")


def _overlapping(comments: Sequence[Span], start: int, end: int) -> Sequence[Span]:
    first = bisect_right(comments, start, key=lambda span: span[1])
    last = bisect_left(comments, end, key=lambda span: span[0])
    return comments[first:last]


def _covers(spans: Sequence[Span], at: int) -> bool:
    """Whether an offset lies in one of the spans, which are in order and apart."""
    index = bisect_right(spans, at, key=lambda span: span[0]) - 1
    return index >= 0 and at < spans[index][1]


def _begins_line(body: Body, at: int) -> bool:
    start = body.line_starts[body.row(at)]
    return not body.shadow[start:at].strip(_LINE_LEAD)


def _merged(spans: list[Span]) -> list[Span]:
    """Sorted, overlapping ones joined."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result

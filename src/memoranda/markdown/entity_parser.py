"""One note's text -> `ParsedNote`. Pure: no disk, no clock, never raises."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from memoranda.markdown.blocks import Body, Document, Leaf, Span, read_blocks
from memoranda.markdown.frontmatter import read_frontmatter, split_frontmatter
from memoranda.markdown.observations import read_fact
from memoranda.markdown.passages import read_passages
from memoranda.markdown.relations import WikiSpan, leaf_links, wiki_spans
from memoranda.model.address import NotePath, stem
from memoranda.model.note import Link, Observation, ParsedNote

PARSER_VERSION: Final = 1
"""Raised when the same text gives another `ParsedNote`, so that an index knows it is outdated."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_COMMENT_SIGN: Final = re.compile("%%")
_LINE_LEAD: Final = " \t>-+*"
_LINE_ENDS: Final = "\r\n"


def parse_note(text: str, path: NotePath) -> ParsedNote:
    """Read a note. Every fault of the text is contained; `problems` names those of the frontmatter.

    A lone surrogate, which no UTF-8 file holds, is read as U+FFFD.

    Args:
        text: a decoded file without its byte order mark, see `source.decode`.
        path: gives the title when the frontmatter has none.

    Source: spec 3, FORMAT.
    """
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    cut = split_frontmatter(text)
    head = text[: cut.body_start]
    header = read_frontmatter(cut)
    base = len(head) if head.isascii() else len(head.encode("utf-8"))
    body = Body(text[cut.body_start :], base, cut.body_line)
    document = read_blocks(body)
    observations, links, taken = _read_leaves(body, document)
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
        observations=tuple(observations),
        links=(*header.links, *links),
        outline=tuple(document.headings),
        passages=read_passages(body, document, taken),
        declared_permalink=header.permalink,
        tags=header.tags,
        aliases=header.aliases,
        created=header.created,
        modified=header.modified,
        raw_frontmatter=header.raw,
        problems=problems,
    )


def _read_leaves(
    body: Body, document: Document
) -> tuple[list[Observation], list[Link], list[Span]]:
    """Observations, links, and the row ranges of the items that are searched as items of their own."""
    observations: list[Observation] = []
    links: list[Link] = []
    taken: list[Span] = []
    shadow = body.shadow
    comments = _comments(shadow, document.leaves) if "%%" in shadow else []
    for leaf in document.leaves:
        opaque: Sequence[Span] = leaf.opaque
        hidden: Sequence[Span] = ()
        if comments:
            hidden = _overlapping(comments, leaf)
            if hidden and hidden[0][0] <= leaf.start and hidden[0][1] >= leaf.end:
                continue
            if hidden:
                opaque = _merged([*opaque, *hidden])
        wikis: list[WikiSpan] = []
        if shadow.find("[[", leaf.start, leaf.end) >= 0:
            wikis = wiki_spans(shadow, leaf.start, leaf.end, opaque)
        observation = None
        if leaf.item_start >= 0:
            if shadow[leaf.start] == "[" and not leaf.is_task:
                observation = _observation(body, document, leaf, wikis, hidden)
            if observation is not None:
                observations.append(observation)
        if wikis or leaf.links:
            found, typed = leaf_links(body, leaf, wikis, opaque, is_fact=observation is not None)
            if hidden:
                found = [link for link in found if not _covers(hidden, link.start - body.base)]
            links += found
        else:
            typed = False
        if typed or observation is not None:
            taken.append((body.row(leaf.item_start), body.row(leaf.end - 1)))
    return observations, links, taken


def _observation(
    body: Body,
    document: Document,
    leaf: Leaf,
    wikis: Sequence[WikiSpan],
    hidden: Sequence[Span],
) -> Observation | None:
    masked = [(link.start, link.end) for link in leaf.links]
    masked += [(wiki.start, wiki.end) for wiki in wikis]
    dropped = list(hidden)
    for span in leaf.opaque:
        (dropped if body.shadow.startswith("<!--", span[0]) else masked).append(span)
    if masked or dropped:
        text, visible = body.inline(leaf.pieces, masked, dropped)
    elif len(leaf.pieces) == 1:
        text = visible = body.cut(leaf.start, leaf.end)
    else:
        text = visible = " ".join(body.cut(start, end) for start, end in leaf.pieces)
    fact = read_fact(text, visible)
    if fact is None:
        return None
    return Observation(
        category=fact.category,
        content=fact.content,
        line=body.line(leaf.item_start),
        end_line=body.line(leaf.end - 1),
        start=leaf.item_start + body.base,
        end=leaf.end + body.base,
        tags=fact.tags,
        context=fact.context,
        block_id=fact.block_id,
        attributes=fact.attributes,
        heading_path=document.path(leaf.section),
    )


def _comments(shadow: str, leaves: Sequence[Leaf]) -> list[Span]:
    """The `%% %%` comments: inside one leaf, or from a line that begins with `%%` to the next `%%`.

    A `%%` without a partner is text.
    """
    signs: list[tuple[int, int]] = []
    for number, leaf in enumerate(leaves):
        for match in _COMMENT_SIGN.finditer(shadow, leaf.start, leaf.end):
            at = match.start()
            if not _covers(leaf.opaque, at):
                signs.append((at, number))
    found: list[Span] = []
    opened: tuple[int, int] | None = None
    for at, number in signs:
        if opened is not None and (opened[1] == number or _begins_line(shadow, opened[0])):
            found.append((opened[0], at + 2))
            opened = None
        else:
            opened = (at, number)
    return found


def _overlapping(comments: Sequence[Span], leaf: Leaf) -> Sequence[Span]:
    first = bisect_right(comments, leaf.start, key=lambda span: span[1])
    last = bisect_left(comments, leaf.end, key=lambda span: span[0])
    return comments[first:last]


def _covers(spans: Sequence[Span], at: int) -> bool:
    """Whether an offset lies in one of the spans, which are in order and apart."""
    index = bisect_right(spans, at, key=lambda span: span[0]) - 1
    return index >= 0 and at < spans[index][1]


def _begins_line(shadow: str, at: int) -> bool:
    start = max(shadow.rfind("\n", 0, at), shadow.rfind("\r", 0, at)) + 1
    return not shadow[start:at].strip(_LINE_LEAD)


def _merged(spans: list[Span]) -> list[Span]:
    """Sorted, overlapping ones joined."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result

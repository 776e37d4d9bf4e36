"""Links and typed relations. Spec 3.4, FORMAT "Relations and links".

Wiki links are found by counting brackets in the source, not in the parser's tokens: a reference
definition `[page]: page.md` must not swallow `[[page]]`, and brackets may nest.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Final, NamedTuple
from urllib.parse import unquote

from memoranda.markdown.blocks import Leaf, MarkdownLink
from memoranda.markdown.body import Body, Span
from memoranda.markdown.observations import opening_bracket
from memoranda.markdown.values import maker
from memoranda.model.address import lookup_key
from memoranda.model.note import Link, LinkForm

LINKS_TO: Final = "links_to"
MAX_TYPE_CHARS: Final = 200
_SUFFIXES: Final = """
    avif bmp gif heic ico jpeg jpg png svg tif tiff webp
    3gp aac flac m4a mp3 oga ogg opus wav avi mkv mov mp4 mpeg mpg ogv webm
    pdf epub djvu canvas base excalidraw drawio
    csv tsv xls xlsx ods doc docx odt rtf ppt pptx odp key pages numbers
    zip tar gz bz2 xz 7z rar txt
"""
ATTACHMENT_SUFFIXES: Final = frozenset(_SUFFIXES.split())
"""File name endings that name no note. Kept short: `Node.js` and `ASP.NET` are names of notes."""

_SIGNS: Final = re.compile(r"\\[^\r\n]|[\[\]\r\n]")
_BRACKET: Final = re.compile(r"[\[\]]")
_ESCAPE: Final = re.compile(r"\\[\[\]\\]")
_SIMPLE: Final = re.compile(r"\[\[[^\[\]\r\n]*\]\]")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TYPE_ENDS: Final = "*_~`=<>-–—→←⇒⇐↔:： \t"
_COMMAS: Final = frozenset(sign.encode("utf-8").decode("latin-1") for sign in ",，、")
_NO_TYPE: Final = re.compile(
    r"[,;:!?()\[\]{}<>|\"“”„#$%^=*\\`。、，；：！？（）「」\x00-\x1f]|\.\s"
)
_QUOTES: Final = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "‘": "’", "'": "'"}
_BLOCK_ID_END: Final = re.compile(r"(?:^|\s)\^[A-Za-z0-9-]+\Z")
_EXPLANATION: Final = re.compile(r"(?:::?\s+|\s+[-–—]+\s+)(?=\S)")
_EMPHASIS: Final = "*_~"
_PLAIN_PATH: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]*\.md")
_new_link: Final = maker(Link)
_START: Final = attrgetter("start")


class WikiSpan(NamedTuple):
    """`[[inner]]` in the source; `start` includes the `!` of an embed."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    is_embed: bool


def wiki_spans(shadow: str, start: int, end: int, opaque: Sequence[Span] = ()) -> list[WikiSpan]:
    """The outermost `[[ ]]` of one line each, outside the opaque spans. Linear in the length.

    Of `[[[a]]]` the inner pair is the link. Source: spec 3.4 (bracket depth), 13.1.
    """
    if (shadow.find("\\", start, end) < 0 or not _ESCAPE.search(shadow, start, end)) and not (
        opaque and _has_brackets(shadow, opaque)
    ):
        count = shadow.count("[", start, end)
        if count == 2 and (match := _SIMPLE.search(shadow, start, end)):
            return [_wiki_span(shadow, start, *match.span())]
        simple = [match.span() for match in _SIMPLE.finditer(shadow, start, end)]
        if count == 2 * len(simple):
            return [_wiki_span(shadow, start, opened, closed) for opened, closed in simple]
    found: list[WikiSpan] = []
    stack: list[int] = []
    closes: dict[int, int] = {}
    skip = 0
    at = start
    while (match := _SIGNS.search(shadow, at, end)) is not None:
        here = match.start()
        at = match.end()
        while skip < len(opaque) and opaque[skip][1] <= here:
            skip += 1
        if skip < len(opaque) and opaque[skip][0] <= here:
            at = min(opaque[skip][1], end)
            if "\n" in shadow[here:at] or "\r" in shadow[here:at]:
                stack.clear()  # a code span that goes on in the next line
            continue
        sign = match[0]
        if sign == "[":
            stack.append(here)
        elif sign == "]":
            if not stack:
                continue
            opened = stack.pop()
            closes[opened] = here
            if closes.get(opened + 1) != here - 1:
                continue
            if closes.get(opened + 2) == here - 2:
                continue
            while found and found[-1].start >= opened:
                found.pop()
            found.append(_wiki_span(shadow, start, opened, here + 1))
        elif sign in "\r\n":
            stack.clear()
    return found


def _wiki_span(shadow: str, start: int, opened: int, closed: int) -> WikiSpan:
    embed = opened > start and shadow[opened - 1] == "!"
    if embed and opened - 1 > start and shadow[opened - 2] == "\\":
        embed = False
    return WikiSpan(opened - 1 if embed else opened, closed, opened + 2, closed - 2, embed)


def _has_brackets(shadow: str, spans: Sequence[Span]) -> bool:
    return any(_BRACKET.search(shadow, start, end) for start, end in spans)


def leaf_links(
    body: Body,
    leaf: Leaf,
    wikis: Sequence[WikiSpan],
    dropped: Sequence[Span],
    *,
    is_fact: bool,
) -> tuple[list[Link], bool]:
    """The links of a leaf in order, and whether it is an explicit relation (then it is text of its own).

    Args:
        body: the text and its offsets.
        leaf: the leaf.
        wikis: its wiki links.
        dropped: its comments, which nobody reads.
        is_fact: it is an observation, and its links are prose.
    """
    typed: tuple[str, int, str | None] | None = None
    if wikis and leaf.item_start >= 0 and not leaf.is_task and not is_fact:
        typed = _explicit(body, leaf, wikis, dropped)
    links: list[Link] = []
    kind, count, context = typed or (LINKS_TO, len(wikis), None)
    for number, (start, end, inner_start, inner_end, is_embed) in enumerate(wikis):
        if number == count:
            kind, context = LINKS_TO, None
        link = wiki_link(
            body.cut(inner_start, inner_end),
            form=LinkForm.EMBED if is_embed else LinkForm.WIKI,
            relation_type=kind,
            context=context,
            line=body.line(start),
            start=start + body.base,
            end=end + body.base,
        )
        if link is not None:
            links.append(link)
    # What names no note is no relation, and its words are those of the passage.
    is_own = typed is not None and count == sum(
        link.relation_type != LINKS_TO and not link.is_attachment for link in links
    )
    if leaf.links:
        for written in leaf.links:
            if wikis and _inside(written.start, wikis):
                continue
            if (link := _markdown_link(body, written)) is not None:
                links.append(link)
        links.sort(key=_START)
    return links, is_own


def _inside(at: int, wikis: Sequence[WikiSpan]) -> bool:
    """Whether an offset lies in one of the spans, which are in order and apart."""
    index = bisect_right(wikis, at, key=lambda wiki: wiki.start) - 1
    return index >= 0 and at < wikis[index].end


def wiki_link(
    inner: str,
    *,
    form: LinkForm,
    relation_type: str,
    line: int,
    start: int,
    end: int,
    context: str | None = None,
) -> Link | None:
    """Read `target#anchor|label`; None for `[[]]`, `[[|x]]` and `[[#heading]]` (the same note)."""
    target, bar, label = inner.partition("|")
    if bar and target.endswith("\\"):  # `\|` in a table
        target = target[:-1]
    anchor = ""
    if "#" in target:
        target, _, anchor = target.partition("#")
    target = target.strip()
    if not _names_something(target):
        return None
    return _new_link(
        form,
        target,
        relation_type,
        line,
        start,
        end,
        anchor.strip(),
        label.strip(),
        context,
        "." in target and is_attachment(target),
    )


def _names_something(target: str) -> bool:
    return target[:1].isalnum() or bool(lookup_key(target))


def is_attachment(target: str) -> bool:
    """Whether the name ends like a file that is no note."""
    _, dot, suffix = target.rpartition(".")
    return dot == "." and suffix.lower() in ATTACHMENT_SUFFIXES


@lru_cache(maxsize=512)
def relation_type(text: str) -> str | None:
    """The stored type of what stands before a link; None if it reads like prose.

    One to four words, or any quoted phrase; emphasis, arrows and trailing `:` or `::` are cleaned.
    """
    text = text.strip(_TYPE_ENDS).replace("\\_", "_")
    if not text or len(text) > MAX_TYPE_CHARS:
        return None
    if _is_quoted(text):
        words = text[1:-1].split()
    elif len(words := text.split()) > 4 or _NO_TYPE.search(text) or text.endswith("."):
        return None
    if not any(c.isalnum() for c in text):
        return None
    return "_".join(words).lower()


def _is_quoted(text: str) -> bool:
    """Whether it is one quoted phrase, and not two of them with words between."""
    closing = _QUOTES.get(text[0])
    return (
        len(text) > 2
        and closing == text[-1]
        and (closing == "'" or text.find(closing, 1) == len(text) - 1)
    )


def _explicit(
    body: Body, leaf: Leaf, wikis: Sequence[WikiSpan], dropped: Sequence[Span]
) -> tuple[str, int, str | None] | None:
    """(type, number of targets, context) if the item is `type [[A]], [[B]] (context)`."""
    first = wikis[0]
    if first.is_embed or first.start == leaf.start or first.start > leaf.pieces[0][1]:
        return None
    if first.start - leaf.start > 4 * MAX_TYPE_CHARS:
        return None
    kind = relation_type(body.cut(leaf.start, first.start))
    if kind is None:
        return None
    count, at = 1, first.end
    for wiki in wikis[1:]:
        if wiki.is_embed or body.shadow[at : wiki.start].strip(" \t\r\n>") not in _COMMAS:
            break
        count, at = count + 1, wiki.end
    if at == leaf.end:
        return kind, count, None
    gone = set(dropped)
    masked = [span for span in leaf.opaque if span not in gone] if gone else leaf.opaque
    later = ((wiki.start, wiki.end) for wiki in wikis[count:])
    after = _after(body, leaf, at, [*masked, *later], dropped)
    return None if after is None else (kind, count, after[0])


def _after(
    body: Body, leaf: Leaf, at: int, masked: Sequence[Span], dropped: Sequence[Span]
) -> tuple[str | None] | None:
    """(context,) if what follows the last target leaves the item a relation, else None."""
    pieces = [(max(start, at), end) for start, end in leaf.pieces if end > at]
    text, visible = body.inline(pieces, masked, dropped)
    if pieces and pieces[0][0] > at:  # it goes on in the next line
        text, visible = " " + text, " " + visible
    if match := _BLOCK_ID_END.search(visible):
        text, visible = text[: match.start()], visible[: match.start()]
    inner = visible.lstrip(_EMPHASIS)
    text, visible = text[len(visible) - len(inner) :].rstrip(), inner.rstrip()
    if not visible.strip(_EMPHASIS):
        return (None,)
    if match := _EXPLANATION.match(visible):
        return (text[match.end() :].strip(),)
    if visible.startswith("（"):  # written without a blank before
        text, visible = " " + text, " " + visible
    start = opening_bracket(visible, len(visible))
    if start is not None and not visible[:start].strip():
        return (text[start + 1 : -1].strip() or None,)
    return None


def _markdown_link(body: Body, written: MarkdownLink) -> Link | None:
    """A link to a `.md` file, or to a file with a known ending; the rest leads out of the notes."""
    destination = written.destination
    path, anchor, attachment = destination, "", False
    if not _PLAIN_PATH.fullmatch(destination):
        if _SCHEME.match(destination) or destination.startswith(("#", "//")):
            return None
        path, _, anchor = destination.partition("#")
        path = unquote(path.partition("?")[0]).strip()
        anchor = unquote(anchor).strip()
        attachment = is_attachment(path)
        if not attachment and (path[-3:].lower() != ".md" or not _names_something(path)):
            return None
    return _new_link(
        LinkForm.MARKDOWN,
        path,
        LINKS_TO,
        body.line(written.start),
        written.start + body.base,
        written.end + body.base,
        anchor,
        written.label.strip(),
        None,
        attachment,
    )

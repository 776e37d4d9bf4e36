"""One list item's text -> an observation. Spec 3.3, FORMAT "Observations"."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from memoranda.markdown.body import MASK

_CATEGORY: Final = re.compile(r"\[([^\[\]()\x00]+)\]\s+(\S)")
_PLAIN: Final = re.compile(
    r"\[([^\[\]()\x00]++)\]\s++([^\s#^][^#^]*+)((?:#[\w/-]++(?:\s++|\Z))*+)(?:\(([^()\\#^]*+)\)\s*+)?"
)
"""Category, sentence, tags, context, and no block id or sign of a tag elsewhere."""
_TIME: Final = re.compile(
    r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?"
    r"(?:\s*(?:-+>?|–|—|→)\s*\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?)?"
)
_QUOTED_ATTRIBUTE: Final = re.compile(r"[\w.-]+\s*:\s*(?:\".*\"|'.*')")
_FIELD: Final = re.compile(r"\[([^\[\]()\x00:]+)::([^\[\]]*)\]|\(([^\[\]()\x00:]+)::([^()]*)\)")
# ASCII signs but - / _ end a tag; what else of Unicode does is decided in `_tag_end`.
_TAG: Final = re.compile(r"(?<![\w#&/\\\x00])#(?!/)([^\s\x00-\x2c.\x3a-\x40\x5b-\x5e`\x7b-\x7f]+)")
_LETTER: Final = re.compile(r"[A-Za-z]")
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_SHORT: Final = 64
_COLOUR_LENGTHS: Final = (3, 6, 8)
_BLOCK_ID: Final = re.compile(r"\^([A-Za-z0-9-]+)")
_BRACKETS: Final = {")": "(", "）": "（"}


class Fact(NamedTuple):
    """What an item says, without its place. Fields as in `model.note.Observation`."""

    category: str
    content: str
    tags: tuple[str, ...]
    context: str | None
    block_id: str | None
    attributes: dict[str, str]


def read_fact(text: str, visible: str) -> Fact | None:
    """Read `[category] content #tag (context) [key:: value] ^id`; None if it is no observation.

    Not observations: task boxes with any single ASCII sign, callouts, inline fields, footnotes,
    time codes, `[key: "value"]` attributes of other tools. Links are told apart by the caller.

    Args:
        text: the item's first paragraph on one line.
        visible: the same with code, HTML, math and links as `MASK`, so that signs in them do not count.
    """
    match = _PLAIN.fullmatch(visible)
    if match is not None and (fact := _read_plain(match, text, visible)) is not None:
        return fact
    if match is None and (match := _CATEGORY.match(visible)) is None:
        return None
    category = text[1 : match.end(1)].strip()
    if not _is_category(category):
        return None
    at = match.start(2)
    return _read_content(category, text[at:].rstrip(), visible[at:].rstrip())


def tags_of(visible: str) -> list[tuple[int, int, str]]:
    """Every `#tag` with its range, the sign included. Digits alone and hex colours are no tags."""
    if "#" not in visible:
        return []
    found = []
    for match in _TAG.finditer(visible):
        name = _tag_name(match[1])
        if name:
            found.append((match.start(), match.start() + 1 + len(name), name))
    return found


def _is_category(text: str) -> bool:
    if len(text) < 2 and text.isascii():
        return False
    if text.isalpha():
        return True
    if text[0] in "!^" or "::" in text:
        return False
    if text[0].isdigit() and _TIME.fullmatch(text):
        return False
    return not (text[-1] in "\"'" and _QUOTED_ATTRIBUTE.fullmatch(text))


def _tag_name(text: str) -> str:
    if not text.isalpha():
        if not text.isascii():
            text = text[: _tag_end(text)]
        text = text.rstrip("-/")
        if text.isdigit() or (text.isascii() and not _LETTER.search(text)):
            return ""
    return "" if _is_colour(text) else text


def _is_colour(text: str) -> bool:
    """`#a1b2c3`, `#f0f`, `#ccc`, but not words as `#facade` and `#bad`, nor codes as `#d39`."""
    if len(text) not in _COLOUR_LENGTHS or not _HEX.fullmatch(text):
        return False
    signs = set(text.lower())
    if len(text) == 3:
        return len(signs) == 1 or signs == {"0", "f"}
    return len(signs) == 1 or any(c.isdigit() for c in text)


def _tag_end(text: str) -> int:
    """Letters, digits, marks and symbols (emoji) of all scripts belong to a tag; punctuation ends it."""
    for at, sign in enumerate(text):
        if sign in "-_/" or sign.isalnum():
            continue
        kind = unicodedata.category(sign)
        if kind[0] == "M" or kind in ("So", "Sk") or sign in "\u200d\u200c":
            continue
        return at
    return len(text)


def _read_plain(match: re.Match[str], text: str, visible: str) -> Fact | None:
    """The short way for most items: a sentence, tags and a context. None if it may be more than that."""
    category, sentence, tail, inner = match.groups()
    category = category.strip()
    if "::" in visible or not _is_category(category):
        return None
    tags: tuple[str, ...] = ()
    if tail:
        if not sentence[-1].isspace():
            return None
        tags = _known_tail_tags(tail) if len(tail) < _SHORT else _tail_tags(tail)
        if not tags:
            return None
    at = match.start(2)
    end = at + len(sentence.rstrip())
    context: str | None = None
    if inner is not None:
        context = text[match.start(4) : match.end(4)].strip() or None
    elif (
        visible[end - 1] in _BRACKETS
        and (start := opening_bracket(visible, end)) is not None
        and start > at
    ):
        context = text[start + 1 : end - 1].strip() or None
        end = at + len(visible[at:start].rstrip())
    content = text[at:end].strip()
    return Fact(category, content, tags, context, None, {}) if content else None


def _tail_tags(tail: str) -> tuple[str, ...]:
    """The tags of `#one #two`; () if one of them is none, or goes on behind its name."""
    names = [name[1:] for name in tail.split()]
    if any(_tag_name(name) != name for name in names):
        return ()
    return tuple(dict.fromkeys(names))


_known_tail_tags = lru_cache(maxsize=1024)(_tail_tags)


def _read_content(category: str, text: str, visible: str) -> Fact | None:
    """Read from the end, in any order: block id, fields, tags and one context."""
    fields: list[tuple[int, int, str, str]] = []
    if "::" in visible:
        fields = [_field(match, text) for match in _FIELD.finditer(visible)]
        # Signs in a field belong to the field.
        visible = _FIELD.sub(lambda match: MASK * len(match[0]), visible)
    tags = tags_of(visible)
    pieces = [*tags, *((start, end, value) for start, end, _, value in fields)] if fields else tags
    starts = {end: start for start, end, _ in pieces}
    end = len(visible)
    block_id: str | None = None
    context: tuple[int, int] | None = None
    while end > 0:
        if visible[end - 1].isspace():
            end -= 1
        elif (start := starts.get(end)) is not None:
            end = start
        elif block_id is None and (match := _last_block_id(visible, end)):
            block_id = match[1]
            end = match.start()
        elif context is None and (start := opening_bracket(visible, end)) is not None:
            if not visible[:start].strip():
                break
            context = (start + 1, end - 1)
            end = start
        else:
            break
    if fields:
        pieces.sort()
    content = _plain(text, 0, end, pieces)
    if not content:  # nothing but tags or fields: they are what the item says
        outside = context or (len(text), len(text))
        content = " ".join(
            shown for at, _, shown in pieces if shown and not outside[0] <= at < outside[1]
        )
    if not content:
        return None
    attributes: dict[str, str] = {}
    for _, _, key, value in fields:
        attributes.setdefault(key, value)
    return Fact(
        category,
        content,
        tuple(dict.fromkeys([name for _, _, name in tags])) if tags else (),
        (_plain(text, *context, pieces) or None) if context else None,
        block_id,
        attributes,
    )


def _field(match: re.Match[str], text: str) -> tuple[int, int, str, str]:
    group = 1 if match[1] is not None else 3
    value = text[match.start(group + 1) : match.end(group + 1)].strip()
    return match.start(), match.end(), match[group].strip(), value


def _last_block_id(visible: str, end: int) -> re.Match[str] | None:
    start = visible.rfind(" ", 0, end) + 1
    return _BLOCK_ID.fullmatch(visible, start, end) if visible.startswith("^", start) else None


def opening_bracket(visible: str, end: int) -> int | None:
    """Where the balanced `( )` begins that ends before `end` and has a blank in front; else None."""
    close = visible[end - 1] if end else ""
    opening = _BRACKETS.get(close)
    if opening is None or _escaped(visible, end - 1):
        return None
    at = visible.rfind(opening, 0, end)
    if at < 0:
        return None
    if visible.find(close, at) == end - 1 and not _escaped(visible, at):  # no bracket inside
        return at if at > 0 and visible[at - 1].isspace() else None
    depth = 0
    for at in range(end - 1, -1, -1):
        sign = visible[at]
        if sign == close and not _escaped(visible, at):
            depth += 1
        elif sign == opening and not _escaped(visible, at):
            depth -= 1
            if depth == 0:
                return at if at > 0 and visible[at - 1].isspace() else None
    return None


def _escaped(text: str, at: int) -> bool:
    return at > 0 and text[at - 1] == "\\"


def _plain(text: str, start: int, end: int, pieces: list[tuple[int, int, str]]) -> str:
    """A stretch of text in which tags have lost their sign and fields are their values."""
    if not pieces or pieces[0][1] > end:
        return text[start:end].strip()
    parts: list[str] = []
    at = start
    for left, right, shown in pieces:
        if left >= at and right <= end:
            parts += (text[at:left], shown)
            at = right
    parts.append(text[at:end])
    return "".join(parts).strip()

"""One list item's text -> an observation. Spec 3.3, FORMAT "Observations"."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from memoranda.markdown.blocks import MASK

_CATEGORY: Final = re.compile(r"\[([^\[\]()\x00]+)\]\s+(?=\S)")
_TIME: Final = re.compile(
    r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?"
    r"(?:\s*(?:-+>?|–|—|→)\s*\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?)?"
)
_QUOTED_ATTRIBUTE: Final = re.compile(r"[\w.-]+\s*:\s*(?:\".*\"|'.*')")
_FIELD: Final = re.compile(r"\[([^\[\]()\x00:]+)::([^\[\]]*)\]|\(([^\[\]()\x00:]+)::([^()]*)\)")
# ASCII signs but - / _ end a tag; what else of Unicode does is decided in `_tag_end`.
_TAG: Final = re.compile(r"(?<![\w#&/\x00])#([^\s\x00-\x2c.\x3a-\x40\x5b-\x5e`\x7b-\x7f]+)")
_HEX_COLOUR: Final = re.compile(r"(?i:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})")
_BLOCK_ID: Final = re.compile(r"\^([A-Za-z0-9-]+)")
_BRACKETS: Final = {")": "(", "）": "（"}


@dataclass(frozen=True, slots=True)
class Fact:
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
    match = _CATEGORY.match(visible)
    if match is None:
        return None
    category = text[1 : match.end(1)].strip()
    if not _is_category(category):
        return None
    return _read_content(category, text[match.end() :].rstrip(), visible[match.end() :].rstrip())


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
    if not text or (len(text) == 1 and text.isascii()):
        return False
    if text[0] in "!^" or "::" in text:
        return False
    if text[0].isdigit() and _TIME.fullmatch(text):
        return False
    return not (text[-1] in "\"'" and _QUOTED_ATTRIBUTE.fullmatch(text))


def _tag_name(text: str) -> str:
    if not text.isascii():
        text = text[: _tag_end(text)]
    text = text.rstrip("-/").lstrip("/")
    if not text or text.isdigit() or (text.isascii() and not any(c.isalpha() for c in text)):
        return ""
    return "" if _is_colour(text) else text


def _is_colour(text: str) -> bool:
    """`#a1b2c3`, `#f0f`, `#ccc`, but not words as `#facade` and `#bad`, nor codes as `#d39`."""
    if not _HEX_COLOUR.fullmatch(text):
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


def _read_content(category: str, text: str, visible: str) -> Fact | None:
    fields: list[tuple[int, int, str, str]] = []
    if "::" in visible:
        fields = [_field(match, text) for match in _FIELD.finditer(visible)]
        # Signs in a field belong to the field.
        visible = _FIELD.sub(lambda match: MASK * len(match[0]), visible)
    tags = tags_of(visible)
    rest = _Trailing(text, visible, fields, tags)
    rest.read()
    pieces = [*tags, *((start, end, value) for start, end, _, value in fields)]
    pieces.sort()
    content = _plain(text, 0, rest.end, pieces)
    if not content:  # nothing but tags or fields: they are what the item says
        content = _plain(text, 0, rest.first_end, pieces)
    if not content:
        return None
    context = None
    if rest.context is not None:
        context = _plain(text, *rest.context, pieces) or None
    attributes: dict[str, str] = {}
    for _, _, key, value in fields:
        attributes.setdefault(key, value)
    names = tuple(dict.fromkeys(name for _, _, name in tags))
    return Fact(category, content, names, context, rest.block_id, attributes)


def _field(match: re.Match[str], text: str) -> tuple[int, int, str, str]:
    group = 1 if match[1] is not None else 3
    value = text[match.start(group + 1) : match.end(group + 1)].strip()
    return match.start(), match.end(), match[group].strip(), value


class _Trailing:
    """Reads from the end, in any order: block id, fields, tags, one context."""

    def __init__(
        self,
        text: str,
        visible: str,
        fields: list[tuple[int, int, str, str]],
        tags: list[tuple[int, int, str]],
    ) -> None:
        self.text, self.visible = text, visible
        self.starts = {end: start for start, end, *_ in fields}
        self.starts |= {end: start for start, end, _ in tags}
        self.end = self.first_end = len(visible)
        self.context: tuple[int, int] | None = None
        self.block_id: str | None = None

    def read(self) -> None:
        visible = self.visible
        while self.end > 0:
            while self.end > 0 and visible[self.end - 1].isspace():
                self.end -= 1
            if (start := self.starts.get(self.end)) is not None:
                self.end = start
            elif not (self._take_block_id() or self._take_context()):
                break

    def _take_block_id(self) -> bool:
        if self.block_id is not None:
            return False
        start = self.visible.rfind(" ", 0, self.end) + 1
        match = _BLOCK_ID.fullmatch(self.visible, start, self.end)
        if match is None:
            return False
        self.block_id = match[1]
        if self.end == self.first_end:
            self.first_end = start
        self.end = start
        return True

    def _take_context(self) -> bool:
        if self.context is not None or self.end == 0:
            return False
        start = opening_bracket(self.visible, self.end)
        if start is None or not self.visible[:start].strip():
            return False
        self.context = (start + 1, self.end - 1)
        self.end = start
        return True


def opening_bracket(visible: str, end: int) -> int | None:
    """Where the balanced `( )` begins that ends before `end` and has a blank in front; else None."""
    close = visible[end - 1] if end else ""
    opening = _BRACKETS.get(close)
    if opening is None or _escaped(visible, end - 1):
        return None
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
    parts: list[str] = []
    at = start
    for left, right, shown in pieces:
        if left >= at and right <= end:
            parts += (text[at:left], shown)
            at = right
    parts.append(text[at:end])
    return "".join(parts).strip()

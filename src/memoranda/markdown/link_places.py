"""Where the target of a link stands in the source, and how a new one is written there."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from memoranda.markdown.body import Span
from memoranda.markdown.edit_layout import Reading, WrittenLink
from memoranda.markdown.relations import wiki_link
from memoranda.model.note import Link, LinkForm

_GAP: Final = re.compile(rb"[ \t]*(?:(?:\r\n|\r|\n)[ \t>]*)?")
_LABEL_END: Final = re.compile(rb"(?:[ \t]|(?:\r\n|\r|\n)[ \t>]*)*\]\(")
_ANGLE: Final = re.compile(rb"<((?:[^<>\\\r\n]|\\.)*)>")
_SIGN: Final = re.compile(rb"\\[!-/:-@\[-`{-~]|[()]|[\x00-\x20\x7f]")
_DEFINITION: Final = re.compile(rb"\[((?:[^\[\]\\]|\\.){1,999})\]:", re.DOTALL)
_ESCAPE: Final = re.compile(
    r"\\([!-/:-@\[-`{-~])|&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);"
)
_ENCODED: Final = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_ANCHOR: Final = re.compile(rb"[#?]")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_REFERENCE: Final = "Reference", "Collapsed", "Shortcut"

_NEVER_PLAIN: Final = frozenset('%#?<>\\`|$"[]\x7f').union(map(chr, range(32)))
_PLAIN_IF_IT_WAS: Final = frozenset('$"[]')


@dataclass(frozen=True, slots=True)
class TargetPlace:
    """The bytes of a link's target, without anchor, label and title.

    Attributes:
        written: what stands there; None for a wiki link, whose name is not encoded.
        in_angles: a Markdown destination between `<` and `>`.
        name: the definition that a reference link uses, else "".
    """

    start: int
    end: int
    written: str | None = None
    in_angles: bool = False
    name: str = ""

    def text_for(self, target: str) -> str:
        """The target as it is written here."""
        if self.written is None:
            return target
        return _encoded(target, self.written, in_angles=self.in_angles)


def target_place(
    reading: Reading, link: Link, written: WrittenLink | None, definitions: Definitions
) -> TargetPlace | None:
    """Where the link's target is written; None if it is not found in so many words.

    Args:
        reading: the note.
        link: one of its links.
        written: the same as the Markdown reader sees it, if it is of Markdown's form.
        definitions: of the note.
    """
    if link.form is not LinkForm.MARKDOWN:
        return _wiki_place(reading.data, link)
    if written is None:
        return None
    name = ""
    if written.style == "Inline":
        match = _LABEL_END.match(reading.data, _label_end(reading.data, written))
        begin = match.end() if match else None
    elif written.style in _REFERENCE:
        name = normalized_label(written.name)
        begin = definitions.places.get(name)
    else:
        begin = None
    if begin is None:
        return None
    return _destination_place(reading.data, begin, written.destination, link, name)


@dataclass(frozen=True, slots=True)
class Definitions:
    """The link definitions `[label]: destination`: normalised label -> byte after the colon.

    Of several with one label the first counts, as for the Markdown reader.
    """

    places: Mapping[str, int]


def definitions_of(reading: Reading) -> Definitions:
    """Find the definitions: they stand where the reader sees no text and no code."""
    places: dict[str, int] = {}
    covered = sorted(reading.layout.covered)
    for match in _DEFINITION.finditer(reading.data, reading.note.body_start):
        if not _is_covered(covered, match.start()):
            name = normalized_label(match[1].decode("utf-8", "replace"))
            places.setdefault(name, match.end())
    return Definitions(places)


def normalized_label(text: str) -> str:
    """What two spellings of one label share. Source: CommonMark 0.31, link reference definitions."""
    return " ".join(re.sub(r"[\r\n][ \t>]*", " ", text).split()).casefold()


def _is_covered(spans: Sequence[Span], at: int) -> bool:
    index = bisect_right(spans, at, key=lambda span: span[0]) - 1
    return index >= 0 and at < spans[index][1]


def _wiki_place(data: bytes, link: Link) -> TargetPlace | None:
    start = link.start + (1 if data.startswith(b"!", link.start) else 0) + 2
    end = link.end - 2
    if data[start - 2 : start] != b"[[" or data[end : link.end] != b"]]" or end < start:
        return None
    inner = data[start:end].decode("utf-8", "replace")
    read = wiki_link(inner, form=link.form, relation_type="", line=0, start=0, end=0)
    if read is None or (read.target, read.anchor, read.label) != (
        link.target,
        link.anchor,
        link.label,
    ):
        return None
    name, bar, _ = inner.partition("|")
    if bar and name.endswith("\\"):
        name = name[:-1]
    name = name.partition("#")[0]
    lead = len(name) - len(name.lstrip())
    start += len(name[:lead].encode())
    return TargetPlace(start, start + len(name.strip().encode()))


def _label_end(data: bytes, written: WrittenLink) -> int:
    if written.inner_end >= 0:
        return written.inner_end
    return written.start + (2 if data.startswith(b"!", written.start) else 1)


def _destination_place(
    data: bytes, begin: int, destination: str, link: Link, name: str
) -> TargetPlace | None:
    gap = _GAP.match(data, begin)
    start = gap.end() if gap else begin
    angle = _ANGLE.match(data, start)
    if angle is not None:
        start, end = angle.span(1)
    else:
        end = _bare_end(data, start)
    if unescaped(data[start:end].decode("utf-8", "replace")) != destination:
        return None
    if match := _ANCHOR.search(data, start, end):
        end = match.start()
    written = data[start:end].decode("utf-8", "replace")
    if unquote(unescaped(written)).strip() != link.target:
        return None
    return TargetPlace(start, end, written, angle is not None, name)


def _bare_end(data: bytes, start: int) -> int:
    """Where a destination without angle brackets ends: at a blank or a bracket too many."""
    depth = 0
    for match in _SIGN.finditer(data, start):
        sign = match[0]
        if sign == b"(":
            depth += 1
        elif sign == b")":
            depth -= 1
            if depth < 0:
                return match.start()
        elif len(sign) == 1:
            return match.start()
    return len(data)


def unescaped(text: str) -> str:
    """Backslash escapes and entities resolved."""
    return _ESCAPE.sub(lambda match: match[1] or html.unescape(match[0]), text)


def _encoded(target: str, old: str, *, in_angles: bool) -> str:
    """A path as a destination: encoded as the old one was, and where Markdown or the reader asks for it.

    A sign that was encoded in the old one is encoded in the new one; letters of other scripts are
    all encoded if one was.
    """
    codes = "".join(_ENCODED.findall(old))
    was_encoded = set(unquote(codes))
    scripts = any(not sign.isascii() for sign in was_encoded)
    lower = codes != codes.upper()
    plain = set(_ENCODED.sub("", unescaped(old))) & _PLAIN_IF_IT_WAS
    if in_angles or ("(" in old and _is_balanced(target)):
        plain |= {"(", ")"}
    if in_angles:
        plain.add(" ")
    scheme = _SCHEME.match(target)
    parts: list[str] = []
    for at, sign in enumerate(target):
        must = (
            (sign in _NEVER_PLAIN and sign not in plain)
            or (sign in " ()" and sign not in plain)
            or (sign == "&" and _ESCAPE.match(target, at) is not None)
            or (sign == ":" and scheme is not None and at == scheme.end() - 1)
            or sign in was_encoded
            or (scripts and not sign.isascii())
        )
        if not must:
            parts.append(sign)
            continue
        code = "".join(f"%{byte:02x}" for byte in sign.encode("utf-8", "surrogatepass"))
        parts.append(code if lower else code.upper())
    return "".join(parts)


def _is_balanced(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0

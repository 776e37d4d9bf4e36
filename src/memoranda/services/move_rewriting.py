"""The links of one note pointed at their notes and files again, as far as they can be. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memoranda.errors import InvalidArgument
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.file_links import file_links
from memoranda.markdown.link_edits import retarget_links, unwritable_links
from memoranda.markdown.source import decode, encode
from memoranda.model.address import NotePath
from memoranda.model.moves import LinkLeft, RewrittenLink
from memoranda.model.note import Link, LinkForm, SourceText
from memoranda.services.reading import ReadNote

NO_NAME = "no name means the note alone"
_TOO_MANY = "too many links of the note cannot be written for each of them to be tried"
_MOST_APART = 50
"""So many links that cannot be written are told apart; each costs reading the note some times."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A link with the targets that would do, best first, each another than it has; none: it cannot be kept."""

    link: Link
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What became of a note.

    Attributes:
        data: its new bytes; the old ones when nothing is rewritten.
        links: in document order.
        left: links that could not be rewritten.
    """

    data: bytes
    links: tuple[RewrittenLink, ...] = ()
    left: tuple[LinkLeft, ...] = ()


def rewrite(data: bytes, note: ReadNote, wishes: Sequence[Wish]) -> Rewriting:
    """Point links at other names.

    Args:
        data: the bytes of the note.
        note: the same, read at the path it has after the move.
        wishes: of links of this note, in document order.
    """
    settling = _Settling(note.source.text, note.parsed.path)
    for wish in wishes:
        if not wish.names:
            settling.leave(wish, NO_NAME)
    settling.settle_all([wish for wish in wishes if wish.names])
    text = settling.text()
    left = tuple(sorted(settling.left, key=lambda one: one.line))
    if text == note.source.text:
        return Rewriting(data, left=left)
    new = _encoded(text, note.source)
    if new is None:
        reason = f"the file is not UTF-8, and {note.source.encoding} cannot hold the new name"
        path = note.parsed.path
        lost = [LinkLeft(path, link.line, link.target, reason) for link in settling.chosen]
        return Rewriting(data, left=tuple(sorted((*left, *lost), key=lambda one: one.line)))
    return Rewriting(new, _shown(note, text, settling), left)


def _encoded(text: str, source: SourceText) -> bytes | None:
    """The bytes of a text in the encoding of its file; None when they would not be read as this text."""
    try:
        data = encode(SourceText(text, source.encoding, source.bom))
    except InvalidArgument:
        return None
    return data if decode(data).text == text else None


class _Settling:
    """Finds out which links can be written, and how."""

    def __init__(self, text: str, path: NotePath) -> None:
        self._text = text
        self._path = path
        self._apart = 0
        self._written: tuple[dict[Link, str], str] = ({}, text)
        self.chosen: dict[Link, str] = {}
        self.left: list[LinkLeft] = []

    def settle_all(self, wishes: Sequence[Wish]) -> None:
        """Choose a name for each link; those whose place is not found do not hold up the rest."""
        if not wishes:
            return
        if not self._try_firsts(wishes):
            return
        try:
            reasons = unwritable_links(self._text, [wish.link for wish in wishes], self._path)
        except InvalidArgument as error:
            reasons = {wish.link: error.message for wish in wishes}
        for wish in wishes:
            if wish.link in reasons:
                self.leave(wish, reasons[wish.link])
        self._settle([wish for wish in wishes if wish.link not in reasons])

    def _settle(self, wishes: Sequence[Wish]) -> None:
        """For all at once, else for each half."""
        if not wishes:
            return
        reason = self._try_firsts(wishes)
        if not reason:
            return
        if len(wishes) > 1 and self._apart < _MOST_APART:
            middle = len(wishes) // 2
            self._settle(wishes[:middle])
            self._settle(wishes[middle:])
        elif len(wishes) > 1:
            for wish in wishes:
                self.leave(wish, _TOO_MANY)
        else:
            self._apart += 1
            self._settle_one(wishes[0], reason)

    def _try_firsts(self, wishes: Sequence[Wish]) -> str:
        """Take the best name of each; if the note cannot have them, why."""
        firsts = {wish.link: wish.names[0] for wish in wishes}
        if reason := self._trouble(self.chosen | firsts):
            return reason
        self.chosen |= firsts
        return ""

    def _settle_one(self, wish: Wish, reason: str) -> None:
        for name in wish.names[1:]:
            if self._apart >= _MOST_APART:
                break
            if not self._trouble(self.chosen | {wish.link: name}):
                self.chosen[wish.link] = name
                return
        self.leave(wish, reason)

    def leave(self, wish: Wish, reason: str) -> None:
        """Give a link up."""
        self.left.append(LinkLeft(self._path, wish.link.line, wish.link.target, reason))

    def text(self) -> str:
        """The text with all names that were chosen."""
        pairs, text = self._written
        if pairs == self.chosen:
            return text
        return retarget_links(self._text, self.chosen.items(), self._path)

    def _trouble(self, pairs: dict[Link, str]) -> str:
        """Why the note cannot have these targets; "" when it can."""
        try:
            self._written = (pairs, retarget_links(self._text, pairs.items(), self._path))
        except InvalidArgument as error:
            return error.message
        return ""


def _shown(note: ReadNote, text: str, settling: _Settling) -> tuple[RewrittenLink, ...]:
    """What was written and what is now; of a link that is defined elsewhere, or in the header, its target."""
    path = note.parsed.path
    before = note.source.text.encode("utf-8", "surrogatepass")
    after = text.encode("utf-8", "surrogatepass")
    links: list[RewrittenLink] = []
    parsed = parse_note(text, path)
    pairs = [*zip(note.parsed.links, parsed.links, strict=True)]
    if not settling.chosen.keys() <= set(note.parsed.links):
        of_files = (file_links(note.source.text, note.parsed, path), file_links(text, parsed, path))
        pairs += zip(*of_files, strict=True)
    for link, new in sorted(pairs, key=lambda pair: pair[0].start):
        if link not in settling.chosen:
            continue
        old_text, new_text = _written(before, link), _written(after, new)
        if link.form is LinkForm.FRONTMATTER or old_text == new_text:
            old_text, new_text = link.target, new.target
        links.append(RewrittenLink(path, new.line, old_text, new_text))
    return tuple(links)


def _written(data: bytes, link: Link) -> str:
    return data[link.start : link.end].decode("utf-8", "replace")

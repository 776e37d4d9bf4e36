"""A body cut into passages for full-text search: whole blocks of one section.

No word is lost: what is no observation and no explicit relation is in exactly one passage, reference
definitions and comments included. A heading's line opens the passage that follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from memoranda.markdown.blocks import Body, Document, Span
from memoranda.model.note import Passage

MAX_CHARS: Final = 1500
_BLANK: Final = " \t\r\n"
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*")


def read_passages(body: Body, document: Document, taken: Iterable[Span]) -> tuple[Passage, ...]:
    """Group the blocks; `taken` are the row ranges (0-based, inclusive) of items of their own."""
    if not body.shadow.strip(_BLANK):
        return ()
    hidden = {row for first, last in taken for row in range(first, last + 1)}
    rows = sorted({0, *(body.row(start) for start in document.blocks)})
    sections = {body.row(start): i for i, start in enumerate(document.heading_starts)}
    rows.append(len(body.line_starts) - 1)
    groups = _Groups(body)
    for first, end in pairwise(rows):
        if (section := sections.get(first)) is not None:
            groups.open(document.paths[section])
        if not hidden or hidden.isdisjoint(range(first, end)):
            groups.add(first, end)
            continue
        begin = first
        for row in range(first, end):
            if row in hidden:
                if row > begin:
                    groups.add(begin, row)
                begin = row + 1
        if end > begin:
            groups.add(begin, end)
    groups.flush()
    return tuple(groups.passages)


class _Groups:
    """Collects runs of lines of one section until they reach the size of a passage."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.passages: list[Passage] = []
        self._path: tuple[str, ...] = ()
        self._runs: list[Span] = []
        self._chars = 0

    def open(self, path: tuple[str, ...]) -> None:
        self.flush()
        self._path = path

    def add(self, first: int, end: int) -> None:
        """Add the rows `first` to `end` - 1."""
        starts, shadow = self.body.line_starts, self.body.shadow
        left, right = starts[first], starts[end]
        if blank := _BLANK_LINES.match(shadow, left, right):
            left = blank.end()
        right = left + len(shadow[left:right].rstrip(_BLANK))
        if right <= left:
            return
        # A character has at most four bytes: short blocks need no decoding to be measured.
        chars = right - left
        if chars > MAX_CHARS:
            chars = len(self.body.cut(left, right))
        if chars <= MAX_CHARS:
            self._put(left, right, chars)
        elif self.body.row(left) + 1 < self.body.row(right - 1) + 1:
            for row in range(self.body.row(left), self.body.row(right - 1) + 1):
                self.add(row, row + 1)
        else:
            self._add_long_line(left, right)

    def flush(self) -> None:
        if not self._runs:
            return
        body = self.body
        text = "\n".join(body.cut(left, right) for left, right in self._runs)
        first, last = self._runs[0][0], self._runs[-1][1] - 1
        if not text.isspace():
            self.passages.append(Passage(text, self._path, body.line(first), body.line(last)))
        self._runs, self._chars = [], 0

    def _put(self, left: int, right: int, chars: int) -> None:
        if self._runs and self._chars + chars > MAX_CHARS:
            self.flush()
        if self._runs:
            start, end = self._runs[-1]
            if not self.body.shadow[end:left].strip(_BLANK):
                self._runs[-1] = (start, right)
                self._chars += chars + left - end
                return
        self._runs.append((left, right))
        self._chars += chars + 1

    def _add_long_line(self, left: int, right: int) -> None:
        """Cut a line that is longer than a passage at blanks, else anywhere between characters."""
        text = self.body.cut(left, right)
        at = 0
        while at < len(text):
            end = at + MAX_CHARS
            if end < len(text) and (blank := text.rfind(" ", at + MAX_CHARS // 2, end)) > 0:
                end = blank + 1
            piece = text[at:end]
            size = len(piece.encode("utf-8"))
            if piece.strip():
                self._put(left, left + size, len(piece))
            left += size
            at = end

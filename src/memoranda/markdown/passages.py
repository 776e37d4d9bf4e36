"""A body cut into passages for full-text search: whole blocks of one section.

No word is lost: what is no observation and no explicit relation is in exactly one passage, reference
definitions and comments included (but for a comment inside such an item). A heading's line opens the passage that follows it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Set
from itertools import pairwise
from typing import Final

from memoranda.markdown.blocks import Document
from memoranda.markdown.body import Body
from memoranda.markdown.values import maker
from memoranda.model.note import Passage
from memoranda.text.graphemes import last_boundary

MAX_CHARS: Final = 1500
_new_passage: Final = maker(Passage)
_Run = tuple[int, int, int, int]
"""From byte to byte, from row to row (inclusive)."""
_BLANK: Final = " \t\r\n"
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*")


def read_passages(body: Body, document: Document, hidden: Set[int]) -> tuple[Passage, ...]:
    """Group the blocks; `hidden` are the rows (0-based) of items of their own."""
    if not body.shadow.strip(_BLANK):
        return ()
    headings = {
        heading.line - body.base_line: path
        for heading, path in zip(document.headings, document.paths, strict=True)
    }
    rows = [0, *map(body.row, document.blocks), len(body.line_starts) - 1]
    groups = _Groups(body)
    begin = 0  # the rows before the block at hand that were not added yet begin here
    for first, end in pairwise(rows):
        if first == end:
            continue
        path = headings.get(first)
        is_whole = not hidden or hidden.isdisjoint(range(first, end))
        if begin < first and not (path is None and is_whole and groups.have_room(begin, end)):
            groups.add(begin, first)
            begin = first
        if path is not None:
            groups.open(path)
        if not is_whole:
            for row in range(first, end):
                if row in hidden:
                    if row > begin:
                        groups.add(begin, row)
                    begin = row + 1
    if begin < rows[-1]:
        groups.add(begin, rows[-1])
    groups.flush()
    return tuple(groups.passages)


class _Groups:
    """Collects runs of lines of one section until they reach the size of a passage."""

    __slots__ = ("_body", "_chars", "_path", "_runs", "passages")

    def __init__(self, body: Body) -> None:
        self.passages: list[Passage] = []
        self._body = body
        self._path: tuple[str, ...] = ()
        self._runs: list[_Run] = []
        self._chars = 0

    def open(self, path: tuple[str, ...]) -> None:
        self.flush()
        self._path = path

    def have_room(self, first: int, end: int) -> bool:
        """Whether these rows are sure to fit into the passage at hand, so that they can be added as one."""
        starts = self._body.line_starts
        after = self._runs[-1][1] if self._runs else starts[first]
        return self._chars + starts[end] - after < MAX_CHARS

    def add(self, first: int, end: int) -> None:
        """Add the rows `first` to `end` - 1."""
        starts, shadow = self._body.line_starts, self._body.shadow
        left, right = starts[first], starts[end]
        if shadow[left] in _BLANK and (blank := _BLANK_LINES.match(shadow, left, right)):
            left = blank.end()
            first = bisect_right(starts, left, first, end) - 1
        chars = len(shadow[left:right].rstrip(_BLANK))
        if chars == 0:
            return
        right = left + chars
        last = bisect_right(starts, right - 1, first, end) - 1
        # A character has at most four bytes: short blocks need no decoding to be measured.
        if chars > MAX_CHARS:
            chars = len(self._body.cut(left, right))
        if chars <= MAX_CHARS:
            self._put((left, right, first, last), chars)
        elif first < last:
            for row in range(first, last + 1):
                self.add(row, row + 1)
        else:
            self._add_long_line(left, right, first)

    def flush(self) -> None:
        runs, body = self._runs, self._body
        if not runs:
            return
        left, right, first, last = runs[0]
        if len(runs) == 1:
            text = body.cut(left, right)
        else:
            text = "\n".join([body.cut(left, right) for left, right, _, _ in runs])
            last = runs[-1][3]
        if not text.isspace():
            base = body.base_line
            self.passages.append(_new_passage(text, self._path, first + base, last + base))
        runs.clear()
        self._chars = 0

    def _put(self, run: _Run, chars: int) -> None:
        runs = self._runs
        if runs:
            if self._chars + chars > MAX_CHARS:
                self.flush()
            else:
                start, end, first, _ = runs[-1]
                left, right, _, last = run
                if not self._body.shadow[end:left].strip(_BLANK):
                    runs[-1] = (start, right, first, last)
                    self._chars += chars + left - end
                    return
        runs.append(run)
        self._chars += chars + 1

    def _add_long_line(self, left: int, right: int, row: int) -> None:
        """Cut a line that is longer than a passage at blanks, else between what readers see as characters."""
        text = self._body.cut(left, right)
        at = 0
        while at < len(text):
            end, least = at + MAX_CHARS, at + MAX_CHARS // 2
            if end < len(text):
                blank = text.rfind(" ", least, end)
                end = blank + 1 if blank > 0 else last_boundary(text, end, least)
            piece = text[at:end]
            size = len(piece.encode("utf-8"))
            if piece.strip():
                self._put((left, left + size, row, row), len(piece))
            left += size
            at = end

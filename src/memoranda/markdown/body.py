"""The text of a note after its frontmatter, with its byte offsets and lines.

Scans for ASCII signs run over `Body.shadow`, the bytes seen as Latin-1 text, in which every byte is one
character: an offset found there is a byte offset, in any script.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Final

_WRAP: Final = re.compile(r"[\r\n][ \t\r\n>]*")
MASK: Final = "\x00"
"""Stands for every character of code, HTML, math and links in the second text of `Body.inline`."""

Span = tuple[int, int]
_NEAR: Final = 16


class Body:
    """The text after the frontmatter with its offsets.

    Args:
        text: without lone surrogates.
        base: byte offset of the body in the file.
        base_line: its first line in the file.
    """

    __slots__ = ("_row", "base", "base_line", "data", "line_starts", "shadow", "text")

    def __init__(self, text: str, base: int, base_line: int) -> None:
        self.text = text
        self.base = base
        self.base_line = base_line
        self.data = text.encode("utf-8")
        self.shadow = text if len(self.data) == len(text) else self.data.decode("latin-1")
        # bytes.splitlines knows \n, \r and \r\n only; str.splitlines would also cut at \f, \v, NEL.
        self.line_starts = [0, *accumulate(map(len, self.data.splitlines(keepends=True)))]
        self._row = 0

    def cut(self, start: int, end: int) -> str:
        """The text of a byte range."""
        if self.shadow is self.text:
            return self.text[start:end]
        return self.data[start:end].decode("utf-8", "replace")

    def row(self, offset: int) -> int:
        """0-based line of an offset inside the body. Quick if it is not far after the last one asked for."""
        starts, row = self.line_starts, self._row
        try:
            if offset >= starts[row]:
                if offset < starts[row + 1]:
                    return row
                if offset < starts[row + _NEAR]:
                    self._row = row = bisect_right(starts, offset, row, row + _NEAR) - 1
                    return row
        except IndexError:  # the last lines
            pass
        self._row = row = bisect_right(starts, offset) - 1
        return row

    def line(self, offset: int) -> int:
        """1-based line of the file."""
        return self.row(offset) + self.base_line

    def inline(
        self, pieces: Iterable[Span], masked: Iterable[Span], dropped: Iterable[Span] = ()
    ) -> tuple[str, str]:
        """The lines joined by one blank, twice: as written, and with the masked spans as `MASK`.

        Both are of one length. Dropped spans (comments) are in neither.
        """
        spans = sorted([(*span, True) for span in masked] + [(*span, False) for span in dropped])
        shown: list[str] = []
        visible: list[str] = []
        index = 0
        for start, end in pieces:
            if shown:
                shown.append(" ")
                visible.append(" ")
            at = start
            while index < len(spans) and spans[index][0] < end:
                left, right, keep = spans[index]
                if left > at:
                    self._append(shown, visible, at, left, hide=False)
                    at = left
                right_here = min(right, end)
                if right_here > at:
                    if keep:
                        self._append(shown, visible, at, right_here, hide=True)
                    at = right_here
                    if not keep and shown and shown[-1].endswith(" "):
                        at += self.shadow.startswith(" ", at, end)
                if right > end:
                    break
                index += 1
            if end > at:
                self._append(shown, visible, at, end, hide=False)
        return "".join(shown), "".join(visible)

    def _append(
        self, shown: list[str], visible: list[str], start: int, end: int, *, hide: bool
    ) -> None:
        text = self.cut(start, end)
        if "\n" in text or "\r" in text:
            text = _WRAP.sub(" ", text)
        shown.append(text)
        visible.append(MASK * len(text) if hide else text)

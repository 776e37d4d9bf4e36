"""Which words of a vocabulary may have been meant by a word that is not in it. Pure.

A word is near when one edit (two in a long word) makes it of the other: a letter too many, missing, wrong,
or two neighbours swapped. A vocabulary is sorted, so most of it need not be looked at: `Speller.after` says
from where on the next near word can be, and the vocabulary jumps there.

Source: optimal string alignment (Damerau 1964), the skipping after Schulz and Mihov, "Fast string
correction with Levenshtein automata" (2002).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memoranda.text.analysis import has_unspaced

SHORTEST: Final = 4
"""Letters of a word that may be misspelt: shorter ones are near to too many."""
_LONG: Final = 8
_LONGEST: Final = 40
_PAGE: Final = 0x100
_LAST: Final = 0x10FFFF
_ANY: Final = "\0"
_FAR: Final = 99


@dataclass(frozen=True, slots=True)
class NearWord:
    """A word of the vocabulary that is near. `items`: in how many it stands."""

    word: str
    edits: int
    items: int


def allowed_edits(word: str) -> int:
    """How many edits away a word may be meant: 0 for short words, numbers and unspaced scripts, 1 or 2."""
    if not SHORTEST <= len(word) <= _LONGEST or not word.isalpha() or has_unspaced(word):
        return 0
    return 1 if len(word) < _LONG else 2


def best(found: Iterable[NearWord], limit: int) -> list[NearWord]:
    """The likeliest: fewest edits, then in most items, then by alphabet."""
    return sorted(found, key=lambda one: (one.edits, -one.items, one.word))[:limit]


class Speller:
    """Compares one word with words that come in ascending order (by code point).

    Args:
        word: as the vocabulary would hold it, not empty.
        edits: how many may lie between.
        is_start_fixed: only words with the same first letter; else all of its script.

    Attributes:
        first: where to begin.
        end: words from here on are none of its business.
    """

    def __init__(self, word: str, edits: int, *, is_start_fixed: bool) -> None:
        page = ord(word[0]) // _PAGE * _PAGE
        self.first = word[0] if is_start_fixed else chr(page)
        self.end = chr((ord(word[0]) if is_start_fixed else page + _PAGE - 1) + 1)
        self._word = word
        self._edits = edits
        self._read = ""
        self._rows: list[list[int]] = [list(range(len(word) + 1))]

    def edits(self, other: str) -> int | None:
        """How many edits away another word is; None if too many."""
        self._compare(other)
        found = self._rows[-1][-1] if self._read == other else _FAR
        return found if found <= self._edits else None

    def after(self, other: str) -> str | None:
        """A text that no near word behind `other` comes before; None if there is none behind."""
        self._compare(other)
        for place in range(len(self._read), -1, -1):
            letter = self._next_letter(place, other[place : place + 1])
            if letter is None:
                continue
            self._cut(place)
            self._add(letter)
            while self._rows[-1][-1] > self._edits:  # as far as it is certain
                letter = self._next_letter(len(self._read), "")
                if letter is None or letter == _ANY:
                    break
                self._add(letter)
            return self._read if self._read < self.end else None
        return None

    def _compare(self, other: str) -> None:
        """Read a word as far as it may still become near; `_rows` has one row for each letter read."""
        same = 0
        for left, right in zip(other, self._read, strict=False):
            if left != right:
                break
            same += 1
        self._cut(same)
        for letter in other[same:]:
            self._add(letter)
            if min(self._rows[-1]) > self._edits:
                self._cut(len(self._read) - 1)
                break

    def _cut(self, length: int) -> None:
        self._read = self._read[:length]
        del self._rows[length + 1 :]

    def _add(self, letter: str) -> None:
        """Read a letter: edits between what is read and every beginning of ours, where there may be few."""
        word, above, place = self._word, self._rows[-1], len(self._read)
        row = [_FAR] * (len(word) + 1)
        if place < self._edits:
            row[0] = place + 1
        for at in range(max(0, place - self._edits), min(len(word), place + self._edits + 1)):
            edits = min(above[at + 1] + 1, row[at] + 1, above[at] + (word[at] != letter))
            if at and word[at - 1] == letter and self._read[-1:] == word[at]:
                edits = min(edits, self._rows[-2][at - 1] + 1)
            row[at + 1] = edits
        self._read += letter
        self._rows.append(row)

    def _next_letter(self, place: int, last: str) -> str | None:
        """The first letter behind `last` that may follow the first `place` letters read."""
        row, most = self._rows[place], self._edits
        if min(row) < most:
            code = ord(last) + 1 if last else 0
            return None if code > _LAST else chr(0xE000 if 0xD800 <= code < 0xE000 else code)
        letters = (own for own, edits in zip(self._word, row, strict=False) if edits <= most)
        return min((own for own in letters if own > last), default=None)

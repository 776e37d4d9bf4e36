"""The part of a text that shows why it was found. Pure.

Words are compared as the index compares them (case, accents, stems, prefixes); unspaced scripts by
the characters typed. The window is the one with the most different terms, then the most hits, then
the first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memoranda.text.analysis import folded, forms, has_unspaced, normalized, token, word_spans
from memoranda.text.query import Term

WIDTH = 240
_ELLIPSIS = "…"
_SCANNED_CHARS = 100_000
_JOINERS = "\u200d\ufe0e\ufe0f"


@dataclass(frozen=True, slots=True)
class Snippet:
    """A window of a text. Lines are counted from 0 inside the text, both inclusive."""

    text: str
    first_line: int
    last_line: int


def snippet(text: str, terms: Sequence[Term], *, width: int = WIDTH) -> Snippet:
    """The window of at most `width` characters (and an ellipsis at each cut) around the best hits.

    Cut between words; inside an unspaced run between characters, never before a combining mark.
    Without a hit it is the beginning of the text.
    """
    start, stop = _window(text, hits(text, terms), width)
    while start < stop and text[start].isspace():
        start += 1
    while start < stop and text[stop - 1].isspace():
        stop -= 1
    before = _ELLIPSIS if text[:start].strip() else ""
    after = _ELLIPSIS if text[stop:].strip() else ""
    first_line = text.count("\n", 0, start)
    return Snippet(
        before + text[start:stop] + after, first_line, first_line + text.count("\n", start, stop)
    )


def hits(text: str, terms: Sequence[Term]) -> list[tuple[int, int, int]]:
    """Where the terms are in the text: (start, stop, number of the term), in text order."""
    needles = _needles(tuple(terms))
    if not needles:
        return []
    found: list[tuple[int, int, int]] = []
    text = text[:_SCANNED_CHARS]
    for start, stop in needles.candidates(text) if text.isascii() else word_spans(text):
        word = text[start:stop]
        if not word.isascii() and has_unspaced(word):
            found += needles.inside(word, start)
        elif (number := needles.find(word)) is not None:
            found.append((start, stop, number))
    return sorted(found)


@lru_cache(maxsize=4)
def _needles(terms: tuple[Term, ...]) -> _Needles:
    """Shared by all texts of one answer: most of their words are looked at before."""
    return _Needles(terms)


class _Needles:
    """What words of a text are compared with; a word is looked at once."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._words: dict[str, int] = {}
        self._prefixes: list[tuple[str, int]] = []
        self._runs: list[tuple[str, int]] = []
        self._known: dict[str, int | None] = {}
        for number, term in enumerate(terms):
            self._add(term, number)
        initials = {form[:1] for form in (*self._words, *(p for p, _ in self._prefixes))}
        letters = re.escape("".join(sorted(one for one in initials if one.isascii())))
        self._candidate = re.compile(
            f"(?<![0-9a-z])[{letters}][0-9a-z]*" if letters else "(?!)", re.IGNORECASE
        )

    def __len__(self) -> int:
        return len(self._words) + len(self._runs)

    def find(self, word: str) -> int | None:
        """The number of the term that a word of a spaced script matches."""
        if word not in self._known:
            self._known[word] = self._compare(normalized(word))
        return self._known[word]

    def candidates(self, text: str) -> Iterator[tuple[int, int]]:
        """Where words of an ASCII text are that may match: a stem begins with its word's first letter."""
        return (match.span() for match in self._candidate.finditer(text))

    def inside(self, word: str, offset: int) -> list[tuple[int, int, int]]:
        """Where the terms are inside a word that holds unspaced script."""
        lowered = word.lower() if len(word.lower()) == len(word) else word
        found = []
        for needle, number in (*self._runs, *self._words.items()):
            at = lowered.find(needle)
            while at >= 0:
                found.append((offset + at, offset + at + len(needle), number))
                at = lowered.find(needle, at + len(needle))
        return found

    def _add(self, term: Term, number: int) -> None:
        written = [term.text[start:stop] for start, stop in word_spans(term.text)]
        for word in map(normalized, written):
            if has_unspaced(word):
                self._runs.append((word, number))
                continue
            self._words.setdefault(token(word), number)
            self._words.setdefault(folded(word), number)
        if len(written) == 1:
            for phrase in term.phrases[1:]:
                if " " not in phrase:
                    self._words.setdefault(phrase, number)
        if term.is_prefix and written and not has_unspaced(written[-1]):
            self._prefixes.append((token(normalized(written[-1])), number))

    def _compare(self, word: str) -> int | None:
        stored = token(word)
        for form in (stored, *forms(word)):
            if (number := self._words.get(form)) is not None:
                return number
        return next((n for prefix, n in self._prefixes if stored.startswith(prefix)), None)


def _window(text: str, found: Sequence[tuple[int, int, int]], width: int) -> tuple[int, int]:
    """Half-open range of the best window."""
    if len(text) <= width:
        return 0, len(text)
    if not found:
        return 0, _cut_before(text, width, lowest=width // 2)
    first, last = _densest(found, width)
    spare = max(0, width - (last - first))
    start = max(0, first - spare // 3)
    stop = min(len(text), start + max(width, last - first))
    start = max(0, min(start, stop - width))
    start = _cut_after(text, start, highest=first)
    return start, _cut_before(text, min(stop, start + width), lowest=min(last, start + width))


def _densest(found: Sequence[tuple[int, int, int]], width: int) -> tuple[int, int]:
    """From the first to the last hit of the best window; a hit wider than the window is cut."""
    best, best_range = (0, 0), (0, 0)
    counts: dict[int, int] = {}
    left = 0
    for start, stop, number in found:
        counts[number] = counts.get(number, 0) + 1
        while stop - found[left][0] > width and found[left][0] < start:
            gone = found[left][2]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
            left += 1
        if (value := (len(counts), sum(counts.values()))) > best:
            best, best_range = value, (found[left][0], min(stop, found[left][0] + width))
    return best_range


def _cut_after(text: str, at: int, *, highest: int) -> int:
    """The first place from `at` on where a word begins, not past `highest`."""
    if at == 0:
        return 0
    for place in range(at, highest + 1):
        if text[place - 1].isspace():
            return place
    while at < highest and _is_joined(text[at]):
        at += 1
    return at


def _cut_before(text: str, at: int, *, lowest: int) -> int:
    """The last place up to `at` where a word ends, not before `lowest`."""
    if at >= len(text):
        return len(text)
    for place in range(at, lowest - 1, -1):
        if text[place].isspace():
            return place
    while at > lowest and _is_joined(text[at]):
        at -= 1
    return at


def _is_joined(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character)[0] == "M"

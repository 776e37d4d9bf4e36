"""Words of scripts without blanks, as they are compared character by character. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from memoranda.text.graphemes import graphemes


def compared(word: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """A word with unspaced script as it is compared, and where each of its characters is written.

    A part of what a reader sees as one character is written where the whole of it is.
    """
    plain = unicodedata.normalize("NFKC", word).lower()
    if plain == word or (len(plain) == len(word) and plain == word.lower()):
        return plain, range(len(word)), range(1, len(word) + 1)
    parts: list[str] = []
    starts: list[int] = []
    stops: list[int] = []
    for start, stop in graphemes(word):
        part = unicodedata.normalize("NFKC", word[start:stop]).lower()
        parts.append(part)
        starts += [start] * len(part)
        stops += [stop] * len(part)
    return "".join(parts), starts, stops


def places_of(needle: str, text: str) -> Iterator[int]:
    """Where a text that is not empty begins in another one; places do not overlap."""
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + len(needle))

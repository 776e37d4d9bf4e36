"""A word worth searching for in a folder of notes that nobody has told us about. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from memoranda.model.note import NoteRef

_WORD = re.compile(r"[^\W\d_]{2,}")
_DULL = frozenset(
    {"about", "after", "also", "before", "from", "have", "index", "into", "list", "note", "notes"}
    | {"page", "readme", "that", "their", "this", "untitled", "what", "when", "where", "which"}
    | {"with", "your"}
)


def sample_word(notes: Sequence[NoteRef]) -> str | None:
    """The word most titles share, else the most common tag, else the longest title word.

    Words of one or two Latin letters and words that say nothing are left out; equal counts go by
    length, then alphabet. None when no title has a word.
    """
    words = Counter(word for note in notes for word in set(_words(note.title)))
    shared = {word: count for word, count in words.items() if count > 1}
    if shared:
        return _best(shared.items())
    tags = Counter(tag for note in notes for tag in set(note.tags) if _words(tag))
    if tags:
        return _best(tags.items())
    return _best(words.items()) if words else None


def _words(text: str) -> list[str]:
    found = (word.casefold() for word in _WORD.findall(text))
    return [word for word in found if word not in _DULL and (len(word) > 3 or not word.isascii())]


def _best(counted: Iterable[tuple[str, int]]) -> str:
    return min(counted, key=lambda item: (-item[1], -len(item[0]), item[0]))[0]

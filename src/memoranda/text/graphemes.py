"""Where a text may be cut without breaking what a reader sees as one character. Pure.

A small part of the rules: enough for marks, variation selectors, emoji sequences, flags, Hangul
written in jamo, Indic conjuncts and CR LF; rare prepended signs are not looked at.

Source: Unicode Standard Annex 29.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_JOINER = "\u200d"
_EXTENDING = frozenset("\u200c\u200d\u0e33\u0eb3\uff9e\uff9f")
_FIRST_MARK = "\u0300"
_VIRAMA_CLASS = 9
_SYLLABLES = range(0xAC00, 0xD7A4)


def is_boundary(text: str, at: int) -> bool:
    """Whether a text may be cut before the character `at`; both ends are boundaries."""
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if after < _FIRST_MARK:
        return not (before == "\r" and after == "\n")
    return not (_extends(after) or _holds(text, before, after, at))


def next_boundary(text: str, at: int, stop: int) -> int:
    """The first boundary from `at` on; `stop` if there is none before it."""
    while at < stop and not is_boundary(text, at):
        at += 1
    return at


def last_boundary(text: str, at: int, start: int) -> int:
    """The last boundary up to `at`; `start` if there is none behind it."""
    while at > start and not is_boundary(text, at):
        at -= 1
    return at


def graphemes(text: str) -> Iterator[tuple[int, int]]:
    """Half-open ranges of what a reader sees as one character, in text order."""
    start = 0
    while start < len(text):
        stop = next_boundary(text, start + 1, len(text))
        yield start, stop
        start = stop


def _extends(character: str) -> bool:
    return (
        character in _EXTENDING
        or unicodedata.category(character)[0] == "M"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _holds(text: str, before: str, after: str, at: int) -> bool:
    """Whether the character before binds the one after it."""
    if before == _JOINER:
        return True
    if _is_flag_half(after):
        first = at
        while first and _is_flag_half(text[first - 1]):
            first -= 1
        return (at - first) % 2 == 1
    if "\ud800" <= before <= "\udbff":
        return "\udc00" <= after <= "\udfff"
    if unicodedata.combining(before) == _VIRAMA_CLASS:
        return unicodedata.category(after) == "Lo"
    return _jamo(after) in _FOLLOWING.get(_jamo(before), "")


_FOLLOWING = {"L": "LVOC", "V": "VT", "O": "VT", "T": "T", "C": "T"}
"""Kind of Hangul -> kinds that go on with its syllable."""


def _jamo(character: str) -> str:
    """L, V, T: a part of a syllable; O, C: a whole one, open or closed; a blank for all others."""
    code = ord(character)
    if code < 0x1100 or code > 0xD7FB:
        return " "
    if code in _SYLLABLES:
        return "C" if (code - _SYLLABLES.start) % 28 else "O"
    if code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return "L"
    if code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6:
        return "V"
    return "T" if code <= 0x11FF or code >= 0xD7CB else " "


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"

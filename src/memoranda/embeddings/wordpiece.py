"""The uncased BERT WordPiece tokenizer, in pure Python.

It yields what the reference implementation yields: clean, split CJK, strip accents, lowercase, split at
spaces and punctuation, then take the longest piece of the vocabulary from the left, again and again.
No text is cut off.

Speed comes from memory: a text is split at spaces, and what stands between two spaces is looked up whole.
Source: Devlin et al. 2018, "BERT".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

UNKNOWN = "[UNK]"

_MOST_CHARACTERS = 100
"""A longer word is unknown as a whole."""

_MOST_REMEMBERED = 32_768
"""Runs of characters whose pieces are remembered; then all are forgotten at once."""

_LONGEST_REMEMBERED = 64
"""Characters of a run that is remembered; a longer one hardly comes twice."""

_REMOVED_SPACE = re.compile("[\x0b\x0c\x1c-\x1f\x85]+")
"""Spaces for Python, control characters for BERT, which drops them: the words on both sides are one."""


class WordPiece:
    """Splits text into pieces of one vocabulary. Safe to use from several threads.

    Attributes:
        pieces: the vocabulary; the number of a piece is its place in it.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        """`pieces` must have "[UNK]"; a piece that continues a word starts with "##"."""
        self.pieces = tuple(pieces)
        self._numbers = {piece: number for number, piece in enumerate(self.pieces)}
        self._unknown = self._numbers[UNKNOWN]
        self._longest = max(len(piece) for piece in self.pieces)
        self._characters = _Characters()
        self._remembered: dict[str, tuple[int, ...]] = {}

    def numbers(self, text: str) -> list[int]:
        """The pieces of the text in their order, as numbers; a word that is unknown is one "[UNK]"."""
        remembered = self._remembered
        found: list[int] = []
        for run in _REMOVED_SPACE.sub("", text).split():
            numbers = remembered.get(run)
            if numbers is None:
                numbers = self._look_up(run)
            found += numbers
        return found

    def _look_up(self, run: str) -> tuple[int, ...]:
        words = run.translate(self._characters).split()
        numbers = tuple(number for word in words for number in self._split(word))
        if len(run) <= _LONGEST_REMEMBERED:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[run] = numbers
        return numbers

    def _split(self, word: str) -> Sequence[int]:
        """The longest pieces from the left; one unknown if any part of the word is in no piece."""
        if len(word) > _MOST_CHARACTERS:
            return (self._unknown,)
        found: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                number = self._numbers.get(prefix + word[start:end])
                if number is not None:
                    found.append(number)
                    start, prefix = end, "##"
                    break
            else:
                return (self._unknown,)
        return found


_DROPPED = frozenset({"Cc", "Cf", "Co", "Cs"})
"""Control, format, private and surrogate characters. One that is not assigned stays, and is unknown."""


class _Characters(dict[int, str]):
    """What a character becomes, for `str.translate`: worked out when it first comes."""

    def __missing__(self, code: int) -> str:
        becomes = "".join(_normal(chr(code)))
        self[code] = becomes
        return becomes


def _normal(character: str) -> Iterator[str]:
    if character.isspace():
        yield " "
    elif character == "\ufffd" or unicodedata.category(character) in _DROPPED:
        return
    elif _is_ideograph(ord(character)):
        yield f" {unicodedata.normalize('NFD', character)} "
    else:
        for part in unicodedata.normalize("NFD", character):
            if unicodedata.category(part) == "Mn":
                continue
            yield f" {part} " if _is_punctuation(part) else part.lower()


def _is_punctuation(character: str) -> bool:
    """All signs of ASCII count, also those that Unicode calls symbols, such as "$" and "^"."""
    if character.isascii():
        return character.isprintable() and not character.isalnum() and character != " "
    return unicodedata.category(character).startswith("P")


def _is_ideograph(code: int) -> bool:
    """Chinese characters, each a word of its own; kana and Hangul are not among them."""
    return any(first <= code <= last for first, last in _IDEOGRAPHS)


_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)

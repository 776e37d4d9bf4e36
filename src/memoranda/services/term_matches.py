"""Where the terms of a query are in a text. Pure.

Words are compared as the index compares them (case, accents, stems, prefixes), unspaced scripts by
the characters typed, signs (`C++`, an emoji) as they are. A phrase is its words in a row; its words
elsewhere count less.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

from memoranda.services.unspaced import compared, places_of
from memoranda.text.analysis import (
    ENGLISH,
    Languages,
    beginnings,
    folded,
    forms,
    has_unspaced,
    keeps_beginnings,
    normalized,
    token,
    word_spans,
)
from memoranda.text.query import Term
from memoranda.text.stopwords import stop_words

SCANNED_CHARS = 100_000
_MOST_MATCHES = 2_000
_PRIVATE = range(0xE000, 0xE080)  # as `text.analysis` writes signs
_EMOJI = "\ue000"
_FORM, _EXACT, _PART, _PHRASE, _IN_ORDER = 3, 1, 1, 5, 1
_LONGEST_GAP = 3
_MOST_PARTS = 32

Worth = tuple[tuple[str, int], ...]
"""Feature -> its weight; a window counts each feature once."""


@dataclass(frozen=True, slots=True)
class Match:
    """Where something of the query is.

    Attributes:
        start, stop: half-open.
        term: number of the term.
        part: number of the word of a phrase that it is; None for a whole term.
    """

    start: int
    stop: int
    term: int
    worth: Worth
    part: int | None = None


def matches(text: str, terms: Sequence[Term], languages: Languages = ENGLISH) -> list[Match]:
    """Where the terms are, in text order. The first 100,000 characters are looked at."""
    return _needles(tuple(terms), languages).matches(text[:SCANNED_CHARS])


@lru_cache(maxsize=4)
def _needles(terms: tuple[Term, ...], languages: Languages) -> _Needles:
    """Shared by all texts of one answer: most of their words are looked at before."""
    return _Needles(terms, languages)


@dataclass(frozen=True, slots=True)
class _Needle:
    """What a word of a text may be: a whole term, or a word of a phrase."""

    term: int
    worth: Worth
    part: int | None = None

    def match(self, start: int, stop: int) -> Match:
        return Match(start, stop, self.term, self.worth, self.part)


class _Needles:
    """What words of a text are compared with; a word is looked at once."""

    def __init__(self, terms: Sequence[Term], languages: Languages) -> None:
        self._languages = languages
        self._stops = stop_words(languages)
        self._words: dict[str, tuple[_Needle, ...]] = {}
        self._prefixes: list[tuple[str, _Needle]] = []
        self._runs: list[tuple[str, _Needle]] = []
        self._signs: list[tuple[re.Pattern[str], _Needle]] = []
        self._phrases: list[tuple[int, tuple[int, ...]]] = []
        self._known: dict[str, tuple[_Needle, ...]] = {}
        for number, term in enumerate(terms):
            self._add(term, number)
        forms_ = (*self._words, *(begun for begun, _ in self._prefixes))
        begins = {begin for form in forms_ for begin in beginnings(folded(form))}
        is_any = bool(begins) and not keeps_beginnings(languages)
        self._may_begin = _MayBegin(begins, is_any=is_any)
        letters = "|".join(sorted(re.escape(one) for one in begins if one.isascii()))
        letters = "[0-9a-z]" if is_any else letters
        self._candidate = re.compile(
            f"(?<![0-9a-z])(?:{letters})[0-9a-z]*" if letters else "(?!)", re.IGNORECASE
        )

    def matches(self, text: str) -> list[Match]:
        found = [
            needle.match(*match.span())
            for pattern, needle in self._signs
            for match in pattern.finditer(text)
        ]
        if self._words or self._runs:
            found += self._in_words(text)
        found.sort(key=lambda one: (one.start, one.stop))
        del found[_MOST_MATCHES:]
        found += [*self._whole_phrases(text, found), *_in_order(text, found)]
        return sorted((one for one in found if one.worth), key=lambda one: (one.start, -one.stop))

    def _add(self, term: Term, number: int) -> None:
        exact = _Needle(number, _term_worth(number, is_exact=True))
        form = begun = _Needle(number, _term_worth(number, is_exact=False))
        signs = _signs_of(term)
        text = term.text if signs is None else signs
        places = islice(word_spans(text), _MOST_PARTS)
        words = [normalized(text[start:stop]) for start, stop in places]
        if signs is not None:
            self._signs.append((_signs_pattern(signs), exact))
        elif len(words) == 1:
            self._add_word(words[0], exact)
        elif words:
            last = self._add_phrase(words, number, self._stops)[-1]
            begun = _Needle(number, _part_worth(number, last), last)
        for phrase in term.phrases[1:]:
            if has_unspaced(phrase) or phrase.split() == words:
                continue  # the same, as the index holds it
            if " " in phrase:
                self._add_phrase(phrase.split(), number, frozenset(phrase.split()))
            else:
                self._put(phrase, form)
        if term.is_prefix and words and not has_unspaced(words[-1]):
            self._prefixes.append((token(words[-1]), begun))

    def _add_phrase(self, words: Sequence[str], term: int, silent: Set[str]) -> tuple[int, ...]:
        """A phrase and its words; alone, single letters and the silent words count nothing."""
        first = len(self._phrases) * _MOST_PARTS
        parts = tuple(first + words.index(word) for word in words)
        self._phrases.append((term, parts))
        for word, part in dict(zip(words, parts, strict=True)).items():
            is_telling = has_unspaced(word) or (len(word) > 1 and token(word) not in silent)
            self._add_word(word, _Needle(term, _part_worth(term, part) if is_telling else (), part))
        return parts

    def _add_word(self, word: str, needle: _Needle) -> None:
        if has_unspaced(word):
            self._runs.append((compared(word)[0], needle))
        else:
            self._put(token(word), needle)
            self._put(folded(word), needle)

    def _put(self, form: str, needle: _Needle) -> None:
        """A form may belong to several terms, but to one only once: to the exact form first."""
        known = self._words.get(form, ())
        if all((one.term, one.part) != (needle.term, needle.part) for one in known):
            self._words[form] = (*known, needle)

    def _in_words(self, text: str) -> Iterator[Match]:
        if text.isascii():
            for match in self._candidate.finditer(text):
                for needle in self._find(match[0]):
                    yield needle.match(*match.span())
            return
        may_begin, mixed = self._may_begin, has_unspaced(text)
        for start, stop in word_spans(text):
            if mixed and has_unspaced(word := text[start:stop]):
                yield from self._inside(word, start)
            elif may_begin[text[start : start + 2]]:
                for needle in self._find(text[start:stop]):
                    yield needle.match(start, stop)

    def _find(self, word: str) -> tuple[_Needle, ...]:
        if word not in self._known:
            self._known[word] = self._compare(normalized(word))
        return self._known[word]

    def _compare(self, word: str) -> tuple[_Needle, ...]:
        stored, written = token(word), folded(word)
        found: dict[tuple[int, int | None], _Needle] = {}
        for form in (stored, *forms(word, self._languages)):
            for needle in self._words.get(form, ()):
                if needle.part is None or form in {stored, written}:  # a phrase has no stems
                    found.setdefault((needle.term, needle.part), needle)
        for prefix, needle in self._prefixes:
            if stored.startswith(prefix):
                found.setdefault((needle.term, needle.part), needle)
        return tuple(found.values())

    def _inside(self, word: str, offset: int) -> Iterator[Match]:
        """Where the terms are inside a word that holds unspaced script."""
        plain, starts, stops = compared(word)
        for run, needle in self._runs:
            for at in places_of(run, plain):
                yield needle.match(offset + starts[at], offset + stops[at + len(run) - 1])
        for spaced, needles in self._words.items():
            for at in places_of(spaced, plain):
                end = at + len(spaced)
                if not (_goes_on(plain[at - 1 : at]) or _goes_on(plain[end : end + 1])):
                    for needle in needles:
                        yield needle.match(offset + starts[at], offset + stops[end - 1])

    def _whole_phrases(self, text: str, found: Sequence[Match]) -> Iterator[Match]:
        """Phrases whose words stand in a row."""
        if len(found) < 2:
            return
        for number, parts in self._phrases:
            own = [one for one in found if one.part in parts]
            for first in range(len(own) - len(parts) + 1):
                row = own[first : first + len(parts)]
                if all(one.part == part for one, part in zip(row, parts, strict=True)) and all(
                    _is_gap(text, one.stop, other.start) for one, other in pairwise(row)
                ):
                    yield Match(row[0].start, row[-1].stop, number, ((f"{number}~", _PHRASE),))


class _MayBegin(dict[str, bool]):
    """Whether a word may match, by its first two characters (`is_any`: it may); filled on demand."""

    def __init__(self, begins: Set[str], *, is_any: bool) -> None:
        self._begins = begins
        self._is_any = is_any

    def __missing__(self, begin: str) -> bool:
        plain = folded(normalized(begin))
        self[begin] = self._is_any or plain[:2] in self._begins or plain[:1] in self._begins
        return self[begin]


def _term_worth(term: int, *, is_exact: bool) -> Worth:
    return ((f"{term}", _FORM), (f"{term}!", _EXACT)) if is_exact else ((f"{term}", _FORM),)


def _part_worth(term: int, part: int) -> Worth:
    return ((f"{term}.{part}", _PART),)


def _signs_of(term: Term) -> str | None:
    """What is written for a term whose signs count (`c++`, `.net`, `1.2`, emoji); None for others."""
    exact = term.phrases[0] if term.phrases else ""
    if exact[:1] == _EMOJI:
        return "".join(chr(int(name[1:], 16)) for name in term.phrases)
    if any(ord(one) in _PRIVATE for one in exact):
        return "".join(chr(ord(c) - _PRIVATE.start) if ord(c) in _PRIVATE else c for c in exact)
    return None


def _signs_pattern(written: str) -> re.Pattern[str]:
    if not written.isascii():
        return re.compile("|".join(map(re.escape, written)))
    after = "(?![0-9a-z_])" if written[-1].isalnum() else "(?![0-9a-z_+#])"
    return re.compile(f"(?<![0-9a-z_]){re.escape(written)}{after}", re.IGNORECASE)


def _goes_on(character: str) -> bool:
    return character.isalnum() and not has_unspaced(character)


def _in_order(text: str, found: Sequence[Match]) -> Iterator[Match]:
    """Neighbours that stand in the text as they were typed: a term, a blank, the next."""
    for one, other in pairwise(found):
        between = text[one.stop : other.start]
        if other.term == one.term + 1 and len(between) == 1 and between.isspace():
            feature = f"{one.term}>{other.term}"
            yield Match(one.start, other.stop, other.term, ((feature, _IN_ORDER),))


def _is_gap(text: str, start: int, stop: int) -> bool:
    """Whether nothing but a few signs or blanks is between."""
    return 0 <= stop - start <= _LONGEST_GAP and not any(one.isalnum() for one in text[start:stop])

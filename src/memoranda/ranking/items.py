"""How well the text of one item answers the terms: BM25 over its fields. Pure.

Differs from the textbook in four ways, each measured (`docs/explanation/retrieval.md`): a term counts once for
any of its forms and half as much again for the exact one; short items are not told apart by their length;
the headings above an item count; terms that follow each other in the query and in the text add a bonus.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memoranda.ports import StoredItem
from memoranda.ranking.matching import TermMatches
from memoranda.text.analysis import (
    Languages,
    beginnings,
    emoji_terms,
    forms,
    has_unspaced,
    keeps_beginnings,
    normalized,
    signed_terms,
    token,
    written_words,
)
from memoranda.text.query import Term
from memoranda.text.stopwords import stop_words

FIELDS = ("title", "tags", "headings", "text")
_FIELD_WEIGHTS = (8.0, 3.0, 2.0, 1.0)
_SATURATION = 2.0
_LENGTH_SHARE = 0.75
_SHORT_WORDS = 40
_USUAL_WORDS = 100
_EXACT_SHARE = 0.5
_HEADING_SHARE = 0.6
_PHRASE_SHARE = 0.5
_PHRASE_GAP = 2
_HEADINGS, _TEXT = 2, 3
_OTHER_FORM = 0.8
_STOP_LETTERS = 0.25


@dataclass(frozen=True, slots=True)
class ItemScore:
    """A precise score.

    Attributes:
        terms: what each term adds, in the order of the terms.
        is_exact: whether each is there as it was typed.
        fields: what each of `FIELDS` adds.
        phrase: what terms in a row add.
        title: how far the query is the title, 0..1: the square of the part of the title that the terms
            are, times the part of the terms' worth that is in it.
    """

    key: int
    total: float
    terms: tuple[float, ...]
    is_exact: tuple[bool, ...]
    fields: tuple[float, ...]
    phrase: float
    title: float = 0.0


def no_score(key: int, terms: int) -> ItemScore:
    """The score of an item that has none of so many terms."""
    return ItemScore(key, 0.0, (0.0,) * terms, (False,) * terms, (0.0,) * len(FIELDS), 0.0)


class ItemScorer:
    """Scores items for the terms of one query; a word is looked at once."""

    def __init__(self, found: Sequence[TermMatches], languages: Languages) -> None:
        self._found = found
        self._languages = languages
        self._headings: dict[tuple[str, ...], frozenset[int]] = {}
        self._words = _Words([one.term for one in found], languages)
        self._runs = [
            (number, _in_a_row(one.term)) for number, one in enumerate(found) if _is_run(one.term)
        ]

    def score(self, item: StoredItem, present: Sequence[bool]) -> ItemScore:
        """Score one item; `present` says which terms the index found in it.

        A term that is there but not seen in the text counts once.
        """
        texts = (item.title, item.tags, item.headings, item.content)
        counted = [(place, self._count(text)) for place, text in enumerate(texts) if text]
        above = self._above(item.heading_path)
        words = sum(one.words for _, one in counted)
        length = 1 - _LENGTH_SHARE + _LENGTH_SHARE * max(words, _SHORT_WORDS) / _USUAL_WORDS
        shares, exact = [0.0] * len(self._found), [False] * len(self._found)
        fields = [0.0] * len(FIELDS)
        for number, one in enumerate(self._found):
            worth = one.idf * one.weight
            if number in above:
                shares[number] = worth * _HEADING_SHARE
                fields[_HEADINGS] += shares[number]
            if not present[number]:
                continue
            by_field = [
                (place, _FIELD_WEIGHTS[place] * each.any[number])
                for place, each in counted
                if number in each.any
            ] or [(_TEXT, 1.0)]
            exactly = sum(
                _FIELD_WEIGHTS[place] * each.exact.get(number, 0) for place, each in counted
            )
            total = sum(count for _, count in by_field)
            share = worth * (_saturated(total, length) + _EXACT_SHARE * _saturated(exactly, length))
            for place, count in by_field:
                fields[place] += share * count / total
            shares[number] += share
            exact[number] = exactly > 0
        phrase = max((self._in_row(one) for _, one in counted), default=0.0)
        return ItemScore(
            item.key,
            sum(shares) + phrase,
            tuple(shares),
            tuple(exact),
            tuple(fields),
            phrase,
            self._title(item.title, counted[0][1], present) if item.title else 0.0,
        )

    def _title(self, title: str, found: _Counted, present: Sequence[bool]) -> float:
        """How far the query is the title, by the letters of its words."""
        stops = stop_words(self._languages)
        words = written_words(title)
        letters = {place: self._letters(words[place], n, found) for place, n in found.places}
        matched = sum(letters.values()) + sum(
            len(run.text.replace(" ", "")) for number, run in self._runs if number in found.any
        )
        worth = [one.idf * one.weight for one in self._found]
        inside = sum(worth[number] for number in found.any if present[number])
        length = sum(len(word) * (_STOP_LETTERS if word in stops else 1) for word in words)
        whole = sum(worth)
        if not length or not whole:
            return 0.0
        return min(1.0, matched / length) ** 2 * min(1.0, inside / whole)

    def _letters(self, word: str, number: int, found: _Counted) -> float:
        """How many letters of a title's word a term is; another form of it is not quite the word."""
        if number in found.exact:
            return len(word)
        return _OTHER_FORM * min(len(word), len(self._found[number].term.phrases[0]))

    def _above(self, headings: tuple[str, ...]) -> Collection[int]:
        """The terms in the headings above an item; items of a section share them."""
        if not headings:
            return ()
        if headings not in self._headings:
            self._headings[headings] = frozenset(self._count(" ".join(headings)).any)
        return self._headings[headings]

    def _count(self, text: str) -> _Counted:
        words = written_words(text)
        counted = _Counted(len(words))
        for place, word in self._words.likely(words, is_ascii=text.isascii()):
            for number, is_exact in self._words[word]:
                counted.add(number, is_exact)
                counted.places.append((place, number))
        if self._runs:
            self._count_runs(counted, text, words)
        return counted

    def _count_runs(self, counted: _Counted, text: str, words: list[str]) -> None:
        lowered = normalized(text)
        in_row = f" {' '.join(map(token, words))} "
        signed = None
        for number, run in self._runs:
            if run.is_signed:
                if signed is None:
                    signed = signed_terms(text) + emoji_terms(text)
                count = signed.count(run.text)
            elif run.is_unspaced:
                count = lowered.count(run.text)
            else:
                count = in_row.count(f" {run.text}" if run.is_open else f" {run.text} ")
            if count:
                counted.add(number, is_exact=True, times=count)

    def _in_row(self, counted: _Counted) -> float:
        """The bonus of neighbours of the query that are neighbours in the text, once a pair."""
        pairs = set[tuple[int, int]]()
        for (place, number), (next_place, next_number) in pairwise(counted.places):
            if next_number == number + 1 and next_place - place <= _PHRASE_GAP:
                pairs.add((number, next_number))
        return _PHRASE_SHARE * sum(
            min(self._found[left].idf, self._found[right].idf) for left, right in pairs
        )


def _saturated(count: float, length: float) -> float:
    return count * (_SATURATION + 1) / (count + _SATURATION * length) if count else 0.0


class _Counted:
    """Terms in one field: how often in any form, how often as typed, and where."""

    __slots__ = ("any", "exact", "places", "words")

    def __init__(self, words: int) -> None:
        self.words = words
        self.any: dict[int, int] = {}
        self.exact: dict[int, int] = {}
        self.places: list[tuple[int, int]] = []

    def add(self, number: int, is_exact: bool, times: int = 1) -> None:
        self.any[number] = self.any.get(number, 0) + times
        if is_exact:
            self.exact[number] = self.exact.get(number, 0) + times


@dataclass(frozen=True, slots=True)
class _Run:
    text: str
    is_signed: bool = False
    is_unspaced: bool = False
    is_open: bool = False


def _is_run(term: Term) -> bool:
    """Whether a term is more than one word as `written_words` cuts them."""
    exact = term.phrases[0]
    return " " in exact or has_unspaced(exact) or _has_private(exact)


def _has_private(text: str) -> bool:
    return any("\ue000" <= sign <= "\uf8ff" for sign in text)


def _in_a_row(term: Term) -> _Run:
    exact = term.phrases[0]
    if _has_private(exact):
        return _Run(exact, is_signed=True)
    if has_unspaced(term.text):
        return _Run(normalized(term.text).strip(), is_unspaced=True)
    return _Run(exact, is_open=term.is_prefix)


class _Words(dict[str, tuple[tuple[int, bool], ...]]):
    """Word as `written_words` gives it -> the terms it is a form of, and whether as typed; filled on demand.

    Most words of a text are a form of none, which their first letter tells (`likely`), or the first two.
    """

    def __init__(self, terms: Iterable[Term], languages: Languages) -> None:
        super().__init__()
        self._languages = languages
        self._exact: dict[str, list[int]] = {}
        self._forms: dict[str, list[int]] = {}
        self._prefixes: list[tuple[str, int]] = []
        for number, term in enumerate(terms):
            if _is_run(term):
                continue
            self._exact.setdefault(term.phrases[0], []).append(number)
            for form in term.phrases[1:]:
                self._forms.setdefault(form, []).append(number)
            if term.is_prefix:
                self._prefixes.append((term.phrases[0], number))
        written = (*self._exact, *self._forms)
        self._begins = frozenset(begin for form in written for begin in beginnings(form))
        self._initials = frozenset(form[:1] for form in written)
        self._is_any_initial = not keeps_beginnings(languages)

    def likely(self, words: Sequence[str], *, is_ascii: bool) -> list[tuple[int, str]]:
        """The words that may be a form of a term, with their places."""
        if self._is_any_initial:
            return list(enumerate(words))
        initials = self._initials
        if is_ascii:
            return [(at, word) for at, word in enumerate(words) if word[0] in initials]
        return [
            (at, word) for at, word in enumerate(words) if word[0] in initials or not word.isascii()
        ]

    def __missing__(self, word: str) -> tuple[tuple[int, bool], ...]:
        of = self[word] = self._compared(word) if self._may_be_any(word) else ()
        return of

    def _may_be_any(self, word: str) -> bool:
        begins = self._begins
        return (
            self._is_any_initial or word[:2] in begins or word[:1] in begins or not word.isascii()
        )

    def _compared(self, word: str) -> tuple[tuple[int, bool], ...]:
        stored = token(word)
        found = dict.fromkeys(self._exact.get(stored, ()), True)
        for form in (stored, *forms(word, self._languages)):
            for number in (*self._forms.get(form, ()), *self._exact.get(form, ())):
                found.setdefault(number, False)
        for prefix, number in self._prefixes:
            if stored.startswith(prefix):
                found.setdefault(number, False)
        return tuple(found.items())

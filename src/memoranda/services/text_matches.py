"""Which notes and items a query matches, inside a transaction: terms, what is demanded, filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

import numpy as np

from memoranda.model.item_key import NOTE_BITS
from memoranda.model.search import SearchFilters
from memoranda.ports import FullTextIndex
from memoranda.ranking.matching import (
    Ids,
    ItemMatches,
    NoteMatches,
    TermMatches,
    distinct,
    is_in,
    match_items,
    match_notes,
    match_term,
)
from memoranda.repositories import filters
from memoranda.repositories.note_sets import NoteSets
from memoranda.repositories.store import Tx
from memoranda.text.filter_words import filter_words
from memoranda.text.query import Clause, Term, TextQuery

_LOOSE_WEIGHT = 0.5
_SHORTEST = 4
_ENDING = 3
_FEW_NOTES = 1000
_NOTHING = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Matches:
    """What a query matches.

    Attributes:
        terms: with their items, filters applied.
        items, notes: those that have any of the terms.
        is_relaxed: something that the query demands was dropped, since nothing has it.
        has_span: the date in words was a filter, or put its notes first.
        preferred: the notes of a date of the calendar, ascending.
        is_gated, is_of_span: what is demanded, and the date in words, decided which notes may match.
    """

    terms: tuple[TermMatches, ...]
    items: ItemMatches
    notes: NoteMatches
    is_relaxed: bool = False
    has_span: bool = False
    preferred: Ids = field(default_factory=lambda: _NOTHING)
    is_gated: bool = False
    is_of_span: bool = False


class Matcher:
    """One query on one index; a term is looked up once."""

    def __init__(
        self, tx: Tx, fulltext: FullTextIndex, parsed: TextQuery, narrowing: SearchFilters
    ) -> None:
        self._tx = tx
        self._fulltext = fulltext
        self._parsed = parsed
        self._filters = (narrowing, *parsed.filters)
        self._postings: dict[tuple[tuple[str, ...], bool], Ids] = {}
        self._named: dict[str, Ids] = {}

    def allowed(self) -> Ids | None:
        """The notes that pass the filters, ascending; None: all do."""
        return self._allowed

    @cached_property
    def _allowed(self) -> Ids | None:
        among = self._having_filter_words()
        notes = filters.allowed(self._tx.conn, self._tx.project_id, self._filters, among)
        if not self._parsed.excluded:
            return notes
        everything = NoteSets(self._tx).all() if notes is None else notes
        return everything[~is_in(everything, self._with_any(self._parsed.excluded))]

    def _having_filter_words(self) -> list[int] | None:
        """The notes that may pass the filters, by their words; None when those are too many to tell apart."""
        words = filter_words(self._filters)
        if not words:
            return None
        found = reduce(np.intersect1d, [_owners(self._having((word,))) for word in words])
        return found.tolist() if len(found) <= _FEW_NOTES else None

    def in_span(self, notes: Ids | None) -> Ids | None:
        """Those of the notes that the date in words means: by their dates, or because they say so."""
        if self._parsed.span is None:
            return notes
        found = self._of_span
        return found if notes is None else np.intersect1d(found, notes, assume_unique=True)

    def matches(self) -> Matches:
        """All that match; what nothing fulfils is dropped: the date first, then what is demanded.

        A relative span ("last week") is a filter. A date of the calendar prefers its notes, since others
        may speak of that time as well. Where nothing matches, the date stays: it holds for what is found by
        its meaning.
        """
        allowed, span = self.allowed(), self._parsed.span
        match = Matches((), match_items(()), match_notes(()))
        of_span = None
        for with_span, with_gate in ((True, True), (False, True), (True, False), (False, False)):
            if with_span and (span is None or not len(self._of_span)):
                continue
            terms = self._found_terms(with_span=with_span)
            is_filter = with_span and not self._parsed.is_date_preferred
            notes = self._passing(self.in_span(allowed) if is_filter else allowed, with_gate)
            within = terms if notes is None else tuple(_within(one, notes) for one in terms)
            is_relaxed = (not with_gate and self._is_demanding) or (
                span is not None and not with_span
            )
            match = Matches(
                within,
                match_items(within),
                match_notes(within),
                is_relaxed,
                with_span,
                self._of_span if with_span else _NOTHING,
                with_gate,
                is_filter,
            )
            if len(match.items.keys):
                return match
            if with_span:
                of_span = match
        return of_span or match

    def open_to_meaning(self, match: Matches) -> Ids | None:
        """The notes that may be hits without a word of the query, ascending; None: all may.

        Filters, exclusions and what is demanded hold for them as they did for the match.
        """
        allowed = self.allowed()
        if match.is_of_span:
            allowed = self.in_span(allowed)
        clauses = self._parsed.clauses
        if not any(one.excluded or self._demanded(one, match.is_gated) for one in clauses):
            return allowed
        everything = NoteSets(self._tx).all() if allowed is None else allowed
        notes = [self._open_of(one, everything, match.is_gated) for one in clauses]
        return np.intersect1d(reduce(np.union1d, notes), everything, assume_unique=True)

    def _open_of(self, clause: Clause, everything: Ids, with_gate: bool) -> Ids:
        notes = reduce(np.intersect1d, self._demanded(clause, with_gate) or [everything])
        return notes[~is_in(notes, self._with_any(clause.excluded))]

    def _found_terms(self, *, with_span: bool) -> tuple[TermMatches, ...]:
        """The terms with their items; one that nothing has gives way to its parts.

        A date that is not insisted on is not asked for either, unless there is nothing else.
        """
        terms = self._parsed.terms
        if not with_span:
            terms = tuple(term for term in terms if not term.is_date) or terms
        found: dict[tuple[str, ...], TermMatches] = {}
        for term in terms:
            keys = self._of_term(term)
            parts = [] if len(keys) else [(part, self._having((part,))) for part in term.loose]
            if any(len(of_part) for _, of_part in parts):
                for part, of_part in parts:
                    loose = Term(part, (part,))
                    match = match_term(loose, of_part, self._counts, _LOOSE_WEIGHT)
                    found.setdefault(loose.phrases, match)
            elif not len(keys) and (near := self._shortened(term)) is not None:
                found.setdefault(near.term.phrases, near)
            else:
                found.setdefault(term.phrases, match_term(term, keys, self._counts))
        return tuple(found.values())

    def _shortened(self, term: Term) -> TermMatches | None:
        """A word that nothing has, by what it begins with: another form of it may be there."""
        word = term.phrases[0]
        if term.is_required or term.loose or not word.isalpha():
            return None
        for length in range(len(word) - 1, max(_SHORTEST, len(word) - _ENDING) - 1, -1):
            keys = self._having((word[:length],), is_prefix=True)
            if len(keys):
                beginning = Term(word[:length], (word[:length],), is_prefix=True)
                return match_term(beginning, keys, self._counts, _LOOSE_WEIGHT)
        return None

    @cached_property
    def _counts(self) -> tuple[int, int]:
        return self._fulltext.item_count(self._tx.conn), NoteSets(self._tx).count()

    @property
    def _is_demanding(self) -> bool:
        """Whether some term is no mere wish."""
        return any(term.is_required for one in self._parsed.clauses for term in one.wanted)

    def _passing(self, allowed: Ids | None, with_gate: bool) -> Ids | None:
        """The notes that have what is demanded and nothing that is excluded; None: all do."""
        clauses = self._parsed.clauses
        is_plain = not any(
            clause.excluded or (with_gate and any(term.is_required for term in clause.wanted))
            for clause in clauses
        )
        if is_plain:
            return allowed
        notes = reduce(np.union1d, [self._of_clause(one, with_gate) for one in clauses])
        return notes if allowed is None else np.intersect1d(notes, allowed, assume_unique=True)

    def _of_clause(self, clause: Clause, with_gate: bool) -> Ids:
        demanded = self._demanded(clause, with_gate)
        notes = reduce(np.intersect1d, demanded or [self._with_any(clause.wanted, is_loose=True)])
        return notes[~is_in(notes, self._with_any(clause.excluded))]

    def _demanded(self, clause: Clause, with_gate: bool) -> list[Ids]:
        """The notes with each term that is demanded."""
        return [self._with_any((t,)) for t in clause.wanted if t.is_required and with_gate]

    def _with_any(self, terms: Sequence[Term], *, is_loose: bool = False) -> Ids:
        """The notes that have any of the terms; `is_loose`: or what stands in for one that nothing has."""
        keys = [self._of_term(term) for term in terms]
        missing = [term for term, found in zip(terms, keys, strict=True) if not len(found)]
        for term in missing if is_loose else ():
            keys += [self._having((part,)) for part in term.loose]
            keys += [near.keys] if (near := self._shortened(term)) is not None else []
        return reduce(np.union1d, map(_owners, keys), _NOTHING)

    def _of_term(self, term: Term) -> Ids:
        """The items with a term; a note itself has the date it is of, and the path it is at."""
        keys = self._having(term.phrases, is_prefix=term.is_prefix)
        if term.is_date and self._parsed.span is not None:
            return np.union1d(keys, self._of_span << NOTE_BITS)
        if _is_path(term.text):
            return np.union1d(keys, self._at(term.text) << NOTE_BITS)
        return keys

    @cached_property
    def _of_span(self) -> Ids:
        """The notes of the date in words: by their dates, or because they say so."""
        span = self._parsed.span
        if span is None:
            return _NOTHING
        found = NoteSets(self._tx).of_span(span)
        if not span.words:
            return found
        said = [self._having(span.words)]
        dates = [term for term in self._parsed.terms if term.is_date]
        if len(dates) == 1:  # as it was typed, in a script whose forms are not known
            said.append(self._having(dates[0].phrases, is_prefix=dates[0].is_prefix))
        return reduce(np.union1d, map(_owners, said), found)

    def _at(self, path: str) -> Ids:
        if path not in self._named:
            self._named[path] = NoteSets(self._tx).at(path)
        return self._named[path]

    def _having(self, phrases: Sequence[str], *, is_prefix: bool = False) -> Ids:
        key = (tuple(phrases), is_prefix)
        if key not in self._postings:
            conn = self._tx.conn
            self._postings[key] = self._fulltext.postings(conn, phrases, is_prefix=is_prefix)
        return self._postings[key]


def _within(match: TermMatches, notes: Ids) -> TermMatches:
    return replace(match, keys=match.keys[is_in(match.keys >> NOTE_BITS, notes)])


def _is_path(text: str) -> bool:
    return text.endswith(".md") or "/" in text


def _owners(keys: Ids) -> Ids:
    return distinct(keys >> NOTE_BITS)

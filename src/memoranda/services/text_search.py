"""One full-text search inside a transaction: the hits in their order, one page of them with its texts.

The back end says which items have a term and what is in an item; `ranking` orders them. No text is read but that
of the best eighty items and of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from itertools import pairwise

import numpy as np

from memoranda.model.item_key import ITEM_TYPES, KIND_BITS, KINDS, NOTE_BITS
from memoranda.model.search import ItemType, SearchQuery
from memoranda.ports import FullTextIndex, StoredItem
from memoranda.ranking.items import ItemScore, ItemScorer
from memoranda.ranking.matching import Ids, ItemMatches, Scores, TermMatches, counted, is_in
from memoranda.ranking.ordering import (
    ScoredHit,
    candidates,
    item_hits,
    note_hits,
    note_promise,
    promise,
    scaled,
)
from memoranda.ranking.recency import recency_factor
from memoranda.repositories.note_sets import NoteSets
from memoranda.repositories.standing import StandingRepository
from memoranda.repositories.store import Tx
from memoranda.services.text_matches import Matcher, Matches
from memoranda.text.analysis import Languages
from memoranda.text.query import TextQuery

_SHOWN_ITEMS = 3
_TITLE_TERMS = 12
_NOTHING = np.empty(0, np.int64)
_DATE_FACTOR = 2.0
"""How much better a note of the date in the query is than another."""
_OF_A_NOTE = {True: 40, False: 8}
"""How many items of one note are looked at: of a search for items, of one for notes."""
_KIND_MASK = (1 << KIND_BITS) - 1


@dataclass(frozen=True, slots=True)
class FoundItem:
    """An item of a hit with its text, and its score when it has a term."""

    stored: StoredItem
    score: ItemScore | None = None

    @property
    def item_type(self) -> ItemType:
        """What it is."""
        return ITEM_TYPES[self.stored.key & _KIND_MASK]


@dataclass(frozen=True, slots=True)
class Found:
    """A hit. `items`: best first; of a note at most three, of an item the item itself."""

    entity_id: int
    item_type: ItemType
    score: float
    items: tuple[FoundItem, ...]
    boosts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class FoundPage:
    """One page of hits, best first.

    Attributes:
        terms: what was looked for; shares of scores are in this order.
        total: all hits; `full` of them have all the terms (None without terms).
        coverage: the most of what was asked that one note has, 0..1.
    """

    hits: tuple[Found, ...]
    total: int
    terms: tuple[TermMatches, ...] = ()
    full: int | None = None
    coverage: float = 1.0
    is_relaxed: bool = False
    has_span: bool = False


class TextSearch:
    """One run of one query."""

    def __init__(
        self,
        tx: Tx,
        fulltext: FullTextIndex,
        parsed: TextQuery,
        query: SearchQuery,
        languages: Languages,
        half_life_days: int = 0,
    ) -> None:
        self._tx = tx
        self._fulltext = fulltext
        self._parsed = parsed
        self._languages = languages
        self._half_life_days = half_life_days
        self._wanted = slice(query.offset, query.offset + query.limit)
        self._matcher = Matcher(tx, fulltext, parsed, query.filters)
        types = set(query.filters.item_types)
        self._kinds = sorted(KINDS[one] for one in types)
        self._is_by_item = bool(types - {ItemType.NOTE})

    def page(self) -> FoundPage:
        """The page asked for; totals count all hits."""
        if not self._parsed.clauses:
            return self._newest()
        match = self._matcher.matches()
        items = self._of_kinds(match.items) if self._is_by_item else match.items
        if not len(items.keys):
            if self._is_by_item and match.has_span and all(one.term.is_date for one in match.terms):
                return self._newest()
            return FoundPage((), 0, match.terms, full=0, coverage=0.0)
        terms = counted(match.terms)
        of_note = note_promise(match.items, match.notes, terms)
        of_note *= np.where(is_in(match.notes.notes, match.preferred), _DATE_FACTOR, 1.0)
        promised = promise(items, match.notes, of_note)
        first_by_path = NoteSets(self._tx).first_by_path
        keys = candidates(items, promised, _OF_A_NOTE[self._is_by_item], first_by_path)
        if not self._is_by_item:
            keys = np.union1d(keys, self._titled(match))
        scored = self._scored(match, keys)
        if self._is_by_item:
            ids, having = items.keys, items.terms
            hits = item_hits([one.score for one in scored.values() if one.score], items)
        else:
            ids, having = match.notes.notes, match.notes.terms
            promised = of_note
            precise = [one.score for one in scored.values() if one.score]
            hits = note_hits(precise, match.notes, terms)
        hits = _by_date(hits, match.preferred)
        head = self._in_order(self._by_standing(hits) if self._half_life_days else hits)
        found = [self._found(hit, scored) for hit in head[self._wanted]]
        if self._wanted.stop > len(head):
            found += self._tail(match, items, ids, promised, head)
        return FoundPage(
            tuple(found),
            total=len(ids),
            terms=match.terms,
            full=int((having == terms).sum()),
            coverage=self._coverage(match),
            is_relaxed=match.is_relaxed,
            has_span=match.has_span,
        )

    def _titled(self, match: Matches) -> Ids:
        """The notes whose title has all the words: what a person types who knows the note."""
        terms = [one.term.phrases for one in match.terms]
        found = (
            self._fulltext.titled(self._tx.conn, terms) if len(terms) <= _TITLE_TERMS else _NOTHING
        )
        return found[is_in(found, match.items.keys)]

    def _of_kinds(self, items: ItemMatches) -> ItemMatches:
        kept = np.isin(items.keys & _KIND_MASK, self._kinds)
        return ItemMatches(items.keys[kept], items.scores[kept], items.terms[kept])

    def _scored(self, match: Matches, keys: Ids) -> dict[int, FoundItem]:
        """Key -> item with its precise score."""
        scorer = ItemScorer(match.terms, self._languages)
        stored = self._fulltext.items(self._tx.conn, keys.tolist())
        keys = np.array([one.key for one in stored], np.int64)
        present = np.array([is_in(keys, one.keys) for one in match.terms]).T.tolist()
        return {
            item.key: FoundItem(item, scorer.score(item, having))
            for item, having in zip(stored, present, strict=True)
        }

    def _by_standing(self, hits: Sequence[ScoredHit]) -> list[ScoredHit]:
        """The hits with what age, importance and status of their notes do to their scores."""
        standings = StandingRepository(self._tx).by_ids({hit.entity_id for hit in hits})
        now = self._tx.now.replace(tzinfo=UTC)
        return [
            scaled(hit, recency_factor(standing, now, self._half_life_days), "recency")
            if (standing := standings.get(hit.entity_id))
            else hit
            for hit in hits
        ]

    def _in_order(self, hits: Sequence[ScoredHit]) -> list[ScoredHit]:
        """Best first; equal scores by path, then by place in the note."""
        order = sorted(hits, key=lambda hit: -hit.score)
        tied = {
            hit.entity_id
            for left, right in pairwise(order)
            if left.score == right.score
            for hit in (left, right)
        }
        if tied:
            places = self._places(tied)
            order.sort(key=lambda hit: (-hit.score, places.get(hit.entity_id, 0), hit.key))
        return order

    def _places(self, notes: set[int]) -> dict[int, int]:
        return {note: place for place, note in enumerate(NoteSets(self._tx).by_path(notes))}

    def _coverage(self, match: Matches) -> float:
        """The most that a note has of what was asked; with OR no note need have more than a part."""
        return float(match.notes.coverage.max()) if len(self._parsed.clauses) == 1 else 1.0

    # After the precisely scored

    def _tail(
        self,
        match: Matches,
        items: ItemMatches,
        ids: Ids,
        promised: Scores,
        head: Sequence[ScoredHit],
    ) -> list[Found]:
        """The page's part behind the head, in order of promise; scores go on falling."""
        known = [hit.key if self._is_by_item else hit.entity_id for hit in head]
        left = ~is_in(ids, np.array(sorted(known), np.int64))
        rest, scores = ids[left], promised[left]
        start, stop = (max(0, at - len(head)) for at in (self._wanted.start, self._wanted.stop))
        chosen = self._by_promise(rest, scores, start, stop)
        lowest = head[-1].score if head else 1.0
        keys = {one: self._keys_of(one, items) for one in chosen}
        wanted = np.array(sorted(key for found in keys.values() for key in found), np.int64)
        scored = self._scored(match, wanted) if len(wanted) else {}
        return [
            Found(
                one >> NOTE_BITS if self._is_by_item else one,
                scored[one].item_type if self._is_by_item else ItemType.NOTE,
                lowest * (1 - place / (len(rest) + 1)),
                self._shown(one >> NOTE_BITS if self._is_by_item else one, found, scored),
                {},
            )
            for place, (one, found) in enumerate(keys.items(), start + 1)
        ]

    def _by_promise(self, ids: Ids, scores: Scores, start: int, stop: int) -> list[int]:
        """That part of the ids, best first, equal scores by path; paths are read of those alone."""
        stop = min(stop, len(ids))
        if start >= stop:
            return []
        order = np.argsort(-scores, kind="stable")
        falling = -scores[order]
        first = int(np.searchsorted(falling, falling[start], "left"))
        last = int(np.searchsorted(falling, falling[stop - 1], "right"))
        window = list(
            zip(falling[first:last].tolist(), ids[order[first:last]].tolist(), strict=True)
        )
        shift = NOTE_BITS if self._is_by_item else 0
        places = self._places({one >> shift for _, one in window})
        window.sort(key=lambda pair: (pair[0], places.get(pair[1] >> shift, 0), pair[1]))
        return [one for _, one in window[start - first : stop - first]]

    def _keys_of(self, one: int, items: ItemMatches) -> list[int]:
        """The items to show of a hit that was not scored precisely."""
        if self._is_by_item:
            return [one]
        first, last = np.searchsorted(items.keys, (one << NOTE_BITS, (one + 1) << NOTE_BITS))
        best = np.argsort(-items.scores[first:last], kind="stable")[:_SHOWN_ITEMS]
        keys: list[int] = items.keys[first:last][best].tolist()
        return keys

    # With their texts

    def _found(self, hit: ScoredHit, scored: Mapping[int, FoundItem]) -> Found:
        keys = [one.key for one in hit.items]
        return Found(
            hit.entity_id,
            scored[hit.key].item_type if self._is_by_item else ItemType.NOTE,
            hit.score,
            self._shown(hit.entity_id, keys, scored),
            hit.boosts,
        )

    def _shown(
        self, entity_id: int, keys: Sequence[int], scored: Mapping[int, FoundItem]
    ) -> tuple[FoundItem, ...]:
        """The items of a hit; the note's beginning when it was found by its title alone."""
        shown = [scored[key] for key in keys if key in scored]
        has_text = any(one.stored.content and one.item_type is not ItemType.NOTE for one in shown)
        lead = None if has_text else self._fulltext.lead(self._tx.conn, entity_id)
        if lead is not None and lead.key not in keys:
            shown.append(FoundItem(lead))
        return tuple(shown)

    # Without a word to look for

    def _newest(self) -> FoundPage:
        """The last modified first; with item types, those that have such an item."""
        notes = self._matcher.in_span(self._matcher.allowed())
        sets = NoteSets(self._tx)
        if self._is_by_item:
            having = self._fulltext.notes_with(self._tx.conn, self._kinds)
            notes = having if notes is None else np.intersect1d(notes, having, assume_unique=True)
        total = sets.count() if notes is None else len(notes)
        found = [
            Found(note, ItemType.NOTE, 1 / (1 + place), self._shown(note, (), {}), {})
            for place, note in enumerate(sets.newest(notes, self._wanted), self._wanted.start)
        ]
        return FoundPage(tuple(found), total, has_span=self._parsed.span is not None)


def _by_date(hits: list[ScoredHit], preferred: Ids) -> list[ScoredHit]:
    if not len(preferred):
        return hits
    notes = set(preferred.tolist())
    return [scaled(hit, _DATE_FACTOR, "date") if hit.entity_id in notes else hit for hit in hits]

"""One search inside a transaction: the hits of words and of meaning in one order, one page with its texts.

The back ends say which items have a term, which are near the question, and what is in an item; `ranking`
orders them. No text is read but that of the best items (eighty by their words, a hundred by their meaning)
and of the page.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from memoranda.model.item_key import KIND_BITS, KINDS, NOTE_BITS
from memoranda.model.search import ItemType, SearchQuery
from memoranda.ports import FullTextIndex, StoredItem
from memoranda.ranking.fusion import by_both_legs, joined
from memoranda.ranking.items import ItemScore, ItemScorer, no_score
from memoranda.ranking.matching import Ids, ItemMatches, counted, is_in, match_items
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
from memoranda.services.behind import best_items, by_promise
from memoranda.services.found import Found, FoundItem, FoundPage, Weighing
from memoranda.services.legs import ByWords, MeaningLeg
from memoranda.services.text_matches import Matcher, Matches
from memoranda.text.analysis import Languages
from memoranda.text.query import TextQuery

if TYPE_CHECKING:
    pass

_SHOWN_ITEMS = 3
_TOPS = 10
_TITLE_TERMS = 12
_NOTHING = np.empty(0, np.int64)
_DATE_FACTOR = 2.0
"""How much better a note of the date in the query is than another."""
_OF_A_NOTE = {True: 40, False: 8}
"""How many items of one note are looked at: of a search for items, of one for notes."""
_KIND_MASK = (1 << KIND_BITS) - 1


class RankedSearch:
    """One run of one query.

    Args:
        tx: the transaction.
        fulltext: the leg of words.
        parsed: the query, with what else was asked in `query`.
        query: its filters and page.
        languages: those of the index.
        half_life_days: 0: age does not count.
        meaning: the other leg; None: words alone.
    """

    def __init__(
        self,
        tx: Tx,
        fulltext: FullTextIndex,
        parsed: TextQuery,
        query: SearchQuery,
        languages: Languages,
        half_life_days: int = 0,
        meaning: MeaningLeg | None = None,
    ) -> None:
        self._tx = tx
        self._fulltext = fulltext
        self._parsed = parsed
        self._languages = languages
        self._half_life_days = half_life_days
        self._meaning = meaning
        self._wanted = slice(query.offset, query.offset + query.limit)
        self._matcher = Matcher(tx, fulltext, parsed, query.filters)
        types = set(query.filters.item_types)
        self._kinds = sorted(KINDS[one] for one in types)
        self._is_by_item = bool(types - {ItemType.NOTE})

    def page(self) -> FoundPage:
        """The page asked for; totals count all hits."""
        if not self._parsed.clauses:
            return self._newest(self._matcher.allowed())
        match = self._matcher.matches()
        near = self._near(match)
        words = self._by_words(match)
        if not len(words.ids) and not any(self._is_near_enough(one) for one in near.values()):
            if match.has_span and all(one.term.is_date for one in match.terms):
                return self._newest(self._matcher.open_to_meaning(match))
            has_span = match.has_span
            return FoundPage((), 0, match.terms, full=0, coverage=0.0, has_span=has_span)
        return self._joined(match, words, near)

    # The two legs

    def _by_words(self, match: Matches) -> ByWords:
        """All that words find, and which of it is looked at; nothing, when meaning alone counts."""
        items = self._of_kinds(match.items) if self._is_by_item else match.items
        if not len(items.keys) or (self._meaning is not None and self._meaning.share >= 1):
            return ByWords(match_items(()), _NOTHING, _NOTHING, np.empty(0), _NOTHING)
        terms = counted(match.terms)
        of_note = note_promise(match.items, match.notes, terms)
        of_note *= np.where(is_in(match.notes.notes, match.preferred), _DATE_FACTOR, 1.0)
        promised = promise(items, match.notes, of_note)
        first_by_path = NoteSets(self._tx).first_by_path
        keys = candidates(items, promised, _OF_A_NOTE[self._is_by_item], first_by_path)
        if self._is_by_item:
            return ByWords(items, items.keys, items.terms, promised, keys)
        keys = np.union1d(keys, self._titled(match))
        return ByWords(items, match.notes.notes, match.notes.terms, of_note, keys)

    def _near(self, match: Matches) -> dict[int, float]:
        """Item key -> similarity of the items nearest to the question; the nearest first."""
        leg = self._meaning
        if leg is None or leg.most < 1:
            return {}
        found = leg.index.nearest(
            self._tx.conn,
            leg.space,
            leg.vector,
            leg.most,
            among=self._matcher.open_to_meaning(match),
            kinds=self._kinds if self._is_by_item else None,
        )
        return dict(zip(found.keys.tolist(), found.similarities.tolist(), strict=True))

    def _is_near_enough(self, similarity: float) -> bool:
        """To be a hit without a word of the query."""
        return self._meaning is not None and similarity >= self._meaning.least

    def _joined(self, match: Matches, words: ByWords, near: Mapping[int, float]) -> FoundPage:
        leg = self._meaning
        own = [key for key in near if self._is_near_enough(near[key])]
        scored = self._scored(match, _with_words(own, words))
        by_words = {self._id(hit): hit for hit in self._hits_of_words(match, words, scored)}
        alone = {self._of_key(key) for key in own}
        similarities = self._similarities(near, scored)
        similar: dict[int, float] = {}
        for key, similarity in similarities.items():
            one = self._of_key(key)
            similar[one] = max(similarity, similar.get(one, -1.0))
        hits = list(by_words.values())
        if leg is not None:
            meaning = {one: similar[one] for one in by_words.keys() | alone if one in similar}
            scores = [one.score for one in scored.values() if one.score]
            scores += [no_score(key, len(match.terms)) for key in own if key not in scored]
            hits = joined(
                by_words, meaning, self._shown_of(scores, similarities, leg.share), leg.share
            )
        head = self._in_order(self._by_standing(hits) if self._half_life_days else hits)
        text_scores = {one: hit.score for one, hit in by_words.items()}
        weigh = Weighing(match.notes, text_scores, similar, is_whole=self._is_whole)
        shown = head[self._wanted]
        unread = {one.key for hit in shown for one in hit.items} - scored.keys()
        scored |= {one.key: FoundItem(one) for one in self._stored(unread)}
        scored = {
            key: replace(one, similarity=similarities.get(key)) for key, one in scored.items()
        }
        found = [self._found(hit, scored, weigh) for hit in shown]
        if self._wanted.stop > len(head) and len(words.ids):
            found += self._tail(match, words, head, weigh)
        is_new = ~is_in(np.array(sorted(alone), np.int64), words.ids)
        return FoundPage(
            tuple(found),
            total=len(words.ids) + int(is_new.sum()),
            terms=match.terms,
            full=None
            if leg is not None and leg.share >= 1
            else int((words.terms == counted(match.terms)).sum()),
            coverage=float(match.notes.coverage.max(initial=0.0)) if self._is_whole else 1.0,
            is_relaxed=match.is_relaxed,
            has_span=match.has_span,
            tops=tuple(weigh.evidence(self._id(hit), hit.entity_id) for hit in head[:_TOPS]),
        )

    def _hits_of_words(
        self, match: Matches, words: ByWords, scored: Mapping[int, FoundItem]
    ) -> list[ScoredHit]:
        wanted = np.array(sorted(scored), np.int64)
        having = wanted[is_in(wanted, words.items.keys)].tolist()
        precise = [one.score for key in having if (one := scored[key]).score]
        if self._is_by_item:
            return _by_date(item_hits(precise, words.items), match.preferred)
        return _by_date(note_hits(precise, match.notes, counted(match.terms)), match.preferred)

    def _similarities(
        self, near: Mapping[int, float], scored: Mapping[int, FoundItem]
    ) -> dict[int, float]:
        """Item key -> similarity, of all that are near or were looked at, and have a vector."""
        leg = self._meaning
        known = dict(near)
        if leg is not None and near and (rest := sorted(scored.keys() - known.keys())):
            keys = np.array(rest, np.int64)
            values = leg.index.similarities(self._tx.conn, leg.space, leg.vector, keys)
            known.update(
                (key, value) for key, value in zip(rest, values.tolist(), strict=True) if value
            )
        return known

    def _shown_of(
        self, scores: Sequence[ItemScore], similarities: Mapping[int, float], share: float
    ) -> dict[int, list[ItemScore]]:
        """Hit -> its items, best first by both legs; of a note at most three."""
        of: dict[int, list[ItemScore]] = {}
        for score in by_both_legs(scores, similarities, share):
            if len(items := of.setdefault(self._of_key(score.key), [])) < _SHOWN_ITEMS:
                items.append(score)
        return of

    @property
    def _is_whole(self) -> bool:
        """With OR no note need have more than a part of what is asked."""
        return len(self._parsed.clauses) == 1

    def _id(self, hit: ScoredHit) -> int:
        return hit.key if self._is_by_item else hit.entity_id

    def _of_key(self, key: int) -> int:
        return key if self._is_by_item else key >> NOTE_BITS

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

    def _stored(self, keys: Collection[int]) -> Sequence[StoredItem]:
        return self._fulltext.items(self._tx.conn, sorted(keys)) if keys else ()

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

    # After the precisely scored

    def _tail(
        self, match: Matches, words: ByWords, head: Sequence[ScoredHit], weigh: Weighing
    ) -> list[Found]:
        """The page's part behind the head, in order of promise; scores go on falling."""
        known = [self._id(hit) for hit in head]
        left = ~is_in(words.ids, np.array(sorted(known), np.int64))
        rest, scores = words.ids[left], words.promised[left]
        start, stop = (max(0, at - len(head)) for at in (self._wanted.start, self._wanted.stop))
        shift = NOTE_BITS if self._is_by_item else 0
        chosen = by_promise(rest, scores, slice(start, stop), shift, self._places)
        lowest = head[-1].score if head else 1.0
        keys = {
            one: [one] if self._is_by_item else best_items(one, words.items, _SHOWN_ITEMS)
            for one in chosen
        }
        wanted = np.array(sorted(key for found in keys.values() for key in found), np.int64)
        scored = self._scored(match, wanted) if len(wanted) else {}
        return [
            Found(
                self._note(one),
                scored[one].item_type if self._is_by_item else ItemType.NOTE,
                lowest * (1 - place / (len(rest) + 1)),
                self._shown(self._note(one), found, scored),
                {},
                weigh.evidence(one, self._note(one)),
            )
            for place, (one, found) in enumerate(keys.items(), start + 1)
        ]

    def _note(self, one: int) -> int:
        return one >> NOTE_BITS if self._is_by_item else one

    # With their texts

    def _found(self, hit: ScoredHit, scored: Mapping[int, FoundItem], weigh: Weighing) -> Found:
        keys = [one.key for one in hit.items]
        return Found(
            hit.entity_id,
            scored[hit.key].item_type if self._is_by_item else ItemType.NOTE,
            hit.score,
            self._shown(hit.entity_id, keys, scored),
            hit.boosts,
            weigh.evidence(self._id(hit), hit.entity_id),
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

    def _newest(self, among: Ids | None) -> FoundPage:
        """The last modified of these notes first; with item types, those that have such an item."""
        notes = self._matcher.in_span(among)
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


def _with_words(near: Sequence[int], words: ByWords) -> Ids:
    """Keys of what is looked at for its words: those chosen, and what is near and has some."""
    keys = np.array(near, np.int64)
    return np.union1d(words.looked_at, keys[is_in(keys, words.items.keys)])


def _by_date(hits: list[ScoredHit], preferred: Ids) -> list[ScoredHit]:
    if not len(preferred):
        return hits
    notes = set(preferred.tolist())
    return [scaled(hit, _DATE_FACTOR, "date") if hit.entity_id in notes else hit for hit in hits]

"""What a search found inside a transaction, before it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from memoranda.model.item_key import ITEM_TYPES, KIND_BITS
from memoranda.model.search import ItemType
from memoranda.ports import StoredItem
from memoranda.ranking.fusion import ranks
from memoranda.ranking.items import ItemScore
from memoranda.ranking.matching import NoteMatches, TermMatches

_KIND_MASK = (1 << KIND_BITS) - 1


@dataclass(frozen=True, slots=True)
class FoundItem:
    """An item of a hit with its text.

    Attributes:
        score: when it has a term.
        similarity: to the question, when it is known.
    """

    stored: StoredItem
    score: ItemScore | None = None
    similarity: float | None = None

    @property
    def item_type(self) -> ItemType:
        """What it is."""
        return ITEM_TYPES[self.stored.key & _KIND_MASK]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a hit.

    Attributes:
        coverage: the part of what was asked that its note has, 0..1, rare words count more.
        text_score, text_rank: in the leg of words; None: it has not found the hit.
        similarity, similarity_rank: cosine of its nearest part; None: not known, or no such leg.
    """

    coverage: float = 0.0
    text_score: float | None = None
    text_rank: int | None = None
    similarity: float | None = None
    similarity_rank: int | None = None


class Weighing:
    """Tells what speaks for hits, by their ids.

    Args:
        notes: all that have a word; `is_whole`: a hit need have all of what was asked, not one of
            several alternatives.
        words: id -> score in the leg of words.
        similar: id -> similarity of the nearest item.
    """

    def __init__(
        self,
        notes: NoteMatches,
        words: Mapping[int, float],
        similar: Mapping[int, float],
        *,
        is_whole: bool,
    ) -> None:
        self._notes = notes
        self._words = words
        self._similar = similar
        self._is_whole = is_whole
        self._text_ranks = ranks(words)
        self._similarity_ranks = ranks(similar)

    def evidence(self, one: int, entity_id: int) -> Evidence:
        """Of the hit with this id, which is or belongs to this note."""
        return Evidence(
            self._coverage(entity_id),
            self._words.get(one),
            self._text_ranks.get(one),
            self._similar.get(one),
            self._similarity_ranks.get(one),
        )

    def _coverage(self, entity_id: int) -> float:
        place = int(np.searchsorted(self._notes.notes, entity_id))
        if place == len(self._notes.notes) or self._notes.notes[place] != entity_id:
            return 0.0
        return float(self._notes.coverage[place]) if self._is_whole else 1.0


@dataclass(frozen=True, slots=True)
class Found:
    """A hit. `items`: best first; of a note at most three, of an item the item itself."""

    entity_id: int
    item_type: ItemType
    score: float
    items: tuple[FoundItem, ...]
    boosts: Mapping[str, float]
    evidence: Evidence = Evidence()


@dataclass(frozen=True, slots=True)
class FoundPage:
    """One page of hits, best first.

    Attributes:
        terms: what was looked for; shares of scores are in this order.
        total: all hits; `full` of them have all the terms (None without terms).
        coverage: the most of what was asked that one note has, 0..1.
        tops: what speaks for the first ten hits of all.
    """

    hits: tuple[Found, ...]
    total: int
    terms: tuple[TermMatches, ...] = ()
    full: int | None = None
    coverage: float = 1.0
    is_relaxed: bool = False
    has_span: bool = False
    tops: tuple[Evidence, ...] = ()

"""From scores of items to hits: what stands around an item, and what the whole note says. Pure.

Source: `docs/adr/0021`; `docs/explanation/retrieval.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memoranda.model.item_key import KIND_BITS, NOTE_BITS
from memoranda.ranking.items import ItemScore
from memoranda.ranking.matching import Ids, ItemMatches, NoteMatches, Scores, distinct, is_in

_NEIGHBOUR_SHARE = 0.2
_PARENT_SHARE = 0.5
_PARENT_ITEMS = 3
_NOTE_SHARE = 2.0
_ITEM_SHARES = (1.0, 0.5, 0.25)
_CANDIDATES = 80
_PROMISE_SHARE = 0.1
_FEW_TERMS = 3
_FEW_POWER = 2.0
_LEAST_SHARE = 0.01
_TITLE_SHARE = 1.5
_STEP = 1 << KIND_BITS

FirstByPath = Callable[[Ids, int], Sequence[int]]
"""Ids of notes, ascending, and how many are wanted -> the first of them in the order of their paths."""


@dataclass(frozen=True, slots=True)
class ScoredHit:
    """A note or an item with its score.

    Attributes:
        key: of the item; of the best item for a note.
        items: for a note, its best items by their own score, best first, each with it.
        boosts: name -> what it adds or (all_terms) multiplies by.
    """

    entity_id: int
    key: int
    score: float
    items: tuple[ItemScore, ...]
    boosts: Mapping[str, float]


def promise(items: ItemMatches, notes: NoteMatches, of_note: Scores) -> Scores:
    """The cheap score of each item: its own and part of its note's."""
    places = np.searchsorted(notes.notes, items.keys >> NOTE_BITS)
    return items.scores + _PROMISE_SHARE * of_note[places]


def note_promise(items: ItemMatches, notes: NoteMatches, terms: int) -> Scores:
    """The cheap score of each note: what the whole note says, and its best item; `items` are all."""
    first = np.searchsorted(items.keys, notes.notes << NOTE_BITS)
    best = np.maximum.reduceat(items.scores, first)
    return (_NOTE_SHARE * notes.scores + best) * _completeness(notes, terms)


def candidates(
    items: ItemMatches, promised: Scores, per_note: int, first_by_path: FirstByPath
) -> Ids:
    """Keys of the items that deserve a look at their text, ascending: some of one note, 80 in all.

    Among equal ones paths decide, never ids, which are others in an index that is made again.
    """
    chosen, left = np.empty(0, np.int64), np.arange(len(items.keys))
    while len(left):
        owners = items.keys[left] >> NOTE_BITS
        wide = _best(items.keys[left], promised[left], _CANDIDATES * 8, first_by_path)
        kept = wide[_few_of_each(owners[wide], promised[left[wide]], per_note)]
        chosen = np.concatenate((chosen, left[kept]))
        if len(chosen) >= _CANDIDATES:
            break
        left = left[~is_in(owners, distinct(owners[wide]))]  # one note had most of them
    chosen.sort()
    keys, scores = items.keys[chosen], promised[chosen]
    return keys[_best(keys, scores, _CANDIDATES, first_by_path)]


def _few_of_each(owners: Ids, scores: Scores, most: int) -> Ids:
    """Where the best scores of each owner are; `owners` is ascending."""
    order = np.lexsort((-scores, owners))
    places = np.arange(len(order)) - np.searchsorted(owners, owners)
    return order[places < most]


def _best(keys: Ids, scores: Scores, count: int, first_by_path: FirstByPath) -> Ids:
    """Where the best scores are, ascending; of the equal lowest those of the first notes by path."""
    if len(keys) <= count:
        return np.arange(len(keys))
    lowest = np.partition(scores, len(scores) - count)[len(scores) - count]
    above, level = np.flatnonzero(scores > lowest), np.flatnonzero(scores == lowest)
    room = count - len(above)
    if len(level) > room:
        owners = keys[level] >> NOTE_BITS
        first = np.array(first_by_path(distinct(owners), room), np.int64)
        by_id = np.argsort(first)
        is_first = is_in(owners, first[by_id])
        ranks = by_id[np.searchsorted(first[by_id], owners[is_first])]
        level = level[is_first][np.argsort(ranks, kind="stable")][:room]
    return np.sort(np.concatenate((above, level)))


def with_surroundings(
    scored: Sequence[ItemScore], items: ItemMatches
) -> dict[int, tuple[float, float, float]]:
    """Key -> final score of an item, and what of it its neighbours and its note add."""
    own = {one.key: one.total for one in scored}
    if not own:
        return {}
    keys = np.fromiter(own, np.int64, len(own))
    rate = _rate(own, keys, items)
    around = np.concatenate((keys - _STEP, keys + _STEP))
    there = is_in(around, items.keys)
    cheap = dict(
        zip(
            around[there].tolist(),
            (items.scores[np.searchsorted(items.keys, around[there])] * rate).tolist(),
            strict=True,
        )
    )
    parents = _parents(own)
    result = {}
    for key, score in own.items():
        beside = _NEIGHBOUR_SHARE * sum(
            own[near] if near in own else cheap.get(near, 0.0)
            for near in (key - _STEP, key + _STEP)
            if near >> NOTE_BITS == key >> NOTE_BITS
        )
        above = _PARENT_SHARE * parents[key >> NOTE_BITS]
        result[key] = (score + beside + above, beside, above)
    return result


def item_hits(scored: Sequence[ItemScore], items: ItemMatches) -> list[ScoredHit]:
    """Items as hits, in no order."""
    finals = with_surroundings(scored, items)
    return [
        ScoredHit(
            one.key >> NOTE_BITS,
            one.key,
            finals[one.key][0],
            (one,),
            {"phrase": one.phrase, "neighbours": finals[one.key][1], "note": finals[one.key][2]},
        )
        for one in scored
    ]


def note_hits(scored: Iterable[ItemScore], notes: NoteMatches, terms: int) -> list[ScoredHit]:
    """Notes as hits, in no order: the whole note and its best items; what is missing lowers it."""
    by_note: dict[int, list[ItemScore]] = {}
    for one in scored:
        by_note.setdefault(one.key >> NOTE_BITS, []).append(one)
    places = np.searchsorted(notes.notes, np.fromiter(by_note, np.int64, len(by_note)))
    factors = _completeness(notes, terms)[places].tolist()
    whole = (_NOTE_SHARE * notes.scores[places]).tolist()
    hits = []
    for (entity_id, found), factor, note_share in zip(by_note.items(), factors, whole, strict=True):
        best = sorted(found, key=lambda one: (-one.total, one.key))[: len(_ITEM_SHARES)]
        passages = sum(share * one.total for share, one in zip(_ITEM_SHARES, best, strict=False))
        title = 1 + _TITLE_SHARE * max(one.title for one in found)
        boosts = {
            "phrase": best[0].phrase,
            "passages": passages,
            "note": note_share,
            "all_terms": factor,
            "title": title,
        }
        score = (note_share + passages) * factor * title
        hits.append(ScoredHit(entity_id, best[0].key, score, tuple(best), boosts))
    return hits


def scaled(hit: ScoredHit, factor: float, name: str) -> ScoredHit:
    """The hit with its score multiplied, and the factor among its boosts."""
    return replace(hit, score=hit.score * factor, boosts={**hit.boosts, name: factor})


def _completeness(notes: NoteMatches, terms: int) -> Scores:
    """What a note is worth that has only part of what was asked, 0..1.

    Who types two words means both, and the rarer one more; a question has words that no answer needs.
    """
    if terms <= _FEW_TERMS:
        share = ((notes.terms / terms + notes.coverage) / 2) ** _FEW_POWER
    else:
        share = np.sqrt(notes.coverage)
    return np.maximum(share, _LEAST_SHARE)  # of what has but words of the date


def _parents(own: Mapping[int, float]) -> dict[int, float]:
    by_note: dict[int, list[float]] = {}
    for key, score in own.items():
        by_note.setdefault(key >> NOTE_BITS, []).append(score)
    return {
        note: sum(sorted(scores, reverse=True)[:_PARENT_ITEMS]) / _PARENT_ITEMS
        for note, scores in by_note.items()
    }


def _rate(own: Mapping[int, float], keys: Ids, items: ItemMatches) -> float:
    """How precise scores compare with cheap ones, so that both can be added."""
    cheap = float(items.scores[np.searchsorted(items.keys, keys)].sum())
    return sum(own.values()) / cheap if cheap else 0.0

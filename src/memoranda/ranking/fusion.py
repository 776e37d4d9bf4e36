"""Words and meaning joined: one score of a hit from the scores of both legs. Pure.

Source: spec 5.4, 14.5; scores of words are divided by the best of them (departure, see
`docs/explanation/departures.md`), cosines are taken as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memoranda.model.item_key import NOTE_BITS
from memoranda.ranking.items import ItemScore
from memoranda.ranking.ordering import ScoredHit

EVEN = 0.5
"""The share of meaning in the spec's formula."""


def fuse(
    words: Mapping[int, float], meaning: Mapping[int, float], share: float = EVEN
) -> dict[int, float]:
    """Score of everything that either leg found: `(1 - share) * words / best + share * meaning`.

    Args:
        words: scores of any range, > 0; the best one counts 1.
        meaning: cosines; a negative one counts 0.
        share: of meaning, 0..1.

    Returns:
        Scores in 0..1, in no order. What one leg has not found has its part of the other alone.
    """
    best = max(words.values(), default=0.0) or 1.0
    return {
        one: (1 - share) * words.get(one, 0.0) / best + share * max(0.0, meaning.get(one, 0.0))
        for one in words.keys() | meaning.keys()
    }


def joined(
    hits: Mapping[int, ScoredHit],
    meaning: Mapping[int, float],
    items: Mapping[int, Sequence[ItemScore]],
    share: float,
) -> list[ScoredHit]:
    """The hits of both legs, in no order.

    Args:
        hits: id -> hit of the leg of words.
        meaning: id -> similarity of the hit's nearest item; with those of `hits` all that are hits.
        items: id -> what to show of each, best first.
        share: of meaning.
    """
    words = {one: hit.score for one, hit in hits.items()}
    best = max(words.values(), default=0.0) or 1.0
    found = []
    for one, score in fuse(words, meaning, share).items():
        shown = tuple(items[one])
        hit = hits.get(one) or ScoredHit(shown[0].key >> NOTE_BITS, shown[0].key, 0.0, shown, {})
        parts = {
            "words": (1 - share) * hit.score / best,
            "meaning": share * max(0.0, meaning.get(one, 0.0)),
        }
        boosts = {**hit.boosts, **parts}
        found.append(replace(hit, key=shown[0].key, score=score, items=shown, boosts=boosts))
    return found


def by_both_legs(
    items: Iterable[ItemScore], similarities: Mapping[int, float], share: float
) -> list[ItemScore]:
    """Items, best first by `fuse`; equal ones by their keys.

    Of all that were looked at: one weak word is not much because a note has no other.
    """
    scores = {one.key: one for one in items}
    words = {key: one.total for key, one in scores.items()}
    values = fuse(words, {key: similarities.get(key, 0.0) for key in scores}, share)
    return sorted(scores.values(), key=lambda one: (-values[one.key], one.key))


def ranks(scores: Mapping[int, float]) -> dict[int, int]:
    """The place of each, from 1, best first; equal ones by their ids."""
    order = sorted(scores, key=lambda one: (-scores[one], one))
    return {one: place for place, one in enumerate(order, 1)}

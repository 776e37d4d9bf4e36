"""Measures of one ranking. Pure.

`ranked` holds unique ids, best first; `gold` is the set of right ones. A question without a right answer
has no measure, so an empty `gold` is an error. Every value is in 0..1.

Source: `docs/explanation/retrieval.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet


def recall(ranked: Sequence[str], gold: AbstractSet[str], *, k: int) -> float:
    """The share of `gold` that is among the first `k`."""
    _check(ranked, gold)
    return len(gold & set(ranked[:k])) / len(gold)


def hit(ranked: Sequence[str], gold: AbstractSet[str], *, k: int) -> float:
    """1.0 when any of `gold` is among the first `k`, else 0.0."""
    _check(ranked, gold)
    return float(not gold.isdisjoint(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: AbstractSet[str], *, k: int) -> float:
    """One over the place of the first right id, counted from 1; 0.0 when none is among the first `k`."""
    _check(ranked, gold)
    return next((1 / place for place, one in enumerate(ranked[:k], 1) if one in gold), 0.0)


def ndcg(ranked: Sequence[str], gold: AbstractSet[str], *, k: int) -> float:
    """Gain 1 for a right id at place i, counted from 1, over log2(i + 1); 1.0 is the best order possible."""
    _check(ranked, gold)
    gained = sum(_discount(place) for place, one in enumerate(ranked[:k], 1) if one in gold)
    return gained / sum(_discount(place) for place in range(1, min(len(gold), k) + 1))


MEASURES: dict[str, Callable[[Sequence[str], AbstractSet[str]], float]] = {
    "hit@1": lambda ranked, gold: hit(ranked, gold, k=1),
    "hit@5": lambda ranked, gold: hit(ranked, gold, k=5),
    "recall@5": lambda ranked, gold: recall(ranked, gold, k=5),
    "recall@10": lambda ranked, gold: recall(ranked, gold, k=10),
    "MRR@10": lambda ranked, gold: reciprocal_rank(ranked, gold, k=10),
    "nDCG@10": lambda ranked, gold: ndcg(ranked, gold, k=10),
}
"""What is measured, under its published name."""

DEPTH = 10
"""No measure looks further down a ranking."""


def _discount(place: int) -> float:
    return 1 / math.log2(place + 1)


def _check(ranked: Sequence[str], gold: AbstractSet[str]) -> None:
    if not gold:
        raise ValueError("a question without a right answer has no measure")
    if len(set(ranked)) != len(ranked):
        raise ValueError(f"an id comes twice: {list(ranked)}")

"""The two legs of a search, as values: what words found, and how the meaning of the question takes part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memoranda.ports import VectorIndex
from memoranda.ranking.matching import Ids, ItemMatches, Scores

if TYPE_CHECKING:
    from memoranda.ports import Vectors


@dataclass(frozen=True, slots=True)
class ByWords:
    """What the leg of words found. Shape (n,) each, but for `looked_at`.

    Attributes:
        items: all that match, of the types wanted.
        ids: of all hits, notes or items, ascending; `terms` are how many of the terms each has, `promised`
            what it promises to be worth.
        looked_at: keys of the items whose texts are looked at, ascending.
    """

    items: ItemMatches
    ids: Ids
    terms: Ids
    promised: Scores
    looked_at: Ids


@dataclass(frozen=True, slots=True)
class MeaningLeg:
    """How the meaning of a question takes part.

    Attributes:
        index: of the vectors, `space` theirs.
        share: of meaning in the score of a hit; 1.0: words find nothing.
        least: similarity of what is a hit without a word of the query.
        most: items that are hits without a word of the query.
    """

    index: VectorIndex
    space: str
    vector: Vectors
    share: float
    least: float
    most: int

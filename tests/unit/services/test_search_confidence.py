"""When an answer is weak: nothing in it is likely what was asked for."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from memoranda.model.search import SearchFilters, SearchQuery, SearchType
from memoranda.ranking.confidence import Calibration
from memoranda.ranking.matching import match_term
from memoranda.repositories.vectors import BlobVectorIndex
from memoranda.services.found import Evidence, FoundPage
from memoranda.services.legs import MeaningLeg
from memoranda.services.search import _confidence
from memoranda.text.query import Term

SPACE = "static:model@1/2"
MEASURED = Calibration(SPACE, 0.3, 0.4, 0.9, 0.0, 100, datetime(2026, 3, 4, tzinfo=UTC))
LEG = MeaningLeg(BlobVectorIndex(1), SPACE, np.array([1, 0], np.float32), 0.35, 0.3, 100)
WADER = match_term(Term("wader", ("wader",)), np.empty(0, np.int64), (10, 5))


def is_weak(similarity: float, mode: SearchType, least: float | None = None) -> bool:
    """Of an answer whose best hit has no word of the query and this similarity."""
    top = Evidence(coverage=0.0, similarity=similarity)
    page = FoundPage((), 5, (WADER,), full=0, coverage=0.0, tops=(top,))
    query = SearchQuery("wader", mode, SearchFilters(min_similarity=least))
    return _confidence(page, query, LEG, MEASURED)[1]


@pytest.mark.parametrize(
    ("similarity", "by_both", "by_meaning"),
    [(0.45, True, True), (0.65, True, False), (0.85, False, False)],
)
def test_who_asks_for_meaning_alone_does_not_expect_the_words(
    similarity: float, by_both: bool, by_meaning: bool
) -> None:
    assert is_weak(similarity, SearchType.HYBRID) is by_both
    assert is_weak(similarity, SearchType.VECTOR) is by_meaning


def test_who_says_what_is_near_gets_all_that_is() -> None:
    assert not is_weak(0.45, SearchType.VECTOR, least=0.4)
    assert is_weak(0.45, SearchType.HYBRID, least=0.4)

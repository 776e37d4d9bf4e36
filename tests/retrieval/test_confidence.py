"""A hundred queries of each kind, and no calibration knows one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest
from benchmarks.retrieval import docs_qa
from benchmarks.retrieval.confidence import Shares, known_items, lines, nonsense, shares

from memoranda.model.note import NoteRef
from memoranda.model.search import (
    Confidence,
    Hit,
    ItemType,
    SearchQuery,
    SearchResults,
    SearchType,
)
from memoranda.ranking.probes import LONG, PAIRS, off_topic
from memoranda.services.search import SearchService


@dataclass
class Answering:
    """Stands for the search: labels by what is asked."""

    labels: dict[str, tuple[Confidence, ...]]

    async def search(self, query: SearchQuery) -> SearchResults:
        hits = tuple(
            Hit(cast(NoteRef, None), 1.0, ItemType.NOTE, (), confidence=one)
            for one in self.labels.get(query.text, ())
        )
        return SearchResults(query.text, query.search_type, hits, len(hits), 3, 0)


def test_there_are_a_hundred_of_each_and_the_same_ones_every_time() -> None:
    assert len(set(nonsense())) == len(set(known_items())) == 100
    assert not set(nonsense()) & set(known_items())
    assert (nonsense(), known_items()) == (nonsense(), known_items())


def test_no_calibration_asks_one_of_them() -> None:
    asked = {*off_topic(), *LONG, *(pair.question for pair in PAIRS)}
    assert not asked & {*nonsense(), *known_items()}


def test_words_of_known_items_are_those_of_a_section() -> None:
    texts = [
        " ".join(w for w in one["text"].split() if w.isalpha()) for one in docs_qa.rows("sections")
    ]
    rows = known_items()[-30:]
    assert all(any(row in text for text in texts) for row in rows)


async def test_shares_are_those_of_best_hits_above_low() -> None:
    above, below = nonsense()[:4], nonsense()[4:6]
    labels: dict[str, tuple[Confidence, ...]] = dict.fromkeys(
        known_items()[:90], (Confidence.HIGH, Confidence.NONE)
    )
    labels |= dict.fromkeys(above[:2], (Confidence.MEDIUM,))
    labels |= dict.fromkeys(above[2:], (Confidence.HIGH,))
    labels |= dict.fromkeys(below, (Confidence.LOW, Confidence.HIGH))
    search = cast(SearchService, Answering(labels))
    found = await shares(search, SearchType.VECTOR)
    assert (found.nonsense, found.known) == (0.04, 0.9)
    assert set(found.misjudged) == {*above, *known_items()[90:]}


@pytest.mark.parametrize(
    ("nonsense", "known", "is_outside"),
    [(0.1, 0.9, False), (0.11, 0.9, True), (0.1, 0.89, True), (0.0, 1.0, False)],
)
def test_a_missed_target_is_told(nonsense: float, known: float, is_outside: bool) -> None:
    measured = Shares(nonsense, known)
    assert measured.is_outside is is_outside
    (line,) = lines("words", measured)
    assert f"{nonsense:.0%} of nonsense" in line
    assert f"{known:.0%} of known items" in line

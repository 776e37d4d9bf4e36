"""What speaks for a hit: of its note, of both searches, and its places in them."""

from __future__ import annotations

import numpy as np
import pytest

from memoranda.ranking.matching import NoteMatches
from memoranda.services.found import Evidence, Weighing

NOTES = NoteMatches(
    notes=np.array([3, 5, 9]),
    scores=np.array([1.0, 2.0, 3.0]),
    terms=np.array([1, 2, 1]),
    coverage=np.array([0.25, 1.0, 0.5]),
)


def weighing(*, is_whole: bool = True) -> Weighing:
    return Weighing(NOTES, {3: 4.0, 5: 8.0}, {5: 0.5, 9: 0.75, 7: 0.5}, is_whole=is_whole)


def test_a_hit_of_both_has_both_scores_and_ranks() -> None:
    assert weighing().evidence(5, 5) == Evidence(1.0, 8.0, 1, 0.5, 2)


def test_a_hit_of_one_has_nothing_of_the_other() -> None:
    assert weighing().evidence(3, 3) == Evidence(0.25, 4.0, 2, None, None)
    assert weighing().evidence(9, 9) == Evidence(0.5, None, None, 0.75, 1)


@pytest.mark.parametrize("note", [1, 4, 7, 10])
def test_a_note_without_a_word_has_no_part_of_the_query(note: int) -> None:
    assert weighing().evidence(note, note).coverage == 0
    assert weighing(is_whole=False).evidence(note, note).coverage == 0


def test_one_of_several_alternatives_is_all_that_was_asked() -> None:
    assert weighing(is_whole=False).evidence(3, 3).coverage == 1


def test_an_item_is_weighed_by_itself_and_by_its_note() -> None:
    items = Weighing(NOTES, {80: 1.0}, {80: 0.25}, is_whole=True)
    assert items.evidence(80, 9) == Evidence(0.5, 1.0, 1, 0.25, 1)

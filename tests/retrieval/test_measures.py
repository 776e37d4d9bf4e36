"""The measures, on rankings made by hand."""

from __future__ import annotations

import math

import pytest
from benchmarks.retrieval.measures import DEPTH, MEASURES, hit, ndcg, recall, reciprocal_rank

RANKED = ["a", "b", "c", "d", "e", "f"]


@pytest.mark.parametrize(
    ("gold", "k", "expected"),
    [
        ({"a"}, 1, 1.0),
        ({"b"}, 1, 0.0),
        ({"b", "e"}, 2, 0.5),
        ({"b", "e"}, 5, 1.0),
        ({"b", "x", "y", "z"}, 6, 0.25),
        ({"a", "b", "c"}, 1, 1 / 3),
    ],
)
def test_recall_is_the_share_of_the_right_ones(gold: set[str], k: int, expected: float) -> None:
    assert recall(RANKED, gold, k=k) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("gold", "k", "expected"),
    [({"c"}, 3, 1.0), ({"c"}, 2, 0.0), ({"c", "x"}, 3, 1.0), ({"x"}, 6, 0.0)],
)
def test_a_hit_needs_one_of_the_right_ones(gold: set[str], k: int, expected: float) -> None:
    assert hit(RANKED, gold, k=k) == expected


@pytest.mark.parametrize(
    ("gold", "k", "expected"),
    [({"a"}, 5, 1.0), ({"c"}, 5, 1 / 3), ({"e", "b"}, 5, 0.5), ({"f"}, 5, 0.0), ({"x"}, 6, 0.0)],
)
def test_the_reciprocal_rank_is_that_of_the_first_right_one(
    gold: set[str], k: int, expected: float
) -> None:
    assert reciprocal_rank(RANKED, gold, k=k) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("gold", "k", "expected"),
    [
        ({"a"}, 6, 1.0),
        ({"b"}, 6, 1 / math.log2(3)),
        ({"c"}, 6, 0.5),
        ({"c"}, 2, 0.0),
        ({"a", "c"}, 6, 1.5 / (1 + 1 / math.log2(3))),
        ({"a", "b", "x"}, 2, 1.0),
        ({"a", "b", "x"}, 6, (1 + 1 / math.log2(3)) / (1.5 + 1 / math.log2(3))),
    ],
)
def test_ndcg_discounts_a_place_by_log2_of_one_more(
    gold: set[str], k: int, expected: float
) -> None:
    assert ndcg(RANKED, gold, k=k) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ({"x2"}, [0, 1, 1, 1, 1 / 2, 1 / math.log2(3)]),
        ({"x6", "x11"}, [0, 0, 0, 1 / 2, 1 / 6, 1 / math.log2(7) / (1 + 1 / math.log2(3))]),
        ({"x1", "x11", "x12"}, [1, 1, 1 / 3, 1 / 3, 1, 1 / (1.5 + 1 / math.log2(3))]),
    ],
)
def test_every_measure_is_what_its_name_says(right: set[str], expected: list[float]) -> None:
    ranked = [f"x{place}" for place in range(1, 13)]
    names = ["hit@1", "hit@5", "recall@5", "recall@10", "MRR@10", "nDCG@10"]
    assert list(MEASURES) == names
    assert [MEASURES[name](ranked, right) for name in names] == pytest.approx(expected)


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_of_nothing_found_is_zero(name: str) -> None:
    assert MEASURES[name]([], {"a"}) == 0.0


@pytest.mark.parametrize("name", MEASURES)
def test_what_is_cut_off_changes_no_measure(name: str) -> None:
    ranked = [f"x{place}" for place in range(30)]
    right = {"x3", "x7", "x20"}
    assert MEASURES[name](ranked, right) == MEASURES[name](ranked[:DEPTH], right)


@pytest.mark.parametrize("name", MEASURES)
def test_a_question_without_a_right_answer_has_no_measure(name: str) -> None:
    with pytest.raises(ValueError, match="no measure"):
        MEASURES[name](["a"], set())


@pytest.mark.parametrize("name", MEASURES)
def test_an_id_that_comes_twice_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="twice"):
        MEASURES[name](["a", "b", "a"], {"a"})

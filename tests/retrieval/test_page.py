"""The tables of the page: ways to ask stand beside each other where there are several."""

from __future__ import annotations

from benchmarks.retrieval.page import leg_lines
from benchmarks.retrieval.scores import Row
from benchmarks.retrieval.tasks import Series

TURNS = Series("LoCoMo", "turns", "own")
SESSIONS = Series("LoCoMo", "sessions", "pooled")


def row(series: Series, part: str, leg: str, cpu_ms: float, **figures: float) -> Row:
    return Row(series, part, 10, figures, cpu_ms, 1.0, leg)


def test_the_ways_to_ask_stand_beside_each_other() -> None:
    shown = list(
        leg_lines(
            [
                row(TURNS, "1-5", "words", 2.0, **{"nDCG@10": 0.5, "recall@10": 0.6}),
                row(TURNS, "all", "words", 3.4, **{"nDCG@10": 0.4, "recall@10": 0.5}),
                row(TURNS, "1-5", "static alone", 1.0, **{"nDCG@10": 0.3, "recall@10": 0.4}),
                row(TURNS, "all", "static alone", 1.6, **{"nDCG@10": 0.2, "recall@10": 0.3}),
            ]
        )
    )
    assert shown[0] == (
        "| set, grain, haystack: part, measure | words | words + static | static alone"
        " | words + MiniLM | MiniLM alone |"
    )
    assert shown[2:] == [
        "| LoCoMo, turns, own: 1-5, nDCG@10 | 0.500 |  | 0.300 |  |  |",
        "| LoCoMo, turns, own: all, nDCG@10 | 0.400 |  | 0.200 |  |  |",
        "| LoCoMo, turns, own: 1-5, recall@10 | 0.600 |  | 0.400 |  |  |",
        "| LoCoMo, turns, own: all, recall@10 | 0.500 |  | 0.300 |  |  |",
        "| LoCoMo, turns, own: all, CPU ms p50 | 3 |  | 2 |  |  |",
    ]


def test_what_was_asked_in_one_way_alone_is_left_out() -> None:
    assert len(list(leg_lines([row(SESSIONS, "all", "words", 1.0, **{"recall@5": 0.5})]))) == 2

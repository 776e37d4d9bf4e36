"""Rows from answers, and figures beside their floors."""

from __future__ import annotations

import pytest
from benchmarks.retrieval.floors import FLOORS, Floor, verdicts
from benchmarks.retrieval.product import Answer
from benchmarks.retrieval.scores import Row, rows
from benchmarks.retrieval.tasks import Places, Question, Series

SERIES = Series("Made up", "notes", "all notes")


def answer(
    ranked: str, gold: str, part: str = "", *, is_declined: bool = False, cpu_ms: float = 1.0
) -> Answer:
    return Answer(Question("?", frozenset(gold), part), tuple(ranked), is_declined, cpu_ms)


def row(part: str = "all", leg: str = "words", **figures: float) -> Row:
    return Row(SERIES, part, 1, figures, 1.0, 1.0, leg)


def test_each_part_and_all_have_a_row_of_means() -> None:
    found = list(
        rows(
            SERIES, [answer("ab", "a", "1-5"), answer("ab", "b", "1-5"), answer("ab", "x", "6-10")]
        )
    )
    assert [(one.part, one.questions) for one in found] == [("1-5", 2), ("6-10", 1), ("all", 3)]
    assert [one.figures["hit@1"] for one in found] == pytest.approx([0.5, 0.0, 1 / 3])
    assert [one.figures["MRR@10"] for one in found] == pytest.approx([0.75, 0.0, 0.5])


def test_questions_without_parts_have_the_row_of_all_alone() -> None:
    assert [one.part for one in rows(SERIES, [answer("a", "a")])] == ["all"]


def test_off_topic_questions_only_say_how_often_they_were_declined() -> None:
    off_topic = [answer("a", "", "off", is_declined=True), *[answer("b", "", "off")] * 3]
    asked = [answer("a", "a"), *off_topic]
    off, every = rows(SERIES, asked)
    assert (off.part, off.questions, off.figures) == ("off", 4, {"declined": 0.25})
    assert (every.part, every.questions, every.figures["hit@1"]) == ("all", 1, 1.0)


def test_an_answerable_question_that_is_declined_counts_against_answered() -> None:
    asked = [answer("a", "a", is_declined=True), *[answer("a", "a")] * 3]
    (every,) = rows(SERIES, asked)
    assert every.figures["answered"] == 0.75


def test_a_part_does_not_mix_questions_with_and_without_an_answer() -> None:
    with pytest.raises(ValueError, match="with and without"):
        list(rows(SERIES, [answer("a", "a", "p"), answer("a", "", "p")]))


def test_processor_time_is_given_as_median_and_95th_percentile() -> None:
    asked = [answer("a", "a", cpu_ms=float(ms)) for ms in range(100, 0, -1)]
    (every,) = rows(SERIES, asked)
    assert (every.cpu_p50_ms, every.cpu_p95_ms) == (50.5, 96.0)


@pytest.mark.parametrize(
    ("value", "word", "is_under"),
    [(0.49, "UNDER", True), (0.5, "floor", False), (0.69, "floor", False), (0.7, "aim", False)],
)
def test_a_figure_is_judged_by_floor_and_aim(value: float, word: str, is_under: bool) -> None:
    (one,) = verdicts([row(**{"hit@1": value})], [Floor(SERIES, "hit@1", 0.5, 0.7)])
    assert (one.word, one.is_under) == (word, is_under)


def test_a_floor_judges_its_own_part_and_series() -> None:
    measured = [row("a", **{"hit@1": 0.2}), row("all", **{"hit@1": 0.9})]
    floors = [
        Floor(SERIES, "hit@1", 0.5, part="a"),
        Floor(Series("Other", "notes", "all"), "hit@1", 0.5),
    ]
    (one,) = verdicts(measured, floors)
    assert (one.value, one.is_under) == (0.2, True)


@pytest.mark.parametrize("missing", [row("part", **{"hit@1": 1.0}), row("all", **{"hit@5": 1.0})])
def test_a_floor_of_a_measured_series_cannot_go_unseen(missing: Row) -> None:
    with pytest.raises(LookupError, match="nothing was measured"):
        list(verdicts([missing], [Floor(SERIES, "hit@1", 0.5)]))


def test_a_floor_judges_its_own_way_to_ask() -> None:
    measured = [row(**{"hit@1": 0.9}), row(leg="meaning", **{"hit@1": 0.2})]
    floors = [Floor(SERIES, "hit@1", 0.5, leg=leg) for leg in ("words", "meaning", "not asked")]
    assert [(one.value, one.is_under) for one in verdicts(measured, floors)] == [
        (0.9, False),
        (0.2, True),
    ]


@pytest.mark.parametrize(
    ("value", "word"), [(0.79, "UNDER"), (0.795, "floor"), (0.799, "floor"), (0.8, "aim")]
)
def test_a_way_to_ask_is_judged_by_how_much_less_it_finds(value: float, word: str) -> None:
    measured = [row(**{"hit@1": 0.8}), row(leg="meaning", **{"hit@1": value})]
    floor = Floor(SERIES, "hit@1", -0.005, 0.0, leg="meaning", against="words")
    (one,) = verdicts(measured, [floor])
    assert (one.word, one.value) == (word, pytest.approx(value - 0.8))
    assert floor.name == "Made up, notes, all notes: all, hit@1, meaning less words"


def test_what_was_asked_in_one_way_alone_is_not_compared() -> None:
    floor = Floor(SERIES, "hit@1", 0.0, leg="meaning", against="words")
    assert not list(verdicts([row(leg="meaning", **{"hit@1": 0.2})], [floor]))


def test_the_floors_of_the_design_stand() -> None:
    turns, sessions = Series("LoCoMo", "turns", "own"), Series("LoCoMo", "sessions", "pooled")
    sections = Series("Docs QA", "sections", "all pages")
    least = {
        (floor.leg, floor.series, floor.measure): floor.least
        for floor in FLOORS
        if floor.part == "all" and not floor.against
    }
    assert least["words", turns, "nDCG@10"] >= 0.49
    assert least["words", turns, "recall@10"] >= 0.66
    assert least["words", sessions, "recall@5"] >= 0.85
    assert least["words", sections, "recall@5"] >= 0.73
    assert least["words + static", turns, "nDCG@10"] >= 0.51
    assert least["words + static", turns, "recall@10"] >= 0.68
    assert least["words + MiniLM", turns, "nDCG@10"] >= 0.53
    assert least["words + MiniLM", turns, "recall@10"] >= 0.70


@pytest.mark.parametrize(("leg", "most"), [("words + static", 0.005), ("words + MiniLM", 0.0)])
def test_meaning_may_cost_no_set_what_words_find(leg: str, most: float) -> None:
    judged = [floor for floor in FLOORS if (floor.leg, floor.against) == (leg, "words")]
    assert {floor.series.set for floor in judged} == {"LoCoMo", "Docs QA", "Multilingual"}
    assert {floor.least for floor in judged} == {-most}


def test_a_line_belongs_to_the_answer_that_starts_at_or_above_it() -> None:
    places = Places((5, 9), ("first", "second"))
    assert [places.at(line) for line in (1, 4, 5, 8, 9, 100)] == [
        None,
        None,
        "first",
        "first",
        "second",
        "second",
    ]

"""Labels rise with what speaks for a hit, and a calibration says what similarities mean."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.model.search import Confidence
from memoranda.ranking.confidence import Calibration, Probes, calibrated, evidence, label

NOW = datetime(2026, 11, 30, tzinfo=UTC)
SPACE = "static:a@1/8"
MEASURED = Calibration(SPACE, 0.2, 0.3, 0.5, 0.1, 1000, NOW)
ORDER = (Confidence.NONE, Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)

parts = st.floats(0, 1)
cosines = st.floats(-1, 1)
lengths = st.integers(0, 200)
some_cosines = st.lists(cosines, max_size=60)


@st.composite
def calibrations(draw: st.DrawFn) -> Calibration:
    probes = Probes(draw(some_cosines), draw(some_cosines), draw(some_cosines), draw(some_cosines))
    return calibrated(SPACE, probes, vectors=draw(st.integers(0, 100)), made_at=NOW)


def measured(
    unfitting: list[float],
    fitting: list[float],
    short: list[float] | None = None,
    long: list[float] | None = None,
) -> Calibration:
    probes = Probes(unfitting, short or unfitting, long or unfitting, fitting)
    return calibrated(SPACE, probes, vectors=10, made_at=NOW)


@given(cosines, cosines, parts, parts, lengths, calibrations() | st.none())
def test_more_similarity_and_more_words_never_lower_a_label(
    one: float,
    other: float,
    some: float,
    more: float,
    words: int,
    calibration: Calibration | None,
) -> None:
    low = label(min(one, other), min(some, more), words, calibration)
    high = label(max(one, other), max(some, more), words, calibration)
    assert ORDER.index(low) <= ORDER.index(high)


@given(cosines | st.none(), parts, lengths, calibrations() | st.none())
def test_evidence_is_a_part_of_one(
    similarity: float | None, coverage: float, words: int, calibration: Calibration | None
) -> None:
    assert 0 <= evidence(similarity, coverage, words, calibration) <= 1 + 1e-9


@given(cosines, lengths, calibrations() | st.none())
def test_a_note_with_every_word_is_a_match_whatever_the_model_says(
    similarity: float, words: int, calibration: Calibration | None
) -> None:
    assert ORDER.index(label(similarity, 1.0, words, calibration)) >= 2


@pytest.mark.parametrize(
    ("similarity", "coverage", "expected"),
    [
        (0.5, 1.0, Confidence.HIGH),
        (0.3, 1.0, Confidence.MEDIUM),
        (0.5, 0.0, Confidence.MEDIUM),
        (0.4, 0.5, Confidence.MEDIUM),
        (0.3, 0.4, Confidence.LOW),
        (0.4, 0.0, Confidence.LOW),
        (0.3, 0.2, Confidence.NONE),
        (0.1, 0.0, Confidence.NONE),
    ],
)
def test_words_and_meaning_make_the_label_together(
    similarity: float, coverage: float, expected: Confidence
) -> None:
    assert label(similarity, coverage, 5, MEASURED) is expected


@pytest.mark.parametrize(
    ("coverage", "expected"),
    [
        (0.1, Confidence.NONE),
        (0.2, Confidence.LOW),
        (0.3, Confidence.MEDIUM),
        (0.7, Confidence.HIGH),
    ],
)
@pytest.mark.parametrize(
    ("similarity", "calibration"),
    [
        (None, MEASURED),
        (0.9, None),
        (0.9, replace(MEASURED, fitting=0.34)),
        (0.9, replace(MEASURED, fitting=0.1)),
    ],
)
def test_words_decide_alone_where_similarities_say_nothing(
    similarity: float | None,
    calibration: Calibration | None,
    coverage: float,
    expected: Confidence,
) -> None:
    assert label(similarity, coverage, 5, calibration) is expected


def test_a_long_query_has_to_be_nearer() -> None:
    assert label(0.5, 0.0, 9, MEASURED) is Confidence.MEDIUM
    assert label(0.5, 0.0, 25, MEASURED) is Confidence.LOW
    assert label(0.5, 0.0, 100, MEASURED) is Confidence.LOW
    assert label(0.6, 0.0, 25, MEASURED) is Confidence.MEDIUM


@given(calibrations())
def test_the_floor_is_not_above_what_nonsense_reaches(calibration: Calibration) -> None:
    assert 0 <= calibration.floor <= calibration.unfitting <= 1
    assert 0 <= calibration.fitting <= 1
    assert calibration.long_gain >= 0


def test_a_few_queries_that_fit_the_project_do_not_move_the_ends() -> None:
    plain = measured([0.2] * 10, [0.6] * 10)
    mixed = measured([0.2] * 9 + [0.9], [0.6] * 8 + [0.0, 1.0])
    assert plain == mixed
    assert (plain.unfitting, plain.fitting) == (0.2, 0.6)


def test_the_ends_lie_between_neighbours_in_proportion() -> None:
    made = measured([0.0, 0.4], [0.5, 0.7])
    assert made.floor == pytest.approx(0.1)
    assert made.unfitting == pytest.approx(0.32)
    assert made.fitting == pytest.approx(0.64)


def test_what_long_questions_gain_is_measured_beside_short_ones() -> None:
    made = measured([0.9, 0.0], [0.6], short=[0.2, 0.3, 0.9], long=[0.1, 0.45, 0.5])
    assert made.long_gain == pytest.approx(0.15)
    assert measured([0.2], [0.6], short=[0.5], long=[0.1]).long_gain == 0


@pytest.mark.parametrize(
    ("unfitting", "fitting"),
    [([], []), ([0.0], []), ([0.0] * 5, [0.0] * 5), ([0.7] * 5, [0.7] * 5), ([0.9], [0.2])],
    ids=["nothing", "no chunk", "zero vectors", "all equal", "the wrong way round"],
)
def test_probes_that_tell_nothing_apart_leave_the_words_alone(
    unfitting: list[float], fitting: list[float]
) -> None:
    made = measured(unfitting, fitting)
    assert not made.tells_apart
    assert label(1.0, 0.0, 5, made) is Confidence.NONE
    assert label(0.0, 1.0, 5, made) is Confidence.HIGH


def test_one_chunk_is_enough() -> None:
    made = measured([0.1, 0.2], [0.8])
    assert made.tells_apart
    assert label(0.8, 0.0, 5, made) is Confidence.MEDIUM

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.model.standing import NoteStanding
from memoranda.ranking.recency import recency_factor

NOW = datetime(2026, 6, 1, tzinfo=UTC)
HALF_LIFE = 90
HUNDRED_YEARS = 36_500

ages = st.floats(-1000, HUNDRED_YEARS).map(lambda days: timedelta(days=days))
shares = st.floats(0, 1)
half_lives = st.integers(1, HUNDRED_YEARS)
standings = st.builds(
    NoteStanding,
    ages.map(lambda age: NOW - age),
    importance=shares,
    is_lasting=st.booleans(),
    is_outdated=st.booleans(),
)


def note(days_old: float, **standing: object) -> NoteStanding:
    return NoteStanding(NOW - timedelta(days=days_old), **standing)  # type: ignore[arg-type]


def factor(standing: NoteStanding) -> float:
    return recency_factor(standing, NOW, HALF_LIFE)


@pytest.mark.parametrize(
    ("standing", "expected"),
    [
        (note(0), 0.65),  # .3 + .7 * .5
        (note(90), 0.325),  # half of it after one half-life
        (note(45), 0.4596194),  # .65 / sqrt 2
        (note(180), 0.195),  # the floor: .65 * .3, not .65 / 4
        (note(20_000), 0.195),
        (note(-30), 0.65),
        (note(0, importance=1.0), 1.0),
        (note(0, importance=0.0), 0.3),
        (note(90, importance=0.8), 0.43),  # (.3 + .56) / 2
        (note(0, is_outdated=True), 0.325),
        (note(90, is_outdated=True), 0.1625),
        (note(9000, is_lasting=True), 0.65),
        (note(9000, is_lasting=True, importance=1.0), 1.0),
        (note(9000, is_lasting=True, is_outdated=True), 0.325),
    ],
)
def test_a_factor_is_importance_times_decay_times_status(
    standing: NoteStanding, expected: float
) -> None:
    assert factor(standing) == pytest.approx(expected)


@given(standings, half_lives)
def test_a_factor_scales_and_never_hides(standing: NoteStanding, half_life: int) -> None:
    assert 0.04 < recency_factor(standing, NOW, half_life) <= 1


@given(standings, ages, half_lives)
def test_a_newer_note_is_never_lower(
    standing: NoteStanding, younger_by: timedelta, half_life: int
) -> None:
    newer = replace(standing, modified=standing.modified + abs(younger_by))
    assert recency_factor(newer, NOW, half_life) >= recency_factor(standing, NOW, half_life)


@given(standings, shares, half_lives)
def test_a_more_important_note_is_never_lower(
    standing: NoteStanding, share: float, half_life: int
) -> None:
    more = replace(standing, importance=max(share, standing.importance))
    assert recency_factor(more, NOW, half_life) >= recency_factor(standing, NOW, half_life)


@given(standings, ages, half_lives)
def test_age_does_not_touch_what_lasts(
    standing: NoteStanding, age: timedelta, half_life: int
) -> None:
    lasting = replace(standing, is_lasting=True)
    aged = replace(lasting, modified=NOW - age)
    assert recency_factor(lasting, NOW, half_life) == recency_factor(aged, NOW, half_life)


@given(standings, half_lives)
def test_an_outdated_note_is_lower_whatever_else_it_is(
    standing: NoteStanding, half_life: int
) -> None:
    outdated, valid = replace(standing, is_outdated=True), replace(standing, is_outdated=False)
    assert recency_factor(outdated, NOW, half_life) < recency_factor(valid, NOW, half_life)

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.model.dates import parse_date, parse_day


def test_naive_dates_are_in_the_zone_of_the_machine() -> None:
    assert parse_date("2025-01-15 10:30") == datetime(2025, 1, 15, 10, 30).astimezone(UTC)
    assert parse_date("2025/01/15") == datetime(2025, 1, 15).astimezone(UTC)


def test_a_day_is_the_written_one_whatever_the_zone() -> None:
    assert parse_day("2026-03-02T23:30:00-11:00") == date(2026, 3, 2)
    assert parse_day(" 2026-03-02 ") == date(2026, 3, 2)
    assert parse_day("soon") is None


@pytest.mark.parametrize("text", ["", "soon", "0000-00-00", "9999999999999999", "12", "0001-01-01"])
def test_unusable_dates_are_none_or_aware(text: str) -> None:
    found = parse_date(text)
    assert found is None or found.tzinfo is UTC


def test_epoch_milliseconds_are_dates() -> None:
    assert parse_date("1600000000000") == parse_date("1600000000")
    assert parse_date("1600000000") == datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)


@given(st.one_of(st.text(max_size=30), st.datetimes().map(str), st.integers(0).map(str)))
def test_no_text_makes_it_fail(text: str) -> None:
    found = parse_date(text)
    assert found is None or found.tzinfo is UTC
    parse_day(text)

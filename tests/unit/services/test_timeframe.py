from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from memoranda.errors import InvalidArgument
from memoranda.services.timeframe import parse_timeframe

NOW = datetime(2025, 3, 31, 15, 30, tzinfo=UTC)  # a Monday


@pytest.fixture(autouse=True)
def machine_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nairobi: three hours ahead all year."""
    monkeypatch.setenv("TZ", "Africa/Nairobi")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.spec("6.2.8")
@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("7d", timedelta(days=7)),
        ("1 day", timedelta(days=1)),
        ("1 hour", timedelta(hours=1)),
        ("2 weeks", timedelta(weeks=2)),
        (" Last  Week ", timedelta(weeks=1)),
        ("past 3 days", timedelta(days=3)),
        ("a week ago", timedelta(weeks=1)),
        ("1.5h", timedelta(minutes=90)),
        ("in the last 5 minutes", timedelta(minutes=5)),
        ("30 mins", timedelta(minutes=30)),
    ],
)
def test_amounts_count_back_from_now(text: str, back: timedelta) -> None:
    assert parse_timeframe(text, NOW) == NOW - back


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("today", "2025-03-30T21:00Z"),
        ("yesterday", "2025-03-29T21:00Z"),
        ("this week", "2025-03-30T21:00Z"),
        ("this month", "2025-02-28T21:00Z"),
        ("2025-01-15", "2025-01-14T21:00Z"),
        ("2025-01", "2024-12-31T21:00Z"),
        ("2025-01-15T10:00", "2025-01-15T07:00Z"),
    ],
)
def test_days_begin_at_midnight_of_the_machines_zone(text: str, expected: str) -> None:
    assert parse_timeframe(text, NOW) == datetime.fromisoformat(expected)


def test_a_time_with_a_zone_is_taken_as_it_is() -> None:
    assert parse_timeframe("2025-01-15T10:00+01:00", NOW) == datetime(2025, 1, 15, 9, tzinfo=UTC)


def test_months_keep_the_day_or_take_the_last_one() -> None:
    assert parse_timeframe("last month", NOW) == datetime(2025, 2, 28, 15, 30, tzinfo=UTC)
    assert parse_timeframe("13 months", NOW) == datetime(2024, 2, 29, 15, 30, tzinfo=UTC)
    assert parse_timeframe("2 years", NOW) == datetime(2023, 3, 31, 15, 30, tzinfo=UTC)


@pytest.mark.spec("6.2.8")
def test_other_words_go_through_dateparser() -> None:
    assert parse_timeframe("three days ago", NOW) == NOW - timedelta(days=3)
    assert parse_timeframe("5 March 2024", NOW) == datetime(2024, 3, 4, 21, tzinfo=UTC)


def test_the_result_is_utc() -> None:
    assert parse_timeframe("2025-01-15", NOW).utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "text", ["", " ", "nonsense", "9999999 years", "999999999 weeks", "7 parsecs", "\0", "x" * 5000]
)
def test_what_is_no_time_is_refused_by_the_parameters_name(text: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse_timeframe(text, NOW, parameter="after_date")
    assert caught.value.parameter == "after_date"
    assert len(caught.value.message) < 600


@pytest.mark.parametrize("text", ["tomorrow", "2030-01-01"])
def test_the_future_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="future"):
        parse_timeframe(text, NOW)

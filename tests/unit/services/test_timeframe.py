from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from memoranda.errors import InvalidArgument
from memoranda.services.timeframe import parse_timeframe, read_timeframe

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


@pytest.mark.parametrize(
    "text", ["7", "1 2 3", "a", "x", "2025-13-01", "2025-02-30", "5/3/2025", "12:61"]
)
def test_numbers_and_letters_that_may_mean_anything_are_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        parse_timeframe(text, NOW)


@pytest.mark.parametrize(
    "text",
    [
        "tomorrow",
        "2030-01-01",
        "next week",
        "in 2 days",
        "2 days from now",
        "tonight",
        "2025-03-31T23:00",
    ],
)
def test_the_future_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match=r"future: it begins 20\d\d-") as caught:
        parse_timeframe(text, NOW.replace(hour=8))
    assert "Here it is 2025-03-31 11:30 +0300" in caught.value.hint


def test_a_date_alone_may_be_a_day_ahead() -> None:
    assert parse_timeframe("2025-04-01", NOW) == datetime(2025, 3, 31, 21, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [  # a Monday, half past six in the evening
        ("since Monday", "2025-03-31T00:00"),
        ("Sunday", "2025-03-30T00:00"),
        ("last Monday", "2025-03-24T00:00"),
        ("since last friday", "2025-03-28T00:00"),
        ("on Saturday afternoon", "2025-03-29T12:00"),
        ("Friday at 14:00", "2025-03-28T14:00"),
        ("yesterday afternoon", "2025-03-30T12:00"),
        ("yesterday 2pm", "2025-03-30T14:00"),
        ("since yesterday", "2025-03-30T00:00"),
        ("the day before yesterday", "2025-03-29T00:00"),
        ("last night", "2025-03-30T18:00"),
        ("this morning", "2025-03-31T06:00"),
        ("this evening", "2025-03-31T18:00"),
        ("earlier today", "2025-03-31T00:00"),
        ("since 9am", "2025-03-31T09:00"),
        ("23:15", "2025-03-30T23:15"),
        ("noon", "2025-03-31T12:00"),
        ("weekend", "2025-03-29T00:00"),
        ("last weekend", "2025-03-29T00:00"),
        ("this quarter", "2025-01-01T00:00"),
        ("Q1 2025", "2025-01-01T00:00"),
        ("since January", "2025-01-01T00:00"),
        ("from 2025-03-01 until now", "2025-03-01T00:00"),
        ("gestern", "2025-03-30T00:00"),
        ("letzte Woche", "2025-03-24T00:00"),
    ],
)
def test_days_and_their_parts(text: str, expected: str) -> None:
    assert parse_timeframe(text, NOW) == datetime.fromisoformat(f"{expected}+03:00")


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("since the last 3 days", timedelta(days=3)),
        ("within 2 days", timedelta(days=2)),
        ("past couple of days", timedelta(days=2)),
        ("a few hours ago", timedelta(hours=3)),
        ("two weeks", timedelta(weeks=2)),
        ("-7d", timedelta(days=7)),
        ("1h30m", timedelta(minutes=90)),
        ("2 days and 3 hours ago", timedelta(days=2, hours=3)),
        ("30m", timedelta(minutes=30)),
        ("P1W", timedelta(days=7)),
        ("PT2H", timedelta(hours=2)),
        ("a fortnight", timedelta(days=14)),
    ],
)
def test_amounts_in_other_words(text: str, back: timedelta) -> None:
    assert parse_timeframe(text, NOW) == NOW - back


@pytest.mark.parametrize("text", ["all", "All time", "ever"])
def test_all_there_is_begins_before_every_file(text: str) -> None:
    assert parse_timeframe(text, NOW).year == 1678


def test_the_morning_of_who_is_up_before_it_begins_at_midnight() -> None:
    early = datetime(2025, 3, 31, 1, 30, tzinfo=UTC)  # half past four
    assert parse_timeframe("this morning", early) == datetime(2025, 3, 30, 21, tzinfo=UTC)


def test_the_weekend_that_goes_on_is_not_the_last_one() -> None:
    sunday = NOW - timedelta(days=1)
    assert parse_timeframe("weekend", sunday) == datetime(2025, 3, 28, 21, tzinfo=UTC)
    assert parse_timeframe("last weekend", sunday) == datetime(2025, 3, 21, 21, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 days", "2025-03-29T17:30+01:00"),  # the same time of the day
        ("48 hours", "2025-03-29T16:30+01:00"),
        ("yesterday", "2025-03-30T00:00+01:00"),
        ("yesterday afternoon", "2025-03-30T12:00+02:00"),
        ("today", "2025-03-31T00:00+02:00"),
        ("last month", "2025-02-28T17:30+01:00"),
    ],
)
def test_where_clocks_were_changed_meanwhile_days_are_days_and_hours_are_hours(
    text: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")  # summer time began in the night to 30 March
    time.tzset()
    assert parse_timeframe(text, NOW) == datetime.fromisoformat(expected)


@pytest.mark.parametrize("text", ["1a" * 3000, "1 a " * 300 + "!", "-" * 3000, "since " * 500])
def test_a_text_made_to_be_slow_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        parse_timeframe(text, NOW)


@pytest.mark.parametrize(
    ("text", "is_quick"),
    [("7d", True), (" 2 Weeks ", True), ("72h", True), ("last tuesday", False), ("7 moons", False)],
)
async def test_only_what_may_take_long_is_read_in_a_thread(
    text: str, *, is_quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def in_thread(_read: object, text: str, now: datetime) -> datetime:
        asked.append(text)
        return now

    monkeypatch.setattr(asyncio, "to_thread", in_thread)
    found = await read_timeframe(text, NOW)

    assert asked == ([] if is_quick else [text])
    assert found == (parse_timeframe(text, NOW) if is_quick else NOW)

"""Which words of a query are a date. Times are asserted in the zone of the machine, where days begin."""

from __future__ import annotations

import string
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text.analysis import ENGLISH, Languages
from memoranda.text.date_words import DATE_WORDS
from memoranda.text.dates import FoundDate, find_date
from memoranda.text.periods import EARLIEST, LATEST

NOW = datetime(2026, 11, 25, 12, 30, tzinfo=UTC).astimezone()
"""A Wednesday."""


def found(text: str, languages: Languages = ENGLISH) -> FoundDate | None:
    return find_date(text, NOW, languages)


def days(text: str, languages: Languages = ENGLISH) -> tuple[str, str] | None:
    """First and last moment as the machine's clock shows them, midnights without a time."""
    date = found(text, languages)
    if date is None:
        return None
    return _shown(date.span.start), _shown(date.span.end)


def _shown(moment: datetime) -> str:
    if moment.replace(tzinfo=None) in {EARLIEST, LATEST}:
        return "..."
    return moment.astimezone().strftime("%Y-%m-%d %H:%M").removesuffix(" 00:00")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("today", "2026-11-25", "2026-11-26"),
        ("yesterday", "2026-11-24", "2026-11-25"),
        ("notes of yesterday's call", "2026-11-24", "2026-11-25"),
        ("this week", "2026-11-23", "2026-11-30"),
        ("last week", "2026-11-16", "2026-11-23"),
        ("this month", "2026-11-01", "2026-12-01"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("last quarter", "2026-07-01", "2026-10-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("last Monday", "2026-11-23", "2026-11-24"),
        ("last wednesday", "2026-11-18", "2026-11-19"),
        ("3 days ago", "2026-11-22", "2026-11-23"),
        ("two weeks ago", "2026-11-09", "2026-11-16"),
        ("a month ago", "2026-10-01", "2026-11-01"),
    ],
)
def test_spans_counted_from_now_are_whole_days_weeks_and_months(
    text: str, first: str, last: str
) -> None:
    assert days(text) == (first, last)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("in the last 3 days", "2026-11-22"),
        ("past two weeks", "2026-11-11"),
        ("the last 6 months", "2026-05-25"),
        ("in the last week", "2026-11-18"),
        ("past month", "2026-10-25"),
        ("the last 24 hours", "2026-11-24"),
    ],
)
def test_a_number_of_units_ends_now(text: str, first: str) -> None:
    time = NOW.strftime("%H:%M")
    assert days(text) == (f"{first} {time}", "2026-11-26")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("in March 2025", "2025-03-01", "2025-04-01"),
        ("Sept. 2025 plans", "2025-09-01", "2025-10-01"),
        ("2025-03", "2025-03-01", "2025-04-01"),
        ("2025-03-14", "2025-03-14", "2025-03-15"),
        ("on 14 March 2025", "2025-03-14", "2025-03-15"),
        ("the 14th of March, 2025", "2025-03-14", "2025-03-15"),
        ("May 7, 2023", "2023-05-07", "2023-05-08"),
        ("25.12.2024", "2024-12-25", "2024-12-26"),
        ("12/25/2024", None, None),
        ("2025年3月14日", "2025-03-14", "2025-03-15"),
        ("2025年3月の会議", "2025-03-01", "2025-04-01"),
        ("in 2023", "2023-01-01", "2024-01-01"),
        ("during 2023?", "2023-01-01", "2024-01-01"),
        ("Q1 2025", "2025-01-01", "2025-04-01"),
        ("2025-Q4", "2025-10-01", "2026-01-01"),
        ("the last week of March 2025", "2025-03-01", "2025-04-01"),
    ],
)
def test_dates_of_the_calendar(text: str, first: str | None, last: str | None) -> None:
    assert days(text) == ((first, last) if first else None)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("since Monday", "2026-11-23", "..."),
        ("since Thursday", "2026-11-19", "..."),
        ("since May", "2026-05-01", "..."),
        ("since December", "2025-12-01", "..."),
        ("since 2020", "2020-01-01", "..."),
        ("since last week", "2026-11-16", "..."),
        ("after 14 March 2025", "2025-03-15", "..."),
        ("before 2024", "...", "2024-01-01"),
        ("until March 2025", "...", "2025-04-01"),
    ],
)
def test_a_date_may_be_one_end_of_a_span(text: str, first: str, last: str) -> None:
    assert days(text) == (first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("between January and March 2025", "2025-01-01", "2025-04-01"),
        ("from November to February 2025", "2024-11-01", "2025-03-01"),
        ("between 2019 and 2022", "2019-01-01", "2023-01-01"),
        ("from 2025-03-01 to 2025-03-14", "2025-03-01", "2025-03-15"),
        ("January–March 2025", "2025-01-01", "2025-04-01"),
    ],
)
def test_two_dates_may_be_the_ends_of_a_span(text: str, first: str, last: str) -> None:
    assert days(text) == (first, last)


@pytest.mark.parametrize(
    "text",
    [
        "may", "march", "march on", "sun", "second", "may I", "in May", "on Monday", "last", "the past",
        "a 2024 MacBook", "1999", "2024", "the 2023 report", "port 2020", "v2024.1.0", "2024.1",
        "in 2000 words", "in 2048 bits", "upgrade from 2019 to 2022", "notes/2025-03-14.md",
        "2025-03-14-standup", "https://example.org/2025/03/14", "2025-13-45", "March 32, 2025", "#2025-03",
        "the week before 9 June 2023", "4 years ago", "last 5 notes", "last month of the year", "today-ish",
        "the last 0 days", "3.3.2025", "March 2025 or rather April 2025", "yesterday and today",
        "a pasted text " * 30 + "of last week",
    ],
)  # fmt: skip
def test_what_may_be_anything_else_is_no_date(text: str) -> None:
    assert found(text) is None


def test_a_date_of_the_calendar_is_also_what_notes_say() -> None:
    date = found("in March 2025")
    assert date is not None
    assert date.is_topic
    assert {"march 2025", "mar 2025", "2025 03", "march 14 2025"} <= set(date.span.words)
    assert date.span.text == "March 2025"


def test_a_day_is_written_in_many_ways() -> None:
    date = found("2023-05-07")
    assert date is not None
    assert set(date.span.words) >= {
        "2023 05 07", "20230507", "7 may 2023", "07 may 2023", "may 7 2023", "may 07 2023", "7th may 2023",
        "may 7th 2023",
    }  # fmt: skip
    assert not {"05 07 2023", "5 7 2023", "7 5 2023"} & set(
        date.span.words
    )  # or is it the fifth of July?


@pytest.mark.parametrize("text", ["last week", "since 2020", "in the last 3 days", "before 2024"])
def test_a_span_counted_from_now_or_open_is_no_text(text: str) -> None:
    date = found(text)
    assert date is not None
    assert (date.span.words, date.is_topic, date.span.text) == (
        (),
        False,
        text.removeprefix("in the "),
    )


def test_a_span_between_dates_is_what_notes_say_and_no_word_to_look_for() -> None:
    date = found("between January and March 2025")
    assert date is not None
    assert not date.is_topic
    assert {"january 2025", "february 2025", "march 2025"} <= set(date.span.words)


OTHERS = {
    "german": "letzte Woche|gestern|im März 2025|14. März 2025|seit 2020|in den letzten 3 Tagen|vor 3 Tagen",
    "french": "semaine dernière|hier|mars 2025|14 mars 2025|depuis 2020|les 3 derniers jours|il y a 3 jours",
    "spanish": "semana pasada|ayer|marzo de 2025|14 de marzo de 2025|desde 2020|últimos 3 días|hace 3 días",
    "italian": "settimana scorsa|ieri|marzo 2025|14 marzo 2025|dal 2020|ultimi 3 giorni|3 giorni fa",
    "portuguese": "semana passada|ontem|março de 2025|14 de março de 2025|desde 2020|últimos 3 dias|há 3 dias",
    "dutch": "vorige week|gisteren|maart 2025|14 maart 2025|sinds 2020|afgelopen 3 dagen|3 dagen geleden",
    "swedish": "förra veckan|igår|mars 2025|14 mars 2025|sedan 2020|senaste 3 dagarna|för 3 dagar sedan",
    "russian": "на прошлой неделе|вчера|март 2025|14 марта 2025 года|с 2020 года|последние 3 дня|3 дня назад",
}
MEANT = (
    "last week",
    "yesterday",
    "March 2025",
    "2025-03-14",
    "since 2020",
    "last 3 days",
    "3 days ago",
)


@pytest.mark.parametrize(
    ("language", "text", "meant"),
    [
        (language, text, meant)
        for language, texts in OTHERS.items()
        for text, meant in zip(texts.split("|"), MEANT, strict=True)
    ],
)
def test_other_languages_are_read_when_they_are_configured(
    language: str, text: str, meant: str
) -> None:
    assert days(text, (language,)) == days(meant)
    assert days(f"x {text} y", ("english", language)) == days(meant)


def test_a_language_without_words_of_its_own_is_read_around_a_year() -> None:
    assert days("14 marca 2025", ("polish",)) == ("2025-03-14", "2025-03-15")
    assert days("marzec 2025", ("polish",)) == ("2025-03-01", "2025-04-01")
    assert days("raport 2025", ("polish",)) is None


def test_words_of_another_language_are_no_date() -> None:
    assert days("letzte Woche") is None
    assert days("last week", ("german",)) is None


def test_every_language_has_twelve_months_and_seven_days() -> None:
    assert {(len(row.months), len(row.weekdays)) for row in DATE_WORDS.values()} == {(12, 7)}


WORDS = st.sampled_from(
    [
        "in",
        "since",
        "before",
        "last",
        "past",
        "3",
        "2025",
        "2025-03-14",
        "March",
        "may",
        "7,",
        "week",
        "days",
        "ago",
        "between",
        "and",
        "Q1",
        "yesterday",
        "'",
    ]
)


@given(st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=10).map(" ".join)))
def test_any_text_has_at_most_one_date_inside_it(text: str) -> None:
    for languages in (ENGLISH, tuple(DATE_WORDS), ("polish", "german")):
        date = found(text, languages)
        if date is not None:
            assert 0 <= date.start < date.end <= len(text)
            assert date.span.start < date.span.end
            assert date.span.start.tzinfo is UTC
            assert len(date.span.words) < 100
            assert not any(set(one) & set(string.punctuation) for one in date.span.words)

"""Days, weeks, months, quarters and years as half-open periods of local time, and how notes write them. Pure.

Times are naive and local here; `aware` makes them UTC.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum

from memoranda.text.analysis import Languages, normalized, token, written_words
from memoranda.text.date_words import DATE_WORDS

EARLIEST = datetime(1678, 1, 1)  # noqa: DTZ001
LATEST = datetime(2262, 1, 1)  # noqa: DTZ001
"""File times are nanoseconds in 64 bits."""

_DAY = timedelta(days=1)
_DAYS_LISTED = 14
_MONTHS_LISTED = 12
_YEARS_LISTED = 10


class Unit(Enum):
    """What a period is counted in; the order of `DateWords.units`."""

    HOUR = 0
    DAY = 1
    WEEK = 2
    MONTH = 3
    QUARTER = 4
    YEAR = 5


_MONTHS_OF = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.YEAR: 12}
_LENGTHS = {Unit.HOUR: timedelta(hours=1), Unit.DAY: _DAY, Unit.WEEK: 7 * _DAY}


@dataclass(frozen=True, slots=True)
class Period:
    """From `first` up to, without, `last`; naive local."""

    first: datetime
    last: datetime


def local(moment: datetime) -> datetime:
    """An aware time as the machine's clock shows it, naive."""
    return moment.astimezone().replace(tzinfo=None)


def aware(moment: datetime) -> datetime:
    """A naive local time as aware UTC. Raises OSError or OverflowError where the system knows no zone."""
    if moment in {EARLIEST, LATEST}:
        return moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC)


def midnight(moment: datetime) -> datetime:
    """The start of its day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def months_later(moment: datetime, months: int) -> datetime:
    """The same day some months later, or the last day of that month if it has no such day.

    Raises:
        OverflowError: before the year 1.
    """
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    if year < 1:
        raise OverflowError
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)


def period_of(unit: Unit, moment: datetime, later: int = 0) -> Period:
    """The day, week, month, quarter or year that a moment is in, or one some units later."""
    start = midnight(moment)
    match unit:
        case Unit.HOUR:
            start = moment.replace(minute=0, second=0, microsecond=0)
        case Unit.DAY:
            pass
        case Unit.WEEK:
            start -= start.weekday() * _DAY
        case Unit.MONTH:
            start = start.replace(day=1)
        case Unit.QUARTER:
            start = start.replace(month=(start.month - 1) // 3 * 3 + 1, day=1)
        case Unit.YEAR:
            start = start.replace(month=1, day=1)
    return Period(moved(start, unit, later), moved(start, unit, later + 1))


def moved(moment: datetime, unit: Unit, amount: int) -> datetime:
    """A moment some units later."""
    if unit in _MONTHS_OF:
        return months_later(moment, _MONTHS_OF[unit] * amount)
    return moment + _LENGTHS[unit] * amount


def written_day(day: datetime, languages: Languages) -> tuple[str, ...]:
    """How a note may write a day: words in a row as `text.analysis` writes them."""
    d, m, y = day.day, day.month, day.year
    forms = [f"{y} {m:02} {d:02}", f"{y}{m:02}{d:02}"]
    for name in _month_names(m, languages):
        forms += [f"{d} {name} {y}", f"{name} {d} {y}"]
        forms += [f"{d:02} {name} {y}", f"{name} {d:02} {y}"] if d < 10 else []
    if "english" in languages:
        nth = f"{d}{_ordinal(d)}"
        for name in _month_names(m, ("english",)):
            forms += [f"{nth} {name} {y}", f"{name} {nth} {y}", f"{nth} of {name} {y}"]
    if d > 12:  # else nobody knows which of the two is the month
        forms += [f"{d} {m:02} {y}", f"{m:02} {d} {y}", f"{d} {m} {y}", f"{m} {d} {y}"]
    elif languages and "english" not in languages:
        forms += [f"{d:02} {m:02} {y}", f"{d} {m} {y}"]
    return _distinct(forms)


def written_month(month: datetime, languages: Languages, *, days: bool = True) -> tuple[str, ...]:
    """How a note may write a month. `days`: also with a day between its name and its year."""
    m, y = month.month, month.year
    names = list(_month_names(m, languages))
    forms = [f"{y} {m:02}", *(f"{name} {y}" for name in names)]
    if days and "english" in languages:
        forms += [f"{names[0]} {day} {y}" for day in range(1, calendar.monthrange(y, m)[1] + 1)]
    return _distinct(forms)


def written_span(period: Period, languages: Languages) -> tuple[str, ...]:
    """How a note may write a date of a span of days, months or years; () when they are too many."""
    first, last = period.first, period.last
    if first.day == last.day == 1:
        if first.month == last.month == 1 and 0 < last.year - first.year <= _YEARS_LISTED:
            return tuple(str(year) for year in range(first.year, last.year))
        months = list(_each(period, Unit.MONTH, _MONTHS_LISTED + 1))
        if len(months) <= _MONTHS_LISTED:
            return _distinct(f for m in months for f in written_month(m, languages, days=False))
        return ()
    days = list(_each(period, Unit.DAY, _DAYS_LISTED + 1))
    if len(days) <= _DAYS_LISTED:
        return _distinct(f for day in days for f in written_day(day, languages))
    return ()


def as_words(text: str) -> str:
    """A text as words in a row."""
    return " ".join(token(word) for word in written_words(text))


def _each(period: Period, unit: Unit, most: int) -> Iterator[datetime]:
    moment = period.first
    while moment < period.last and most:
        yield moment
        moment = moved(moment, unit, 1)
        most -= 1


def _month_names(month: int, languages: Languages) -> Iterator[str]:
    for language in languages:
        if language in DATE_WORDS:
            for name in DATE_WORDS[language].months[month - 1].split("|"):
                yield token(normalized(name))


def _ordinal(day: int) -> str:
    return "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _distinct(forms: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(forms))

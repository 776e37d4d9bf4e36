"""Text for a moment in the past -> aware UTC datetime.

The forms that models write ("7d", "1 day", "last week", ISO dates) are read here in microseconds;
everything else goes through dateparser, which is imported only then. A time without a zone, and
the start of a day, is the machine's zone (as for the dates of notes). The function reads no clock: the
caller gives `now`.

Source: spec 6.2.8.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from memoranda.errors import InvalidArgument
from memoranda.text.periods import months_later

_SECONDS = {
    "second": 1,
    "sec": 1,
    "s": 1,
    "minute": 60,
    "min": 60,
    "hour": 3600,
    "hr": 3600,
    "h": 3600,
    "day": 86_400,
    "d": 86_400,
    "week": 604_800,
    "wk": 604_800,
    "w": 604_800,
}
_MONTHS = {"month": 1, "mon": 1, "mo": 1, "year": 12, "yr": 12, "y": 12}
_AMOUNT = re.compile(
    r"(?:(?:in the |the )?(?:last|past|previous) )?"
    r"(?P<number>an?|\d{1,9}(?:\.\d{1,6})?) ?(?P<unit>[a-z]{1,7})(?: ago)?",
    re.ASCII,
)
_LAST = re.compile(r"(?:in )?(?:the )?(?:last|past|previous) (?P<unit>[a-z]{1,7})", re.ASCII)
_MONTH = re.compile(r"(\d{4})(?:-(\d{1,2}))?", re.ASCII)
_SLACK = timedelta(days=1)
_EARLIEST = datetime(1678, 1, 1, tzinfo=UTC)
"""File times are nanoseconds in 64 bits."""


def parse_timeframe(text: str, now: datetime, *, parameter: str = "timeframe") -> datetime:
    """The start of a timeframe.

    Args:
        text: an amount back from now ("7d", "1 day", "2 weeks ago", "last month"), "today",
            "yesterday", "this week" (from Monday), an ISO date or time, or any past date that
            dateparser reads.
        now: aware.
        parameter: named in errors.

    Returns:
        Aware UTC. Days begin at midnight of the machine's zone.

    Raises:
        InvalidArgument: not a date, out of range, or more than a day in the future.
    """
    cleaned = " ".join(text.split())
    try:
        moment = _relative(cleaned.lower(), now) or _iso(cleaned) or _worded(cleaned, now)
    except (ValueError, OverflowError):
        moment = None
    if moment is None:
        raise InvalidArgument(
            parameter,
            f"{parameter} {text[:100]!r} is not a time in the past",
            hint="Use '7d', '2 weeks', 'today', 'last month' or an ISO date such as 2025-01-15.",
        )
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:  # before the year 1 in some zone
        moment = _EARLIEST
    moment = max(moment, _EARLIEST)
    if moment >= now + _SLACK:
        raise InvalidArgument(
            parameter,
            f"{parameter} {text[:100]!r} lies in the future",
            hint="Give a time in the past, for example '7d'.",
        )
    return moment


def _relative(text: str, now: datetime) -> datetime | None:
    midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    match text:
        case "now":
            return now
        case "today":
            return midnight.astimezone()
        case "yesterday":
            return (midnight - timedelta(days=1)).astimezone()
        case "this week":
            return (midnight - timedelta(days=midnight.weekday())).astimezone()
        case "this month":
            return midnight.replace(day=1).astimezone()
        case "this year":
            return midnight.replace(month=1, day=1).astimezone()
        case _:
            pass
    if found := _LAST.fullmatch(text):
        return _back(now, 1.0, found["unit"])
    if found := _AMOUNT.fullmatch(text):
        number = 1.0 if found["number"] in {"a", "an"} else float(found["number"])
        return _back(now, number, found["unit"])
    return None


def _back(now: datetime, number: float, unit: str) -> datetime | None:
    for known in (unit, unit.removesuffix("s")):
        if known in _SECONDS:
            return now - timedelta(seconds=number * _SECONDS[known])
        if known in _MONTHS and number == int(number):
            return months_later(now, -int(number) * _MONTHS[known])
    return None


def _iso(text: str) -> datetime | None:
    if found := _MONTH.fullmatch(text):
        moment = datetime(int(found[1]), int(found[2] or 1), 1)  # noqa: DTZ001 the zone follows
    else:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
    return moment if moment.tzinfo else moment.astimezone()


def _worded(text: str, now: datetime) -> datetime | None:
    if not text or len(text) > 100:
        return None
    import dateparser  # type: ignore[import-untyped]

    moment: datetime | None = dateparser.parse(
        text,
        settings={
            "RELATIVE_BASE": now.astimezone().replace(tzinfo=None),
            "PREFER_DATES_FROM": "past",
            "PREFER_DAY_OF_MONTH": "first",
        },
    )
    if moment is None:
        return None
    return moment if moment.tzinfo else moment.astimezone()

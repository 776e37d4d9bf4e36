"""Text for a moment in the past -> aware UTC datetime.

The forms that models write ("7d", "1 day", "last week", "yesterday afternoon", "since Monday", ISO
dates) are read here without a date library; what names a day in one of the languages of
`text.date_words` is read by `text.date_reading`, and only the rest goes through dateparser, which is imported
only then. The function reads no clock: the caller gives `now`.

A time without a zone is the machine's zone (as for the dates of notes), also where clocks were changed
meanwhile: "3 days" is the same time of the day three days ago, "72 hours" is 72 hours. Source: spec 6.2.8.
"""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import Final

from memoranda.errors import InvalidArgument
from memoranda.text.date_words import DATE_WORDS
from memoranda.text.periods import Unit, local, midnight, months_later, moved, period_of

_SECONDS: Final = {
    "second": 1, "sec": 1, "s": 1, "minute": 60, "min": 60, "m": 60, "hour": 3600, "hr": 3600, "h": 3600,
}  # fmt: skip
_DAYS: Final = {"day": 1, "d": 1, "week": 7, "wk": 7, "w": 7, "fortnight": 14}
_MONTHS: Final = {"month": 1, "mon": 1, "mo": 1, "quarter": 3, "year": 12, "yr": 12, "y": 12}
_NUMBERS: Final = {**DATE_WORDS["english"].numbers, "an": 1, "couple": 2, "eleven": 11}
_HOURS: Final = {
    "morning": 6, "noon": 12, "midday": 12, "lunchtime": 12, "afternoon": 12, "evening": 18, "night": 18,
    "midnight": 0,
}  # fmt: skip
_WEEKDAYS: Final = {name: n for n, name in enumerate(DATE_WORDS["english"].weekdays)}
_THIS: Final = {
    "week": Unit.WEEK, "month": Unit.MONTH, "quarter": Unit.QUARTER, "year": Unit.YEAR,
}  # fmt: skip
_EVER: Final = frozenset(
    {"all", "all time", "ever", "always", "any time", "anytime", "the beginning", "beginning"}
)

_LEAD = re.compile(
    r"\A(?:changed |modified |updated |edited )?(?:since|after|from|starting|beginning|over|during|within|for) "
    r"(?:on )?(?=\S)"
)
_TAIL = re.compile(r" (?:until|till|to|up to) (?:now|today|date|the present)\Z| onwards?\Z")
_NUMBER = (
    rf"(?P<number>\d{{1,9}}(?:\.\d{{1,6}})?|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
)
_AMOUNT = re.compile(
    rf"(?:(?:in )?(?:the )?(?:last|past|previous) |- ?)?{_NUMBER} ?(?:of )?(?P<unit>[a-z]{{1,10}})(?: ago| back)?"
)
_ONE_OF_AMOUNTS = re.compile(r"(\d{1,6}) ?([a-z]{1,10})")
_AMOUNTS = re.compile(r"-?(?:\d{1,6} ?[a-z]{1,10}(?:,? ?(?:and )?)?){2,4}?(?: ago)?")
_QUICK = re.compile(rf"\d{{1,4}} ?(?:{'|'.join((*_SECONDS, *_DAYS, *_MONTHS))})s?")
"""What needs no date library: read at once, where a thread would cost more."""
_LAST = re.compile(r"(?:in )?(?:the )?(?:last|past|previous) (?P<unit>[a-z]{1,10})")
_DURATION = re.compile(r"p(?:(\d{1,6})w)?(?:(\d{1,6})d)?(?:t(?:(\d{1,6})h)?(?:(\d{1,6})m)?)?")
_DAY = r"today|yesterday|(?:the )?day before yesterday"
_WEEKDAY = rf"(?:on |this |past )?(?P<last>last )?(?P<weekday>{'|'.join(_WEEKDAYS)})"
_PART = rf"(?:in the |at |this |late |early )?(?P<part>{'|'.join(_HOURS)})"
_CLOCK = r"(?:at )?(?P<hour>\d{1,2})(?::(?P<minute>[0-5]\d))?(?: ?(?P<half>[ap])\.?m\.?)?"
_MOMENT = re.compile(
    rf"(?:earlier )?(?:(?P<day>{_DAY})|{_WEEKDAY})?(?:(?:'s)?,? ?(?:{_PART}|{_CLOCK}))?"
)
_LAST_PART = re.compile(r"(?:last|yesterday) (?P<part>night|evening)")
_MONTH = re.compile(r"(\d{4})(?:-(\d{1,2}))?", re.ASCII)
_NUMERIC = re.compile(r"[\d\s./:+-]*", re.ASCII)
_WORD = re.compile(r"[^\W\d_]{3}|\d{4}|\d{1,2}[./-]\d{1,2}")
_SLACK = timedelta(days=1)
_EARLIEST = datetime(1678, 1, 1, tzinfo=UTC)
"""File times are nanoseconds in 64 bits."""


async def read_timeframe(text: str, now: datetime) -> datetime:
    """`parse_timeframe` for an event loop: what may need a date library is read in a thread."""
    if _QUICK.fullmatch(text.strip().lower()):
        return parse_timeframe(text, now)
    return await asyncio.to_thread(parse_timeframe, text, now)


def parse_timeframe(text: str, now: datetime, *, parameter: str = "timeframe") -> datetime:
    """The start of a timeframe, which ends now.

    Args:
        text: an amount back from now ("7d", "1 day", "last 3 days", "a couple of weeks ago", "last month"), a
            day and a part of it ("today", "since Monday", "yesterday afternoon", "last Friday at 14:00"),
            "this week" (from Monday), "this quarter", an ISO date, time, month, year or duration,
            "all time", or any past date that dateparser reads.
        now: aware.
        parameter: named in errors.

    Returns:
        Aware UTC. Days begin at midnight of the machine's zone; mornings at 6, afternoons at 12, evenings at 18.

    Raises:
        InvalidArgument: not a date, out of range, or in the future. A date alone may be a day ahead: it may
            be from a zone where it is that day already.
    """
    cleaned = " ".join(text.split())
    slack = timedelta(0)
    try:
        spoken = _TAIL.sub("", _LEAD.sub("", cleaned.lower(), count=1))
        moment = _spoken(spoken, now)
        if moment is None and (moment := _iso(spoken.upper())) is not None and ":" not in spoken:
            slack = _SLACK
        if moment is None:
            moment = _named(spoken, now) or _worded(spoken, now)
    except (ValueError, OverflowError):
        moment = None
    if moment is None:
        raise InvalidArgument(
            parameter,
            f"{parameter} {text[:100]!r} is not a time in the past",
            hint="Use '7d', '2 weeks', 'today', 'since Monday', 'yesterday afternoon', 'last month' or an ISO "
            "date such as 2025-01-15.",
        )
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:  # before the year 1 in some zone
        moment = _EARLIEST
    moment = max(moment, _EARLIEST)
    if moment > now and moment >= now + slack:
        raise InvalidArgument(
            parameter,
            f"{parameter} {text[:100]!r} lies in the future: it begins {_shown(moment)}",
            hint=f"Here it is {_shown(now)}. Give a time in the past, for example '7d'.",
        )
    return moment


def _shown(moment: datetime) -> str:
    try:
        return f"{moment.astimezone():%Y-%m-%d %H:%M %z}"
    except OverflowError:
        return f"{moment:%Y-%m-%d %H:%M}"


def _spoken(text: str, now: datetime) -> datetime | None:
    """English and the amounts that models write."""
    if text == "now":
        return now
    if text in _EVER:
        return _EARLIEST
    if (unit := _THIS.get(text.removeprefix("this "))) and text.startswith("this "):
        return _zoned(period_of(unit, local(now)).first)
    if text in {"weekend", "this weekend", "last weekend", "the weekend"}:
        return _zoned(_weekend(local(now), is_last=text.startswith("last")))
    if (found := _LAST.fullmatch(text)) and (moment := _back(now, 1.0, found["unit"])):
        return moment
    if found := _AMOUNT.fullmatch(text):
        number = float(_NUMBERS.get(found["number"], found["number"]))
        if moment := _back(now, number, found["unit"]):
            return moment
    if _AMOUNTS.fullmatch(text):
        moment = now
        for number, unit in _ONE_OF_AMOUNTS.findall(text):
            if (moment := _back(moment, float(number), unit)) is None:
                return None
        return moment
    if len(text) > 1 and (found := _DURATION.fullmatch(text)) and any(found.groups()):
        weeks, days, hours, minutes = (int(part or 0) for part in found.groups())
        return _back(now, 7 * weeks + days, "day", timedelta(hours=hours, minutes=minutes))
    if found := _LAST_PART.fullmatch(text):
        return _zoned(midnight(local(now)) + timedelta(days=-1, hours=_HOURS[found["part"]]))
    if text == "tonight":
        return _at(midnight(local(now)), _HOURS["night"], 0)
    if text and (found := _MOMENT.fullmatch(text)):
        return _day_and_time(found, now)
    return None


def _back(
    now: datetime, number: float, unit: str, further: timedelta = timedelta()
) -> datetime | None:
    """Days and longer go back on the calendar, shorter amounts by the clock."""
    for known in (unit, unit.removesuffix("s")):
        if known in _SECONDS:
            return now - timedelta(seconds=number * _SECONDS[known])
        if known in _DAYS:
            days = number * _DAYS[known]
            start = local(now) - timedelta(days=int(days))
            return _zoned(start) - timedelta(days=days - int(days)) - further
        if known in _MONTHS and number == int(number):
            return _zoned(months_later(local(now), -int(number) * _MONTHS[known]))
    return None


def _weekend(today: datetime, *, is_last: bool) -> datetime:
    """The Saturday of the weekend that has begun last, or of the one before if it goes on now."""
    saturday = midnight(today) - timedelta(days=(today.weekday() - 5) % 7)
    return moved(saturday, Unit.WEEK, -1) if is_last and today.weekday() >= 5 else saturday


def _day_and_time(found: re.Match[str], now: datetime) -> datetime | None:
    """A day, a time, or a day and a time on it."""
    today = midnight(local(now))
    day = today
    match found["day"], found["weekday"]:
        case None, None:
            pass
        case None, name:
            back = (today.weekday() - _WEEKDAYS[name]) % 7
            day = today - timedelta(days=back or 7 * bool(found["last"]))
        case "today", _:
            pass
        case "yesterday", _:
            day = today - timedelta(days=1)
        case _:
            day = today - timedelta(days=2)
    if part := found["part"]:
        moment = _at(day, _HOURS[part], 0)
        # The first hours of a day are part of its morning for who is awake.
        return _zoned(day) if part == "morning" and day == today and moment > now else moment
    if found["hour"] is None:
        return _zoned(day)
    hour, half = int(found["hour"]), found["half"]
    if (found["day"] or found["weekday"] or found["minute"] or half) is None:
        return None  # a number alone
    if half and not 1 <= hour <= 12:
        return None
    hour = hour % 12 + 12 * (half == "p") if half else hour
    moment = _at(day, hour, int(found["minute"] or 0))
    is_bare = found["day"] is None and found["weekday"] is None
    return (
        _at(day - timedelta(days=1), hour, int(found["minute"] or 0))
        if is_bare and moment > now
        else moment
    )


def _at(day: datetime, hour: int, minute: int) -> datetime:
    return _zoned(day.replace(hour=hour, minute=minute))


def _zoned(moment: datetime) -> datetime:
    """A naive local time as aware."""
    return moment.astimezone()


def _iso(text: str) -> datetime | None:
    if found := _MONTH.fullmatch(text):
        moment = datetime(int(found[1]), int(found[2] or 1), 1)  # noqa: DTZ001 the zone follows
    else:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
    return moment if moment.tzinfo else moment.astimezone()


def _named(text: str, now: datetime) -> datetime | None:
    """A day or a span in one of the languages that are known by heart, and nothing else."""
    from memoranda.text.date_reading import named_dates

    if len(text) > 60:
        return None
    for language in DATE_WORDS:
        named = named_dates(text, local(now), (language,))
        if len(named) == 1 and (named[0].start, named[0].end) == (0, len(text)):
            return _zoned(named[0].period.first)
    return None


def _worded(text: str, now: datetime) -> datetime | None:
    """Whatever else dateparser reads; not numbers alone, of which it makes a day of this month."""
    if not text or len(text) > 100 or _NUMERIC.fullmatch(text) or not _WORD.search(text):
        return None
    import dateparser  # type: ignore[import-untyped]

    moment: datetime | None = dateparser.parse(
        text,
        settings={
            "RELATIVE_BASE": local(now),
            "PREFER_DATES_FROM": "past",
            "PREFER_DAY_OF_MONTH": "first",
        },
    )
    if moment is None:
        return None
    return moment if moment.tzinfo else moment.astimezone()

"""What may be part of a date in a text: days, months, quarters, years, spans counted from now. Pure.

`text.dates` makes the date of a query of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import lru_cache

from memoranda.text.analysis import Languages
from memoranda.text.date_words import DATE_WORDS, DateWords
from memoranda.text.periods import (
    Period,
    Unit,
    as_words,
    midnight,
    moved,
    period_of,
    written_day,
    written_month,
    written_span,
)

FREE_BEFORE = r"(?<![\w./\\:@#$€£+%'’-])"
_FREE_AFTER = r"(?![\w/\\@%$€£+'’-]|[.,:]\d|\.\w)"
_FREE_AFTER_RELATIVE = r"(?:['’]s)?(?![\w/\\@%$'’-]|\.\w|\s+of\b)"
_YEAR = r"(?P<y>(?:19|20)\d\d)"


class Kind(Enum):
    """How far a date stands on its own."""

    CALENDAR = "a date that stands alone"
    RELATIVE = "counted from now"
    YEAR = "a number that needs a word before it"
    PART = "a month or a day of the week, which needs another date or `since`"


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A date, or part of one, in a text.

    Attributes:
        start, end: where it is, half-open, in characters.
        words: texts that name it, too; words in a row.
    """

    start: int
    end: int
    kind: Kind
    period: Period
    words: tuple[str, ...] = ()


_Read = Callable[[re.Match[str], datetime], tuple[Kind, Period, tuple[str, ...]]]
"""A match and local time now -> what it names. Raises ValueError or OverflowError: no date."""


def named_dates(text: str, now: datetime, languages: Languages) -> list[NamedDate]:
    """Everything that may be part of a date, left to right; of two that overlap the longer."""
    found: list[NamedDate] = []
    for pattern, read in _readers(languages):
        for match in pattern.finditer(text):
            try:
                found.append(NamedDate(match.start(), match.end(), *read(match, now)))
            except (ValueError, OverflowError):
                continue
    found.sort(key=lambda one: (one.start - one.end, one.start))
    kept: list[NamedDate] = []
    for one in found:
        if all(one.end <= other.start or other.end <= one.start for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)


@lru_cache(maxsize=8)
def _readers(languages: Languages) -> tuple[tuple[re.Pattern[str], _Read], ...]:
    readers: list[tuple[re.Pattern[str], _Read]] = []

    def add(pattern: str, read: _Read, *, after: str = _FREE_AFTER) -> None:
        whole = f"{FREE_BEFORE}(?:{pattern}){after}"
        readers.append((re.compile(whole, re.IGNORECASE), read))

    def day(match: re.Match[str], _: datetime) -> tuple[Kind, Period, tuple[str, ...]]:
        date = datetime(int(match["y"]), int(match["m"]), int(match["d"]))  # noqa: DTZ001
        return Kind.CALENDAR, period_of(Unit.DAY, date), written_day(date, languages)

    def month(match: re.Match[str], _: datetime) -> tuple[Kind, Period, tuple[str, ...]]:
        date = datetime(int(match["y"]), int(match["m"]), 1)  # noqa: DTZ001
        return Kind.CALENDAR, period_of(Unit.MONTH, date), written_month(date, languages)

    def quarter(match: re.Match[str], _: datetime) -> tuple[Kind, Period, tuple[str, ...]]:
        year, number = int(match["y"]), int(match["q"])
        period = period_of(Unit.QUARTER, datetime(year, 3 * number, 1))  # noqa: DTZ001
        forms = (f"q{number} {year}", f"{year} q{number}")
        return Kind.CALENDAR, period, forms + written_span(period, languages)

    def year(match: re.Match[str], _: datetime) -> tuple[Kind, Period, tuple[str, ...]]:
        period = period_of(Unit.YEAR, datetime(int(match["y"]), 1, 1))  # noqa: DTZ001
        return Kind.YEAR, period, (match["y"],)

    m, d = r"(?P<m>0?[1-9]|1[0-2])", r"(?P<d>0?[1-9]|[12]\d|3[01])"
    add(rf"{_YEAR}-(?P<m>\d\d)-(?P<d>\d\d)", day)
    add(rf"{_YEAR}/(?P<m>\d\d)/(?P<d>\d\d)", day)
    add(rf"{_YEAR}年{m}月{d}日", day, after="")
    add(rf"{_YEAR}年{m}月", month, after=r"(?!\d)")
    add(rf"(?P<d>1[3-9]|2\d|3[01])[./]{m}[./]{_YEAR}", day)
    if languages and "english" not in languages:
        add(rf"{d}\.{m}\.{_YEAR}", day)
    add(rf"{_YEAR}-(?P<m>\d\d)", month)
    add(rf"q(?P<q>[1-4])[ /-]?\s*{_YEAR}", quarter)
    add(rf"{_YEAR}[ /-]?q(?P<q>[1-4])", quarter)
    add(_YEAR, year)
    for language in languages:
        if language in DATE_WORDS:
            _add_language(add, DATE_WORDS[language], languages)
    if codes := tuple(_CODES[one] for one in languages if one in _CODES):
        add(
            rf"(?:(?P<d>{d[6:-1]})\.?\s+)?[^\W\d_]{{3,}}\.?\s+{_YEAR}",
            lambda match, _: _parsed(match, codes),
        )
    return tuple(readers)


def _add_language(
    add: Callable[..., None],
    words: DateWords,
    languages: Languages,
) -> None:
    months = {form: n for n, forms in enumerate(words.months, 1) for form in forms.split("|")}
    name = rf"(?P<m>{'|'.join(sorted(map(re.escape, months), key=len, reverse=True))})\.?"
    d, of = r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|[.º°])?", rf"(?:(?:{words.of})\s+)?"
    named = [f"(?P<u{unit.value}>{form})" for unit, form in zip(Unit, words.units, strict=True)]
    units, longer = "|".join(named), "|".join(named[Unit.WEEK.value :])
    n = rf"(?P<n>\d{{1,3}}|{'|'.join(sorted(words.numbers, key=len, reverse=True)) or '(?!)'})"

    def date_of(match: re.Match[str]) -> datetime:
        day = int(match["d"]) if "d" in match.re.groupindex else 1
        return datetime(int(match["y"]), months[match["m"].lower()], day)  # noqa: DTZ001

    def day(match: re.Match[str], _: datetime) -> tuple[Kind, Period, tuple[str, ...]]:
        date = date_of(match)
        return Kind.CALENDAR, period_of(Unit.DAY, date), written_day(date, languages)

    def month(match: re.Match[str], _: datetime) -> tuple[Kind, Period, tuple[str, ...]]:
        date = date_of(match)
        return Kind.CALENDAR, period_of(Unit.MONTH, date), written_month(date, languages)

    def bare_month(match: re.Match[str], now: datetime) -> tuple[Kind, Period, tuple[str, ...]]:
        number = months[match["m"].lower()]
        year = now.year - (number > now.month)
        return Kind.PART, period_of(Unit.MONTH, datetime(year, number, 1)), ()  # noqa: DTZ001

    def weekday(match: re.Match[str], now: datetime) -> tuple[Kind, Period, tuple[str, ...]]:
        number = int((match.lastgroup or "w0")[1:])
        back = (now.weekday() - number) % 7
        if "last" in match.re.groupindex:
            return Kind.RELATIVE, period_of(Unit.DAY, now, -(back or 7)), ()
        return Kind.PART, period_of(Unit.DAY, now, -back), ()

    def relative(later: int) -> _Read:
        return lambda match, now: (Kind.RELATIVE, period_of(_unit(match), now, later), ())

    def rolling(match: re.Match[str], now: datetime) -> tuple[Kind, Period, tuple[str, ...]]:
        unit, amount = _unit(match), _amount(match, words)
        return Kind.RELATIVE, Period(moved(now, unit, -amount), _tomorrow(now)), ()

    def ago(match: re.Match[str], now: datetime) -> tuple[Kind, Period, tuple[str, ...]]:
        unit = _unit(match)
        if unit in {Unit.HOUR, Unit.YEAR}:  # "moved here 4 years ago" says nothing of the note
            raise ValueError
        return Kind.RELATIVE, period_of(unit, now, -_amount(match, words)), ()

    add(rf"{d}\s+{of}{name},?\s+{of}{_YEAR}", day)
    add(rf"{name}\s+{d},?\s+{_YEAR}", day)
    add(rf"{name},?\s+{of}{_YEAR}", month)
    add(name, bare_month)
    weekdays = "|".join(f"(?P<w{number}>{form})" for number, form in enumerate(words.weekdays))
    add(f"(?:{weekdays})", weekday)
    spoken = _FREE_AFTER_RELATIVE
    add(rf"(?P<last>{words.last})\s+(?:{weekdays})", weekday, after=spoken)
    add(words.today, lambda _, now: (Kind.RELATIVE, period_of(Unit.DAY, now), ()), after=spoken)
    add(
        words.yesterday,
        lambda _, now: (Kind.RELATIVE, period_of(Unit.DAY, now, -1), ()),
        after=spoken,
    )
    add(rf"(?:{words.this})\s*(?:{longer})", relative(0), after=spoken)
    add(rf"(?:{words.last})\s+(?:{longer})", relative(-1), after=spoken)
    add(rf"(?:{longer})\s+(?:{words.last_after})", relative(-1), after=spoken)
    add(rf"(?:{words.rolling_one})\s+(?:{units})", rolling, after=spoken)
    add(rf"(?:{words.rolling})\s+{n}\s+(?:{units})", rolling, after=spoken)
    add(rf"{n}\s+(?:{words.rolling})\s+(?:{units})", rolling, after=spoken)
    template = words.ago.replace(" ", r"\s+")
    add(template.replace("{n}", n).replace("{unit}", f"(?:{units})"), ago, after=spoken)


def _unit(match: re.Match[str]) -> Unit:
    return next(
        Unit(int(name[1:]))
        for name, value in match.groupdict().items()
        if value is not None and name[0] == "u"
    )


def _amount(match: re.Match[str], words: DateWords) -> int:
    if "n" not in match.re.groupindex:
        return 1
    written = " ".join(match["n"].lower().split())
    amount = int(written) if written.isdecimal() else words.numbers[written]
    if not amount:
        raise ValueError
    return amount


def _tomorrow(now: datetime) -> datetime:
    """The end of what lasts until now: what is written in this moment belongs to it."""
    return midnight(now) + timedelta(days=1)


# Other languages

_CODES = {
    "arabic": "ar", "armenian": "hy", "basque": "eu", "catalan": "ca", "czech": "cs", "danish": "da",
    "estonian": "et", "finnish": "fi", "greek": "el", "hindi": "hi", "hungarian": "hu", "indonesian": "id",
    "irish": "ga", "lithuanian": "lt", "nepali": "ne", "norwegian": "nb", "persian": "fa", "polish": "pl",
    "romanian": "ro", "serbian": "sr", "tamil": "ta", "turkish": "tr", "yiddish": "yi",
}  # fmt: skip
"""Snowball names to the codes dateparser knows."""


def _parsed(match: re.Match[str], codes: tuple[str, ...]) -> tuple[Kind, Period, tuple[str, ...]]:
    """A day or a month before a year, as dateparser reads it. The first one loads its data (0.2 s)."""
    import dateparser  # type: ignore[import-untyped]

    date: datetime | None = dateparser.parse(
        match[0],
        languages=list(codes),
        settings={"REQUIRE_PARTS": ["month", "year"], "PREFER_DAY_OF_MONTH": "first"},
    )
    if date is None or date.year != int(match["y"]):
        raise ValueError
    date = midnight(date.replace(tzinfo=None))
    said = as_words(match[0])
    if match["d"]:
        return Kind.CALENDAR, period_of(Unit.DAY, date), (said, *written_day(date, ()))
    return Kind.CALENDAR, period_of(Unit.MONTH, date), (said, *written_month(date, ()))

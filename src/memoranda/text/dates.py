"""The date or the span of time that a query names in words. Pure: the caller gives `now`.

It is careful: what may be an ordinary word or number (`may`, `2024`, `notes/2025-03-14.md`) is no date,
and a query that names two dates names none. Days begin at midnight of the machine's zone, weeks on
Monday. `last week` is the calendar week before this one; `in the last week`, `in the last 3 days` end now.

A date of the calendar (`March 2025`, `in 2023`) is also a text that notes have (`DateSpan.words`).

Languages without a row in `text.date_words` go through dateparser, for words before a year only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from memoranda.model.search import DateSpan
from memoranda.text.analysis import Languages
from memoranda.text.date_reading import FREE_BEFORE, Kind, NamedDate, named_dates
from memoranda.text.date_words import DATE_WORDS, DateWords
from memoranda.text.periods import EARLIEST, LATEST, Period, aware, local, written_span

_MOST_CHARS = 300
"""A longer text is no question, and what it says of dates no wish."""

_COUNTED = re.compile(
    r"\s+(?:words?|lines?|char(?:acter)?s?|bytes?|[kmg]i?b|bits?|items?|pages?|steps?|rows?|files?|notes?|"
    r"people|users?|hours?|days?|miles?|met(?:er|re)s?|iterations?|epochs?|tokens?|px|ms|edition|version)\b",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r"\b(?:minute|hour|day|night|morning|evening|week|weekend|month|year)s?\s+(?:before|after)\s+\Z",
    re.IGNORECASE,
)
_DASH = re.compile(r"\s*[–—]\s*|\s+-\s+")
_BEFORE_CHARS = 24


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date in a text.

    Attributes:
        start, end: where it is, half-open, in characters.
        is_topic: its words are also worth looking for.
    """

    span: DateSpan
    start: int
    end: int
    is_topic: bool


def find_date(text: str, now: datetime, languages: Languages) -> FoundDate | None:
    """The one date or span that a text names; None when there is none or more than one.

    Args:
        text: composed (NFC); what must not be read is blotted out by the caller.
        now: aware.
        languages: Snowball names.
    """
    if len(text) > _MOST_CHARS:
        return None
    try:
        found = list(_spans(text, named_dates(text, local(now), languages), languages))
        return found[0] if len(found) == 1 else None
    except (ValueError, OverflowError, OSError):
        return None


def _spans(text: str, named: Sequence[NamedDate], languages: Languages) -> Iterator[FoundDate]:
    skip = False
    for one, following in pairwise((*named, None)):
        assert one is not None  # noqa: S101
        if skip:
            skip = False
        elif following is not None and (whole := _between(text, one, following, languages)):
            skip = True
            yield whole
        elif single := _single(text, one, languages):
            yield single


def _single(text: str, one: NamedDate, languages: Languages) -> FoundDate | None:
    """One date with the word before it."""
    if _AWAY.search(text, max(0, one.start - _BEFORE_CHARS), one.start):
        return None
    if one.kind is Kind.YEAR and _COUNTED.match(text, one.end):
        return None
    word = _prepositions(languages).search(text, max(0, one.start - _BEFORE_CHARS), one.start)
    role, start = (word.lastgroup, word.start()) if word else (None, one.start)
    period = one.period
    match role:
        case "since":
            bound = Period(period.first, LATEST)
        case "after" if one.kind is not Kind.PART:
            bound = Period(period.last, LATEST)
        case "before" if one.kind is not Kind.PART:
            bound = Period(EARLIEST, period.first)
        case "until" if one.kind is not Kind.PART:
            bound = Period(EARLIEST, period.last)
        case "in" if one.kind is Kind.YEAR:
            return _found(text, start, one.end, period, one.words)
        case _:
            if one.kind in {Kind.YEAR, Kind.PART}:
                return None
            return _found(text, one.start, one.end, period, one.words)
    return _found(text, start, one.end, bound)


def _between(text: str, one: NamedDate, other: NamedDate, languages: Languages) -> FoundDate | None:
    """Two dates that are the ends of a span."""
    kinds = {one.kind, other.kind}
    if kinds & {Kind.RELATIVE}:
        return None
    gap = text[one.end : other.start]
    lead = _leads(languages).search(text, max(0, one.start - _BEFORE_CHARS), one.start)
    is_joined = bool(_joins(languages).fullmatch(gap))
    if Kind.YEAR in kinds:
        is_span = is_joined and lead is not None and lead.lastgroup == "between"
    elif lead is not None:
        is_span = is_joined
    else:
        is_span = bool(_DASH.fullmatch(gap)) and other.kind is Kind.CALENDAR
    if not is_span:
        return None
    first = one.period.first
    if one.kind is Kind.PART:
        first = first.replace(year=other.period.first.year)
        first = first if first < other.period.last else first.replace(year=first.year - 1)
    period = Period(first, other.period.last)
    if period.first >= period.last:
        return None
    start = one.start if lead is None else lead.start()
    found = _found(text, start, other.end, period, written_span(period, languages))
    return replace(found, is_topic=False)


def _found(
    text: str, start: int, end: int, period: Period, words: tuple[str, ...] = ()
) -> FoundDate:
    span = DateSpan(
        " ".join(text[start:end].split()), aware(period.first), aware(period.last), words
    )
    return FoundDate(span, start, end, is_topic=bool(words))


_ROLES = ("since", "before", "after", "until", "year_in")


@lru_cache(maxsize=8)
def _prepositions(languages: Languages) -> re.Pattern[str]:
    rows = _rows(languages)
    roles = "|".join(
        f"(?P<{role.removeprefix('year_')}>{'|'.join(getattr(row, role) for row in rows)})"
        for role in _ROLES
    )
    return re.compile(rf"{FREE_BEFORE}(?:{roles})\s+\Z", re.IGNORECASE)


@lru_cache(maxsize=8)
def _leads(languages: Languages) -> re.Pattern[str]:
    rows = _rows(languages)
    between, from_ = "|".join(row.between for row in rows), "|".join(row.from_ for row in rows)
    return re.compile(
        rf"{FREE_BEFORE}(?:(?P<between>{between})|(?P<from>{from_}))\s+\Z", re.IGNORECASE
    )


@lru_cache(maxsize=8)
def _joins(languages: Languages) -> re.Pattern[str]:
    return re.compile(rf"\s+(?:{'|'.join(row.and_ for row in _rows(languages))})\s+", re.IGNORECASE)


def _rows(languages: Languages) -> list[DateWords]:
    return [DATE_WORDS[one] for one in languages if one in DATE_WORDS] or [DATE_WORDS["english"]]

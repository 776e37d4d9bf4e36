"""Values of frontmatter as search filters compare them. Pure; `filters` gives these functions to SQL.

A value counts as a number or as a moment when it looks like one, and always as a text: without blanks
around it, whatever its case and however its accents are composed.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import datetime, time
from functools import lru_cache
from typing import Any, Final

BLANKS: Final = " \t\n\r"
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})", re.ASCII)
_INTEGER_DIGITS = 18
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.{0,30}", re.ASCII)
_CACHED = 4096
_LONG = 1000
_ESCAPED = frozenset('"\\')


def fold(text: str) -> str:
    """What two spellings share that differ in case or in composed and decomposed letters."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def folded_value(text: str) -> str:
    """A value of frontmatter as a text."""
    return fold(text.strip(BLANKS))


@lru_cache(_CACHED)
def number(text: str | None) -> int | float | None:
    """The number that a value looks like. Integers of more than 18 digits are names, and stay texts."""
    if text is None or _NUMBER.fullmatch(text := text.strip(BLANKS)) is None:
        return None
    if "." in text:
        return float(text)
    return int(text) if len(text.lstrip("+-0")) <= _INTEGER_DIGITS else None


def moment(text: str | None) -> str | None:
    """The moment that a value looks like, as `_stamp` writes it; a date is its midnight."""
    span = moments(text)
    return None if span is None else span[0]


@lru_cache(_CACHED)
def moments(text: str | None) -> tuple[str, str] | None:
    """The first and the last moment of what a value looks like: those of the day, or twice the same.

    What has no zone is in the zone of this machine, as the dates of notes are (`model.dates`).
    """
    if text is None:
        return None
    text = text.strip(BLANKS)
    try:
        if _DAY.fullmatch(text):
            day = datetime.fromisoformat(text)
            return _stamp(day), _stamp(datetime.combine(day, time.max))
        if _MOMENT.fullmatch(text):
            stamp = _stamp(datetime.fromisoformat(text))
            return stamp, stamp
    except ValueError:
        pass
    return None


def _stamp(written: datetime) -> str:
    """The time on the clocks of this machine: texts in the order of time, all of one length."""
    if written.tzinfo is not None:
        try:
            written = written.astimezone()
        except (OverflowError, OSError):  # at an end of the calendar: as written
            pass
    return written.replace(tzinfo=None).isoformat(timespec="microseconds")


def is_said_plainly(value: str) -> bool:
    """Whether JSON in ASCII that has the value in some text of it has its letters."""
    looks_else = number(value) is not None or moments(value) is not None
    is_plain = value.isprintable() and _ESCAPED.isdisjoint(value)
    return is_plain and not looks_else and len(value) < _LONG


def found(metadata: str | None, key: str) -> str | None:
    """`value_of` of metadata that is JSON, in a JSON list of one; None if no key is that."""
    value = value_of(json.loads(metadata or "{}"), key)
    return None if value is None else json.dumps([value], ensure_ascii=False)


def value_of(values: Mapping[str, Any], key: str) -> str | list[str] | None:
    """The value of a key; None if no key is that.

    Args:
        values: all keys; a nested map is a text that is JSON.
        key: a key, or names joined by dots that lead into maps: `author.name`. A key of that very name
            comes first, then longer names. A list of maps has the values of all of them.
    """
    if values.get(key) is not None:
        return _plain(values[key])
    name = key
    while dot := name.rfind(".") + 1:
        name, rest = key[: dot - 1], key[dot:]
        inner = values.get(name)
        if isinstance(inner, list):
            below = [value for each in _maps(inner) if (value := value_of(each, rest)) is not None]
            if below:
                return [text for value in below for text in _texts(value)]
        elif (value := next((value_of(each, rest) for each in _maps([inner])), None)) is not None:
            return value
    return None


def _maps(values: list[Any]) -> Iterator[Mapping[str, Any]]:
    for value in values:
        if isinstance(value, str) and value.startswith("{"):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                continue
        if isinstance(value, dict):
            yield value


def _texts(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]


def _plain(value: Any) -> str | list[str]:
    """As the top of the metadata holds it: text, or a list of texts."""
    if isinstance(value, list):
        return [_text(each) for each in value if each is not None]
    return _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

"""Search filters as conditions on the `entity` table (spec 5.5). Every value is a bound parameter.

The conditions hold for any search back end, since they speak of notes alone; those on single items
(`item_types`) and on vectors (`min_similarity`) are the back ends' own.

SQLite lacks what two comparisons need (case of all scripts, values that are numbers or dates), so two
pure functions are given to the connection: `register` before the first use. A PostgreSQL back end
defines them once, as SQL functions of the same names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

from sqlalchemy import ColumnElement, Text, and_, column, exists, func, literal, or_, select
from sqlalchemy.engine import Connection

from memoranda.db.tables import entity, observation
from memoranda.model.search import SearchFilters

_FOLD = "memoranda_fold"
_COMPARABLE = "memoranda_comparable"
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})\Z", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?\Z", re.ASCII)
_LIKE_SIGNS = re.compile(r"([\\%_])")


def conditions(filters: SearchFilters) -> list[ColumnElement[bool]]:
    """What a note must fulfil, to be joined by AND; empty if no filter on notes is set."""
    found: list[ColumnElement[bool]] = []
    if filters.permalink is not None:
        found.append(entity.c.permalink == filters.permalink)
    if filters.permalink_match is not None:
        found.append(entity.c.permalink.like(_pattern(filters.permalink_match), escape="\\"))
    if filters.title is not None:
        found.append(func.instr(_fold(entity.c.title), fold(filters.title)) > 0)
    if filters.note_types:
        found.append(_fold(entity.c.note_type).in_([fold(name) for name in filters.note_types]))
    if filters.after_date is not None:
        found.append(entity.c.mtime_ns > _nanoseconds(filters.after_date))
    found += [_has_tag(tag) for tag in map(_clean_tag, filters.tags) if tag]
    found += [
        _has_value(key, (wanted,) if isinstance(wanted, str) else wanted)
        for key, wanted in filters.metadata.items()
    ]
    return found


def register(conn: Connection) -> None:
    """Give an SQLite connection the functions that `conditions` calls; harmless when repeated."""
    driver = conn.connection.driver_connection
    if driver is not None:
        driver.create_function(_FOLD, 1, fold, deterministic=True)
        driver.create_function(_COMPARABLE, 1, comparable, deterministic=True)


def fold(text: str | None) -> str | None:
    """What two spellings share that differ in case or in composed and decomposed letters."""
    if text is None or text.isascii():
        return text and text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def comparable(value: object) -> str | None:
    """A metadata value such that two equal values are equal texts: numbers and dates by value."""
    if value is None:
        return None
    text = str(value).strip()
    if _NUMBER.match(text):
        try:
            return f"number {Decimal(text).normalize():f}"
        except InvalidOperation:
            return fold(text)
    if _DATE.match(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return fold(text)
        return f"date {(moment.astimezone(UTC) if moment.tzinfo else moment).isoformat()}"
    return fold(text)


def _pattern(permalink: str) -> str:
    """A prefix, or a pattern whose only wildcard is `*`, for LIKE with a backslash as escape."""
    plain = _plain(permalink.removeprefix("memory://"))
    return plain.replace("*", "%") if "*" in plain else plain + "%"


def _plain(text: str) -> str:
    return _LIKE_SIGNS.sub(r"\\\1", text)


def _nanoseconds(moment: datetime) -> int:
    delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return ((delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds) * 1000


def _clean_tag(tag: str) -> str:
    return fold(tag.strip().lstrip("#").rstrip("/")) or ""


def _has_tag(tag: str) -> ColumnElement[bool]:
    """On the note, or on one of its observations; `tag` is folded."""
    of_note = func.json_each(entity.c.tags).table_valued("value", name="note_tag")
    of_item = func.json_each(observation.c.tags).table_valued("value", name="item_tag")
    may_hold = observation.c.tags != "[]"  # keeps the JSON reader off the rows that cannot match
    if tag.isascii():
        may_hold = observation.c.tags.like(f"%{_plain(tag)}%", escape="\\")
    tagged = select(observation.c.entity_id).where(
        may_hold,
        exists(select(literal(1)).select_from(of_item).where(_is_tag(of_item.c.value, tag))),
    )
    return or_(
        exists(select(literal(1)).select_from(of_note).where(_is_tag(of_note.c.value, tag))),
        entity.c.id.in_(tagged),
    )


def _is_tag(value: ColumnElement[str], tag: str) -> ColumnElement[bool]:
    folded = func.ltrim(_fold(value), "#")
    return or_(folded == tag, func.substr(folded, 1, len(tag) + 1) == f"{tag}/")


def _has_value(key: str, wanted: Iterable[str]) -> ColumnElement[bool]:
    """One of the values of a metadata key (the value itself, or an element of a list) is wanted."""
    entry = func.json_each(entity.c.entity_metadata).table_valued(
        column("key", Text), column("value", Text), column("type", Text), name="entry"
    )
    as_list = func.iif(entry.c.type == "array", entry.c.value, func.json_array(entry.c.value))
    element = func.json_each(as_list).table_valued("value", name="element")
    return exists(
        select(literal(1))
        .select_from(entry.join(element, literal(1) == 1))
        .where(
            and_(
                entry.c.key == key,
                getattr(func, _COMPARABLE)(element.c.value).in_(
                    [comparable(value) for value in wanted]
                ),
            )
        )
    )


def _fold(value: ColumnElement[str]) -> ColumnElement[str]:
    return getattr(func, _FOLD)(value)  # type: ignore[no-any-return]

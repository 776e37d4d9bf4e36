"""Search filters as conditions on the `entity` table (spec 5.5). Every value is a bound parameter.

As they are on SQLite, whose connections are given functions; PostgreSQL: `filters_postgres`.

The conditions hold for any search back end, since they speak of notes alone; those on single items
(`item_types`) and on vectors (`min_similarity`) are the search's own, and so is a date in words, of
which only half is about rows (`in_span`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    and_,
    exists,
    func,
    literal,
    literal_column,
    not_,
    or_,
    select,
    true,
)
from sqlalchemy.engine import Connection

from memoranda.db.dialects import is_postgresql
from memoranda.db.tables import entity, observation
from memoranda.model.search import DateSpan, SearchFilters
from memoranda.repositories import filters_postgres
from memoranda.repositories.filter_readings import address, clean_tag, nanoseconds
from memoranda.repositories.filter_values import fold
from memoranda.repositories.metadata_filters import fulfils
from memoranda.repositories.sql_values import (
    bindable,
    folded,
    is_ascii,
    is_like,
    like,
    plain,
    register,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NO_TAGS: ColumnElement[str] = literal_column("'[]'")
"""No parameter: SQLite uses an index of rows with tags only if the statement says which those are."""
_PROJECT = (entity.c.project_id,) * 2 + (entity.c.project_id + 0,) * 2
"""By what a part of `_by_index` finds its project: the last two have indexes that begin with the name."""
_MOST_IN_A_ROW = 50
"""SQLite refuses a thousand conditions in a row, but takes sets of fifty."""
_ESCAPED = frozenset('"\\')
_EXTENSION = ".md"


def allowed(
    conn: Connection,
    project_id: int,
    filters: Sequence[SearchFilters],
    among: Sequence[int] | None = None,
) -> NDArray[np.int64] | None:
    """The project's notes that pass all the filters, as ascending ids; None if none says anything of notes.

    `span`, `item_types` and `min_similarity` are the caller's. One statement. `among`: no other note can
    pass, which the caller knows by `text.filter_words`; few ids are looked up instead of all notes.
    """
    if is_postgresql(conn):
        return filters_postgres.allowed(conn, project_id, filters, among)
    merged = [
        list(chain(*parts)) for parts in zip(*map(_by_index, dict.fromkeys(filters)), strict=True)
    ]
    sets = [
        select(entity.c.id).where(mine == project_id, *found[start : start + _MOST_IN_A_ROW])
        for mine, found in zip(_PROJECT, merged, strict=False)
        for start in range(0, len(found), _MOST_IN_A_ROW)
    ]
    if not sets:
        return None
    import numpy as np

    register(conn)
    first, *others = sets
    if among is not None:
        few = func.json_each(json.dumps(among)).table_valued("value").c.value
        first = first.where(entity.c.id.in_(select(few)))
    passing = first.where(*((entity.c.id + 0).in_(other.correlate(None)) for other in others))
    ids = conn.execute(select(func.group_concat(passing.subquery().c.id))).scalar()
    return np.sort(np.fromstring(ids, np.int64, sep=",")) if ids else np.empty(0, np.int64)


def in_span(span: DateSpan) -> ColumnElement[bool]:
    """Whether a note was created or modified in the span. Rows hold whole seconds."""
    start = _naive(span.start).replace(microsecond=0)
    end = _naive(span.end)
    if end.microsecond:
        end = end.replace(microsecond=0) + timedelta(seconds=1)
    return or_(
        *(and_(at >= start, at < end) for at in (entity.c.note_created, entity.c.note_modified))
    )


def _by_index(filters: SearchFilters) -> tuple[list[ColumnElement[bool]], ...]:
    """Conditions by the index that holds their columns: rows hold the texts of notes and are slow to scan."""
    facts, times, permalinks, paths = list[ColumnElement[bool]](), [], [], []
    if filters.permalink is not None:
        permalinks.append(entity.c.permalink == address(filters.permalink))
    if filters.permalink_match is not None:
        name = fold(address(filters.permalink_match))
        permalinks.append(is_like(folded(entity.c.permalink), name))
    if filters.path is not None:
        paths.append(_is_at(filters.path))
    if filters.title is not None:
        facts.append(func.instr(folded(entity.c.title), fold(bindable(filters.title))) > 0)
    if filters.note_types:
        facts.append(_is_type(filters.note_types))
    if filters.after_date is not None:
        times.append(entity.c.mtime_ns > nanoseconds(filters.after_date))
    facts += [_has_tag(tag) for tag in map(clean_tag, filters.tags) if tag]
    facts += [fulfils(condition) for condition in filters.metadata]
    return facts, times, permalinks, paths


def _is_at(path: str) -> ColumnElement[bool]:
    """A pattern is for the whole path, whose `.md` may be left out; without `*` it is where a name begins.

    Names begin behind every slash: `a/b` is found in `a/b.md`, `a/bc/d.md` and `x/a/b/c.md`. A slash
    in front makes it the root of the project, one at the end a folder.
    """
    name = fold(bindable(path)).removeprefix("./")
    value = folded(entity.c.file_path)
    if "*" in name:
        name = name.removeprefix("/")
        return or_(is_like(value, name), is_like(value, name + _EXTENSION))
    if name.startswith("/"):
        return is_like(value, name.removeprefix("/"))
    return is_like(literal("/") + value, f"/{name}", before="%")


def _is_type(names: Sequence[str]) -> ColumnElement[bool]:
    """The spellings of a type that occur are looked up in its index, and with them the notes."""
    wanted = [fold(bindable(name)) for name in names]
    spellings = select(entity.c.note_type).where(folded(entity.c.note_type).in_(wanted))
    return entity.c.note_type.in_(spellings.correlate(None))


def _has_tag(tag: str) -> ColumnElement[bool]:
    """On the note, or on one of its observations; `tag` is folded."""
    tagged = select(observation.c.entity_id).where(_lists_tag(observation.c.tags, tag))
    return or_(_lists_tag(entity.c.tags, tag), entity.c.id.in_(tagged))


def _lists_tag(tags: ColumnElement[Any], tag: str) -> ColumnElement[bool]:
    """Whether a JSON list has the tag or one below it; few lists are taken apart for that."""
    may_have = not_(is_ascii(tags))
    if tag.isascii():
        is_plain = tag.isprintable() and _ESCAPED.isdisjoint(tag)
        may_have = or_(may_have, like(tags, f"%{plain(tag)}%")) if is_plain else true()
    each = func.json_each(tags).table_valued("value", name="each_tag")
    value = func.ltrim(folded(each.c.value), "#")
    is_tag = or_(value == tag, func.substr(value, 1, len(tag) + 1) == f"{tag}/")
    has_tag = exists(select(literal(1)).select_from(each).where(is_tag))
    return and_(tags != _NO_TAGS, may_have, has_tag)


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)

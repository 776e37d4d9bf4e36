"""Search filters on PostgreSQL, with the answers of `filters` on SQLite.

What a note has or has not, and what its names look like, is asked in SQL of `note_filter`, which the writer
keeps (`note_filters`). A condition on metadata that is more than that (an order, a part of a text, a moment, a
key inside a map) is decided here by `metadata_values`, once for all notes that have the same values, which the
same statement brings along. Every value is a parameter.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from memoranda.db.dialects import numbered
from memoranda.model.search import MetadataCondition, MetadataOperator, SearchFilters
from memoranda.repositories.driver import rows
from memoranda.repositories.filter_readings import address, clean_tag, nanoseconds
from memoranda.repositories.filter_terms import Terms
from memoranda.repositories.filter_values import fold, folded_value, is_said_plainly, moments
from memoranda.repositories.metadata_values import OfNote, fulfils
from memoranda.repositories.sql_values import bindable, pattern, plain
from memoranda.repositories.store import in_chunks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy.engine import Connection

_FROM: Final = "FROM note_filter f WHERE f.project_id = ?"
_IDS: Final = "string_agg(int4send(f.entity_id), '')"
"""The ids as bytes, which NumPy reads as they are."""
_SELECT: Final = f"SELECT {_IDS} {_FROM}"
_SELECT_AFTER: Final = (
    "SELECT string_agg(int4send(f.id), '') FROM entity f"
    " WHERE f.project_id = ? AND f.mtime_ns > CAST(? AS bigint)"
)
"""By an index that has all of it: the rows of notes are long."""
_OF_SHORT: Final = "CASE WHEN pg_column_size(f.metadata) <= 2000 THEN coalesce({}, '') ELSE '-' END"
_SELECT_VALUES: Final = f"SELECT {_IDS}, string_agg({_OF_SHORT}, E'\\n') {_FROM}"
"""All values in one text, since a row costs more than a line; JSON has no line ends. Long ones are asked for later."""
_SELECT_LONG: Final = "SELECT f.entity_id, coalesce({}, '') FROM note_filter f WHERE f.entity_id = ANY (CAST(? AS int[]))"
_LONG: Final = "-"
_MOST_TERMS: Final = 20
"""Each costs a look at all terms of a note."""
_CHUNK: Final = 1000
_FEW: Final = 20
_OF_ONE: Final = "f.metadata -> CAST(? AS text)"
_OF_MANY: Final = """
    (SELECT CAST(jsonb_object_agg(e.key, e.value) AS text) FROM jsonb_each(f.metadata) e
    WHERE e.key = ANY (CAST(? AS text[])))
"""
_IS_WHOLE: Final = (
    "NOT EXISTS (SELECT 1 FROM unnest(CAST(? AS text[])) p(name)"
    " WHERE f.path NOT LIKE p.name AND f.path NOT LIKE p.name || '.md')"
)
_ENTITIES: Final = "f.entity_id IN (SELECT e.id FROM entity e WHERE e.project_id = ? AND {})"
"""Not that of the outer row: servers before 17 would look anew for each."""


def allowed(
    conn: Connection,
    project_id: int,
    filters: Sequence[SearchFilters],
    among: Sequence[int] | None,
) -> NDArray[np.int64] | None:
    """`filters.allowed`."""
    import numpy as np

    asked = _Asked(project_id)
    for one in dict.fromkeys(filters):
        asked.add(one)
    where, values = asked.condition()
    if not where and not asked.tests:
        return None
    select, among_these = _SELECT, " AND f.entity_id = ANY (CAST(? AS int[]))"
    if (after_ns := asked.time_alone()) is not None:
        select, among_these = _SELECT_AFTER, " AND f.id = ANY (CAST(? AS int[]))"
        where, values = "", [after_ns]
    if among is not None:
        where += among_these
        values.append(list(among))
    if not asked.tests:
        [(ids,)] = rows(conn, numbered(select + where), project_id, *values)
        return np.sort(_notes(ids))
    wanted = _Wanted(list(asked.names))
    sql = numbered(_SELECT_VALUES.format(wanted.sql) + where)
    [(ids, texts)] = rows(conn, sql, *wanted.parameters, project_id, *values)
    notes = _notes(ids)
    found = texts.split("\n") if len(notes) else []
    _fill_in(conn, wanted, notes, found)
    verdicts = {
        text: asked.may_be_passed_by(text) and asked.is_passed_by(wanted.metadata(text))
        for text in set(found)
    }
    return np.sort(notes[np.fromiter(map(verdicts.__getitem__, found), bool, len(found))])


def _notes(ids: bytes | None) -> NDArray[np.int64]:
    import numpy as np

    return np.frombuffer(ids or b"", ">i4").astype(np.int64)


def _fill_in(conn: Connection, wanted: _Wanted, notes: NDArray[np.int64], found: list[str]) -> None:
    """Put in the values that were too long to come with the others."""
    places = {int(notes[at]): at for at, text in enumerate(found) if text == _LONG}
    sql = numbered(_SELECT_LONG.format(wanted.sql))
    for chunk in in_chunks(places, _CHUNK):
        for note, text in rows(conn, sql, *wanted.parameters, chunk):
            found[places[note]] = text


class _Wanted:
    """The values of some keys of a note, as one text.

    Attributes:
        sql: the expression, NULL or a text that is JSON; `parameters`: its own.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self.parameters: tuple[object, ...] = tuple(names)
        if len(names) == 1:
            self.sql = f"CAST({_OF_ONE} AS text)"
        elif len(names) <= _FEW:
            self.sql = f"CAST(jsonb_build_array({', '.join([_OF_ONE] * len(names))}) AS text)"
        else:
            self.sql = _OF_MANY
            self.parameters = (list(names),)

    def metadata(self, text: str) -> Mapping[str, Any]:
        """What the text says of the metadata of a note."""
        if not text:
            return {}
        values = json.loads(text)
        if len(self._names) == 1:
            values = [values]
        if isinstance(values, list):
            return dict(zip(self._names, values, strict=True))
        found: dict[str, Any] = values
        return found


class _Asked:
    """What all filters ask together.

    Attributes:
        tests: what is left to decide by the metadata of a note.
        names: of the keys that these look at.
    """

    def __init__(self, project_id: int) -> None:
        self.tests: list[OfNote] = []
        self.names: dict[str, None] = {}
        self._parts: list[str] = []
        self._types: list[list[int]] = []
        self._project_id = project_id
        self._terms = Terms(project_id)
        self._has: dict[int, None] = {}
        self._has_none_of: dict[int, None] = {}
        self._has_any_of: dict[tuple[int, ...], None] = {}
        self._patterns: dict[str, list[str]] = {"title": [], "permalink": [], "path": []}
        self._whole_paths: list[str] = []
        self._permalinks: dict[str, None] = {}
        self._after_ns: list[int] = []

    def add(self, filters: SearchFilters) -> None:
        """Ask for these as well."""
        if filters.permalink is not None:
            self._permalinks[address(filters.permalink)] = None
        if filters.permalink_match is not None:
            name = pattern(fold(address(filters.permalink_match)))
            self._patterns["permalink"].append(name)
        if filters.path is not None:
            self._add_path(fold(bindable(filters.path)).removeprefix("./"))
        if filters.title is not None:
            self._patterns["title"].append(f"%{plain(fold(bindable(filters.title)))}%")
        if filters.note_types:
            types = [self._terms.type(bindable(name)) for name in filters.note_types]
            if len(types) <= _MOST_TERMS:
                self._add_any_of(types)
            else:
                self._types.append(types)
        if filters.after_date is not None:
            self._after_ns.append(nanoseconds(filters.after_date))
        tags = [tag for tag in map(clean_tag, filters.tags) if tag]
        self._has |= dict.fromkeys(map(self._terms.tag, tags))
        for condition in filters.metadata:
            self._add_condition(condition)

    def time_alone(self) -> int | None:
        """After when files were changed last, in nanoseconds, if nothing else is asked."""
        others = self._has, self._has_none_of, self._has_any_of, self._types, self._whole_paths
        names = *self._patterns.values(), self._permalinks
        is_alone = self._after_ns and not any((*others, *names, self.tests))
        return max(self._after_ns) if is_alone else None

    def condition(self) -> tuple[str, list[object]]:
        """SQL that follows another condition, with its parameters; "": there is nothing to ask."""
        parts: list[tuple[str, *tuple[object, ...]]] = []
        if self._has:
            parts.append(("f.terms @> CAST(? AS bigint[])", list(self._has)))
        parts += [("f.terms && CAST(? AS bigint[])", list(terms)) for terms in self._has_any_of]
        if self._has_none_of:
            parts.append(("NOT f.terms && CAST(? AS bigint[])", list(self._has_none_of)))
        parts += [("f.terms[1] = ANY (CAST(? AS bigint[]))", types) for types in self._types]
        for column, patterns in self._patterns.items():
            if patterns:
                parts.append((f"f.{column} LIKE ALL (CAST(? AS text[]))", patterns))
        if self._whole_paths:
            parts.append((_IS_WHOLE, self._whole_paths))
        for permalink in list(self._permalinks)[:2]:  # nothing has two
            is_at = _ENTITIES.format("md5(e.permalink) = md5(CAST(? AS text))")
            parts.append((is_at, self._project_id, permalink))
        if self._after_ns:
            is_after = _ENTITIES.format("e.mtime_ns > CAST(? AS bigint)")
            parts.append((is_after, self._project_id, max(self._after_ns)))
        return "".join(f" AND {sql}" for sql, *_ in parts), [
            value for _, *values in parts for value in values
        ]

    def may_be_passed_by(self, text: str) -> bool:
        """Whether JSON has the parts that texts must have; it is not taken apart for that."""
        if not self._parts or not text.isascii():
            return True
        text = text.lower()
        return all(part in text for part in self._parts)

    def is_passed_by(self, metadata: Mapping[str, Any]) -> bool:
        """Whether notes with this metadata pass what SQL has not decided."""
        return all(test(metadata) for test in self.tests)

    def _add_path(self, name: str) -> None:
        """As `filters._is_at` reads it. Paths in the table begin with a slash."""
        if "*" in name:
            name = f"/{name.removeprefix('/')}"
            self._whole_paths.append(pattern(name))
        elif name.startswith("/"):
            self._patterns["path"].append(pattern(name))
        else:
            name = f"/{name}"
            self._patterns["path"].append(pattern(name, before="%"))
        self._has |= dict.fromkeys(self._terms.folders(name))

    def _add_any_of(self, terms: Iterable[int]) -> None:
        one, *others = dict.fromkeys(terms)
        if others:
            self._has_any_of[one, *others] = None
        else:
            self._has[one] = None

    def _add_condition(self, condition: MetadataCondition) -> None:
        key, is_plain = bindable(condition.key), "." not in condition.key
        equal = [self._terms.equal(key, bindable(value)) for value in condition.values]
        is_exact = is_plain and not any(map(moments, map(bindable, condition.values)))
        is_exact = is_exact and len(equal) <= _MOST_TERMS
        is_full = len(self._has_none_of) >= _MOST_TERMS
        is_negative = condition.operator is MetadataOperator.NE or (
            condition.operator is MetadataOperator.EXISTS and condition.values != ("true",)
        )
        match condition.operator:
            case MetadataOperator.EXISTS if is_plain and not (is_negative and is_full):
                terms = self._has_none_of if is_negative else self._has
                terms[self._terms.key(key)] = None
            case MetadataOperator.EQ | MetadataOperator.IN if is_exact and equal:
                self._add_any_of(equal)
            case MetadataOperator.NE if is_exact and not is_full:
                self._has_none_of |= dict.fromkeys(equal)
            case _:
                names = list(_names_in(key))
                self.tests.append(fulfils(condition))
                if condition.operator is MetadataOperator.CONTAINS and is_plain:
                    self._add_part(bindable(condition.values[0]))
                self.names |= dict.fromkeys(names)
                if not is_negative and len(names) <= _MOST_TERMS:
                    self._add_any_of(map(self._terms.key, names))

    def _add_part(self, value: str) -> None:
        if is_said_plainly(value):
            self._parts.append(folded_value(value))


def _names_in(key: str) -> Iterable[str]:
    """The keys whose value a key may mean: itself, and those whose maps it leads into."""
    at = key.find(".")
    while at >= 0:
        yield key[:at]
        at = key.find(".", at + 1)
    yield key

"""Sets of notes by their ids, as search needs them: all, those of a span of time, in order of path. SQL only."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Select, and_, bindparam, case, func, literal, or_, select

from memoranda.db.dialects import both, is_postgresql
from memoranda.db.engine import is_writing
from memoranda.db.tables import entity
from memoranda.model.search import DateSpan
from memoranda.repositories.changes import mark_of
from memoranda.repositories.driver import rows
from memoranda.repositories.filters import in_span
from memoranda.repositories.store import ProjectScoped
from memoranda.repositories.stored_items import as_list

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import ColumnElement

    Ids = NDArray[np.int64]

_MINE = entity.c.project_id == bindparam("project")
_IDS = select(entity.c.id).where(_MINE)
_COUNT = select(func.count()).where(_MINE)
_COUNTED = "notes counted"
_FEW = 500
_MANY = 1_000
_BY_PATH = both("SELECT id FROM entity WHERE id IN ({numbers}) ORDER BY file_path")
_PATHS = both("SELECT id FROM entity WHERE +project_id = ? ORDER BY file_path")
_ALL_BY_PATH = both("SELECT id FROM entity WHERE +id IN ({numbers}) ORDER BY file_path")
"""Over the index on the path, where the other looks up each note and sorts."""
_NEWEST = """
    SELECT id FROM entity WHERE project_id = ? {}
    ORDER BY mtime_ns DESC, file_path LIMIT ? OFFSET ?
"""
_FIRST_BY_PATH = both("SELECT id FROM entity WHERE id IN ({numbers}) ORDER BY file_path LIMIT ?")
_NEWEST_OF_ALL = both(_NEWEST.format(""))
_NEWEST_AMONG = both(_NEWEST.format("AND id IN ({numbers})"))


class NoteSets(ProjectScoped):
    """The notes of one project, as sets of ids."""

    def count(self) -> int:
        """How many notes there are; a connection remembers it until something changes.

        Every search asks; a transaction that writes may be rolled back, and remembers nothing.
        """
        asked = mark_of(self._conn), self._project_id
        known = self._conn.info.get(_COUNTED)
        if known is not None and known[0] == asked:
            return int(known[1])
        found = self._conn.execute(_COUNT, {"project": self._project_id}).scalar_one()
        if not is_writing(self._conn):
            self._conn.info[_COUNTED] = asked, found
        return found

    def all(self) -> Ids:
        """Every note, ascending."""
        return self._ids(_IDS.order_by(entity.c.id))

    def of_span(self, span: DateSpan) -> Ids:
        """The notes created or modified in the span, ascending."""
        return self._ids(_IDS.where(in_span(span)).order_by(entity.c.id))

    def at(self, path: str) -> Ids:
        """The notes that a path means: from the root, an ending, or below a root that it names too.

        `.md` may be left out; the one from the root alone if there is one.
        """
        path = path.removeprefix("./").strip("/")
        paths = {path, f"{path}.md"}
        exact = self._ids(_IDS.where(entity.c.file_path.in_(paths)).order_by(entity.c.id))
        if len(exact):
            return exact
        stored = entity.c.file_path
        endings = [_ends_with(stored, f"/{one}") for one in paths]
        within = _ends_with(literal(f"/{path}"), literal("/").concat(stored))
        return self._ids(_IDS.where(or_(*endings, within)).order_by(entity.c.id))

    def by_path(self, ids: Collection[int]) -> list[int]:
        """The same ids in the order of their notes' paths."""
        sql = _BY_PATH if len(ids) <= _FEW else _ALL_BY_PATH
        return [i for (i,) in rows(self._conn, sql, as_list(list(ids)))]

    def first_by_path(self, ids: Ids, most: int) -> list[int]:
        """The first of these in the order of their notes' paths; of many only the beginning is read."""
        if len(ids) <= _FEW:
            return self.by_path(ids.tolist())[:most]
        if is_postgresql(self._conn):  # which sends all rows of a statement at once
            return [i for (i,) in rows(self._conn, _FIRST_BY_PATH, as_list(ids.tolist()), most)]
        wanted, found = set(ids.tolist()), list[int]()
        result = self._conn.exec_driver_sql(_PATHS.sqlite, (self._project_id,))
        while len(found) < most and (some := result.cursor.fetchmany(_MANY)):
            found += [i for (i,) in some if i in wanted]
        result.close()
        return found[:most]

    def newest(self, ids: Ids | None, wanted: slice) -> list[int]:
        """That part of the notes (None: of all), the last modified first, then by path."""
        page = wanted.stop - (wanted.start or 0), wanted.start or 0
        if ids is None:
            found = rows(self._conn, _NEWEST_OF_ALL, self._project_id, *page)
        else:
            among = as_list(ids.tolist())
            found = rows(self._conn, _NEWEST_AMONG, self._project_id, among, *page)
        return [i for (i,) in found]

    def _ids(self, statement: Select[Any]) -> Ids:
        found: Sequence[int] = list(
            self._conn.execute(statement, {"project": self._project_id}).scalars()
        )
        return np.array(found, np.int64)


def _ends_with(text: ColumnElement[str], ending: str | ColumnElement[str]) -> ColumnElement[bool]:
    """Whether a text ends so; not when it is shorter."""
    start = func.length(text) - func.length(ending) + 1
    return and_(start >= 1, func.substr(text, case((start >= 1, start), else_=1)) == ending)

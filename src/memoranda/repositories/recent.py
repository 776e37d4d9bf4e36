"""Notes by the time of their files. SQL only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import Select, bindparam, func, select

from memoranda.db.tables import entity
from memoranda.model.note import NoteRef
from memoranda.repositories.refs import REF_COLUMNS, note_ref
from memoranda.repositories.store import ProjectScoped, many

_Select = TypeVar("_Select", bound=Select[Any])
_ORIGIN = datetime(1970, 1, 1, tzinfo=UTC)
_MINE = entity.c.project_id == bindparam("project")
_OF_TYPES = func.lower(entity.c.note_type).in_(many("types"))
_SINCE = entity.c.mtime_ns >= bindparam("since")
_COUNT = select(func.count()).where(_MINE, _SINCE)
_NEWEST = (
    select(entity.c.mtime_ns, *REF_COLUMNS)
    .where(_MINE, _SINCE)
    .order_by(entity.c.mtime_ns.desc(), entity.c.file_path)
    .limit(bindparam("most"))
    .offset(bindparam("offset"))
)
_TYPES = (
    select(entity.c.note_type)
    .where(_MINE)
    .group_by(entity.c.note_type)
    .order_by(func.count().desc(), entity.c.note_type)
    .limit(bindparam("most"))
)
_ALL_TIME = -(1 << 63)


@dataclass(frozen=True, slots=True)
class ChangedNote:
    """A note and when its file was changed, aware UTC."""

    ref: NoteRef
    at: datetime


class RecentRepository(ProjectScoped):
    """The notes of one project, newest first; of two files of one time the one first by path."""

    def changed_since(
        self, since_ns: int, note_types: Sequence[str], limit: int, offset: int
    ) -> tuple[list[ChangedNote], int]:
        """A page of the notes changed at or after a time, and how many there are.

        Args:
            since_ns: nanoseconds since 1970.
            note_types: any of these, case-blind; () for all.
            limit: at most so many.
            offset: how many to pass over.
        """
        total = self._conn.execute(
            _of_types(_COUNT, note_types), self._values(note_types, since_ns)
        ).scalar_one()
        return (self._newest(note_types, since_ns, limit, offset) if total else []), total

    def newest(self, note_types: Sequence[str]) -> ChangedNote | None:
        """The note of these types that was changed last."""
        return next(iter(self._newest(note_types, _ALL_TIME, 1, 0)), None)

    def note_types(self, most: int) -> list[str]:
        """The types that notes have, the most frequent first."""
        rows = self._conn.execute(_TYPES, {"project": self._project_id, "most": most})
        return [kind for kind in rows.scalars() if kind]

    def _newest(
        self, note_types: Sequence[str], since_ns: int, limit: int, offset: int
    ) -> list[ChangedNote]:
        values = self._values(note_types, since_ns) | {"most": limit, "offset": offset}
        rows = self._conn.execute(_of_types(_NEWEST, note_types), values)
        return [
            ChangedNote(note_ref(row), _ORIGIN + timedelta(microseconds=row.mtime_ns // 1000))
            for row in rows
        ]

    def _values(self, note_types: Sequence[str], since_ns: int) -> dict[str, object]:
        values: dict[str, object] = {"project": self._project_id, "since": since_ns}
        if note_types:
            values["types"] = [one.lower() for one in note_types]
        return values


def _of_types(statement: _Select, note_types: Sequence[str]) -> _Select:
    return statement.where(_OF_TYPES) if note_types else statement

"""Notes by the time of their files. SQL only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import bindparam, func, literal_column, select

from memoranda.db.tables import entity
from memoranda.model.note import NoteRef
from memoranda.repositories.filter_values import fold
from memoranda.repositories.membership import among
from memoranda.repositories.refs import REF_COLUMNS, note_ref
from memoranda.repositories.sql_values import bindable
from memoranda.repositories.store import ProjectScoped

_ORIGIN = datetime(1970, 1, 1, tzinfo=UTC)
_MINE = entity.c.project_id == bindparam("project")
_SINCE = entity.c.mtime_ns >= bindparam("since")
_COUNT = select(func.count()).where(_MINE, _SINCE)
_TYPE = func.coalesce(entity.c.note_type, literal_column("''"))
"""No column: SQLite would read an index that has the types of a project together, and all notes with it."""
_COUNTS = select(_TYPE, func.count()).where(_MINE, _SINCE).group_by(_TYPE)
_NEWEST = (
    select(entity.c.mtime_ns, *REF_COLUMNS)
    .where(_MINE, _SINCE)
    .order_by(entity.c.mtime_ns.desc(), entity.c.file_path)
    .limit(bindparam("most"))
    .offset(bindparam("offset"))
)
_NEWEST_OF_TYPES = _NEWEST.where(among(entity.c.note_type, "types"))
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
            note_types: any of these, as `filter_values.fold` compares; () for all.
            limit: at most so many.
            offset: how many to pass over.
        """
        if note_types:
            counts = self._counts(note_types, since_ns)
            spellings, total = list(counts), sum(counts.values())
        else:
            spellings, total = None, self._conn.execute(_COUNT, self._since(since_ns)).scalar_one()
        return (self._newest(spellings, since_ns, limit, offset) if total else []), total

    def newest(self, note_types: Sequence[str]) -> ChangedNote | None:
        """The note of these types that was changed last."""
        spellings = list(self._counts(note_types, _ALL_TIME)) if note_types else None
        return next(iter(self._newest(spellings, _ALL_TIME, 1, 0)), None)

    def note_types(self, most: int) -> list[str]:
        """The types that notes have, the most frequent first."""
        rows = self._conn.execute(_TYPES, {"project": self._project_id, "most": most})
        return [kind for kind in rows.scalars() if kind]

    def _counts(self, note_types: Sequence[str], since_ns: int) -> dict[str, int]:
        """How the notes changed since then spell these types, and how many do: no SQL knows the case of all scripts."""
        wanted = {fold(bindable(kind)) for kind in note_types}
        rows = self._conn.execute(_COUNTS, self._since(since_ns))
        return {kind: many for kind, many in rows if kind and fold(kind) in wanted}

    def _newest(
        self, spellings: Sequence[str] | None, since_ns: int, limit: int, offset: int
    ) -> list[ChangedNote]:
        """Notes whose type is written in one of these ways; None: all notes."""
        values = self._since(since_ns) | {"most": limit, "offset": offset}
        if spellings is not None:
            values["types"] = spellings
        rows = self._conn.execute(_NEWEST if spellings is None else _NEWEST_OF_TYPES, values)
        return [
            ChangedNote(note_ref(row), _ORIGIN + timedelta(microseconds=row.mtime_ns // 1000))
            for row in rows
        ]

    def _since(self, since_ns: int) -> dict[str, object]:
        return {"project": self._project_id, "since": since_ns}

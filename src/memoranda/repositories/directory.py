"""Folders and the notes in them, as the paths of the notes tell. SQL only.

There is no table of folders. One level of a folder is found by steps from one entry to the next on the index
of the paths, so that it costs what it holds and not what lies below; only the notes are counted, which
reads that index alone.

A project is most often alone in a file of SQLite, so `project_id` says nothing, and SQLite would take an index
that begins with it for a good one. `+ 0` keeps it from that (`planner.aside`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import bindparam, select, text

from memoranda.db.dialects import is_postgresql
from memoranda.db.tables import entity
from memoranda.model.address import NotePath, Permalink
from memoranda.repositories.membership import among
from memoranda.repositories.planner import aside
from memoranda.repositories.store import ProjectScoped, in_chunks

_MINE = aside(entity.c.project_id) == bindparam("project")
_PATHS_BELOW = (
    select(entity.c.file_path)
    .where(_MINE, entity.c.file_path > bindparam("first"), entity.c.file_path < bindparam("end"))
    .order_by(entity.c.file_path)
)
_ENTRIES_AT = select(
    entity.c.file_path,
    entity.c.title,
    entity.c.permalink,
    entity.c.note_modified,
    entity.c.size,
).where(_MINE, among(entity.c.file_path, "values"))
_LAST = "\U0010ffff"
_LEVEL = """
    WITH RECURSIVE entry (path) AS (
        SELECT (
            SELECT file_path FROM entity
            WHERE project_id + 0 = :project AND file_path > :first AND file_path < :end
            ORDER BY file_path LIMIT 1
        )
        UNION ALL
        SELECT (
            SELECT file_path FROM entity
            WHERE project_id + 0 = :project AND file_path < :end AND file_path > CASE
                instr(substr(entry.path, :begin), '/') WHEN 0 THEN entry.path
                ELSE substr(entry.path, 1, :begin + instr(substr(entry.path, :begin), '/') - 2) || '0'
            END
            ORDER BY file_path LIMIT 1
        )
        FROM entry WHERE entry.path IS NOT NULL
    ),
    named (path, folder) AS (
        SELECT path, CASE instr(substr(path, :begin), '/') WHEN 0 THEN NULL
            ELSE substr(path, 1, :begin + instr(substr(path, :begin), '/') - 2) END
        FROM entry WHERE path IS NOT NULL
    )
    SELECT coalesce(folder, path), CASE WHEN folder IS NULL THEN 0 ELSE (
        SELECT count(*) FROM entity WHERE project_id + 0 = :project
        AND file_path > folder || '/' AND file_path < folder || '0'
    ) END
    FROM named
    """
_LEVEL_ON_SQLITE = text(_LEVEL)
_LEVEL_ON_POSTGRESQL = text(_LEVEL.replace("project_id + 0", "project_id"))
"""`0` is the sign after `/`: what begins with `folder/` lies between the two."""


@dataclass(frozen=True, slots=True)
class ListedNote:
    """What a listing says of a note."""

    path: NotePath
    title: str
    permalink: Permalink
    updated_at: datetime
    size_bytes: int


class DirectoryRepository(ProjectScoped):
    """The folders of one project, for reading. A folder is a path from the root; "" is the root."""

    def level(self, folder: str) -> tuple[dict[str, int], list[str]]:
        """Folders directly in a folder with how many notes are below each, and notes directly in it."""
        level = _LEVEL_ON_POSTGRESQL if is_postgresql(self._conn) else _LEVEL_ON_SQLITE
        rows = self._conn.execute(level, self._bounds(folder) | {"begin": _begin(folder)})
        folders: dict[str, int] = {}
        notes: list[str] = []
        for path, count in rows:
            if count:
                folders[path] = count
            else:
                notes.append(path)
        return folders, notes

    def paths_below(self, folder: str) -> list[str]:
        """Paths of the notes below a folder, sorted."""
        return list(self._conn.execute(_PATHS_BELOW, self._bounds(folder)).scalars())

    def notes_at(self, paths: Collection[str]) -> dict[str, ListedNote]:
        """The notes at these paths, by path; where none is, nothing."""
        return {
            path: ListedNote(
                NotePath(path),
                title,
                Permalink(permalink or ""),
                modified.replace(tzinfo=UTC),
                size,
            )
            for chunk in in_chunks(paths)
            for path, title, permalink, modified, size in self._conn.execute(
                _ENTRIES_AT, {"project": self._project_id, "values": chunk}
            )
        }

    def _bounds(self, folder: str) -> dict[str, object]:
        first, end = (f"{folder}/", f"{folder}0") if folder else ("", _LAST)
        return {"project": self._project_id, "first": first, "end": end}


def _begin(folder: str) -> int:
    """Where in a path the name of an entry of this folder begins, counted from 1."""
    return len(folder) + 2 if folder else 1

"""Rows of notes as the writer sees them: SQL only, set-based. Decisions are the services'.

Statements are built once, when the module loads: building one costs four times what running it does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import (
    ColumnElement,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    null,
    select,
    union_all,
    update,
)

from memoranda.db.dialects import is_postgresql
from memoranda.db.tables import entity
from memoranda.errors import FileProblem
from memoranda.model.address import NotePath, Permalink
from memoranda.model.sync import FORGOTTEN_NS, UNSURE_NS, FileState, KnownFile
from memoranda.repositories.driver import rows
from memoranda.repositories.membership import among, named_among
from memoranda.repositories.planner import aside
from memoranda.repositories.store import ProjectScoped, in_chunks, texts

_MINE = entity.c.project_id == bindparam("project")
_KNOWN = select(
    entity.c.id,
    entity.c.file_path,
    entity.c.size,
    entity.c.mtime_ns,
    entity.c.ctime_ns,
    entity.c.inode,
    entity.c.checksum,
    entity.c.missing_since,
).where(_MINE)
_KNOWN_AT = _KNOWN.where(among(entity.c.file_path, "values"))
_IS_BELOW = (
    select(entity.c.id)
    .where(
        # As it is, SQLite would read an index that begins with the project, and all notes with it.
        aside(entity.c.project_id) == bindparam("project"),
        entity.c.file_path > bindparam("first"),
        entity.c.file_path < bindparam("end"),
    )
    .limit(1)
)
_STORED = select(
    entity.c.id,
    entity.c.file_path,
    entity.c.title,
    entity.c.aliases,
    entity.c.permalink,
    entity.c.wanted_permalink,
    entity.c.permalink_class,
    entity.c.hashed_permalink,
    entity.c.checksum,
).where(_MINE)
_STORED_BY_PATH = _STORED.where(among(entity.c.file_path, "values"))
_STORED_BY_ID = _STORED.where(among(entity.c.id, "values"))
_CLAIMS = union_all(  # an OR of the two would use neither index
    _STORED.where(named_among(entity.c.wanted_permalink, "values")),
    _STORED.where(named_among(entity.c.hashed_permalink, "values")),
)
_LAST_ID = "SELECT seq FROM sqlite_sequence WHERE name = ?"
_RESERVE = "SELECT reserve_ids(pg_get_serial_sequence($1, 'id'), $2)"
_BY_ID = entity.c.id == bindparam("target")
_VACATE_PERMALINK = update(entity).where(_BY_ID).values(permalink=null())
_VACATE_BOTH = _VACATE_PERMALINK.values(file_path=bindparam("nowhere"))
_SET_PERMALINK = update(entity).where(_BY_ID).values(permalink=bindparam("new"))
_INSERT = insert(entity)
_LONGEST_PATH = 2_600
"""Bytes."""
_FIRST_SEEN = ("id", "external_id", "project_id", "created_at", "created_by", "content_type")
_REWRITE = (
    update(entity)
    .where(_BY_ID)
    .values(
        {
            column.name: bindparam(f"new_{column.name}")
            for column in entity.columns
            if column.name not in (*_FIRST_SEEN, "last_updated_by")
        }
    )
)
_FORGOTTEN: ColumnElement[int] = literal_column(str(FORGOTTEN_NS))
"""No parameter: a row that is to be written has none of that name."""

_FORGET = update(entity).where(_MINE).values(ctime_ns=FORGOTTEN_NS)
_RESTATE = (
    update(entity)
    .where(_BY_ID, entity.c.checksum == bindparam("bytes"), entity.c.ctime_ns != _FORGOTTEN)
    .values(ctime_ns=bindparam("new_ctime"), inode=bindparam("new_inode"), missing_since=null())
)
_MISS = update(entity).where(_BY_ID).values(missing_since=bindparam("since"))
_IS_MISSING = _MINE & entity.c.missing_since.is_not(None)
_MISSING_COUNT = select(func.count()).where(_IS_MISSING)
_MISSING = (
    select(entity.c.file_path, entity.c.missing_since)
    .where(_IS_MISSING)
    .order_by(entity.c.missing_since, entity.c.file_path)
    .limit(bindparam("most"))
)
_DELETE = delete(entity).where(among(entity.c.id, "values"))


@dataclass(frozen=True, slots=True)
class StoredEntity:
    """What the writer must know of a row: its names, and its wish for a permalink."""

    entity_id: int
    path: NotePath
    title: str
    aliases: tuple[str, ...]
    permalink: Permalink
    wanted: Permalink
    strength: int
    hashed: Permalink
    checksum: str


class EntityRepository(ProjectScoped):
    """The entity table of one project, for writing."""

    def known_files(self) -> list[KnownFile]:
        """Every file the index remembers."""
        return self._known(_KNOWN)

    def known_at(self, paths: Collection[str]) -> list[KnownFile]:
        """What the index remembers of these paths."""
        return [file for chunk in in_chunks(paths) for file in self._known(_KNOWN_AT, chunk)]

    def has_below(self, folder: str) -> bool:
        """Whether a note of the index lies below a folder."""
        limits = {"project": self._project_id, "first": f"{folder}/", "end": f"{folder}0"}
        return self._conn.execute(_IS_BELOW, limits).first() is not None

    def _known(self, statement: object, values: Sequence[object] = ()) -> list[KnownFile]:
        found = self._conn.execute(
            statement,  # type: ignore[call-overload]
            {"project": self._project_id, "values": values},
        )
        return [
            KnownFile(i, NotePath(path), size, mtime, ctime, inode, checksum, missing)
            for i, path, size, mtime, ctime, inode, checksum, missing in found
        ]

    def stored(self, *, paths: Collection[str], ids: Collection[int]) -> list[StoredEntity]:
        """The rows at these paths or with these ids."""
        found = {
            row.entity_id: row
            for statement, values in ((_STORED_BY_PATH, paths), (_STORED_BY_ID, ids))
            for chunk in in_chunks(values)
            for row in self._rows(statement, chunk)
        }
        return list(found.values())

    def claims(self, permalinks: Collection[str]) -> list[StoredEntity]:
        """Every note that wants one of these permalinks, or whose hashed form is one of them."""
        found = {
            row.entity_id: row
            for chunk in in_chunks(permalinks)
            for row in self._rows(_CLAIMS, chunk)
        }
        return list(found.values())

    def all_stored(self) -> list[StoredEntity]:
        """Every row."""
        return self._rows(_STORED)

    def _rows(self, statement: object, values: Sequence[object] = ()) -> list[StoredEntity]:
        found = self._conn.execute(
            statement,  # type: ignore[call-overload]  # a select, or a union of selects
            {"project": self._project_id, "values": values},
        )
        return [
            StoredEntity(i, path, title, texts(names), permalink, wanted, strength, hashed, sha)
            for i, path, title, names, permalink, wanted, strength, hashed, sha in found
        ]

    def allocate_ids(self, table: str, count: int) -> int:
        """The first of so many ids in a row that no row has or had; the table's ids are numbered."""
        if not is_postgresql(self._conn):  # the lock of the writer keeps them free
            found = rows(self._conn, _LAST_ID, table)
            return (found[0][0] if found else 0) + 1
        return int(rows(self._conn, _RESERVE, table, count)[0][0])

    def vacate(self, ids: Iterable[int], *, paths: bool) -> None:
        """Take these rows' permalinks (and paths) out of the way of the unique rules for a moment."""
        if paths:
            self._each(_VACATE_BOTH, [{"target": i, "nowhere": f"//{i}"} for i in ids])
        else:
            self._each(_VACATE_PERMALINK, [{"target": i} for i in ids])

    def set_permalinks(self, permalinks: Mapping[int, Permalink]) -> None:
        """Give these notes these permalinks, which must be free."""
        self._each(_SET_PERMALINK, [{"target": i, "new": new} for i, new in permalinks.items()])

    def insert(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Insert whole rows (all columns but the ones with defaults).

        Raises:
            FileProblem: a path is too long for the database.
        """
        self._check_paths(rows)
        self._each(_INSERT, rows)

    def rewrite(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Update existing rows by their `id`; all that a file can change. Raises as `insert`."""
        self._check_paths(rows)
        self._each(
            _REWRITE,
            [
                {
                    "target": row["id"],
                    **{f"new_{name}": value for name, value in row.items() if name != "id"},
                }
                for row in rows
            ],
        )

    def _check_paths(self, rows: Sequence[Mapping[str, object]]) -> None:
        """An index of PostgreSQL holds some 2,700 bytes a row, and whether it shrinks a longer path is luck."""
        if not is_postgresql(self._conn):
            return
        for path in (str(row["file_path"]) for row in rows):
            if len(path) > _LONGEST_PATH // 4 and len(path.encode()) > _LONGEST_PATH:
                raise FileProblem(
                    path,
                    f"The path is too long for an index on PostgreSQL, which holds {_LONGEST_PATH:,} bytes of it",
                    hint="Give the note or its folders shorter names.",
                )

    def restate(self, files: Iterable[tuple[KnownFile, FileState]]) -> None:
        """Remember the new state of files whose bytes and time of change are as before.

        A row that another process has marked to be read again meanwhile stays marked.
        """
        self._each(
            _RESTATE,
            [
                {
                    "target": known.entity_id,
                    "bytes": known.checksum,
                    "new_ctime": UNSURE_NS if state.is_fresh else state.ctime_ns,
                    "new_inode": state.inode,
                }
                for known, state in files
            ],
        )

    def miss(self, ids: Iterable[int], since: datetime | None) -> None:
        """Remember since when the files of these notes are missing; None: they are back."""
        self._each(_MISS, [{"target": i, "since": since} for i in ids])

    def missing_count(self) -> int:
        """How many notes are kept though their files are missing."""
        return int(self._conn.execute(_MISSING_COUNT, {"project": self._project_id}).scalar_one())

    def missing(self, limit: int) -> list[tuple[NotePath, datetime]]:
        """Paths of notes whose files are missing, and since when (UTC): oldest first, then by path."""
        found = self._conn.execute(_MISSING, {"project": self._project_id, "most": limit})
        return [(NotePath(path), since.replace(tzinfo=UTC)) for path, since in found]

    def forget_contents(self) -> None:
        """Make every file look changed, so that the next sync reads all of them again; ids stay."""
        self._conn.execute(_FORGET, {"project": self._project_id})

    def delete(self, ids: Iterable[int]) -> None:
        """Delete notes; observations, relations and links go with them."""
        self._in(_DELETE, ids)

"""Rows of notes: SQL only, set-based. Decisions are the services'."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from sqlalchemy import (
    BindParameter,
    Row,
    Select,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    union_all,
    update,
)

from memoranda.db.tables import entity
from memoranda.model.address import NotePath, Permalink
from memoranda.model.note import NoteRef
from memoranda.model.sync import KnownFile
from memoranda.repositories.store import ProjectScoped, in_chunks

REF_COLUMNS = (
    entity.c.id,
    entity.c.external_id,
    entity.c.title,
    entity.c.permalink,
    entity.c.file_path,
    entity.c.note_type,
    entity.c.tags,
    entity.c.note_created,
    entity.c.note_modified,
    entity.c.checksum,
    entity.c.size,
    entity.c.problems,
)


def note_ref(row: Row[*tuple[Any, ...]]) -> NoteRef:
    """A note reference from a row that holds `REF_COLUMNS`."""
    return NoteRef(
        entity_id=row.id,
        external_id=row.external_id,
        title=row.title,
        permalink=Permalink(row.permalink or ""),
        file_path=NotePath(row.file_path),
        note_type=row.note_type,
        tags=_texts(row.tags),
        created_at=row.note_created.replace(tzinfo=UTC),
        updated_at=row.note_modified.replace(tzinfo=UTC),
        checksum=row.checksum,
        size_bytes=row.size,
        problems=_texts(row.problems),
    )


def _texts(stored: str) -> tuple[str, ...]:
    return tuple(json.loads(stored)) if stored != "[]" else ()


@dataclass(frozen=True, slots=True)
class StoredEntity:
    """What a rewrite of a note must know of its old row."""

    entity_id: int
    path: NotePath
    title: str
    aliases: tuple[str, ...]
    permalink: Permalink
    wanted: Permalink
    hashed: Permalink


def _stored(row: Row[*tuple[Any, ...]]) -> StoredEntity:
    return StoredEntity(
        row.id,
        row.file_path,
        row.title,
        _texts(row.aliases),
        row.permalink,
        row.wanted_permalink,
        row.hashed_permalink,
    )


@dataclass(frozen=True, slots=True)
class StoredClaim:
    """A note's wish for a permalink and what it has now."""

    entity_id: int
    path: NotePath
    title: str
    aliases: tuple[str, ...]
    wanted: Permalink
    strength: int
    hashed: Permalink
    permalink: Permalink


class EntityRepository(ProjectScoped):
    """The entity table of one project."""

    def known_files(self) -> list[KnownFile]:
        """Every file the index remembers."""
        rows = self._conn.execute(
            select(
                entity.c.id,
                entity.c.file_path,
                entity.c.size,
                entity.c.mtime_ns,
                entity.c.ctime_ns,
                entity.c.inode,
                entity.c.checksum,
            ).where(entity.c.project_id == self._project_id)
        )
        return [
            KnownFile(i, NotePath(path), size, mtime, ctime, inode, checksum)
            for i, path, size, mtime, ctime, inode, checksum in rows
        ]

    def stored(self, *, paths: Collection[str], ids: Collection[int]) -> list[StoredEntity]:
        """The rows at these paths or with these ids."""
        found: dict[int, StoredEntity] = {}
        for column, values in ((entity.c.file_path, paths), (entity.c.id, ids)):
            for chunk in in_chunks(values):
                for row in self._conn.execute(self._stored_query().where(column.in_(chunk))):
                    found[row.id] = _stored(row)
        return list(found.values())

    def _stored_query(self) -> Select[tuple[object, ...]]:
        return select(
            entity.c.id,
            entity.c.file_path,
            entity.c.title,
            entity.c.aliases,
            entity.c.permalink,
            entity.c.wanted_permalink,
            entity.c.hashed_permalink,
        ).where(entity.c.project_id == self._project_id)

    def claims(self, permalinks: Collection[str]) -> list[StoredClaim]:
        """Every note that wants one of these permalinks, or whose hashed form is one of them."""
        found: dict[int, StoredClaim] = {}
        query = select(
            entity.c.id,
            entity.c.file_path,
            entity.c.title,
            entity.c.aliases,
            entity.c.wanted_permalink,
            entity.c.permalink_class,
            entity.c.hashed_permalink,
            entity.c.permalink,
        ).where(entity.c.project_id == self._project_id)
        for chunk in in_chunks(permalinks):
            names: BindParameter[str] = bindparam("names", expanding=True)
            matching = union_all(  # an OR of the two would use neither index
                query.where(entity.c.wanted_permalink.in_(names)),
                query.where(entity.c.hashed_permalink.in_(names)),
            )
            for row in self._conn.execute(matching, {"names": chunk}):
                found[row.id] = StoredClaim(
                    row.id,
                    row.file_path,
                    row.title,
                    _texts(row.aliases),
                    row.wanted_permalink,
                    row.permalink_class,
                    row.hashed_permalink,
                    row.permalink,
                )
        return list(found.values())

    def allocate_ids(self, table: str, count: int) -> int:
        """The first of `count` free ids of an AUTOINCREMENT table; the write lock keeps them free."""
        row = self._conn.execute(
            text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": table}
        ).one_or_none()
        return (row.seq if row else 0) + 1

    def vacate(self, ids: Iterable[int], *, paths: bool) -> None:
        """Take these rows' permalinks (and paths) out of the way of the unique rules for a moment."""
        rows = [{"target": i, "nowhere": f"\x00{i}"} for i in ids]
        if not rows:
            return
        statement = update(entity).where(entity.c.id == bindparam("target"))
        values: dict[str, object] = {"permalink": None}
        if paths:
            values["file_path"] = bindparam("nowhere")
        else:
            rows = [{"target": row["target"]} for row in rows]
        self._conn.execute(statement.values(**values), rows)

    def set_permalinks(self, permalinks: Mapping[int, Permalink]) -> None:
        """Give these notes these permalinks, which must be free."""
        if permalinks:
            self._conn.execute(
                update(entity)
                .where(entity.c.id == bindparam("target"))
                .values(permalink=bindparam("new")),
                [{"target": i, "new": permalink} for i, permalink in permalinks.items()],
            )

    def insert(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Insert whole rows (all columns but the ones with defaults)."""
        if rows:
            self._conn.execute(insert(entity), list(rows))

    def rewrite(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Update existing rows by their `id`; all rows have the same keys."""
        if rows:
            columns = [key for key in rows[0] if key != "id"]
            self._conn.execute(
                update(entity)
                .where(entity.c.id == bindparam("target"))
                .values({column: bindparam(f"new_{column}") for column in columns}),
                [{"target": row["id"], **{f"new_{c}": row[c] for c in columns}} for row in rows],
            )

    def all_stored(self) -> list[StoredEntity]:
        """Every row."""
        return [_stored(row) for row in self._conn.execute(self._stored_query())]

    def forget_contents(self) -> None:
        """Make every file look changed, so that the next sync reads all of them again; ids stay."""
        self._conn.execute(
            update(entity)
            .where(entity.c.project_id == self._project_id)
            .values(mtime_ns=-1, checksum="")
        )

    def delete(self, ids: Iterable[int]) -> None:
        """Delete notes; observations, relations, links and names go with them."""
        for chunk in in_chunks(ids):
            self._conn.execute(delete(entity).where(entity.c.id.in_(chunk)))

    def refs(self, ids: Iterable[int]) -> dict[int, NoteRef]:
        """Note references by id; unknown ids are left out."""
        return {
            row.id: note_ref(row)
            for chunk in in_chunks(ids)
            for row in self._conn.execute(select(*REF_COLUMNS).where(entity.c.id.in_(chunk)))
        }

    def ref_at(self, path: str) -> NoteRef | None:
        """The note at exactly this path."""
        row = self._conn.execute(
            select(*REF_COLUMNS).where(
                entity.c.project_id == self._project_id, entity.c.file_path == path
            )
        ).one_or_none()
        return note_ref(row) if row else None

    def ref_by_id(self, entity_id: int) -> NoteRef | None:
        """The note with this internal id."""
        row = self._conn.execute(
            select(*REF_COLUMNS).where(
                entity.c.project_id == self._project_id, entity.c.id == entity_id
            )
        ).one_or_none()
        return note_ref(row) if row else None

    def ids_at(self, paths: Collection[str]) -> dict[str, int]:
        """Entity ids by path."""
        return {
            path: i
            for chunk in in_chunks(paths)
            for path, i in self._conn.execute(
                select(entity.c.file_path, entity.c.id).where(
                    entity.c.project_id == self._project_id, entity.c.file_path.in_(chunk)
                )
            )
        }

    def paths_below(self, folder: str) -> list[str]:
        """Paths of the notes below a folder ("" is the root), sorted."""
        query = select(entity.c.file_path).where(entity.c.project_id == self._project_id)
        if folder:
            query = query.where(
                entity.c.file_path > f"{folder}/", entity.c.file_path < f"{folder}0"
            )
        return [path for (path,) in self._conn.execute(query.order_by(entity.c.file_path))]

    def permalinks_matching(self, pattern: str, limit: int) -> tuple[list[NoteRef], int]:
        """Notes whose permalink or path matches a pattern with `*`, in path order, and their number."""
        escaped = pattern.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
        like = escaped.replace("*", "%")
        condition = (entity.c.project_id == self._project_id) & or_(
            entity.c.permalink.like(like, escape="\\"), entity.c.file_path.like(like, escape="\\")
        )
        total = self._conn.execute(select(func.count()).where(condition)).scalar_one()
        rows = self._conn.execute(
            select(*REF_COLUMNS).where(condition).order_by(entity.c.file_path).limit(limit)
        )
        return [note_ref(row) for row in rows], total

    def permalink_tails(self, tail: str) -> list[NoteRef]:
        """Notes whose permalink's last segments are `tail`."""
        escaped = tail.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
        rows = self._conn.execute(
            select(*REF_COLUMNS).where(
                entity.c.project_id == self._project_id,
                or_(
                    entity.c.permalink == tail,
                    entity.c.permalink.like(f"%/{escaped}", escape="\\"),
                ),
            )
        )
        return [note_ref(row) for row in rows]

    def modified_since(
        self, since_ns: int, note_types: Sequence[str], limit: int, offset: int
    ) -> tuple[list[NoteRef], int]:
        """Notes by file time, newest first, ties by path; and how many there are."""
        condition = (entity.c.project_id == self._project_id) & (entity.c.mtime_ns >= since_ns)
        if note_types:
            condition &= func.lower(entity.c.note_type).in_([t.lower() for t in note_types])
        total = self._conn.execute(select(func.count()).where(condition)).scalar_one()
        rows = self._conn.execute(
            select(*REF_COLUMNS)
            .where(condition)
            .order_by(entity.c.mtime_ns.desc(), entity.c.file_path)
            .limit(limit)
            .offset(offset)
        )
        return [note_ref(row) for row in rows], total

    def titles(self) -> list[tuple[int, str, str]]:
        """(id, title, permalink) of every note, for near-name suggestions."""
        rows = self._conn.execute(
            select(entity.c.id, entity.c.title, entity.c.permalink)
            .where(entity.c.project_id == self._project_id)
            .order_by(entity.c.file_path)
        )
        return [(i, title, permalink) for i, title, permalink in rows]

    def openings(self, ids: Iterable[int], length: int) -> dict[int, str]:
        """The first characters of the bodies of these notes."""
        return {
            i: opening or ""
            for chunk in in_chunks(ids)
            for i, opening in self._conn.execute(
                select(entity.c.id, func.substr(entity.c.content, 1, length)).where(
                    entity.c.id.in_(chunk)
                )
            )
        }

    def with_problems(self) -> list[NoteRef]:
        """Notes with a fault in their frontmatter, by path."""
        rows = self._conn.execute(
            select(*REF_COLUMNS)
            .where(entity.c.project_id == self._project_id, entity.c.problems != "[]")
            .order_by(entity.c.file_path)
        )
        return [note_ref(row) for row in rows]

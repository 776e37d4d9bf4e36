"""Notes as answers name them: note references by id, path, pattern and time. SQL only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC
from typing import Any

from sqlalchemy import Row, bindparam, func, or_, select

from memoranda.db.tables import entity
from memoranda.model.address import NotePath, Permalink
from memoranda.model.note import NoteRef
from memoranda.repositories.store import ProjectScoped, in_chunks, many, texts

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
    entity.c.missing_since,
)
_MINE = entity.c.project_id == bindparam("project")
_BY_ID = select(*REF_COLUMNS).where(entity.c.id.in_(many("values")))
_AT = select(*REF_COLUMNS).where(_MINE, entity.c.file_path == bindparam("path"))
_IDS_AT = select(entity.c.file_path, entity.c.id).where(
    _MINE, entity.c.file_path.in_(many("values"))
)
_PATHS = select(entity.c.file_path).where(_MINE).order_by(entity.c.file_path)
_PATHS_BELOW = _PATHS.where(
    entity.c.file_path > bindparam("first"), entity.c.file_path < bindparam("end")
)
_LIKE = _MINE & or_(
    entity.c.permalink.like(bindparam("pattern"), escape="\\"),
    entity.c.file_path.like(bindparam("pattern"), escape="\\"),
)
_MATCHING = select(*REF_COLUMNS).where(_LIKE).order_by(entity.c.file_path).limit(bindparam("most"))
_MATCHING_COUNT = select(func.count()).where(_LIKE)
_TAILS = select(*REF_COLUMNS).where(
    _MINE,
    or_(
        entity.c.permalink == bindparam("tail"),
        entity.c.permalink.like(bindparam("pattern"), escape="\\"),
    ),
)
_TITLES = select(entity.c.title, entity.c.permalink).where(_MINE).order_by(entity.c.file_path)
_OPENINGS = select(entity.c.id, func.substr(entity.c.content, 1, bindparam("length"))).where(
    entity.c.id.in_(many("values"))
)
_BROKEN = select(*REF_COLUMNS).where(_MINE, entity.c.problems != "[]").order_by(entity.c.file_path)


def note_ref(row: Row[*tuple[Any, ...]]) -> NoteRef:
    """A note reference from a row that ends in `REF_COLUMNS`."""
    i, external_id, title, permalink, path, kind, tags, created, modified, sha, size, *rest = row[
        -len(REF_COLUMNS) :
    ]
    problems, missing = rest
    return NoteRef(
        entity_id=i,
        external_id=external_id,
        title=title,
        permalink=Permalink(permalink or ""),
        file_path=NotePath(path),
        note_type=kind,
        tags=texts(tags),
        created_at=created.replace(tzinfo=UTC),
        updated_at=modified.replace(tzinfo=UTC),
        checksum=sha,
        size_bytes=size,
        problems=texts(problems),
        missing_since=missing and missing.replace(tzinfo=UTC),
    )


class NoteRefRepository(ProjectScoped):
    """The notes of one project, for reading."""

    def by_ids(self, ids: Iterable[int]) -> dict[int, NoteRef]:
        """Note references by id; unknown ids are left out."""
        return {
            row.id: note_ref(row)
            for chunk in in_chunks(ids)
            for row in self._conn.execute(_BY_ID, {"values": chunk})
        }

    def by_id(self, entity_id: int) -> NoteRef | None:
        """The note with this internal id."""
        return self.by_ids([entity_id]).get(entity_id)

    def at(self, path: str) -> NoteRef | None:
        """The note at exactly this path."""
        row = self._conn.execute(_AT, {"project": self._project_id, "path": path}).one_or_none()
        return note_ref(row) if row else None

    def ids_at(self, paths: Collection[str]) -> dict[str, int]:
        """Entity ids by path."""
        return {
            path: i
            for chunk in in_chunks(paths)
            for path, i in self._conn.execute(
                _IDS_AT, {"project": self._project_id, "values": chunk}
            )
        }

    def paths_below(self, folder: str) -> list[str]:
        """Paths of the notes below a folder ("" is the root), sorted."""
        values = {"project": self._project_id}
        if folder:
            rows = self._conn.execute(
                _PATHS_BELOW, {**values, "first": f"{folder}/", "end": f"{folder}0"}
            )
        else:
            rows = self._conn.execute(_PATHS, values)
        return list(rows.scalars())

    def matching(self, pattern: str, limit: int) -> tuple[list[NoteRef], int]:
        """Notes whose permalink or path matches a pattern with `*`, in path order, and their number."""
        values = {
            "project": self._project_id,
            "pattern": _escaped(pattern).replace("*", "%"),
        }
        total = self._conn.execute(_MATCHING_COUNT, values).scalar_one()
        rows = self._conn.execute(_MATCHING, {**values, "most": limit})
        return [note_ref(row) for row in rows], total

    def with_permalink_tail(self, tail: str) -> list[NoteRef]:
        """Notes whose permalink's last segments are `tail`."""
        rows = self._conn.execute(
            _TAILS,
            {"project": self._project_id, "tail": tail, "pattern": f"%/{_escaped(tail)}"},
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

    def titles(self) -> list[tuple[str, str]]:
        """(title, permalink) of every note in path order, for near-name suggestions."""
        rows = self._conn.execute(_TITLES, {"project": self._project_id})
        return [(title, permalink) for title, permalink in rows]

    def openings(self, ids: Iterable[int], length: int) -> dict[int, str]:
        """The first characters of the bodies of these notes."""
        return {
            i: opening or ""
            for chunk in in_chunks(ids)
            for i, opening in self._conn.execute(_OPENINGS, {"length": length, "values": chunk})
        }

    def has_any(self) -> bool:
        """Whether there is a note at all."""
        return (
            self._conn.execute(_PATHS.limit(1), {"project": self._project_id}).first() is not None
        )

    def with_problems(self) -> list[NoteRef]:
        """Notes with a fault in their frontmatter, by path."""
        return [note_ref(row) for row in self._conn.execute(_BROKEN, {"project": self._project_id})]


def _escaped(text: str) -> str:
    """For LIKE with a backslash as escape."""
    return text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")

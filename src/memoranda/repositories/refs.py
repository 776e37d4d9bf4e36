"""Notes as answers name them: note references by id, path, pattern and time. SQL only."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC
from typing import Any

from sqlalchemy import Row, bindparam, func, or_, select

from memoranda.db.tables import entity, note_name
from memoranda.model.address import NotePath, Permalink
from memoranda.model.note import NoteRef
from memoranda.repositories.likeness import any_case_like
from memoranda.repositories.membership import among, named
from memoranda.repositories.store import ProjectScoped, in_chunks, texts

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
_BY_ID = select(*REF_COLUMNS).where(among(entity.c.id, "values"))
_ONE = select(*REF_COLUMNS).where(entity.c.id == bindparam("of"))
_AT = select(*REF_COLUMNS).where(_MINE, entity.c.file_path == bindparam("path"))
_ANY = select(entity.c.id).where(_MINE).limit(1)
_TAILS = (
    select(*REF_COLUMNS)
    .join(note_name, note_name.c.entity_id == entity.c.id)
    .where(
        note_name.c.project_id == bindparam("project"),
        named(note_name.c.key, "last"),
        note_name.c.kind == bindparam("as_kind"),
        or_(
            entity.c.permalink == bindparam("tail"),
            any_case_like(entity.c.permalink, bindparam("pattern")),
        ),
    )
    .order_by(entity.c.file_path)
)
_TITLES = (
    select(entity.c.title, entity.c.permalink)
    .where(among(entity.c.id, "values"))
    .order_by(entity.c.file_path)
)
_OPENINGS = select(entity.c.id, func.substr(entity.c.content, 1, bindparam("length"))).where(
    among(entity.c.id, "values")
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
        row = self._conn.execute(_ONE, {"of": entity_id}).one_or_none()
        return note_ref(row) if row else None

    def at(self, path: str) -> NoteRef | None:
        """The note at exactly this path."""
        row = self._conn.execute(_AT, {"project": self._project_id, "path": path}).one_or_none()
        return note_ref(row) if row else None

    def with_permalink_tail(self, tail: str, kind: int) -> list[NoteRef]:
        """Notes whose permalink's last segments are `tail`; `kind`: of the names that are the last one."""
        rows = self._conn.execute(
            _TAILS,
            {
                "project": self._project_id,
                "last": tail.rpartition("/")[2],
                "as_kind": kind,
                "tail": tail,
                "pattern": f"%/{_escaped(tail)}",
            },
        )
        return [note_ref(row) for row in rows]

    def titles(self, ids: Iterable[int]) -> list[tuple[str, str]]:
        """(title, permalink) of these notes in path order."""
        return [
            (title, permalink or "")
            for chunk in in_chunks(ids)
            for title, permalink in self._conn.execute(_TITLES, {"values": chunk})
        ]

    def openings(self, ids: Iterable[int], length: int) -> dict[int, str]:
        """The first characters of the bodies of these notes."""
        return {
            i: opening or ""
            for chunk in in_chunks(ids)
            for i, opening in self._conn.execute(_OPENINGS, {"length": length, "values": chunk})
        }

    def has_any(self) -> bool:
        """Whether there is a note at all."""
        return self._conn.execute(_ANY, {"project": self._project_id}).first() is not None

    def with_problems(self) -> list[NoteRef]:
        """Notes with a fault in their frontmatter, by path."""
        return [note_ref(row) for row in self._conn.execute(_BROKEN, {"project": self._project_id})]


def _escaped(text: str) -> str:
    """For LIKE with a backslash as escape."""
    return text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")

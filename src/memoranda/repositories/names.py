"""Rows of names: by what a link or a person may call a note. SQL only, set-based."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
)

from memoranda.db.dialects import is_postgresql
from memoranda.db.tables import entity, note_name
from memoranda.model.note import NoteRef
from memoranda.repositories.membership import named, named_among
from memoranda.repositories.refs import REF_COLUMNS, note_ref
from memoranda.repositories.store import ProjectScoped, in_chunks

_MINE = note_name.c.project_id == bindparam("project")
_INSERT = insert(note_name)
_DELETE = delete(note_name).where(
    note_name.c.project_id == bindparam("of_project"),
    named(note_name.c.key, "named"),
    note_name.c.kind == bindparam("as_kind"),
    note_name.c.entity_id == bindparam("of"),
)
_CLEAR = delete(note_name).where(_MINE)
_WITH_KEYS = (
    select(note_name.c.key, note_name.c.entity_id, note_name.c.kind, entity.c.file_path)
    .join(entity, entity.c.id == note_name.c.entity_id)
    .where(_MINE, named_among(note_name.c.key, "values"))
)
_NAMED = (
    select(note_name.c.key, note_name.c.kind, *REF_COLUMNS)
    .join(entity, entity.c.id == note_name.c.entity_id)
    .where(_MINE, named_among(note_name.c.key, "values"))
    .order_by(note_name.c.kind, entity.c.file_path)
)

_TITLES = select(note_name.c.entity_id).where(_MINE, note_name.c.kind == bindparam("as_kind"))
_BEGINNING = 250
"""Characters by which names are in order on PostgreSQL, whose indexes hold no long ones."""


def _around(key: ColumnElement[str]) -> tuple[Select[Any], Select[Any]]:
    """The names from one on, and those before it, nearest first."""
    after = _TITLES.where(key >= bindparam("named")).order_by(key)
    before = _TITLES.where(key < bindparam("named")).order_by(key.desc())
    return after.limit(bindparam("most")), before.limit(bindparam("most"))


_ON_SQLITE = _around(note_name.c.key)
_ON_POSTGRESQL = _around(func.left(note_name.c.key, literal_column(str(_BEGINNING))))


class NameRepository(ProjectScoped):
    """The note_name table of one project. `kind` is an integer here; lower is tried first."""

    def add(self, names: Iterable[tuple[int, str, int]]) -> None:
        """Add (entity id, key, kind) rows that are not there."""
        self._each(
            _INSERT,
            [
                {"project_id": self._project_id, "entity_id": i, "key": key, "kind": kind}
                for i, key, kind in names
            ],
        )

    def remove(self, names: Iterable[tuple[int, str, int]]) -> None:
        """Remove (entity id, key, kind) rows."""
        self._each(
            _DELETE,
            [
                {"of_project": self._project_id, "of": i, "named": key, "as_kind": kind}
                for i, key, kind in names
            ],
        )

    def clear(self) -> None:
        """Remove every name."""
        self._conn.execute(_CLEAR, {"project": self._project_id})

    def with_keys(self, keys: Collection[str]) -> Mapping[str, list[tuple[int, int, str]]]:
        """Key -> [(entity id, kind, file path)] for every note that has one of these names."""
        found: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for chunk in in_chunks(keys):
            for key, entity_id, kind, path in self._conn.execute(
                _WITH_KEYS, {"project": self._project_id, "values": chunk}
            ):
                found[key].append((entity_id, kind, path))
        return found

    def neighbours(self, key: str, kind: int, count: int) -> list[int]:
        """The notes whose name of this kind stands next to `key` in the alphabet, `count` on each side."""
        values = {"project": self._project_id, "named": key, "as_kind": kind, "most": count}
        statements = _ON_SQLITE
        if is_postgresql(self._conn):
            statements, values["named"] = _ON_POSTGRESQL, key[:_BEGINNING]
        return [
            i for statement in statements for i in self._conn.execute(statement, values).scalars()
        ]

    def notes_named(self, keys: Collection[str]) -> list[tuple[str, int, NoteRef]]:
        """(key, kind, note) for every note that has one of these names, best kind first, then by path."""
        rows = self._conn.execute(_NAMED, {"project": self._project_id, "values": list(keys)})
        return [(row.key, row.kind, note_ref(row)) for row in rows]

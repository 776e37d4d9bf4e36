"""The project's own row, and facts about its index. SQL only."""

from __future__ import annotations

import json
import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    ScalarSelect,
    Table,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.engine import Connection

from memoranda.db.dialects import is_postgresql
from memoranda.db.tables import entity, index_meta, link, observation, project, relation
from memoranda.model.project import Counts, Project
from memoranda.repositories.store import ProjectScoped

INDEX_VERSION = "index_version"
SEARCH_LANGUAGES = "search_languages"
LAST_FULL_SYNC = "last_full_sync"
"""Keys of `index_meta`."""


def known_project(conn: Connection, wanted: Project) -> int | None:
    """The id of the project's row if it is there and up to date: nothing has to be written."""
    row = _row(conn, wanted)
    return None if row is None or _differs(conn, row, wanted) else int(row.id)


def ensure_project(conn: Connection, wanted: Project, now: datetime, index_version: int) -> int:
    """The id of the project's row, made or brought up to date.

    One project a database on SQLite. On PostgreSQL servers share the row, each with a path and a default of its
    own: those of the first one stay.

    A new row remembers `index_version`: what the index will be made with.
    """
    row = _row(conn, wanted)
    values = {
        "name": wanted.name,
        "path": str(wanted.path),
        "is_default": wanted.is_default,
        "is_active": wanted.is_active,
    }
    if row is None:
        conn.execute(
            insert(project).values(
                **values,
                permalink=wanted.permalink,
                external_id=str(uuid.uuid4()),
                created_at=now,
                updated_at=now,
            )
        )
        created = conn.execute(
            select(project.c.id).where(project.c.permalink == wanted.permalink)
        ).scalar_one()
        conn.execute(
            insert(index_meta).values(
                project_id=created, key=INDEX_VERSION, value=json.dumps(index_version)
            )
        )
        return int(created)
    if _differs(conn, row, wanted):
        if is_postgresql(conn):
            values = {"name": wanted.name}
        conn.execute(update(project).where(project.c.id == row.id).values(**values, updated_at=now))
    return int(row.id)


def _row(conn: Connection, wanted: Project) -> Row[*tuple[Any, ...]] | None:
    return conn.execute(
        select(project.c.id, project.c.name, project.c.path, project.c.is_default).where(
            project.c.permalink == wanted.permalink
        )
    ).one_or_none()


def _differs(conn: Connection, row: Row[*tuple[Any, ...]], wanted: Project) -> bool:
    if is_postgresql(conn):
        return bool(row.name != wanted.name)
    mine = row.name, row.path, row.is_default
    return mine != (wanted.name, str(wanted.path), wanted.is_default)


class ProjectRepository(ProjectScoped):
    """Counts of, and facts about, one project's index."""

    def counts(self) -> Counts:
        """All counts in one statement."""
        mine = self._project_id
        row = self._conn.execute(
            select(
                _count(entity, entity.c.project_id == mine),
                _count(observation, observation.c.project_id == mine),
                _count(relation, relation.c.project_id == mine),
                _count(relation, relation.c.project_id == mine, relation.c.to_id.is_(None)),
                _count(link, link.c.project_id == mine),
                _count(entity, entity.c.project_id == mine, entity.c.problems != "[]"),
            )
        ).one()
        return Counts(*row)

    def facts(self) -> dict[str, object]:
        """Everything in `index_meta`."""
        rows = self._conn.execute(
            select(index_meta.c.key, index_meta.c.value).where(
                index_meta.c.project_id == self._project_id
            )
        )
        return {row.key: json.loads(row.value) for row in rows}

    def fact(self, key: str) -> object:
        """One value of `index_meta`, None if there is none; one look-up by primary key."""
        value = self._conn.execute(
            select(index_meta.c.value).where(
                index_meta.c.project_id == self._project_id, index_meta.c.key == key
            )
        ).scalar_one_or_none()
        return None if value is None else json.loads(value)

    def set_fact(self, key: str, value: object) -> None:
        """Store one JSON value."""
        self._conn.execute(
            delete(index_meta).where(
                index_meta.c.project_id == self._project_id, index_meta.c.key == key
            )
        )
        self._conn.execute(
            insert(index_meta).values(project_id=self._project_id, key=key, value=json.dumps(value))
        )


def _count(table: Table, *conditions: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count()).select_from(table).where(*conditions).scalar_subquery()

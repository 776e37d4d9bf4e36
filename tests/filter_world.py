"""Rows of notes for tests of filters, on either database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import insert
from sqlalchemy.engine import Connection
from tests.conftest import migrated_postgres
from tools.postgres_server import databases, why_not

from memoranda.db.engine import begin_write, open_engine
from memoranda.db.health import prepare
from memoranda.db.postgres import PostgresDatabase, address_of
from memoranda.db.tables import entity, observation, project
from memoranda.repositories.note_filters import FilteredNote, NoteFilterRepository
from memoranda.repositories.store import Tx

DAY = datetime(2026, 1, 5)  # noqa: DTZ001 - stored naive
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Writing = Callable[[Callable[[Connection], None]], None]
"""Runs a function in a transaction that may write."""


@contextmanager
def opened(backend: str, folders: pytest.TempPathFactory) -> Iterator[Writing]:
    """A database with two projects and no notes."""
    if backend == "sqlite":
        path = folders.mktemp("filters") / "memory.db"
        prepare(path)
        engine = open_engine(path)

        def write(work: Callable[[Connection], None]) -> None:
            with begin_write(engine) as conn:
                work(conn)

        write(add_projects)
        yield write
        engine.dispose()
        return
    if reason := why_not():
        pytest.skip(reason)
    url = databases().create(migrated_postgres())
    database = PostgresDatabase(address_of(url))
    database.write(add_projects)
    yield database.write
    database.dispose()
    databases().drop(url)


def add_projects(conn: Connection) -> None:
    """Projects 1 and 2."""
    for number in (1, 2):
        name = f"p{number}"
        conn.execute(
            insert(project).values(
                id=number, name=name, external_id=name, permalink=name, path="/p", is_active=True,
                is_default=False, created_at=DAY, updated_at=DAY,
            )
        )  # fmt: skip


def add_row(
    conn: Connection,
    project_id: int,
    note: FilteredNote,
    item_tags: tuple[str, ...],
    changed: datetime,
    created: datetime,
) -> None:
    """A note with one observation, as the writer leaves them. `note.tags`: its own; the times are aware."""
    since = changed - EPOCH
    conn.execute(
        insert(entity).values(
            id=note.entity_id, external_id=str(note.entity_id), title=note.title,
            note_type=note.note_type, file_path=note.path, permalink=note.permalink,
            project_id=project_id, inode=0, ctime_ns=0,
            entity_metadata=json.dumps(dict(note.metadata), ensure_ascii=False),
            tags=json.dumps(note.tags, ensure_ascii=False),
            mtime_ns=(since.days * 86_400 + since.seconds) * 10**9,
            note_created=created.replace(tzinfo=None), note_modified=changed.replace(tzinfo=None),
            wanted_permalink="", permalink_class=0, hashed_permalink="", created_at=DAY, updated_at=DAY,
        )
    )  # fmt: skip
    conn.execute(
        insert(observation).values(
            external_id=str(note.entity_id), content="", entity_id=note.entity_id,
            project_id=project_id, ordinal=0, line=1, end_line=1,
            tags=json.dumps(item_tags, ensure_ascii=False), created_at=DAY, updated_at=DAY,
        )
    )  # fmt: skip
    whole = replace(note, tags=(*note.tags, *item_tags))
    NoteFilterRepository(Tx(conn, project_id, DAY)).replace([whole])

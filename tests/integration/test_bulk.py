"""Bulk statements do what SQLAlchemy does with the same statement and rows."""

from __future__ import annotations

from datetime import datetime

import pytest
from sqlalchemy import bindparam, delete, insert, null, select, update
from sqlalchemy.dialects.postgresql import asyncpg

from memoranda.db.tables import entity, index_meta
from memoranda.repositories.bulk import _prepared, run_each

DAY = datetime(2026, 1, 2, 3, 4, 5, 678)  # noqa: DTZ001 - stored naive, in whole seconds
OTHER_DAY = datetime(2025, 6, 7)  # noqa: DTZ001


def row(number: int, **values: object) -> dict[str, object]:
    path = f"n{number}.md"
    return {
        "external_id": path, "title": path, "file_path": path, "permalink": path, "content": None,
        "project_id": 1, "created_at": DAY, "updated_at": OTHER_DAY, "mtime_ns": number,
        "ctime_ns": 0, "inode": 0, "note_created": DAY, "note_modified": DAY,
        "wanted_permalink": path, "permalink_class": 0, "hashed_permalink": path,
        "links_dirty": bool(number % 2), "missing_since": None if number % 3 else OTHER_DAY,
        **values,
    }  # fmt: skip


ROWS = [row(number) for number in range(6)]
STATEMENTS = {
    "insert": (insert(entity), ROWS),
    "update": (
        update(entity)
        .where(entity.c.file_path == bindparam("target"))
        .values(missing_since=bindparam("since"), links_dirty=bindparam("dirty"), permalink=null()),
        [
            {"target": "n1.md", "since": OTHER_DAY, "dirty": False},
            {"target": "n3.md", "since": None, "dirty": True},
        ],
    ),
    "delete": (
        delete(entity).where(entity.c.file_path == bindparam("target")),
        [{"target": "n1.md"}, {"target": "n4.md"}],
    ),
}


@pytest.mark.parametrize("kind", STATEMENTS)
async def test_the_rows_are_those_of_sqlalchemy(index, kind):
    statement, rows = STATEMENTS[kind]
    ask = select(*(column for column in entity.c if column.name != "id")).order_by(entity.c.title)

    def by_each(tx, run):
        tx.conn.execute(delete(entity))
        if kind != "insert":
            tx.conn.execute(insert(entity), ROWS)
        run(tx.conn, statement, rows)
        stored = tx.conn.exec_driver_sql("SELECT created_at, missing_since FROM entity")
        return tx.conn.execute(ask).all(), sorted(map(repr, stored))

    ours = await index.store.write(lambda tx: by_each(tx, run_each))
    theirs = await index.store.write(
        lambda tx: by_each(tx, lambda conn, one, values: conn.execute(one, values))
    )
    assert ours == theirs
    assert ours[0]


async def test_no_rows_are_no_statement(index):
    await index.store.write(lambda tx: run_each(tx.conn, insert(entity), []))
    assert index.rows("SELECT count(*) FROM entity") == [(0,)]


def test_for_postgresql_the_parameters_are_numbered_in_the_order_of_the_values():
    prepared = _prepared(insert(index_meta), ("value", "project_id", "key"), asyncpg.dialect())
    assert prepared.sql == (
        "INSERT INTO index_meta (project_id, key, value) VALUES ($1::INTEGER, $2, $3)"
    )
    assert prepared.parameters([{"value": "v", "project_id": 1, "key": "k"}]) == [(1, "k", "v")]

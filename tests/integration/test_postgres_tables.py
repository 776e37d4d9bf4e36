"""A project on PostgreSQL is of the tables in which it was found, and its end waits for nobody who reads."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tools.postgres_server import databases

from memoranda.db import postgres_errors, postgres_tables
from memoranda.db.migrate_postgres import bring_up_schema
from memoranda.db.postgres import PostgresDatabase
from memoranda.errors import DatabaseAway, DatabaseLost
from memoranda.files.clock import SystemClock
from memoranda.model.project import Project
from memoranda.places.opened import OpenIndex
from memoranda.places.postgres import open_in
from memoranda.repositories.driver import rows

_ASK = "SELECT 1"


def _opened(database: PostgresDatabase, name: str) -> OpenIndex:
    return open_in(database, Project(name, name, Path("/notes") / name), SystemClock())


def _make_anew(database: PostgresDatabase, url: str) -> OpenIndex:
    """The schema is dropped and made again, and another project is the first in it."""
    databases().execute("DROP SCHEMA memoranda CASCADE", url)
    bring_up_schema(database)
    return _opened(database, "two")


def test_who_kept_the_number_of_a_project_is_told_at_once_in_the_same_process(
    postgres: PostgresDatabase, postgres_url: str
) -> None:
    one, two = _opened(postgres, "one"), _opened(postgres, "two")
    assert (one.is_there(), two.is_there()) == (True, True)
    again = _make_anew(postgres, postgres_url)
    assert again.project_id == one.project_id
    assert (one.is_there(), two.is_there(), again.is_there()) == (False, False, True)
    with pytest.raises(DatabaseLost):
        one.database.read(lambda conn: rows(conn, _ASK))
    assert again.database.read(lambda conn: rows(conn, _ASK)) == [(1,)]


@pytest.mark.parametrize("is_write", [True, False])
def test_who_kept_the_number_of_a_project_notices_what_another_process_did(
    postgres: PostgresDatabase,
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
    is_write: bool,
) -> None:
    one = _opened(postgres, "one")
    other = PostgresDatabase(postgres.address)
    try:
        _make_anew(other, postgres_url)
    finally:
        other.dispose()
    assert one.is_there()  # nobody has looked
    monkeypatch.setattr(postgres_tables, "_LOOK_S", 60.0 if is_write else 0.0)
    use = one.database.write if is_write else one.database.read
    with pytest.raises(DatabaseLost):
        use(lambda conn: rows(conn, _ASK))
    assert not one.is_there()


def test_whatever_of_the_schema_is_missing_it_is_known_as_lost(postgres: PostgresDatabase) -> None:
    tables, functions = postgres.read(
        lambda conn: (
            rows(
                conn,
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'memoranda'",
            ),
            rows(
                conn,
                "SELECT proname FROM pg_proc WHERE pronamespace = 'memoranda'::regnamespace"
                " AND prorettype <> 'trigger'::regtype",
            ),
        )
    )
    for asked in [
        *(f"SELECT * FROM {table}" for (table,) in tables),
        *(f"SELECT {name}(NULL, NULL)" for (name,) in functions),
    ]:
        with pytest.raises(DatabaseLost):
            postgres.read(lambda conn, asked=asked: _in_no_schema(conn, asked))
    assert {table for (table,) in tables} == postgres_errors._LOST


def _in_no_schema(conn: object, asked: str) -> None:
    rows(conn, "SET LOCAL search_path TO pg_catalog")  # type: ignore[arg-type]
    conn.exec_driver_sql(asked)  # type: ignore[attr-defined]


def test_the_end_gives_up_what_reads_for_long(
    postgres_url: str, postgres: PostgresDatabase
) -> None:
    database = PostgresDatabase(postgres.address)
    begun, errors = threading.Event(), []

    def work(conn: object) -> None:
        begun.set()
        conn.exec_driver_sql("SELECT pg_sleep(25)")  # type: ignore[attr-defined]

    def read() -> None:
        try:
            database.read(work)
        except DatabaseAway as error:
            errors.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    assert begun.wait(10)
    database.dispose()
    reader.join()
    assert len(errors) == 1

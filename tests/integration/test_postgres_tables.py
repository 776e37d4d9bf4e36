"""A project on PostgreSQL is of the tables in which it was found, and its end waits for nobody who reads."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tools.postgres_server import databases

from memoranda.db import postgres_errors, postgres_tables
from memoranda.db.migrate_postgres import bring_up_schema
from memoranda.db.postgres import PostgresDatabase, address_of
from memoranda.errors import ConfigProblem, DatabaseAway, DatabaseLost, DatabaseProblem
from memoranda.files.clock import SystemClock
from memoranda.model.project import Project
from memoranda.places.opened import OpenIndex
from memoranda.places.postgres import open_in
from memoranda.repositories.driver import rows

_ASK = "SELECT 1"
_PLACES = "SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'entity'::regclass"


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


@pytest.mark.parametrize(
    "change", ["UPDATE project SET external_id = 'of another'", "TRUNCATE project CASCADE"]
)
def test_a_row_that_was_restored_or_is_gone_is_not_taken_for_the_same(
    postgres: PostgresDatabase, change: str
) -> None:
    one = _opened(postgres, "one")
    postgres.write(lambda conn: conn.exec_driver_sql(change))
    with pytest.raises(DatabaseLost):
        one.database.write(lambda conn: rows(conn, _ASK))
    assert not one.is_there()
    assert _opened(postgres, "one").is_there()


def test_a_schema_in_which_tables_are_missing_is_said_to_be_so(postgres: PostgresDatabase) -> None:
    postgres.write(lambda conn: conn.exec_driver_sql("DROP TABLE note_filter"))
    with pytest.raises(DatabaseProblem, match="note_filter"):
        bring_up_schema(postgres)


def test_the_table_of_revisions_of_another_program_is_left_alone(postgres_url: str) -> None:
    databases().execute("DROP SCHEMA memoranda CASCADE", postgres_url)
    databases().execute("CREATE TABLE public.alembic_version (version_num text)", postgres_url)
    databases().execute("INSERT INTO public.alembic_version VALUES ('abc123')", postgres_url)
    found = set()
    for schema in ("memoranda", "other"):
        database = PostgresDatabase(address_of(postgres_url, schema))
        try:
            assert bring_up_schema(database) == "created"
            found.add(database.read(lambda conn: rows(conn, _PLACES)[0][0]))
        finally:
            database.dispose()
    assert found == {"memoranda", "other"}


def test_a_pooler_is_asked_for_nothing_but_the_name_of_the_program(
    postgres: PostgresDatabase,
) -> None:
    said = postgres.read(
        lambda conn: rows(conn, "SELECT name FROM pg_settings WHERE source = 'client'")
    )
    assert {name for (name,) in said} <= {"application_name", "client_encoding"}
    [(path, limit)] = postgres.read(
        lambda conn: rows(
            conn, "SELECT current_setting('search_path'), current_setting('statement_timeout')"
        )
    )
    assert (path, limit) == ('"memoranda", public', "30s")


def test_a_parameter_that_the_server_does_not_know_is_one_of_the_address(postgres_url: str) -> None:
    database = PostgresDatabase(address_of(f"{postgres_url}?connect_timeout=10"))
    try:
        with pytest.raises(ConfigProblem, match="connect_timeout"):
            database.read(lambda conn: rows(conn, _ASK))
    finally:
        database.dispose()


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
    assert {table for (table,) in tables} == postgres_errors.TABLES


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

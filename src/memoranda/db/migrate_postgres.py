"""Brings a schema of PostgreSQL to the newest revision, with the same migrations as SQLite.

One transaction under the lock of the schema, in which DDL takes part: nobody sees half a schema, and of many
servers that start at once one does the work. A current schema costs one statement and needs no right to
change it, so the one who makes it may be another user than the one who serves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from sqlalchemy.engine import Connection

from memoranda.db.migrate import HEAD, SCRIPTS
from memoranda.db.postgres import PostgresDatabase
from memoranda.db.postgres_errors import TABLES
from memoranda.errors import DatabaseProblem

_TABLE: Final = "SELECT to_regclass($1)::text"
_REVISION: Final = "SELECT version_num FROM {}.alembic_version"
_HAS_SCHEMA: Final = "SELECT 1 FROM pg_namespace WHERE nspname = $1"
_SERVER: Final = "SELECT current_setting('server_version_num')::int, getdatabaseencoding()"
_THERE: Final = "SELECT tablename::text FROM pg_tables WHERE schemaname = $1"
_OLDEST_SERVER: Final = 140_000
_UNHURRIED_S: Final = 24 * 3600.0
"""For one statement of a migration."""


def bring_up_schema(database: PostgresDatabase) -> Literal["created", "upgraded", "current"]:
    """Make the schema and its tables current; waits.

    Raises:
        DatabaseProblem: the server is too old, a newer version of this program made the schema, or the user
            may not change it.
        DatabaseAway, DatabaseBusy: another time.
    """
    schema = database.address.schema
    revision, missing = database.read(
        lambda conn: (revision_of(conn, schema), missing_tables(conn, schema))
    )
    if revision == HEAD and missing:
        raise DatabaseProblem(
            f"Tables of the index are missing in {database.shown}: {', '.join(missing)}",
            hint="The notes are not concerned. Delete the whole schema; the index is built anew from the notes.",
        )
    if revision == HEAD:
        return "current"
    patient = PostgresDatabase(replace(database.address, statement_s=_UNHURRIED_S))
    try:
        return patient.write(lambda conn: _bring_up(conn, schema, database.shown))
    finally:
        patient.dispose()


def _bring_up(
    conn: Connection, schema: str, shown: str
) -> Literal["created", "upgraded", "current"]:
    from alembic import command
    from alembic.config import Config

    version, encoding = conn.exec_driver_sql(_SERVER).one()
    if version < _OLDEST_SERVER or encoding != "UTF8":
        raise DatabaseProblem(
            f"{shown} cannot keep the index: version {version // 10_000}, encoding {encoding}",
            hint="Use PostgreSQL 14 or later, and a database whose encoding is UTF8.",
        )
    before = revision_of(conn, schema)
    if before == HEAD:
        return "current"
    if before is not None and before > HEAD:
        raise DatabaseProblem(
            f"The tables in {shown} were made by a newer version of Memoranda",
            hint="Use that version here as well, or another database_schema.",
        )
    if conn.exec_driver_sql(_HAS_SCHEMA, (schema,)).first() is None:
        conn.exec_driver_sql(f"CREATE SCHEMA {_quoted(schema)}")
    config = Config()
    config.set_main_option("script_location", SCRIPTS)
    config.attributes["connection"] = conn
    config.attributes["schema"] = schema
    command.upgrade(config, "head")
    return "created" if before is None else "upgraded"


def revision_of(conn: Connection, schema: str) -> str | None:
    """The revision of the tables of a schema, None without any; the user may use it, and read that."""
    table = f"{_quoted(schema)}.alembic_version"
    if conn.exec_driver_sql(_TABLE, (table,)).scalar() is None:
        return None
    return conn.exec_driver_sql(_REVISION.format(_quoted(schema))).scalar()


def missing_tables(conn: Connection, schema: str) -> list[str]:
    """Tables of a current schema that are not there, by name."""
    found = conn.exec_driver_sql(_THERE, (schema,))
    return sorted(TABLES - set(found.scalars()))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

"""Statements of the search path, run on the driver: what SQLAlchemy adds to each costs more than some of them.

Inside a transaction (`db.engine`, `db.postgres`), which says what the driver's errors mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.engine import Connection

from memoranda.db.dialects import Statement, is_postgresql, storable


def rows(conn: Connection, sql: str | Statement, *parameters: object) -> list[Any]:
    """All rows of a statement, as tuples.

    Args:
        conn: the transaction's.
        sql: a text for the back end of the connection, or a statement for each.
        parameters: by position.
    """
    text = sql if isinstance(sql, str) else sql.on(conn)
    if is_postgresql(conn):
        cursor = conn.connection.cursor()
        cursor.execute(text, storable(parameters))
        of_postgres: list[Any] = list(cursor.fetchall())
        return of_postgres
    driver = conn.connection.driver_connection
    assert driver is not None  # noqa: S101  (it is open: a transaction runs on it)
    found: list[Any] = driver.execute(text, parameters).fetchall()
    return found


def run(conn: Connection, sql: str | Statement, *parameters: object) -> int:
    """Run a statement that changes rows; returns how many."""
    text = sql if isinstance(sql, str) else sql.on(conn)
    return int(conn.exec_driver_sql(text, parameters).rowcount)


def run_many(
    conn: Connection, sql: str | Statement, parameters: Sequence[tuple[object, ...]]
) -> None:
    """Run a statement once for each row of parameters; none are no statement."""
    if parameters:
        text = sql if isinstance(sql, str) else sql.on(conn)
        conn.exec_driver_sql(text, list(parameters))

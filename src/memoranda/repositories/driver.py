"""Statements of the search path, run on the driver: what SQLAlchemy adds to each costs more than some of them.

Inside a transaction of the engine (`db.engine`), which says what the driver's errors mean.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Connection


def rows(conn: Connection, sql: str, *parameters: object) -> list[Any]:
    """All rows of a statement, as tuples."""
    driver = conn.connection.driver_connection
    assert driver is not None  # noqa: S101  (it is open: a transaction runs on it)
    found: list[Any] = driver.execute(sql, parameters).fetchall()
    return found

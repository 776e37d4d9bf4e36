"""Whether anybody changed the database, asked for next to nothing."""

from __future__ import annotations

from sqlalchemy.engine import Connection

from memoranda.db.dialects import is_postgresql
from memoranda.repositories.driver import rows
from memoranda.repositories.store import Tx

Mark = tuple[int, int | str, int]

_SNAPSHOT = "SELECT pg_current_snapshot()::text"


def change_mark(tx: Tx) -> Mark:
    """What is another after a change by any connection of any process; equal marks: nothing changed.

    SQLite counts, for each connection, the changes of all others, and its own apart. Transactions may be
    on different connections, whose marks differ though nothing changed. PostgreSQL says which transactions had
    ended: the mark may be another after one that is none of ours.
    """
    return mark_of(tx.conn)


def mark_of(conn: Connection) -> Mark:
    """`change_mark` of a transaction's connection: of the state that the transaction sees."""
    if is_postgresql(conn):
        return 0, str(rows(conn, _SNAPSHOT)[0][0]), 0
    connection = conn.connection.dbapi_connection
    assert connection is not None  # noqa: S101  (it is open: a transaction runs on it)
    [(seen,)] = rows(conn, "PRAGMA data_version")
    return id(connection), int(seen), int(connection.total_changes)

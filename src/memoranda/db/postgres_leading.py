"""Who leads a project, for those who only ask: by the lock and the row of `postgres_leaders`."""

from __future__ import annotations

from typing import Final

from sqlalchemy.engine import Connection

from memoranda.db.postgres_leaders import lock_class

_HELD: Final = """
    SELECT EXISTS (
        SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
        AND classid = $1::bigint::oid AND objid = $2::bigint::oid
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
"""
_SAID: Final = """
    SELECT said, extract(epoch FROM clock_timestamp() - at)::float8 FROM project_leader WHERE project_id = $1
"""
_KEEP_AWAY: Final = "SELECT pg_try_advisory_xact_lock($1, $2)"


def is_led(conn: Connection, schema: str, project_id: int) -> bool:
    """Whether some process has the leadership of a project."""
    numbers = lock_class(schema) & 0xFFFFFFFF, project_id
    return bool(conn.exec_driver_sql(_HELD, numbers).scalar())


def last_said(conn: Connection, project_id: int) -> tuple[str, float] | None:
    """What the leader said last, and how many seconds ago; None when nobody says anything."""
    row = conn.exec_driver_sql(_SAID, (project_id,)).first()
    return None if row is None else (row[0], row[1])


def keep_leaders_away(conn: Connection, schema: str, project_id: int) -> bool:
    """Let nobody begin to lead before the transaction has ended; False: somebody leads."""
    numbers = lock_class(schema), project_id
    return bool(conn.exec_driver_sql(_KEEP_AWAY, numbers).scalar())

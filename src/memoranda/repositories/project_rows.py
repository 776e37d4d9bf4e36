"""All rows of one project, in whichever tables they are. SQL only."""

from __future__ import annotations

from typing import Final

from sqlalchemy.engine import Connection

from memoranda.db.dialects import both
from memoranda.repositories.driver import rows, run

_ID: Final = both("SELECT id FROM project WHERE permalink = ?")
_COUNTED: Final = "search_vector_sums"
_UNHURRIED: Final = "SET LOCAL statement_timeout = 0"
_TABLES: Final = """
    SELECT c.relname::text, ARRAY(
        SELECT f.confrelid FROM pg_constraint AS f WHERE f.conrelid = c.oid AND f.contype = 'f'
    ), c.oid
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'project_id'
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND NOT a.attisdropped
    ORDER BY c.relname
"""


def id_of(conn: Connection, permalink: str) -> int | None:
    """The id of a project's row, None if there is none."""
    found = rows(conn, _ID, permalink)
    return int(found[0][0]) if found else None


def remove_all(conn: Connection, project_id: int) -> None:
    """Delete whatever a database of PostgreSQL has of a project, its row last; nothing of other projects.

    However long it takes: for each note the database looks into eight tables for what hangs on it. What hangs on a
    row goes with it, so a table without the project's number is one that hangs on another. The sums go first:
    triggers would change them for each row.
    """
    conn.exec_driver_sql(_UNHURRIED)
    for table in sorted(_children_first(conn), key=_COUNTED.__ne__):
        delete = f'DELETE FROM "{table}" WHERE project_id = $1'  # noqa: S608 - a table of ours
        run(conn, delete, project_id)
    run(conn, "DELETE FROM project WHERE id = $1", project_id)


def _children_first(conn: Connection) -> list[str]:
    """The tables that know projects, each before those that it refers to."""
    found = {oid: (name, set(parents)) for name, parents, oid in rows(conn, _TABLES)}
    ordered: list[str] = []
    while found:
        referred = {parent for oid, (_, parents) in found.items() for parent in parents - {oid}}
        free = [oid for oid in found if oid not in referred]
        assert free, "tables refer to each other in a circle"  # noqa: S101
        ordered += [found.pop(oid)[0] for oid in free]
    return ordered

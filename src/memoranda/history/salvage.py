"""What can be read of a damaged history is copied into the new one. The damaged file is not touched."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from memoranda.history.changes import COLUMNS, change_of
from memoranda.history.contents import Unreadable, get, put, unpacked

_PLACES = ", ".join("?" * len(COLUMNS.split(",")))


def salvage(damaged: Path, into: sqlite3.Connection) -> int:
    """Copy every change that can be read, with its contents where they are whole; returns how many.

    From both ends, so that one bad page in the middle costs what is around it alone. Ids stay.
    """
    copied = 0
    with suppress(sqlite3.DatabaseError), closing(_opened(damaged)) as old:
        into.execute("BEGIN IMMEDIATE")
        for order in ("DESC", "ASC"):
            with suppress(sqlite3.DatabaseError):
                for row in old.execute(f"SELECT {_columns(old)} FROM change ORDER BY id {order}"):  # noqa: S608  (constants)
                    copied += _copied(old, into, row)
        into.execute("COMMIT")
    return copied


def _columns(old: sqlite3.Connection) -> str:
    """Those of today, with NULL for what a file of an older format does not have."""
    there = {row[1] for row in old.execute("PRAGMA table_info(change)")}
    return ", ".join(name if name in there else "NULL" for name in COLUMNS.split(", "))


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)


def _copied(old: sqlite3.Connection, into: sqlite3.Connection, row: tuple[Any, ...]) -> bool:
    try:
        change_of(row)
    except (ValueError, TypeError, AttributeError, OverflowError):
        return False
    done = into.execute(f"INSERT OR IGNORE INTO change ({COLUMNS}) VALUES ({_PLACES})", row)  # noqa: S608  (constants)
    if not done.rowcount:
        return False
    for checksum in (row[10], row[11]):
        with suppress(sqlite3.DatabaseError, Unreadable, TypeError):
            if checksum is not None and (content := get(old, checksum)) is not None:
                unpacked(content)
                put(into, content)
    return True

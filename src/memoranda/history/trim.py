"""Keeping the history within its bounds, and deleting it when the user says so.

The oldest changes go first, a batch in a transaction, so that no writer waits long. What was freed is
filled by the next changes; when it is much, it goes back to the file system.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime

from memoranda.history.changes import microseconds, remove
from memoranda.history.contents import drop_unused
from memoranda.history.database import HistoryFile

_BATCH = 100
_PAGES = 1_000
_MUCH = 1 / 8
"""Of the file free: worth moving pages for."""
_FILL = 0.97
"""How full it is left when it was over its bound, so that not every change has to make room."""


def forget_older(file: HistoryFile, than: datetime) -> int:
    """Delete the changes that began before that time; returns how many. What is under way stays."""

    def batch(conn: sqlite3.Connection) -> int:
        rows = conn.execute(
            "SELECT id FROM change WHERE at < ? AND state <> 'pending' ORDER BY at LIMIT ?",
            (microseconds(than), _BATCH),
        ).fetchall()
        drop_unused(conn, remove(conn, [change_id for (change_id,) in rows]))
        return len(rows)

    return _all_batches(file, batch)


def is_beyond(file: HistoryFile, limit_bytes: int) -> bool:
    """Whether what is in the file, free space not counted, is more than that."""
    return file.read(_used_bytes, 0) > limit_bytes


def forget_beyond(file: HistoryFile, limit_bytes: int) -> int:
    """Delete the oldest changes of a file whose content is larger than that; returns how many.

    The newest change stays, however large it is, and so does what has just begun.
    """
    if not is_beyond(file, limit_bytes):
        return 0

    begun: set[int] = set()

    def batch(conn: sqlite3.Connection) -> int:
        rows = conn.execute(
            "SELECT id, coalesce(batch, id) FROM change WHERE state <> 'pending' "
            "AND coalesce(batch, id) < (SELECT coalesce(batch, id) FROM change ORDER BY id DESC LIMIT 1) "
            "ORDER BY id LIMIT ?",
            (_BATCH,),
        ).fetchall()
        for number, (change_id, call) in enumerate(rows):  # what one call did goes as a whole
            if call not in begun and _used_bytes(conn) <= limit_bytes * _FILL:
                return number
            begun.add(call)
            drop_unused(conn, remove(conn, [change_id]))
        return len(rows)

    return _all_batches(file, batch)


def forget_all(file: HistoryFile) -> int:
    """Delete everything but what is under way; returns how many changes that were. Ids are not used again."""

    def all_of_it(conn: sqlite3.Connection) -> int:
        gone = conn.execute("DELETE FROM change WHERE state <> 'pending'").rowcount
        conn.execute(
            "DELETE FROM content WHERE checksum NOT IN ("
            "SELECT before FROM change WHERE before IS NOT NULL "
            "UNION ALL SELECT after FROM change WHERE after IS NOT NULL)"
        )
        return int(gone)

    return file.write(all_of_it) if file.exists() else 0


def give_back(file: HistoryFile, *, at_once: bool = False) -> None:
    """Give much free space back to the file system; `at_once` all of it, and what the log still holds."""

    def shrink(conn: sqlite3.Connection) -> None:
        free, before = _free_pages(conn), 0
        if not at_once and free < conn.execute("PRAGMA page_count").fetchone()[0] * _MUCH:
            return
        while free and free != before:
            # `execute` would end the statement after its first step, which is one page.
            conn.executescript(f"PRAGMA incremental_vacuum({_PAGES})")
            free, before = _free_pages(conn), free
        if at_once:
            conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    file.outside(shrink, None)


def _all_batches(file: HistoryFile, batch: Callable[[sqlite3.Connection], int]) -> int:
    total = 0
    while file.exists():
        total += (done := file.write(batch, durable=False))
        if done < _BATCH:
            break
    return total


def _used_bytes(conn: sqlite3.Connection) -> int:
    (pages,) = conn.execute("PRAGMA page_count").fetchone()
    (page_bytes,) = conn.execute("PRAGMA page_size").fetchone()
    return int(pages - _free_pages(conn)) * int(page_bytes)


def _free_pages(conn: sqlite3.Connection) -> int:
    return int(conn.execute("PRAGMA freelist_count").fetchone()[0])

"""The tables of `history.db` and their versions (ADR 18). Changing them takes a new entry in `STEPS`.

A change carries the checksums of its two contents rather than references to rows, so that it can be read
and copied when a content cannot. A content is stored once, whoever has it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

APPLICATION_ID = 0x4D4D4853
"""Says in the file's header that it is ours: "MMHS"."""

STEPS: Sequence[Sequence[str]] = (
    (
        """
        CREATE TABLE content (
          checksum BLOB NOT NULL PRIMARY KEY,  -- SHA-256 of the bytes, 32 bytes
          size INTEGER NOT NULL,               -- of the bytes, not of `data`
          codec INTEGER NOT NULL,              -- 0: as they are, 1: zlib
          data BLOB NOT NULL
        )
        """,
        """
        CREATE TABLE change (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          at INTEGER NOT NULL,                 -- microseconds since 1970, UTC
          client TEXT NOT NULL,
          version TEXT NOT NULL,
          tool TEXT NOT NULL,
          root TEXT NOT NULL,
          path TEXT NOT NULL,
          kind TEXT NOT NULL,
          state TEXT NOT NULL,
          token TEXT NOT NULL,                 -- names the temporary file: .<token>.tmp
          before BLOB,
          after BLOB,
          before_bytes INTEGER NOT NULL,
          after_bytes INTEGER NOT NULL
        )
        """,
        "CREATE INDEX change_at ON change (at)",
        "CREATE INDEX change_path ON change (path)",
        "CREATE INDEX change_before ON change (before) WHERE before IS NOT NULL",
        "CREATE INDEX change_after ON change (after) WHERE after IS NOT NULL",
        "CREATE INDEX change_pending ON change (path) WHERE state = 'pending'",
    ),
    (
        # NULL for a change alone; else the id of the first change of its call
        "ALTER TABLE change ADD COLUMN batch INTEGER",
        # the path that a moved file had
        "ALTER TABLE change ADD COLUMN moved_from TEXT",
        "CREATE INDEX change_batch ON change (batch) WHERE batch IS NOT NULL",
        "CREATE INDEX change_moved_from ON change (moved_from) WHERE moved_from IS NOT NULL",
    ),
)
"""What leads from each version to the next; the first from an empty file to version 1."""

VERSION = len(STEPS)


def version_of(conn: sqlite3.Connection) -> int | None:
    """The version of the file, None when it is not ours. Reads the header alone."""
    (application_id,) = conn.execute("PRAGMA application_id").fetchone()
    (version,) = conn.execute("PRAGMA user_version").fetchone()
    return int(version) if application_id == APPLICATION_ID and version > 0 else None


def bring_up(conn: sqlite3.Connection, steps: Sequence[Sequence[str]] = STEPS) -> None:
    """Run the steps that the file lacks, in one transaction. An empty file is made ours."""
    if version_of(conn) is None:
        conn.execute("PRAGMA auto_vacuum = INCREMENTAL")  # before there is a table, or never
    conn.execute("PRAGMA synchronous = FULL")
    conn.execute("BEGIN IMMEDIATE")
    try:
        for statements in steps[version_of(conn) or 0 :]:
            for statement in statements:
                conn.execute(statement)
        conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        conn.execute(f"PRAGMA user_version = {len(steps)}")
        conn.execute("COMMIT")
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise

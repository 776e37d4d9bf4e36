"""Transactions on `history.db`, whatever happens to the file meanwhile.

One connection a process, opened when it is first needed. Before each transaction the file at the path is
compared with the one that is open: when it was deleted or replaced, it is opened anew. A damaged one is
set aside, and what can be read of it is in the new one.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from loguru import logger

from memoranda.errors import FileProblem
from memoranda.history import place
from memoranda.history.place import Inode, inode
from memoranda.history.schema import VERSION, bring_up, version_of
from memoranda.history.trouble import HINT, is_busy, is_damage, newer, translated
from memoranda.ports import Clock

T = TypeVar("T")

FILE_NAME = "history.db"
_OPENINGS = 5
_POLL_S = 0.002


class HistoryFile:
    """One process's access to the history of a project. Thread-safe; touches nothing until it is used.

    Args:
        folder: where the file is; made with mode 0700 when something is first written.
        clock: for the names of what is set aside.
    """

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.path = folder / FILE_NAME
        self._clock = clock
        self._lock = threading.RLock()
        self._conn: sqlite3.Connection | None = None
        self._opened: Inode | None = None
        self._log: Inode | None = None

    def read(self, work: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        """Run `work` in a transaction that sees one state; `nothing` when there is no file.

        Raises:
            FileProblem: it cannot be read, or a newer version wrote it.
        """

        def whole() -> T:
            conn = self._connection()
            return nothing if conn is None else self._transaction(conn, work, "BEGIN")

        return self._guarded(whole)

    def write(self, work: Callable[[sqlite3.Connection], T], *, durable: bool = True) -> T:
        """Run `work` in a transaction that may write; the file is made when there is none.

        Committed when `work` returns, undone when it raises. It runs a second time when the first run meets
        damage: the file is set aside then, and a new one holds what could be read of it.

        Args:
            work: gets the connection.
            durable: whether a power cut right after the return must not undo it.

        Raises:
            DiskFull: there is no space; nothing was changed.
            FileProblem: it cannot be written, or a newer version wrote it; nothing was changed.
        """

        def whole() -> T:
            conn = self._connection() or self._new_connection()
            conn.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            return self._transaction(conn, work, "BEGIN IMMEDIATE")

        return self._guarded(whole)

    def outside(self, work: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        """Run what no transaction may hold; `nothing` when there is no file. Raises as `write`."""

        def whole() -> T:
            conn = self._connection()
            return nothing if conn is None else work(conn)

        return self._guarded(whole)

    def exists(self) -> bool:
        """Whether there is a file. Raises FileProblem when nobody may know."""
        with translated(self.path):
            return inode(self.path) is not None

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        with self._lock:
            conn, self._conn = self._conn, None
            if conn is not None:
                with contextlib.suppress(sqlite3.Error):
                    conn.close()

    def _guarded(self, whole: Callable[[], T]) -> T:
        """`whole`, once more after damage; errors of the system in our words."""
        with self._lock, translated(self.path):
            try:
                return whole()
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
                self._replace("damaged", str(error))
            return whole()

    def _transaction(
        self, conn: sqlite3.Connection, work: Callable[[sqlite3.Connection], T], begin: str
    ) -> T:
        _begin(conn, begin)
        try:
            (version,) = conn.execute("PRAGMA user_version").fetchone()
            if version > VERSION:  # another process has migrated it in the meantime
                raise newer(self.path, version, VERSION)
            result = work(conn)
            conn.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # the first error is the one to tell
                if conn.in_transaction:
                    conn.execute("ROLLBACK")
            raise
        return result

    def _connection(self) -> sqlite3.Connection | None:
        """The open connection to the file that is there now, None when there is none."""
        for _ in range(_OPENINGS):
            found = inode(self.path)
            if self._conn is not None and found == self._opened:
                return self._conn
            self._part_from_log()
            self.close()
            if found is None:
                return None
            self._opened = found
            if (conn := self._opened_connection()) is not None:
                self._conn = conn
                return conn
        raise FileProblem(
            str(self.path),
            f"The history {self.path} is being replaced again and again",
            hint=HINT,
        )

    def _opened_connection(self) -> sqlite3.Connection | None:
        """A connection to the file `_opened`, migrated; None when it is not at the path any more.

        That it is of a newer version is found by the transaction that follows.
        """
        with contextlib.ExitStack() as stack:
            conn = place.connect(self.path)
            stack.callback(conn.close)
            if inode(self.path) != self._opened:
                return None
            version = version_of(conn)
            if version is not None and version < VERSION:
                with place.exclusive(self.path):
                    bring_up(conn)
                logger.info("{}: migrated from format {} to {}", self.path, version, VERSION)
            if version is not None:
                self._log = inode(place.log_of(self.path))
                stack.pop_all()
                return conn
        self._replace("foreign", "it is no history")
        return None

    def _new_connection(self) -> sqlite3.Connection:
        with place.exclusive(self.path):
            if inode(self.path) is None:
                place.move_away(self.path, "orphaned", self._clock.now(), only_log=True)
                place.make(self.path)
        if (conn := self._connection()) is None:
            raise FileProblem(
                str(self.path), f"The history {self.path} was deleted at once", hint=HINT
            )
        return conn

    def _part_from_log(self) -> None:
        """Set the log of the file that was open aside: SQLite would play it into the one that is there now."""
        log = place.log_of(self.path)
        if self._conn is None or self._log is None or inode(log) != self._log:
            return
        with place.exclusive(self.path):
            if inode(log) == self._log:
                place.move_away(self.path, "orphaned", self._clock.now(), only_log=True)

    def _replace(self, word: str, reason: str) -> None:
        """Set the file that was opened aside and make a new one, once for all processes."""
        self.close()
        with place.exclusive(self.path):
            if inode(self.path) != self._opened:
                return  # another process was faster
            aside = place.move_away(self.path, word, self._clock.now())
            place.make(self.path, aside)
        logger.error(
            "The history of changes could not be used ({}): it is kept as {}, a new one begins",
            reason,
            aside,
        )


def _begin(conn: sqlite3.Connection, statement: str) -> None:
    """Begin a transaction, after waiting for other writers.

    SQLite's own wait looks ten times a second in the end, so that who waits long is overtaken by all.
    """
    deadline = time.monotonic() + place.BUSY_TIMEOUT_S
    conn.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                conn.execute(statement)
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() >= deadline:
                    raise
                time.sleep(_POLL_S)
            else:
                return
    finally:
        conn.execute(f"PRAGMA busy_timeout = {round(place.BUSY_TIMEOUT_S * 1000)}")

"""The SQLite engine: how connections are opened, how transactions begin, what their errors mean.

Synchronous SQLAlchemy Core; a transaction is one plain function run whole in a thread. Reads begin
with `BEGIN` (one snapshot from the first statement on), writes with `BEGIN IMMEDIATE`: the lock is
taken, or refused, before any work is done, and a read is never upgraded in its middle, which SQLite
refuses without waiting. The driver's own transaction control is switched off, since it begins too
late and never for reads.

An engine belongs to the file it opened first. When another file lies at that place (another process
set a damaged one aside, the user put a copy back), or none, every later transaction is refused: the
new file does not hold what this process indexed. `db.health.reopen` then makes sure of what is there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, create_engine, event
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from memoranda.db.migrate import State, read_state
from memoranda.errors import (
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseLost,
    DatabaseProblem,
    DiskFull,
    MemorandaError,
)

BUSY_TIMEOUT_MS = 5_000
_CACHE_KIB = 2 * 1024
_WRITING_CACHE_KIB = 8 * 1024
"""While a connection writes; given back afterwards, or every connection would fill its cache in the end."""
_JOURNAL_LIMIT_BYTES = 16 * 1024 * 1024
_POOL_SIZE = 4
_CACHED_STATEMENTS = 256
WRITING = "memoranda_write"
"""The execution option of a connection whose transaction may write."""

T = TypeVar("T")

Inode = tuple[int, int]
"""Device and inode: which file it is, whatever its name."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which file the database is, and which its write-ahead log (None: there is none)."""

    database: Inode | None
    log: Inode | None


def identify(path: Path) -> Identity:
    """The files at the place of a database; what cannot be looked at counts as not there."""
    return Identity(_inode(path), _inode(path.with_name(f"{path.name}-wal")))


def open_engine(
    path: Path,
    *,
    read_only: bool = False,
    busy_timeout_ms: int = BUSY_TIMEOUT_MS,
    foreign_keys: bool = True,
) -> Engine:
    """An engine over an existing database (`db.health.prepare` makes one); touches no file yet.

    Up to four connections are kept, the last used first, so that a single caller keeps one warm page
    cache; more are opened when more threads ask, never waited for. No memory map: a file cut by
    another program would then end the process instead of raising an error.

    Args:
        path: the database file.
        read_only: refuse every write.
        busy_timeout_ms: how long a write waits for another writer.
        foreign_keys: off for migrations alone, which may have to rebuild a table.
    """
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=QueuePool,
        pool_size=_POOL_SIZE,
        max_overflow=-1,
        pool_use_lifo=True,
        hide_parameters=True,  # parameters are note contents, which no log may hold
    )
    address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
    pragmas = _pragmas(read_only=read_only, foreign_keys=foreign_keys)
    own: list[Inode] = []

    def require_own_file() -> None:
        if (found := _require_inode(path)) not in own:
            if own:
                raise DatabaseLost(
                    f"{path} was replaced by another file while it was in use",
                    hint="Repeat the call: the index is opened anew and brought up to date.",
                )
            own.append(found)

    @event.listens_for(engine, "do_connect")
    def connect(_dialect: Any, _record: Any, _args: Any, _options: Any) -> sqlite3.Connection:
        require_own_file()
        connection = sqlite3.connect(
            address,
            uri=True,
            timeout=busy_timeout_ms / 1000,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_CACHED_STATEMENTS,
        )
        try:
            for pragma in pragmas:
                connection.execute(pragma)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    @event.listens_for(engine, "checkout")
    def check(_connection: Any, _record: Any, _proxy: Any) -> None:
        require_own_file()

    @event.listens_for(engine, "begin")
    def begin(conn: Connection) -> None:
        if not conn.get_execution_options().get(WRITING, False):
            conn.exec_driver_sql("BEGIN")
            return
        conn.info[WRITING] = True
        conn.exec_driver_sql(f"PRAGMA cache_size = -{_WRITING_CACHE_KIB}")
        conn.exec_driver_sql("BEGIN IMMEDIATE")

    @event.listens_for(engine, "checkin")
    def shrink(connection: Any, record: Any) -> None:
        if connection is not None and record.info.pop(WRITING, False):
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")

    return engine


@contextmanager
def begin_read(engine: Engine) -> Iterator[Connection]:
    """A transaction that sees one state of the database, from its first statement on.

    Raises:
        DatabaseProblem: or a subclass, for what the database itself refuses (`translate`).
    """
    with _translated(engine), engine.connect() as conn, conn.begin():
        yield conn


@contextmanager
def begin_write(engine: Engine) -> Iterator[Connection]:
    """A transaction that may write: committed at the end, rolled back by any exception.

    Raises:
        DatabaseBusy: another writer kept the lock for longer than the busy timeout.
        DiskFull: nothing was changed.
        DatabaseProblem: or a subclass, for what the database itself refuses (`translate`).
    """
    with _translated(engine), engine.connect() as conn:
        conn.execution_options(**{WRITING: True})
        with conn.begin():
            yield conn


class SqliteDatabase:
    """`ports.Database` on one file: one transaction writes at a time in this process, three read."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.reading = ThreadPoolExecutor(3, "memoranda-read")
        self.writing = ThreadPoolExecutor(1, "memoranda-write")

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on one snapshot, in the calling thread."""
        with begin_read(self._engine) as conn:
            return work(conn)

    def write(self, work: Callable[[Connection], T], *, project_id: int = 0) -> T:
        """Run `work` in a write transaction, in the calling thread."""
        with begin_write(self._engine) as conn:
            return work(conn)

    def close(self) -> None:
        """Wait for the running transactions and close every connection."""
        self.writing.shutdown(wait=True)
        self.reading.shutdown(wait=True)
        self._engine.dispose()


def is_writing(conn: Connection) -> bool:
    """Whether the transaction is one that may write (`begin_write`)."""
    return bool(conn.get_execution_options().get(WRITING, False))


def translate(error: DBAPIError, *, database: str = "the index database") -> MemorandaError:
    """What an error of the database means for the caller.

    Args:
        error: as SQLAlchemy raised it.
        database: how the message names the database, usually its path.
    """
    return _meaning(error, database) or DatabaseProblem(
        f"{database} failed: {error.orig}",
        hint="The notes are not concerned; `memoranda reindex` builds the index anew.",
    )


@contextmanager
def _translated(engine: Engine) -> Iterator[None]:
    """Only conditions of the database are translated; a broken constraint or SQL is a bug of ours.

    Unless it is the schema that is broken: a missing table is an error of SQL to SQLite.
    """
    try:
        yield
    except DBAPIError as error:
        if known := _cause(error, engine):
            raise known from error
        raise
    except sqlite3.DatabaseError as error:  # from a raw cursor, which SQLAlchemy does not watch
        if known := _cause(DBAPIError(None, None, error), engine):
            raise known from error
        raise


def _cause(error: DBAPIError, engine: Engine) -> MemorandaError | None:
    path = Path(engine.url.database or "")
    if known := _meaning(error, str(path)):
        return known
    finding = read_state(path)
    if finding.state in {State.DAMAGED, State.UNSEARCHABLE}:
        return DatabaseDamaged(
            f"{path} is damaged: {finding.reason}",
            hint="The notes are not concerned; the index is rebuilt from them.",
        )
    return None


def _meaning(error: DBAPIError, database: str) -> MemorandaError | None:
    code = getattr(error.orig, "sqlite_errorcode", None)
    match code if code is None else code & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            return DatabaseBusy(
                f"Another process is writing to {database}",
                hint="Repeat the call in a moment.",
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return DatabaseDamaged(
                f"{database} is damaged: {error.orig}",
                hint="The notes are not concerned; the index is rebuilt from them.",
            )
        case sqlite3.SQLITE_FULL:
            return DiskFull(database)
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return DatabaseProblem(
                f"{database} cannot be written: {error.orig}",
                hint="Make it, its -wal and -shm files and its folder writable, or move the "
                "configuration folder.",
            )
        case sqlite3.SQLITE_CANTOPEN:
            return DatabaseProblem(
                f"{database} cannot be opened: {error.orig}",
                hint="Check that its folder exists and that you may read and write it.",
            )
        case sqlite3.SQLITE_IOERR:
            return DatabaseProblem(
                f"{database} cannot be read or written: {error.orig}",
                hint="Check the disk; the notes are not concerned.",
            )
        case _:
            return None


def _inode(path: Path) -> Inode | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _require_inode(path: Path) -> Inode:
    try:
        found = path.stat()
    except FileNotFoundError as error:
        raise DatabaseLost(
            f"{path} is gone", hint="The notes are not concerned; the index is rebuilt from them."
        ) from error
    except OSError as error:
        raise DatabaseProblem(
            f"{path} cannot be opened: {error.strerror}",
            hint="Check that you may read and write its folder.",
        ) from error
    return found.st_dev, found.st_ino


def _pragmas(*, read_only: bool, foreign_keys: bool) -> list[str]:
    pragmas = [
        f"PRAGMA foreign_keys = {'ON' if foreign_keys else 'OFF'}",
        "PRAGMA synchronous = NORMAL",
        "PRAGMA temp_store = MEMORY",
        "PRAGMA mmap_size = 0",
        f"PRAGMA cache_size = -{_CACHE_KIB}",
    ]
    if not read_only:
        pragmas += [
            "PRAGMA journal_mode = WAL",
            f"PRAGMA journal_size_limit = {_JOURNAL_LIMIT_BYTES}",
        ]
    return pragmas

"""Brings a database to the newest schema, with Alembic, in this process.

A database says which revision it has three times: the row of `alembic_version`, `user_version` (the
revision as a number, which survives in the header) and `application_id` (that it is ours at all). If
they name the newest revision and every table is there, the database is current, and neither Alembic
nor SQLAlchemy is imported: reading that costs a millisecond.

A new database is made beside its place and renamed into it when it is complete, so that no process
ever sees half a schema. An upgrade is one transaction. Both happen under a file lock; the second of
two processes that start at once waits and finds the work done.

The database file is only ever opened by SQLite: closing any other handle on it would drop the locks
that this process holds on it.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from memoranda.db import fts
from memoranda.errors import DatabaseBusy, DatabaseDamaged, DatabaseProblem, DiskFull

APPLICATION_ID = 0x4D6D7264
"""Marks a SQLite file as ours ("Mmrd")."""

HEAD = "0006"
"""The newest revision in `migrations/versions`; as a number it is the database's user_version."""

TABLES = frozenset(
    {
        "alembic_version",
        "entity",
        "file_failure",
        "index_meta",
        "link",
        "note_name",
        "observation",
        "project",
        "relation",
        "search_vector_chunks",
        "search_vector_embeddings",
        "search_vector_notes",
        fts.TABLE,
        *fts.SHADOW_TABLES,
    }
)
"""Every table of revision `HEAD`."""

SIDECARS = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database, as suffixes of its name."""

SCRIPTS = "memoranda.db:migrations"
MINIMUM_SQLITE = (3, 37)
LOCK_TIMEOUT_S = 30.0
_READ_TIMEOUT_S = 5.0


class State(StrEnum):
    """What lies at the place of the database."""

    ABSENT = "absent"
    CURRENT = "current"
    OLDER = "older"
    NEWER = "newer"
    FOREIGN = "foreign"
    DAMAGED = "damaged"
    UNSEARCHABLE = "unsearchable"
    """Only the full-text index is missing, whole or in part, or of another form."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A state, and for one that cannot be used why, as the second half of a sentence."""

    state: State
    reason: str = ""


def migrate(path: Path) -> Literal["created", "upgraded", "current"]:
    """Make the database at `path` current; a missing one (and its folder, 0700) is created.

    Raises:
        DatabaseDamaged: what is there cannot be migrated: foreign, newer or damaged. It is untouched.
        DatabaseBusy: another process kept the lock.
        DatabaseProblem: the folder or the file cannot be used.
    """
    if read_state(path).state is State.CURRENT:
        return "current"
    with exclusive(path):
        return bring_up(path)


def bring_up(path: Path) -> Literal["created", "upgraded", "current"]:
    """As `migrate`, for a caller that holds `exclusive(path)`."""
    finding = read_state(path)
    match finding.state:
        case State.CURRENT:
            return "current"
        case State.ABSENT:
            _create(path)
            return "created"
        case State.OLDER:
            _upgrade(path)
            return "upgraded"
        case State.NEWER | State.FOREIGN | State.DAMAGED | State.UNSEARCHABLE:
            raise DatabaseDamaged(f"{path} cannot be used: {finding.reason}")


def read_state(path: Path) -> Finding:
    """Look at the database without changing it.

    Damage outside the first pages is not noticed here, see `db.health.full_check`.

    Raises:
        DatabaseBusy: another process holds it exclusively.
        DatabaseProblem: it cannot be read.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise DatabaseProblem(
                f"{path} is not a file",
                hint="Move it away; the index is then built there from the notes.",
            )
        if not found.st_size:
            return Finding(State.DAMAGED, "the file is empty")
    except FileNotFoundError:
        if any(_beside(path, suffix).exists() for suffix in SIDECARS):
            return Finding(State.DAMAGED, "the database is gone, its log is still there")
        return Finding(State.ABSENT)
    except OSError as error:
        raise _folder_problem(path, error) from error
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_READ_TIMEOUT_S)) as db:
            return _judge(db)
    except sqlite3.Error as error:
        return _judge_error(path, error)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock under which the database is created, upgraded or set aside.

    Makes the folder (0700) when it is missing. The lock file stays.

    Raises:
        DatabaseBusy: another process kept the lock for 30 s.
        DatabaseProblem: the folder cannot be made or written.
    """
    from filelock import FileLock, Timeout

    try:
        _make_folder(path.parent)
        with FileLock(_beside(path, ".lock"), timeout=LOCK_TIMEOUT_S, mode=0o600):
            yield
    except Timeout as error:
        raise DatabaseBusy(
            f"Another process is preparing {path}", hint="Repeat the call in a moment."
        ) from error
    except OSError as error:
        raise _folder_problem(path, error) from error


def _create(path: Path) -> None:
    _require_sqlite()
    unfinished = _beside(path, ".new")
    for suffix in ("", *SIDECARS):
        _beside(unfinished, suffix).unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    _upgrade(unfinished)
    unfinished.rename(path)


def _require_sqlite() -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        modules = {name for (name,) in db.execute("SELECT name FROM pragma_module_list")}
    if sqlite3.sqlite_version_info < MINIMUM_SQLITE or "fts5" not in modules:
        raise DatabaseProblem(
            f"This Python's SQLite ({sqlite3.sqlite_version}) cannot keep the index",
            hint="Use a Python whose SQLite is 3.37 or later and has FTS5.",
        )


def _upgrade(path: Path) -> None:
    """Run all missing revisions and stamp the database, in one transaction.

    Raises:
        DatabaseDamaged: its tables are not those of the revision it says it has.
    """
    from alembic import command
    from alembic.config import Config
    from sqlalchemy.exc import DBAPIError

    from memoranda.db.engine import begin_write, open_engine

    config = Config()
    config.set_main_option("script_location", SCRIPTS)
    engine = open_engine(path, foreign_keys=False)
    try:
        with begin_write(engine) as conn:
            config.attributes["connection"] = conn
            command.upgrade(config, "head")
            if broken := conn.exec_driver_sql("PRAGMA foreign_key_check").fetchall():
                raise DatabaseDamaged(f"{path} cannot be upgraded: {len(broken)} dangling rows")
            conn.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            conn.exec_driver_sql(f"PRAGMA user_version = {int(HEAD)}")
    except DBAPIError as error:  # what is wrong with the file or the disk is translated already
        raise DatabaseDamaged(f"{path} cannot be upgraded: {error.orig}") from error
    finally:
        engine.dispose()


def _judge(db: sqlite3.Connection) -> Finding:
    (application_id,) = db.execute("PRAGMA application_id").fetchone()
    if application_id != APPLICATION_ID:
        return Finding(State.FOREIGN, "it belongs to another program")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > int(HEAD):
        return Finding(State.NEWER, "a newer version of Memoranda wrote it")
    tables = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    names: dict[str, str] = dict(tables.fetchall())
    if "alembic_version" not in names:
        return Finding(State.DAMAGED, "the table alembic_version is missing")
    revisions = [revision for (revision,) in db.execute("SELECT version_num FROM alembic_version")]
    if revisions != [f"{version:04}"]:
        return Finding(State.DAMAGED, "its two version numbers differ")
    if version < int(HEAD):
        return Finding(State.OLDER)
    fulltext = {fts.TABLE, *fts.SHADOW_TABLES}
    if missing := sorted(TABLES - fulltext - names.keys()):
        return Finding(State.DAMAGED, f"the table {missing[0]} is missing")
    if missing := sorted(fulltext - names.keys()):
        return Finding(State.UNSEARCHABLE, f"the table {missing[0]} is missing")
    if names[fts.TABLE] != fts.CREATE:
        return Finding(State.UNSEARCHABLE, "its full-text table has another form")
    return Finding(State.CURRENT)


def _judge_error(path: Path, error: sqlite3.Error) -> Finding:
    match error.sqlite_errorcode & 0xFF:
        case sqlite3.SQLITE_NOTADB:
            return Finding(State.FOREIGN, "it is not a SQLite database")
        case sqlite3.SQLITE_READONLY:  # left by a crash: a rollback journal, which we never use
            return Finding(State.FOREIGN, "it belongs to another program")
        case sqlite3.SQLITE_CORRUPT:
            return Finding(State.DAMAGED, str(error))
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            raise DatabaseBusy(
                f"Another process holds {path}", hint="Repeat the call in a moment."
            ) from error
        case _:
            raise DatabaseProblem(
                f"{path} cannot be opened: {error}",
                hint="Check that you may read and write the file and its folder.",
            ) from error


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _folder_problem(path: Path, error: OSError) -> DatabaseProblem | DiskFull:
    import errno

    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return DiskFull(str(path))
    return DatabaseProblem(
        f"The index cannot be kept in {path.parent}: {error.strerror or error}",
        hint="Make the folder writable, or choose another with BASIC_MEMORY_CONFIG_DIR.",
    )

"""Whether a database can be used, and what to do when it cannot.

The index is derived, the notes hold everything: a database that cannot be used is renamed and a new
one is made in its place. Where only the full-text index is damaged, only that is made anew, and
everything else, ids included, stays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memoranda.db import fts
from memoranda.db.migrate import SIDECARS, Finding, State, bring_up, exclusive, read_state
from memoranda.errors import DatabaseDamaged, DatabaseProblem

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

    from memoranda.db.engine import Identity

INDEX_VERSION = "index_version"
"""The key of `index_meta` by which a sync knows that all files are to be read again."""

_MAX_FINDINGS = 20
_STEPS_BETWEEN_QUESTIONS = 10_000


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `prepare` found and did.

    Attributes:
        status: "rebuilt" when something unusable was there; the index is then empty, as for "created".
            "mended" when only the full-text index was unusable; it is empty, and the next sync reads
            every file again.
        set_aside: where what was there is now.
        reason: why what was there could not be used, "" otherwise.
    """

    status: Literal["created", "upgraded", "current", "rebuilt", "mended"]
    set_aside: Path | None = None
    reason: str = ""


def prepare(path: Path) -> Prepared:
    """Make sure that a usable, current database is at `path`.

    One that is foreign, newer than this program or visibly damaged is renamed, never deleted, to
    `<name>.<foreign|newer|damaged>-<UTC time>.db` beside it, with what SQLite keeps beside it. No
    connection of this process may be open on it then. A current database costs a millisecond, and
    nothing heavy is imported for it.

    Raises:
        DatabaseBusy: another process is at it for too long.
        DatabaseProblem: the folder or the file cannot be used.
    """
    if read_state(path).state is State.CURRENT:
        return Prepared("current")
    with exclusive(path):
        return _prepare(path)  # looks again: another process may have been faster


def _prepare(path: Path) -> Prepared:
    finding = read_state(path)
    if finding.state in {State.ABSENT, State.OLDER, State.CURRENT}:
        try:
            done = bring_up(path)
            finding = read_state(path)
            if finding.state is State.CURRENT:
                return Prepared(done)
        except DatabaseDamaged as error:
            finding = Finding(State.DAMAGED, error.message)
    if finding.state is State.UNSEARCHABLE:
        return _mend(path, finding.reason)
    return _replace(path, finding)


def _replace(path: Path, finding: Finding) -> Prepared:
    aside = set_aside(path, finding.state.value)
    bring_up(path)
    return Prepared("rebuilt", aside, finding.reason)


def reopen(path: Path, opened: Identity, *, damage: str = "") -> Prepared:
    """Make sure of a usable database where one that was open turned out damaged, replaced or gone.

    For the caller who got DatabaseDamaged or findings of `full_check`; the engine must be disposed.
    Of several processes that meet one damaged file the first sets it aside, the others open what is
    there then.

    Args:
        path: the place of the database.
        opened: which file was open (`db.engine.identify`).
        damage: what is wrong with that file, as the second half of a sentence; "" if nothing is known.

    Raises:
        DatabaseBusy: another process is at it for too long.
        DatabaseProblem: the folder or the file cannot be used.
    """
    from memoranda.db.engine import identify

    with exclusive(path):
        now = identify(path)
        if now.database is not None and now.database == opened.database:
            return _repair(path, damage) if damage else _prepare(path)
        if now.database is not None and now.log is not None and now.log == opened.log:
            reason = "it was put in the place of one in use, beside a log that is not its own"
            return _replace(path, Finding(State.DAMAGED, reason))
        return _prepare(path)


def _repair(path: Path, damage: str) -> Prepared:
    """Mend the full-text index if the check finds fault with nothing else, else replace the database."""
    from memoranda.db.engine import open_engine

    if read_state(path).state is not State.CURRENT:
        return _prepare(path)
    engine = open_engine(path)
    try:
        is_mendable = not check_tables(engine) and bool(check_fulltext(engine))
    finally:
        engine.dispose()
    return _mend(path, damage) if is_mendable else _replace(path, Finding(State.DAMAGED, damage))


def _mend(path: Path, reason: str) -> Prepared:
    """Make the full-text index anew, empty, and have the next sync read every file; one transaction.

    The table is forgotten without asking FTS5, which cannot even drop one that lacks a shadow table.
    """
    from sqlalchemy.exc import DBAPIError

    from memoranda.db.engine import begin_write, open_engine

    engine = open_engine(path)
    try:
        with begin_write(engine) as conn:
            conn.exec_driver_sql("PRAGMA writable_schema = ON")
            conn.exec_driver_sql("DELETE FROM sqlite_master WHERE name = ?", (fts.TABLE,))
            conn.exec_driver_sql("PRAGMA writable_schema = RESET")
            for table in fts.SHADOW_TABLES:
                conn.exec_driver_sql(f"DROP TABLE IF EXISTS {table}")
            conn.exec_driver_sql(fts.CREATE)
            conn.exec_driver_sql(
                "UPDATE index_meta SET value = '0' WHERE key = ?", (INDEX_VERSION,)
            )
    except (DatabaseDamaged, DBAPIError):
        engine.dispose()
        return _replace(path, Finding(State.DAMAGED, reason))
    finally:
        engine.dispose()
    return Prepared("mended", None, reason)


def set_aside(path: Path, reason: str) -> Path:
    """Rename what there is of the database and its sidecars; returns the new place of the first.

    The database goes first: one that lost its log could look whole, a log without its database is
    recognised.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    number, target = 1, path.with_name(f"{path.stem}.{reason}-{stamp}{path.suffix}")
    while any(_named(target, suffix).exists() for suffix in ("", *SIDECARS)):
        number += 1
        target = path.with_name(f"{path.stem}.{reason}-{stamp}-{number}{path.suffix}")
    moved = [
        _named(path, suffix).rename(_named(target, suffix))
        for suffix in ("", *SIDECARS)
        if _named(path, suffix).exists()
    ]
    return moved[0]


def kept_aside(path: Path) -> list[Path]:
    """The databases that were set aside beside `path`, and are kept until the user deletes them."""
    return sorted(path.parent.glob(f"{path.stem}.*-*Z*{path.suffix}"))


def full_check(engine: Engine, is_abandoned: Callable[[], bool] = lambda: False) -> list[str]:
    """Read the whole database and its full-text index; returns what is wrong, [] if nothing.

    Args:
        engine: over the database.
        is_abandoned: asked now and then; once true, the check ends with DatabaseProblem soon.

    Raises:
        DatabaseBusy: another writer kept the lock.
        DatabaseProblem: the database cannot be read.
    """
    return check_tables(engine, is_abandoned) or check_fulltext(engine, is_abandoned)


def check_tables(engine: Engine, is_abandoned: Callable[[], bool] = lambda: False) -> list[str]:
    """What is wrong with the tables and indexes; a read transaction. See `full_check`."""
    from memoranda.db.engine import begin_read

    try:
        with begin_read(engine) as conn, _questioned(conn, is_abandoned):
            rows = conn.exec_driver_sql(f"PRAGMA quick_check({_MAX_FINDINGS})").scalars()
            # From 3.44 on SQLite looks into the full-text index here as well.
            return [
                row for row in rows if row != "ok" and f"FTS5 table main.{fts.TABLE}" not in row
            ]
    except DatabaseDamaged as error:
        return [_said(error)]


def check_fulltext(engine: Engine, is_abandoned: Callable[[], bool] = lambda: False) -> list[str]:
    """What is wrong with the full-text index. See `full_check`.

    A write transaction that changes nothing (FTS5 takes its check as an INSERT) and holds other
    writers off meanwhile: about a second for 10,000 notes.
    """
    from sqlalchemy.exc import DatabaseError

    from memoranda.db.engine import begin_write

    try:
        with begin_write(engine) as conn, _questioned(conn, is_abandoned):
            conn.exec_driver_sql(fts.CHECK)
    except DatabaseDamaged as error:
        return [f"full-text index: {_said(error)}"]
    except DatabaseError as error:
        return [f"full-text index: {error.orig}"]
    return []


def _said(error: DatabaseDamaged) -> str:
    """The error as SQLite said it, if it did."""
    return str(getattr(error.__cause__, "orig", error.message))


@contextmanager
def _questioned(conn: Connection, is_abandoned: Callable[[], bool]) -> Iterator[None]:
    """Interrupt the statements inside once the caller has abandoned them."""
    from sqlalchemy.exc import DBAPIError

    driver: Any = conn.connection.driver_connection
    driver.set_progress_handler(is_abandoned, _STEPS_BETWEEN_QUESTIONS)
    try:
        yield
    except DBAPIError as error:
        if is_abandoned():
            raise DatabaseProblem("The check of the index was abandoned") from error
        raise
    finally:
        driver.set_progress_handler(None, 0)


def _named(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)

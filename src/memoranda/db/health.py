"""Whether a database can be used, and what to do when it cannot.

The index is derived, the notes hold everything: a database that cannot be used is renamed and a new
one is made in its place.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memoranda.db import fts
from memoranda.db.migrate import SIDECARS, State, bring_up, exclusive, read_state
from memoranda.errors import DatabaseDamaged

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

_MAX_FINDINGS = 20


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `prepare` found and did.

    Attributes:
        status: "rebuilt" when something unusable was there; the index is then empty, as for "created".
        set_aside: where that is now.
        reason: why it could not be used, "" otherwise.
    """

    status: Literal["created", "upgraded", "current", "rebuilt"]
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
        finding = read_state(path)  # again: another process may have been faster
        match finding.state:
            case State.NEWER | State.FOREIGN | State.DAMAGED:
                aside = set_aside(path, finding.state.value)
                bring_up(path)
                return Prepared("rebuilt", aside, finding.reason)
            case State.ABSENT | State.OLDER | State.CURRENT:
                return Prepared(bring_up(path))


def rebuild(path: Path, reason: str) -> Prepared:
    """Set a database aside that turned out damaged in use, and make a new one.

    For the caller who got DatabaseDamaged or findings of `full_check`; the engine must be disposed.
    Other processes notice by themselves (`db.engine`).

    Raises:
        DatabaseBusy: another process is at it for too long.
        DatabaseProblem: the folder or the file cannot be used.
    """
    with exclusive(path):
        if read_state(path).state is State.ABSENT:
            return Prepared(bring_up(path))
        aside = set_aside(path, State.DAMAGED.value)
        bring_up(path)
        return Prepared("rebuilt", aside, reason)


def set_aside(path: Path, reason: str) -> Path:
    """Rename the database and its sidecars; returns the new place of the first of them.

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


def full_check(engine: Engine) -> list[str]:
    """Read the whole database and its full-text index; returns what is wrong, [] if nothing.

    The full-text part is a write transaction that changes nothing (FTS5 takes its check as an INSERT)
    and holds other writers off meanwhile: about a second for 10,000 notes.

    Raises:
        DatabaseBusy: another writer kept the lock.
        DatabaseProblem: the database cannot be read.
    """
    from sqlalchemy.exc import DatabaseError

    from memoranda.db.engine import begin_read, begin_write

    findings: list[str] = []
    try:
        with begin_read(engine) as conn:
            rows = conn.exec_driver_sql(f"PRAGMA quick_check({_MAX_FINDINGS})").scalars()
            findings += [row for row in rows if row != "ok"]
        with begin_write(engine) as conn:
            conn.exec_driver_sql(fts.CHECK)
    except DatabaseDamaged as error:
        findings.append(error.message)
    except DatabaseError as error:  # a missing shadow table is an error of SQL to SQLite
        findings.append(str(error.orig))
    return findings


def _named(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)

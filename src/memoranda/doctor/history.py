"""The history of what tools changed: the only data that cannot be made again. It is only read here."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from memoranda.config import history_folder, lock_folder
from memoranda.doctor.words import command, counted, day_and_time, size, some
from memoranda.files.clock import SystemClock
from memoranda.files.locks import is_locked
from memoranda.history.changes import microseconds, moment, storable
from memoranda.history.database import FILE_NAME
from memoranda.history.place import kept_aside, size_bytes
from memoranda.history.schema import VERSION, version_of
from memoranda.model.health import Check, ok, problem, warning
from memoranda.model.history import HistoryLimits
from memoranda.model.project import Project

_TIMEOUT_S = 3.0
_TOLERANCE = 1.25
_MOST_FINDINGS = 3
_OLD_S = 5.0


@dataclass(frozen=True, slots=True)
class HistoryFacts:
    """What was found of a history.

    Attributes:
        trouble: why it cannot be used; "" when it can, or when there is none yet.
        is_newer: a newer version wrote it.
        pending: changes that were begun and not ended.
        cut_off: how many of them nobody works on any more.
        findings: what the check found.
        aside: histories that were set aside.
    """

    project: str
    path: str
    limits: HistoryLimits
    is_there: bool = False
    trouble: str = ""
    is_newer: bool = False
    changes: int = 0
    oldest: datetime | None = None
    pending: int = 0
    cut_off: int = 0
    size_bytes: int = 0
    findings: Sequence[str] = ()
    aside: Sequence[str] = ()


def look(project: Project, limits: HistoryLimits, *, is_whole: bool) -> HistoryFacts:
    """Look at the history of a project; a damaged one is left where it is.

    Args:
        project: whose.
        limits: as configured.
        is_whole: read all of it to check it.
    """
    path = history_folder(project) / FILE_NAME
    facts = HistoryFacts(
        project.name,
        str(path),
        limits,
        size_bytes=size_bytes(path),
        aside=tuple(file.name for file in kept_aside(path)),
    )
    try:
        try:
            path.lstat()
        except FileNotFoundError:
            return facts
        facts = replace(facts, is_there=True)
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_TIMEOUT_S)) as conn:
            found = _read(facts, conn, is_whole=is_whole)
            return replace(found, cut_off=_cut_off(conn, project)) if found.pending else found
    except sqlite3.Error as error:
        return replace(facts, trouble=str(error))
    except OSError as error:
        return replace(facts, is_there=True, trouble=error.strerror or str(error))


def judge(facts: HistoryFacts) -> list[Check]:
    """The checks of a history."""
    checks = [_usable(facts)]
    if facts.cut_off:
        checks.append(
            warning(
                "cut off changes",
                f"{counted(facts.cut_off, 'change')} begun and not ended, and nobody works on them: a move "
                "or an undo may be half done",
                f"Run {command('sync')}: it brings the files in order.",
            )
        )
    bound = facts.limits.megabytes * 1_000_000
    if bound and facts.size_bytes > bound * _TOLERANCE:
        checks.append(
            warning(
                "history size",
                f"{size(facts.size_bytes)}, and history_megabytes is {facts.limits.megabytes}",
                "A server cuts it back; to do it now, "
                f"run {command('history', 'purge', '--help')} and choose.",
            )
        )
    if facts.aside:
        checks.append(
            warning(
                "old histories",
                f"could not be used and were set aside: {some(facts.aside)}",
                f"Delete what you need no more in {Path(facts.path).parent}.",
            )
        )
    return checks


def _usable(facts: HistoryFacts) -> Check:
    if not facts.is_there:
        return ok("history", "no tool has changed a note yet")
    if facts.is_newer:
        return problem(
            "history",
            f"a newer version of Memoranda wrote {facts.path}: tools cannot change notes",
            "Use that version, or move the file away to begin a new history.",
        )
    if facts.trouble or facts.findings:
        why = facts.trouble or "; ".join(facts.findings[:_MOST_FINDINGS])
        return problem(
            "history",
            f"{facts.path} cannot be used, or not whole: {why}",
            "Copy the file before anything else; when a tool meets the damage it is set aside, and what "
            "can be read of it is kept.",
        )
    since = f" since {day_and_time(facts.oldest)}" if facts.oldest else ""
    pending = f", {facts.pending:,} begun and not ended" if facts.pending else ""
    several = counted(facts.changes, "change")
    return ok("history", f"{several}{since} in {size(facts.size_bytes)}{pending}")


def _read(facts: HistoryFacts, conn: sqlite3.Connection, *, is_whole: bool) -> HistoryFacts:
    version = version_of(conn)
    if version is None:
        return replace(facts, trouble="it is no history")
    if version > VERSION:
        return replace(facts, is_newer=True)
    changes, oldest, pending = conn.execute(
        "SELECT count(*), min(at), count(*) FILTER (WHERE state = 'pending') FROM change"
    ).fetchone()
    findings: list[str] = []
    if is_whole:
        rows = conn.execute(f"PRAGMA quick_check({_MOST_FINDINGS})").fetchall()
        findings = [row for (row,) in rows if row != "ok"]
    return replace(
        facts,
        changes=changes,
        oldest=None if oldest is None else moment(oldest),
        pending=pending,
        findings=tuple(findings),
    )


def _cut_off(conn: sqlite3.Connection, project: Project) -> int:
    """How many changes were begun a while ago in this folder, and their files are not locked."""
    until = microseconds(SystemClock().now() - timedelta(seconds=_OLD_S))
    paths = conn.execute(
        "SELECT path FROM change WHERE state = 'pending' AND root = ? AND at < ?",
        (storable(str(project.path)), until),
    ).fetchall()
    locks = lock_folder(project)
    return sum(not is_locked(path, locks) for (path,) in paths)

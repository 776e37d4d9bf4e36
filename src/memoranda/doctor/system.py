"""What Memoranda runs on: Python, SQLite, the space that is left, what the system lets be watched."""

from __future__ import annotations

import platform
import shutil
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from memoranda.db.migrate import MINIMUM_SQLITE
from memoranda.doctor.words import counted, size
from memoranda.model.health import Check, ok, problem, warning

LITTLE_BYTES = 500_000_000
TOO_LITTLE_BYTES = 50_000_000
"""Below this an index or a history can soon not be written."""

_MAX_WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")
_NEARLY_ALL = 0.8


@dataclass(frozen=True, slots=True)
class Disk:
    """The space that is left where something is kept; None: nobody knows."""

    what: str
    path: str
    free_bytes: int | None


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """What was found of the machine.

    Attributes:
        folders: how many folders of notes are to be watched, in all projects.
        max_watches: how many folders the system lets this user watch; None where there is no such bound.
        is_watching: whether the system is to tell what changes.
    """

    version: str
    python: str
    system: str
    sqlite: tuple[int, ...]
    has_fts5: bool
    disks: Sequence[Disk] = ()
    folders: int = 0
    max_watches: int | None = None
    is_watching: bool = True


def look(
    version: str, places: Sequence[tuple[str, Path]], folders: int, *, is_watching: bool
) -> SystemFacts:
    """Look at the machine.

    Args:
        version: of Memoranda.
        places: what is kept where.
        folders: how many folders of notes there are.
        is_watching: whether the system is to tell what changes.
    """
    return SystemFacts(
        version=version,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        system=f"{platform.system()} {platform.machine()}",
        sqlite=sqlite3.sqlite_version_info,
        has_fts5=_has_fts5(),
        disks=tuple(Disk(what, str(path), _free_bytes(path)) for what, path in places),
        folders=folders,
        max_watches=_max_watches() if sys.platform == "linux" else None,
        is_watching=is_watching,
    )


def judge(facts: SystemFacts) -> list[Check]:
    """The checks of the machine."""
    said = f"Memoranda {facts.version}, {facts.python}, {facts.system}"
    return [ok("version", said), _sqlite(facts), *_space(facts), *_watches(facts)]


def _sqlite(facts: SystemFacts) -> Check:
    shown = ".".join(map(str, facts.sqlite))
    if facts.sqlite >= MINIMUM_SQLITE and facts.has_fts5:
        return ok("SQLite", f"{shown} with FTS5")
    lacks = "" if facts.has_fts5 else ", without FTS5"
    least = ".".join(map(str, MINIMUM_SQLITE))
    return problem(
        "SQLite",
        f"this Python's SQLite ({shown}{lacks}) cannot keep the index",
        f"Use a Python whose SQLite is {least} or later and has FTS5.",
    )


def _space(facts: SystemFacts) -> list[Check]:
    checks = []
    for disk in facts.disks:
        if disk.free_bytes is None:
            continue
        said = f"{size(disk.free_bytes)} are free for {disk.what} ({disk.path})"
        if disk.free_bytes < TOO_LITTLE_BYTES:
            checks.append(problem("disk", said, "Free some space; nothing can be written soon."))
        elif disk.free_bytes < LITTLE_BYTES:
            checks.append(warning("disk", said, "Free some space before it runs out."))
    if not checks and (known := [disk for disk in facts.disks if disk.free_bytes is not None]):
        least = min(disk.free_bytes or 0 for disk in known)
        checks.append(ok("disk", f"{size(least)} or more are free"))
    return checks


def _watches(facts: SystemFacts) -> list[Check]:
    if facts.max_watches is None or not facts.folders or not facts.is_watching:
        return []
    several = counted(facts.folders, "folder")
    said = f"{several} of notes, and the system lets {facts.max_watches:,} be watched"
    if facts.folders <= _NEARLY_ALL * facts.max_watches:
        return [ok("watch limit", said)]
    return [
        warning(
            "watch limit",
            f"{said}, those of other programs included",
            "Raise it, for example: sudo sysctl fs.inotify.max_user_watches=524288",
        )
    ]


def _has_fts5() -> bool:
    with closing(sqlite3.connect(":memory:")) as db:
        return ("fts5",) in db.execute("SELECT name FROM pragma_module_list").fetchall()


def _free_bytes(path: Path) -> int | None:
    for place in (path, *path.parents):
        try:
            return shutil.disk_usage(place).free
        except OSError:
            continue
    return None


def _max_watches() -> int | None:
    try:
        return int(_MAX_WATCHES.read_text("ascii"))
    except (OSError, ValueError):
        return None

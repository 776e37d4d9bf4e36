"""Indexes on SQLite: one file for each project, in the configuration folder (spec 10)."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from loguru import logger

from memoranda.config import database_path
from memoranda.db.engine import (
    Identity,
    SqliteDatabase,
    begin_read,
    begin_write,
    identify,
    open_engine,
)
from memoranda.db.health import Prepared, full_check, kept_aside, prepare, reopen
from memoranda.files.locks import give_back, take
from memoranda.model.project import Project
from memoranda.places.opened import OpenIndex
from memoranda.ports import Clock
from memoranda.repositories.project import ensure_project, known_project
from memoranda.repositories.search_sqlite import SqliteFullTextIndex
from memoranda.repositories.vectors import BlobVectorIndex
from memoranda.sync.integrity import PERIOD, PERIOD_WITH_LOG
from memoranda.sync.lease import LOCK_FILE, Lease
from memoranda.sync.sync_service import INDEX_VERSION
from memoranda.text.analysis import ENGLISH, Languages

if TYPE_CHECKING:
    from datetime import timedelta

    from sqlalchemy.engine import Engine

_MANY_KEPT = 3


class SqlitePlaces:
    """`places.opened.Places` over the configuration folder."""

    is_shared = False

    def __init__(self) -> None:
        self._identities: dict[Path, Identity] = {}

    def open(
        self,
        project: Project,
        clock: Clock,
        languages: Languages,
        *,
        before: OpenIndex | None = None,
        damage: str = "",
    ) -> OpenIndex:
        """Prepare the file of a project and open it."""
        path = database_path(project)
        has_log = bool(_size(_log(path)))
        opened = self._identities.get(path)
        if before is None or opened is None:
            prepared = prepare(path)
        else:
            prepared = reopen(path, opened, damage=damage)
        notice = _notice(prepared, path)
        if notice:
            logger.warning("Project {}: {}", project.name, notice)
        engine = open_engine(path)
        try:
            project_id = _project_id(engine, project, clock)
        except BaseException:
            engine.dispose()
            raise
        identity = self._identities[path] = identify(path)
        lease = Lease(
            path.parent,
            version("memoranda"),
            INDEX_VERSION,
            serves=f"{project.path}\n{identity.database}",
        )
        return open_index(
            engine,
            path,
            project_id,
            languages,
            lease=lease,
            notice=notice,
            check_every=PERIOD_WITH_LOG if has_log else PERIOD,
            is_there=lambda: identify(path) == identity,
        )

    def shown(self, project: Project) -> str:
        """The path of its file."""
        return str(database_path(project))

    def size(self, project: Project) -> int:
        """Of the file with its write-ahead log."""
        return size_of(database_path(project))

    def is_led(self, project: Project) -> bool:
        """By the lock file, if there is one."""
        return is_held(database_path(project).with_name(LOCK_FILE))

    def remove(self, project: Project) -> bool:
        """Delete the file and what SQLite keeps beside it; anything else in the folder stays."""
        path = database_path(project)
        found = [file for end in ("", "-wal", "-shm") if (file := _beside(path, end)).exists()]
        for file in found:
            file.unlink()
        return bool(found)

    def close(self) -> None:
        """Nothing is shared."""


def open_at(
    path: Path, project: Project, clock: Clock, languages: Languages = ENGLISH
) -> OpenIndex:
    """Open the index in a file that may have to be made, without anybody who leads."""
    prepare(path)
    engine = open_engine(path)
    return open_index(engine, path, _project_id(engine, project, clock), languages)


def open_index(
    engine: Engine,
    path: Path,
    project_id: int,
    languages: Languages = ENGLISH,
    *,
    lease: Lease | None = None,
    notice: str = "",
    check_every: timedelta = PERIOD,
    is_there: Callable[[], bool] = lambda: True,
) -> OpenIndex:
    """An open index over a database that is prepared."""
    return OpenIndex(
        SqliteDatabase(engine),
        project_id,
        SqliteFullTextIndex(project_id, languages),
        BlobVectorIndex(project_id),
        str(path),
        partial(_checked, path),
        lease=lease,
        notice=notice,
        check_every=check_every,
        is_there=is_there,
        size=partial(size_of, path),
        is_led=partial(is_held, path.with_name(LOCK_FILE)),
    )


def size_of(path: Path) -> int:
    """Size of a database with its write-ahead log; 0 when there is none."""
    return _size(path) + _size(_log(path))


def is_held(lock: Path) -> bool:
    """Whether a process holds a lock; nothing is made when there is no such file. Raises OSError."""
    if not os.path.lexists(lock):
        return False
    try:
        give_back(take(lock, 0))
    except TimeoutError:
        return True
    return False


def _project_id(engine: Engine, project: Project, clock: Clock) -> int:
    with begin_read(engine) as conn:
        known = known_project(conn, project)
    if known is not None:
        return known
    with begin_write(engine) as conn:
        return ensure_project(conn, project, clock.now().replace(tzinfo=None), INDEX_VERSION)


def _checked(path: Path, is_abandoned: Callable[[], bool]) -> list[str]:
    """`full_check` over an engine of its own: an abandoned check may end after the store is closed."""
    engine = open_engine(path)
    try:
        return full_check(engine, is_abandoned)
    finally:
        engine.dispose()


def _notice(prepared: Prepared, path: Path) -> str:
    match prepared.status:
        case "mended":
            said = (
                f"the full-text index could not be used ({prepared.reason}) "
                "and is built anew from the notes"
            )
        case "rebuilt" if prepared.set_aside is not None:
            said = (
                f"the index could not be used ({prepared.reason}); it is kept as "
                f"{prepared.set_aside.name} and is built anew from the notes"
            )
        case _:
            return ""
    kept = kept_aside(path)
    if len(kept) < _MANY_KEPT:
        return said
    megabytes = sum(map(size_of, kept)) / 1e6
    return (
        f"{said}. {len(kept)} such files in {path.parent} take {megabytes:,.0f} MB; "
        "they can be deleted"
    )


def _log(path: Path) -> Path:
    return _beside(path, "-wal")


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0

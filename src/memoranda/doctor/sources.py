"""Where a project's index is looked at, on either back end. Nothing is made, mended or brought up to date."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from memoranda.config import database_path
from memoranda.db.health import check_fulltext, check_tables, kept_aside
from memoranda.db.migrate import Finding, State, read_state
from memoranda.errors import DatabaseProblem
from memoranda.model.project import Project

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from memoranda.db.postgres import PostgresDatabase

T = TypeVar("T")

_BUSY_MS = 3_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where an index is.

    Attributes:
        shown: for people.
        is_shared: with other projects, in a database that has checks of its own.
        size_bytes: with its write-ahead log; 0 where it has no size of its own.
        aside: databases that were set aside, with their size.
    """

    shown: str
    is_shared: bool = False
    size_bytes: int = 0
    aside: Sequence[str] = ()
    aside_bytes: int = 0


class Source(Protocol):
    """The index of one project.

    Raises (all methods): MemorandaError: it cannot be looked at.
    """

    @property
    def place(self) -> Place:
        """Where it is. Never raises."""
        ...

    def finding(self) -> Finding:
        """What lies there."""
        ...

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a read transaction, where the index is current."""
        ...

    def check(self) -> Sequence[str]:
        """Read all of it, and say what is wrong. DatabaseBusy: not now."""
        ...


class SqliteSource:
    """A file."""

    def __init__(self, project: Project) -> None:
        self._path = database_path(project)

    @property
    def place(self) -> Place:
        path, aside = self._path, kept_aside(self._path)
        return Place(
            str(path),
            size_bytes=_size(path) + _size(path.with_name(f"{path.name}-wal")),
            aside=tuple(file.name for file in aside),
            aside_bytes=sum(map(_size, aside)),
        )

    def finding(self) -> Finding:
        if _is_refused(self._path):
            raise DatabaseProblem(
                f"this user may not read and write {self._path}",
                hint="Correct the owner or the permissions of it and of its folder.",
            )
        return read_state(self._path)

    def read(self, work: Callable[[Connection], T]) -> T:
        from memoranda.db.engine import begin_read, open_engine

        engine = open_engine(self._path, read_only=True, busy_timeout_ms=_BUSY_MS)
        try:
            with begin_read(engine) as conn:
                return work(conn)
        finally:
            engine.dispose()

    def check(self) -> Sequence[str]:
        """The full-text index is checked in a transaction that changes nothing."""
        from memoranda.db.engine import open_engine

        engine = open_engine(self._path, read_only=True, busy_timeout_ms=_BUSY_MS)
        writing = open_engine(self._path, busy_timeout_ms=_BUSY_MS)
        try:
            return check_tables(engine) or check_fulltext(writing)
        finally:
            engine.dispose()
            writing.dispose()


class PostgresSource:
    """Rows of a database whose tables were found in some state, see `doctor.postgres`."""

    def __init__(self, project: Project, database: PostgresDatabase, state: State) -> None:
        self._permalink = project.permalink
        self._database = database
        self._state = state

    @property
    def place(self) -> Place:
        return Place(self._database.shown, is_shared=True)

    def finding(self) -> Finding:
        return Finding(self._state)

    def read(self, work: Callable[[Connection], T]) -> T:
        return self._database.read(work)

    def check(self) -> Sequence[str]:
        """Pages and rows are the server's to check."""
        is_sound = self._database.read(self._is_sound)
        return () if is_sound else ("the full text does not agree with its rows",)

    def _is_sound(self, conn: Connection) -> bool:
        from memoranda.repositories.project_rows import id_of
        from memoranda.repositories.search_postgres import PostgresFullTextIndex

        project_id = id_of(conn, self._permalink)
        return project_id is None or PostgresFullTextIndex(project_id).check(conn)


def _is_refused(path: Path) -> bool:
    """Whether the database is there and not for this user, in a folder that is: SQLite writes beside it."""
    is_allowed = os.access(path, os.R_OK | os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)
    return os.path.lexists(path) and not is_allowed


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0

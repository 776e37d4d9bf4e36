"""A project's transactions on the tables in which it was found, and on no others.

When tables are dropped and made anew, by whoever, numbers of projects begin again: who kept one would read and
change the notes of another project. The table `project` then has another number of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any, Final, TypeVar

from memoranda.db.postgres import PostgresDatabase
from memoranda.errors import DatabaseLost

T = TypeVar("T")

_TABLES: Final = "SELECT to_regclass('project')::oid::bigint"
_LOOK_S: Final = 1.0
"""So long a read believes what was seen last; a write looks each time."""


def tables_of(conn: Any) -> int:
    """A number of the tables that are there now; 0 if there are none."""
    return int(conn.exec_driver_sql(_TABLES).scalar_one() or 0)


class TablesOf:
    """`ports.Database` for one project. Raises DatabaseLost once its tables are not those any more.

    Args:
        database: of the process.
        tables: as `tables_of` said in the transaction that found the project.
    """

    def __init__(self, database: PostgresDatabase, tables: int) -> None:
        self._database = database
        self._tables = database.tables = tables
        self._seen_at = time.monotonic()
        self.reading: Executor = database.reading
        self.writing: Executor = database.writing

    @property
    def is_there(self) -> bool:
        """Whether no project of the process has seen others since."""
        return self._database.tables == self._tables

    def read(self, work: Callable[[Any], T], /) -> T:
        """As `PostgresDatabase.read`."""
        return self._database.read(partial(self._on_own, work, is_write=False))

    def write(self, work: Callable[[Any], T], /, *, project_id: int = 0) -> T:
        """As `PostgresDatabase.write`."""
        return self._database.write(
            partial(self._on_own, work, is_write=True), project_id=project_id
        )

    def close(self) -> None:
        """Nothing: the connections are the process's."""

    def _on_own(self, work: Callable[[Any], T], conn: Any, *, is_write: bool) -> T:
        now = time.monotonic()
        if is_write or now - self._seen_at > _LOOK_S:
            self._database.tables = tables_of(conn)
            self._seen_at = now
        if not self.is_there:
            raise DatabaseLost(
                f"The tables in {self._database.shown} were made anew",
                hint="The notes are not concerned; the index is built anew from them.",
            )
        return work(conn)

"""A project's transactions on the row in which it was found, and on no other.

When tables are made anew, or restored as they were before, numbers of projects begin again: who kept one would
read and change the notes of another project. A row has an id that no other has, wherever it is.
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

_IDENTITY: Final = """
    SELECT to_regclass('project')::oid::bigint, (SELECT external_id FROM project WHERE id = $1)
"""
_LOOK_S: Final = 1.0
"""So long a read believes what was seen last; a write looks each time."""


Identity = tuple[int, str | None]
"""A number of the tables, and what is said of a project's row; None: it is not there."""


def identity_of(conn: Any, project_id: int) -> Identity:
    """What the row of a project is now."""
    tables, row = conn.exec_driver_sql(_IDENTITY, (project_id,)).one()
    return int(tables), row


class TablesOf:
    """`ports.Database` for one project. Raises DatabaseLost once its row is not that any more.

    Args:
        database: of the process.
        project_id: of the row.
        identity: as `identity_of` said in the transaction that found the row.
    """

    def __init__(self, database: PostgresDatabase, project_id: int, identity: Identity) -> None:
        self._database = database
        self._project_id = project_id
        self._identity = identity
        self._has_row = True
        database.tables = identity[0]
        self._seen_at = time.monotonic()
        self.reading: Executor = database.reading
        self.writing: Executor = database.writing

    @property
    def is_there(self) -> bool:
        """Whether the row was this one when it was looked at last, and no project has seen other tables since."""
        return self._has_row and self._database.tables == self._identity[0]

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
            found = identity_of(conn, self._project_id)
            self._database.tables, self._has_row = found[0], found == self._identity
            self._seen_at = now
        if not self.is_there:
            raise DatabaseLost(
                f"The index in {self._database.shown} was made anew or restored",
                hint="The notes are not concerned; the index is built anew from them.",
            )
        return work(conn)

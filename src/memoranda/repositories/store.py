"""The one way to the database: a transaction is one plain function, run whole in one thread hop.

`await store.read(fn)` and `await store.write(fn)` call `fn(tx)` in a worker thread inside one
transaction. Nothing is awaited inside it, so no transaction waits for a file, a model or the network,
and a statement costs no task switch (ADR 0008). Writes queue up in one thread: one writer per process;
writers of other processes are waited for (busy timeout) and tried again.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Delete, Executable, Insert, Update
from sqlalchemy.engine import Connection

from memoranda.errors import DatabaseAway, DatabaseBusy, DatabaseDamaged, DatabaseProblem
from memoranda.ports import Clock, Database
from memoranda.repositories.bulk import run_each

T = TypeVar("T")

_ATTEMPTS = 3
_PATIENCE_S = 8.0
"""Who got no answer for so long does not ask again."""
_BACKOFF_S = 0.1
_IN_LIMIT = 5000
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` makes an encoder every time


@dataclass(frozen=True, slots=True)
class Tx:
    """An open transaction bound to one project. `now` is its time, naive UTC as stored."""

    conn: Connection
    project_id: int
    now: datetime


class ProjectScoped:
    """What all repositories share: the transaction, and with it the project."""

    def __init__(self, tx: Tx) -> None:
        self._conn = tx.conn
        self._project_id = tx.project_id
        self._now = tx.now

    def _each(
        self, statement: Insert | Update | Delete, rows: Sequence[Mapping[str, object]]
    ) -> None:
        """Run a statement once a row; no rows are no statement."""
        run_each(self._conn, statement, rows)

    def _in(self, statement: Executable, values: Iterable[object]) -> None:
        """Run a statement that asks for the rows `among` "values", for as many values as there are."""
        for chunk in in_chunks(values):
            self._conn.execute(statement, {"values": chunk})


def as_json(value: object) -> str:
    """A value as columns of JSON hold it."""
    return _ENCODE(value)


def texts(stored: str) -> tuple[str, ...]:
    """A JSON list of texts as stored in a column."""
    return tuple(json.loads(stored)) if stored != "[]" else ()


def in_chunks(values: Iterable[T], size: int = _IN_LIMIT) -> Iterator[list[T]]:
    """The values in lists short enough for one `IN (...)`."""
    chunk: list[T] = []
    for value in values:
        chunk.append(value)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


class Store:
    """Transactions on one project's index.

    Attributes:
        is_damaged: the database turned out damaged; whoever owns the store opens another one.

    Raises (all methods): DatabaseBusy and DatabaseAway after three attempts, DatabaseDamaged, DiskFull,
        DatabaseProblem.
    """

    def __init__(self, database: Database, project_id: int, clock: Clock) -> None:
        self._database = database
        self._project_id = project_id
        self._clock = clock
        self.is_damaged = False
        self._is_closed = False

    @property
    def project_id(self) -> int:
        """The project's row."""
        return self._project_id

    def now(self) -> datetime:
        """The time of a transaction that would begin now, aware UTC."""
        return self._clock.now()

    async def read(self, fn: Callable[[Tx], T]) -> T:
        """Run `fn` on a consistent snapshot."""
        return await self._run(self._database.reading, self.read_now, fn)

    async def write(self, fn: Callable[[Tx], T]) -> T:
        """Run `fn` in a write transaction.

        It may run again: when another process was in the way, or when the database went away, and then it may
        have been done already.
        """
        return await self._run(self._database.writing, self.write_now, fn)

    async def _run(
        self,
        executor: Executor,
        transaction: Callable[[Callable[[Tx], T]], T],
        fn: Callable[[Tx], T],
    ) -> T:
        if self._is_closed:
            raise DatabaseProblem(
                "The index was just closed or opened anew", hint="Repeat the call in a moment."
            )
        return await asyncio.get_running_loop().run_in_executor(executor, transaction, fn)

    def read_now(self, fn: Callable[[Tx], T]) -> T:
        """`read` in the calling thread."""
        return self._patiently(lambda: self._database.read(lambda conn: fn(self._tx(conn))))

    def write_now(self, fn: Callable[[Tx], T]) -> T:
        """`write` in the calling thread."""
        return self._patiently(
            lambda: self._database.write(
                lambda conn: fn(self._tx(conn)), project_id=self._project_id
            )
        )

    def _patiently(self, transaction: Callable[[], T]) -> T:
        """Retries with exponential back-off (spec 12.2)."""
        for attempt in range(_ATTEMPTS):
            began = time.monotonic()
            try:
                return transaction()
            except (DatabaseBusy, DatabaseAway) as error:
                has_waited = time.monotonic() - began > _PATIENCE_S
                if attempt + 1 == _ATTEMPTS or (has_waited and isinstance(error, DatabaseAway)):
                    raise
                time.sleep(_BACKOFF_S * 2**attempt)
            except DatabaseDamaged:
                self.is_damaged = True
                raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Wait for the running transactions and close what is this project's alone."""
        self._is_closed = True
        self._database.close()

    def _tx(self, conn: Connection) -> Tx:
        return Tx(conn, self._project_id, self._clock.now().replace(tzinfo=None))

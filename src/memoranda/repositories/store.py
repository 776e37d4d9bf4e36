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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import BindParameter, Delete, Executable, Insert, Update, bindparam
from sqlalchemy.engine import Connection, Engine

from memoranda.db.engine import begin_read, begin_write
from memoranda.errors import DatabaseBusy, DatabaseDamaged, DatabaseProblem
from memoranda.ports import Clock
from memoranda.repositories.bulk import run_each

T = TypeVar("T")

_ATTEMPTS = 3
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
        """Run a statement that ends in `IN (:values)` for as many values as there are."""
        for chunk in in_chunks(values):
            self._conn.execute(statement, {"values": chunk})


def many(name: str) -> BindParameter[Any]:
    """The parameter of an `IN (...)` in a statement that is built once."""
    return bindparam(name, expanding=True)


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

    Raises (all methods): DatabaseBusy after three attempts, DatabaseDamaged, DiskFull, DatabaseProblem.
    """

    def __init__(self, engine: Engine, project_id: int, clock: Clock) -> None:
        self._engine = engine
        self._project_id = project_id
        self._clock = clock
        self._writer = ThreadPoolExecutor(1, "memoranda-write")
        self.is_damaged = False
        self._is_closed = False
        self._readers = ThreadPoolExecutor(3, "memoranda-read")

    @property
    def project_id(self) -> int:
        """The project's row."""
        return self._project_id

    def now(self) -> datetime:
        """The time of a transaction that would begin now, aware UTC."""
        return self._clock.now()

    async def read(self, fn: Callable[[Tx], T]) -> T:
        """Run `fn` on a consistent snapshot."""
        return await self._run(self._readers, self.read_now, fn)

    async def write(self, fn: Callable[[Tx], T]) -> T:
        """Run `fn` in a write transaction; it may run again when another process was in the way."""
        return await self._run(self._writer, self.write_now, fn)

    async def _run(
        self,
        executor: ThreadPoolExecutor,
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
        try:
            with begin_read(self._engine) as conn:
                return fn(self._tx(conn))
        except DatabaseDamaged:
            self.is_damaged = True
            raise

    def write_now(self, fn: Callable[[Tx], T]) -> T:
        """`write` in the calling thread; retries with exponential back-off (spec 12.2)."""
        for attempt in range(_ATTEMPTS):
            try:
                with begin_write(self._engine) as conn:
                    return fn(self._tx(conn))
            except DatabaseBusy:
                if attempt + 1 == _ATTEMPTS:
                    raise
                time.sleep(_BACKOFF_S * 2**attempt)
            except DatabaseDamaged:
                self.is_damaged = True
                raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Wait for the running transactions and close every connection."""
        self._is_closed = True
        self._writer.shutdown(wait=True)
        self._readers.shutdown(wait=True)
        self._engine.dispose()

    def _tx(self, conn: Connection) -> Tx:
        return Tx(conn, self._project_id, self._clock.now().replace(tzinfo=None))

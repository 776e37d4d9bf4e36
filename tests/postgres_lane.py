"""Transactions on PostgreSQL that stay open while a test looks at them.

The driver is asyncio's under SQLAlchemy's greenlets: with the fixture `lane` a test runs in a greenlet of its
loop, so that it may use connections as on SQLite (`pytest_pyfunc_call` in `conftest.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeVar

from sqlalchemy.engine import Connection, Engine
from sqlalchemy.util import greenlet_spawn

from memoranda.db.postgres import address_of, begin_read, begin_write, open_engine

T = TypeVar("T")

current: list[PostgresLane] = []
"""The one in use, if any."""


class PostgresLane:
    """Any number of connections to one database, for one thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.address = address_of(url)
        self._loop = asyncio.new_event_loop()
        self._engines: list[Engine] = []
        self._free: list[Engine] = []

    def run(self, work: Callable[[], T]) -> T:
        """Run a function that uses connections; inside `run`, too."""
        if self._loop.is_running():
            return work()
        return self._loop.run_until_complete(greenlet_spawn(work))

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state; inside `run`."""
        with self._engine() as engine, begin_read(engine, self.address) as conn:
            yield conn

    @contextmanager
    def writing(self, project_id: int = 1) -> Iterator[Connection]:
        """A transaction that writes; inside `run`."""
        with self._engine() as engine, begin_write(engine, self.address, project_id) as conn:
            yield conn

    @contextmanager
    def trying(self) -> Iterator[Connection]:
        """A transaction that writes and leaves nothing; from a fixture, outside `run`."""
        with ExitStack() as ends:
            conn = self.run(lambda: ends.enter_context(self.writing()))
            yield conn
            self.run(conn.rollback)
            self.run(ends.close)

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        if not self._free:
            self._engines.append(open_engine(self.address))
            self._free.append(self._engines[-1])
        engine = self._free.pop()
        yield engine
        self._free.append(engine)

    def in_thread(self, work: Callable[[PostgresLane], T]) -> T:
        """Run a function with a lane of its own, in another thread than this one's."""
        lane = PostgresLane(self._url)
        try:
            return lane.run(lambda: work(lane))
        finally:
            lane.close()

    def close(self) -> None:
        """Close all connections."""
        for engine in self._engines:
            self.run(engine.dispose)
        self._loop.close()


@contextmanager
def opened(url: str) -> Iterator[PostgresLane]:
    """A lane in which tests run meanwhile."""
    lane = PostgresLane(url)
    with entered(lane):
        yield lane
    lane.close()


@contextmanager
def entered(lane: PostgresLane) -> Iterator[PostgresLane]:
    """Let tests run in a lane meanwhile."""
    current.append(lane)
    yield lane
    current.remove(lane)


def in_lane(work: Callable[[], T]) -> T:
    """Run a function that may use connections, in the lane that is open, if one is."""
    return current[-1].run(work) if current else work()

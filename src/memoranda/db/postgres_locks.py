"""Locks that all machines of a database share: who leads a project, and who writes to a note.

One thread of the process has one connection for all its projects. The locks are advisory locks of that
session, so they end with it: with the process, however that ends, and with the connection, of which the
process hears at once, or after `ANSWER_S` when nobody tells it. The server gives them back after some four
seconds when the machine of the process is gone.

A pooler that hands one connection to several clients in turn (PgBouncer's transaction mode) cannot keep them.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from loguru import logger

from memoranda.db.postgres import Address, connect
from memoranda.db.postgres_errors import meaning
from memoranda.errors import DatabaseAway, DatabaseProblem

T = TypeVar("T")
Work = Callable[[Any], Awaitable[T]]
"""What is done on the connection, alone."""

ANSWER_S: Final = 5.0
"""A server that does not answer for so long is away."""
PAUSES_S: Final = (0.1, 0.25, 0.5, 1.0, 2.0)
"""Between two tries to connect; the last one again and again."""
_REFUSED_S: Final = 0.5
"""Whoever waits for a lock is told at once that the server is away when it was so long ago."""
_END_S: Final = 1.0

_POLL_S: Final = 0.005
_IMPATIENT_AFTER_S: Final = 0.5
_IMPATIENT_POLL_S: Final = 0.001
_PROGRAM: Final = "memoranda locks"
_OPTIONS: Final = {
    "statement_timeout": "0",
    "lock_timeout": "0",
    "tcp_keepalives_idle": "2",
    "tcp_keepalives_interval": "1",
    "tcp_keepalives_count": "2",
    "tcp_user_timeout": "4000",
}
_TRY: Final = "SELECT pg_try_advisory_lock(number) FROM unnest($1::bigint[]) AS number"
_GIVE_BACK: Final = "SELECT count(pg_advisory_unlock(number)) FROM unnest($1::bigint[]) AS number"


class PostgresLocks:
    """The thread and its connection. Connects when first used, and again when it has to.

    Attributes:
        connection: the one that is open now, None while there is none; of the thread alone but for
            comparing it.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self.connection: Any = None
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._turn = asyncio.Lock()
        self._is_closed = False
        self._failure: DatabaseAway | None = None
        self._failures = 0
        self._next_try_at = 0.0
        self._refused_at = -_REFUSED_S
        self._lost: list[Callable[[], None]] = []

    def of_project(self, project_id: int) -> ProjectPaths:
        """The locks of a project's notes."""
        return ProjectPaths(self, project_id)

    @contextmanager
    def hold(self, project_id: int, keys: Collection[str], timeout_s: float) -> Iterator[None]:
        """Hold the locks of some notes of a project; for a thread, which waits.

        Two notes may share a lock. Everybody takes them in one order. A process that takes one twice has it twice: its threads keep each
        other out by other means, before they come here.

        Args:
            project_id: whose notes.
            keys: what names each of them in all its spellings.
            timeout_s: for all of them together.

        Raises:
            TimeoutError: another process held one of them for `timeout_s`.
            DatabaseAway: nobody knows who holds what.
            DatabaseProblem: or a subclass: the server refuses.
        """
        numbers = sorted({self._number(project_id, slot) for slot in set(map(slot_of, keys))})
        connection = self.post(self._taken(numbers, timeout_s)).result()
        try:
            yield
        finally:
            with suppress(DatabaseProblem):  # closed: all is given back
                self.post(self._given_back(connection, numbers))

    def post(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine in the thread. What is posted first gets the connection first."""
        with self._guard:
            if self._is_closed:
                work.close()
                raise DatabaseProblem(
                    "The index was just closed or opened anew", hint="Repeat the call in a moment."
                )
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="memoranda-locks", daemon=True
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def on_loss(self, told: Callable[[], None]) -> None:
        """Call `told` in the thread whenever the connection is lost, and with it every lock."""
        self._lost.append(told)

    def off_loss(self, told: Callable[[], None]) -> None:
        """Call it no more."""
        self._lost.remove(told)

    async def alone(self, work: Work[T], *, on: Any = None, is_sparing: bool = False) -> T:
        """In the thread: do something on the connection while nobody else uses it.

        Args:
            work: gets the connection.
            on: only on this connection; on another it would make no sense.
            is_sparing: do not try to connect before it is time to.

        Raises:
            DatabaseAway: there is no connection, or it broke, or the wanted one is gone.
            DatabaseProblem: or a subclass: the server refuses.
        """
        import asyncpg

        async with self._turn:
            if on is not None and on is not self.connection:
                raise self._failure or _gone(self.address)
            connection = self.connection or await self._connected(is_sparing=is_sparing)
            try:
                async with asyncio.timeout(ANSWER_S):
                    return await work(connection)
            except Exception as error:
                known = meaning(error, self.address.shown)
                if known is None and isinstance(error, asyncpg.PostgresError):
                    raise
                known = known or _gone(self.address)  # the driver is confused by what it heard last
                if isinstance(known, DatabaseAway):
                    self._let_go(connection, known)
                raise known from error

    def close(self) -> None:
        """Give everything back and end the thread; idempotent."""
        with self._guard:
            self._is_closed = True
            loop, self._loop = self._loop, None
        if loop is None:
            return
        asyncio.run_coroutine_threadsafe(self._end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        assert self._thread is not None  # noqa: S101  (it runs the loop)
        self._thread.join()
        loop.close()

    async def _connected(self, *, is_sparing: bool) -> Any:
        next_at = self._next_try_at if is_sparing else self._refused_at + _REFUSED_S
        if self._failure is not None and asyncio.get_running_loop().time() < next_at:
            raise self._failure
        try:
            connection = await connect(self.address, _OPTIONS, program=_PROGRAM)
        except Exception as error:
            known = meaning(error, self.address.shown)
            if isinstance(known, DatabaseAway):
                self._count(known)
                self._refused_at = asyncio.get_running_loop().time()
            if known is None:
                raise
            raise known from None  # what the driver says of an address may repeat it
        if self._failure is not None:
            logger.info("{} answers again", self.address.shown)
        self._failure, self._failures = None, 0
        self.connection = connection
        connection.add_termination_listener(self._terminated)
        return connection

    def _terminated(self, connection: Any) -> None:
        self._let_go(connection, _gone(self.address))

    def _let_go(self, connection: Any, error: DatabaseAway) -> None:
        if connection is not self.connection:
            return
        self.connection = None
        self._count(error)
        self._next_try_at = 0.0  # at once: most often only the connection is gone
        connection.terminate()
        for told in tuple(self._lost):
            told()

    def _count(self, error: DatabaseAway) -> None:
        if self._failure is None and not self._is_closed:
            logger.warning("{}", error.message)
        pause = PAUSES_S[min(self._failures, len(PAUSES_S) - 1)]
        self._next_try_at = asyncio.get_running_loop().time() + pause
        self._failure, self._failures = error, self._failures + 1

    async def _taken(self, numbers: Sequence[int], timeout_s: float) -> Any:
        """Take all of them; returns the connection whose they are."""
        loop = asyncio.get_running_loop()
        began, held, connection = loop.time(), 0, None
        while True:
            known = self.connection
            try:
                connection, more = await self.alone(partial(_tried, numbers[held:]), on=connection)
            except DatabaseAway:
                if known is None and connection is None:
                    raise
                held, connection = 0, None  # it had broken before, and what was held is gone
                continue
            held += more
            if held == len(numbers):
                return connection
            waited = loop.time() - began
            if waited >= timeout_s:
                await self._given_back(connection, numbers[:held])
                raise TimeoutError
            await asyncio.sleep(_POLL_S if waited < _IMPATIENT_AFTER_S else _IMPATIENT_POLL_S)

    async def _given_back(self, connection: Any, numbers: Sequence[int]) -> None:
        """Nothing when the connection is lost: then they are gone."""
        if numbers:
            try:
                await self.alone(lambda now: now.fetchval(_GIVE_BACK, numbers), on=connection)
            except DatabaseProblem as error:
                logger.debug("Locks went with their connection: {}", error)

    async def _end(self) -> None:
        with suppress(TimeoutError):
            async with (
                asyncio.timeout(_END_S),
                self._turn,
            ):  # who came before has had the connection
                pass
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        connection, self.connection = self.connection, None
        if connection is not None:
            try:
                await connection.close(timeout=_END_S)
            except Exception as error:  # noqa: BLE001 - it ends anyway
                logger.debug("The connection for locks did not end well: {}", type(error).__name__)

    def _number(self, project_id: int, slot: int) -> int:
        named = f"{self.address.schema}\0{project_id}\0{slot}".encode()
        return int.from_bytes(_digest(named), signed=True)


@dataclass(frozen=True, slots=True)
class ProjectPaths:
    """`ports.PathLocks` of one project."""

    locks: PostgresLocks
    project_id: int

    def hold(self, keys: Collection[str], timeout_s: float) -> AbstractContextManager[None]:
        """See `PostgresLocks.hold`."""
        return self.locks.hold(self.project_id, keys, timeout_s)


def slot_of(key: str) -> int:
    """Which of the locks of a project is a note's: there are as many as lock files.

    A server has room for some thousand locks of all its clients, and a folder that is moved has more notes.
    """
    return _digest(key.encode("utf-8", "surrogatepass"))[0]


def _digest(named: bytes) -> bytes:
    return hashlib.blake2b(named, digest_size=8).digest()


async def _tried(numbers: Sequence[int], connection: Any) -> tuple[Any, int]:
    """Take the first ones, up to one that somebody holds; the connection, and how many those are."""
    found = [row[0] for row in await connection.fetch(_TRY, numbers)]
    taken = found.index(False) if False in found else len(found)
    beyond = [number for number, is_got in zip(numbers, found, strict=True) if is_got][taken:]
    if beyond:
        await connection.fetchval(_GIVE_BACK, beyond)
    return connection, taken


def _gone(address: Address) -> DatabaseAway:
    return DatabaseAway(
        f"{address.shown} cannot be reached: the connection for locks is gone",
        hint="The notes are not concerned. Repeat the call when the database is back; nothing has to be restarted.",
    )

"""Who leads a project, on PostgreSQL: an advisory lock, and a row in which the leader speaks.

The row is written on the connection that holds the lock, so a leader that lost the lock cannot speak either.
"""

from __future__ import annotations

import asyncio
import time
import zlib
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from loguru import logger

from memoranda.db.postgres_locks import PostgresLocks
from memoranda.errors import DatabaseAway, DatabaseProblem, MemorandaError

LOOK_S: Final = 1.0
"""Between two looks who leads."""
KNOWN_S: Final = 6.0
"""What was seen longer ago says nothing."""
_FIRST_LOOK_S: Final = 2.0
_ASKED_S: Final = 60.0
"""Nobody looks any more when nobody has asked for so long."""

_TRY: Final = "SELECT pg_try_advisory_lock($1, $2)"
_GIVE_UP: Final = "SELECT pg_advisory_unlock($1, $2)"
_SAY: Final = """
    INSERT INTO project_leader (project_id, said, at) VALUES ($1, $2, clock_timestamp())
    ON CONFLICT (project_id) DO UPDATE SET said = excluded.said, at = excluded.at
"""
_HUSH: Final = "DELETE FROM project_leader WHERE project_id = $1"
_LOOK: Final = """
    WITH held AS MATERIALIZED (
        SELECT objid::bigint AS project_id FROM pg_locks
        WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = $1::bigint::oid
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
    SELECT said, extract(epoch FROM clock_timestamp() - at)::float8,
        EXISTS (SELECT 1 FROM held WHERE held.project_id = leader.project_id)
    FROM project_leader AS leader WHERE project_id = $2
"""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a leader said last.

    Attributes:
        age_s: how old it was, by the clock of the database.
        is_led: whether some process has the leadership.
        seen_at: when it was seen, by the monotonic clock of this process.
    """

    said: str
    age_s: float
    is_led: bool
    seen_at: float


class Leadership:
    """The leadership of one project: what the thread of the locks knows and does. For any thread.

    Attributes:
        heard: what the leader said, None: nobody leads, or nobody can know.
        trouble: why it could not be tried to lead, None when it could.
    """

    def __init__(self, locks: PostgresLocks, project_id: int) -> None:
        self._locks = locks
        self._project_id = project_id
        self._class = lock_class(locks.address.schema)
        self._held_on: Any = None
        self._watching: Future[None] | None = None
        self._asked_at = 0.0
        self._told = ""
        self.heard: Heard | None = None
        self.trouble: MemorandaError | None = None

    @property
    def is_held(self) -> bool:
        """Whether this process took the lock and did not give it up; it may be lost."""
        return self._held_on is not None

    @property
    def is_lost(self) -> bool:
        """Whether the lock went with its connection."""
        held_on = self._held_on
        return held_on is not None and held_on is not self._locks.connection

    def watch(self) -> None:
        """Look who leads, and go on looking while somebody asks; waits, but not for long."""
        with suppress(MemorandaError, TimeoutError):
            self._locks.post(self._look()).result(_FIRST_LOOK_S)
        self.go_on()

    def go_on(self) -> None:
        """Somebody asks."""
        self._asked_at = time.monotonic()
        if self._watching is None or self._watching.done():
            with suppress(DatabaseProblem):  # closed
                self._watching = self._locks.post(self._keep_looking())

    def try_to_lead(self, said: str) -> Future[bool]:
        """Take the lock if nobody has it, and say something; tells whether this process leads. Never raises."""
        return self._locks.post(self._try(said))

    def say(self, said: str) -> None:
        """Say something else, soon."""
        self._locks.post(self._say(said))

    def hush(self) -> None:
        """Take back what was said, soon."""
        self._locks.post(self._hush())

    def give_up(self) -> None:
        """Lead no more, soon."""
        held_on, self._held_on = self._held_on, None
        if held_on is not None:
            self.heard = None
            with suppress(DatabaseProblem):  # closed: all is given back
                self._locks.post(self._give_up(held_on))

    async def _try(self, said: str) -> bool:
        async def work(connection: Any) -> Any:
            is_got = await connection.fetchval(_TRY, self._class, self._project_id)
            return connection if is_got else None

        try:
            connection = await self._locks.alone(work)
        except DatabaseAway:
            self.trouble = None
            return False
        except DatabaseProblem as error:
            self.trouble = error
            return False
        self.trouble = None
        if connection is None:
            return False
        self._held_on = connection
        await self._say(said)  # at once: whoever comes now need not sync as well
        return True

    async def _say(self, said: str) -> None:
        held_on = self._held_on
        if held_on is not None and await self._careful(_SAY, self._project_id, said, on=held_on):
            self.heard = Heard(said, 0.0, is_led=True, seen_at=time.monotonic())

    async def _hush(self) -> None:
        self.heard = None
        if self._held_on is not None:
            await self._careful(_HUSH, self._project_id, on=self._held_on)

    async def _give_up(self, held_on: Any) -> None:
        await self._careful(_HUSH, self._project_id, on=held_on)
        await self._careful(_GIVE_UP, self._class, self._project_id, on=held_on)

    async def _careful(self, statement: str, *values: object, on: Any) -> bool:
        """Run a statement, if the connection is still that one; whether it was run."""
        try:
            await self._locks.alone(lambda connection: connection.fetch(statement, *values), on=on)
        except DatabaseAway:  # the lock is gone, which the leader notices
            return False
        except Exception as error:  # noqa: BLE001 - a leader that cannot speak leads all the same
            self._log(error)
            return False
        return True

    async def _keep_looking(self) -> None:
        wake = asyncio.Event()
        lose = partial(self._lose, wake)
        self._locks.on_loss(lose)
        try:
            while time.monotonic() - self._asked_at < _ASKED_S:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_S):
                        await wake.wait()
                wake.clear()
                await self._look()
        finally:
            self._locks.off_loss(lose)

    async def _look(self) -> None:
        try:
            row = await self._locks.alone(
                lambda connection: connection.fetchrow(
                    _LOOK, self._class & 0xFFFFFFFF, self._project_id
                ),
                is_sparing=True,
            )
        except DatabaseAway:
            self.heard = None
        except Exception as error:  # noqa: BLE001 - the boundary of the task: it looks again
            self.heard = None
            self._log(error)
        else:
            self.heard = None if row is None else Heard(row[0], row[1], row[2], time.monotonic())

    def _lose(self, wake: asyncio.Event) -> None:
        self.heard = None
        wake.set()

    def _log(self, error: Exception) -> None:
        if (said := str(error)) != self._told:
            self._told = said
            logger.warning("What the leader of a project says cannot be kept: {}", said)


def seen_s(heard: Heard) -> float:
    """How long ago it was seen."""
    return time.monotonic() - heard.seen_at


def age_s(heard: Heard) -> float:
    """How old it is now."""
    return heard.age_s + seen_s(heard)


def lock_class(schema: str) -> int:
    """The first number of the locks of leaders, of 32 bits with a sign; those of writers have another."""
    number = zlib.crc32(f"memoranda leader {schema}".encode())
    return number - (1 << 32) if number >= 1 << 31 else number

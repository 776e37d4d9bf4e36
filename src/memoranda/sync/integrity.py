"""Whether the index database is sound, asked in the background once a day (architecture row 23).

Damage that no query happens to touch would give wrong answers in silence. A whole check reads the
whole database, so it runs in a server alone, after its first sync, in a thread of its own that a
shutdown does not wait for. A finding marks the store: the next call opens a database that is made
anew, or mended (`db.health.reopen`).
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from loguru import logger

from memoranda.errors import INDEX_TROUBLE, DatabaseDamaged
from memoranda.ports import Clock
from memoranda.repositories.project import ProjectRepository
from memoranda.repositories.store import Store

LAST_CHECK = "last_integrity_check"
"""The key of `index_meta`: when the last check began that found nothing, naive UTC as ISO text."""

PERIOD = timedelta(days=1)
PERIOD_WITH_LOG = timedelta(hours=1)
"""For a database that was opened beside a log: of another server, a crash, or of another database."""

RETRY_S = 600.0
SUSPICION_S = 3600.0

FullCheck = Callable[[Callable[[], bool]], list[str]]
"""What is wrong with the database; asks its argument now and then whether it is abandoned."""


class IntegrityCheck:
    """The checks of one project's database in this process.

    Args:
        name: the project's name, for the log.
        store: the index; marked when something is found.
        full_check: `db.health.full_check` over its database.
        clock: for times.
        period: how old the last check may be, whoever did it.

    Attributes:
        findings: what is wrong with the database, () while nothing is known.
    """

    def __init__(
        self,
        name: str,
        store: Store,
        full_check: FullCheck,
        clock: Clock,
        *,
        period: timedelta = PERIOD,
    ) -> None:
        self._name = name
        self._store = store
        self._full_check = full_check
        self._clock = clock
        self._period = period
        self._not_before = 0.0
        self._no_suspicion_before = 0.0
        self._task: asyncio.Task[None] | None = None
        self._is_stopped = False
        self.findings: tuple[str, ...] = ()

    def begin(self, *, is_suspected: bool = False) -> None:
        """Check in the background if a check is due; for a server, after each sync.

        Args:
            is_suspected: something failed that damage would explain: check whenever the last one was,
                but once an hour at most in this process.
        """
        now = self._clock.monotonic()
        is_running = self._task is not None and not self._task.done()
        is_early = now < self._not_before and not (
            is_suspected and now >= self._no_suspicion_before
        )
        if is_running or is_early or self._is_stopped:
            return
        if is_suspected:
            self._no_suspicion_before = now + SUSPICION_S
        self._task = asyncio.create_task(
            self._check_if_due(at_once=is_suspected), name=f"check {self._name}"
        )

    async def require_soundness(self) -> None:
        """Check now, and wait for it.

        Raises:
            DatabaseDamaged: something is found; the store is marked.
            DatabaseProblem: it cannot be checked.
        """
        await self._check()
        if self.findings:
            raise DatabaseDamaged(
                f"The index is damaged: {'; '.join(self.findings)}",
                hint="The notes are not concerned; the index is rebuilt from them.",
            )

    async def done(self) -> None:
        """Wait for the end of the check that runs, if one does."""
        if self._task is not None:
            await asyncio.wait({self._task})

    def stop(self) -> None:
        """Abandon the running check without waiting; none begins after that."""
        self._is_stopped = True
        if self._task is not None:
            self._task.cancel()

    async def _check_if_due(self, *, at_once: bool) -> None:
        self._not_before = self._clock.monotonic() + RETRY_S
        try:
            facts = await self._store.read(lambda tx: ProjectRepository(tx).facts())
            wait = timedelta() if at_once else self._wait(facts.get(LAST_CHECK))
            if not wait:
                await self._check()
                wait = PERIOD  # what was left by a crash is looked at once
            self._not_before = self._clock.monotonic() + wait.total_seconds()
        except INDEX_TROUBLE as error:  # busy, closed or full: another time, by whoever can
            logger.info("Project {}: its index is not checked: {}", self._name, error.message)
        except Exception as error:  # noqa: BLE001 - the boundary of the task: logged, the server lives on
            logger.opt(exception=error).error(
                "Project {}: the check of its index failed", self._name
            )

    def _wait(self, last: object) -> timedelta:
        """How long until the next check is due, 0 if it is; a time that lies ahead is not believed."""
        try:
            age = self._now() - datetime.fromisoformat(str(last))
        except (ValueError, TypeError):  # none yet, or not ours
            return timedelta()
        return self._period - age if timedelta() <= age < self._period else timedelta()

    async def _check(self) -> None:
        began, started = self._now(), self._clock.monotonic()
        try:
            found = await _in_own_thread(self._full_check)
        except DatabaseDamaged:  # it does not ask by the store
            self._store.is_damaged = True
            raise
        if found:
            self.findings = tuple(found)
            self._store.is_damaged = True
            logger.error(
                "Project {}: the check found its index damaged ({}); it is built anew from the notes",
                self._name,
                "; ".join(found),
            )
            return
        logger.info(
            "Project {}: its index is sound, checked in {:.1f} s",
            self._name,
            self._clock.monotonic() - started,
        )
        await self._store.write(
            lambda tx: ProjectRepository(tx).set_fact(LAST_CHECK, began.isoformat())
        )

    def _now(self) -> datetime:
        return self._clock.now().replace(tzinfo=None)


async def _in_own_thread(check: FullCheck) -> list[str]:
    """Run the check in a thread that the end of the program does not wait for."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()
    is_abandoned = threading.Event()

    def deliver(found: list[str] | None, error: Exception | None) -> None:
        if answer.cancelled():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(found or [])

    def work() -> None:
        found: list[str] | None = None
        failed: Exception | None = None
        try:
            found = check(is_abandoned.is_set)
        except Exception as error:  # noqa: BLE001 - raised again in the task that waits for it
            failed = error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(deliver, found, failed)

    threading.Thread(target=work, name="memoranda-check", daemon=True).start()
    try:
        return await answer
    finally:
        is_abandoned.set()

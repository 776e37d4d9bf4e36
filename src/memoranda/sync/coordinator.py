"""When a project is synced in this process, and what is known about it meanwhile (spec 4.4).

The first sync runs in the background from `start` on. Until a watcher exists, `fresh` scans again before
a tool answers when the last scan is too old to be trusted. The coordinator owns its tasks; `stop` ends
them between two transactions.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from loguru import logger

from memoranda.errors import MemorandaError, NotReady
from memoranda.model.sync import FailureKind, Progress, SyncPhase, SyncReport, SyncState
from memoranda.ports import Clock, ProgressSink
from memoranda.sync.integrity import IntegrityCheck
from memoranda.sync.sync_service import SyncService

TRUSTED_S = 5.0
RETRY_S = 1.0
PATIENCE_S = 1.0


class SyncCoordinator:
    """Owns the syncs of one project in this process."""

    def __init__(
        self, name: str, sync: SyncService, integrity: IntegrityCheck, clock: Clock
    ) -> None:
        self._name = name
        self._sync = sync
        self._integrity = integrity
        self._clock = clock
        self._is_long_lived = False
        self._state = SyncState()
        self._running: asyncio.Task[SyncReport] | None = None
        self._trusted_until: float | None = None
        self._stopped = False

    @property
    def state(self) -> SyncState:
        """Where the index stands now."""
        return self._state

    def start(self) -> None:
        """Begin the first sync in the background, unless one ran or runs, or the end has come.

        For a server: from now on the index is also checked after a sync when that is due.
        """
        self._is_long_lived = True
        if self._trusted_until is None and self._running is None and not self._stopped:
            self._begin(None)

    async def fresh(self, *, patience_s: float = PATIENCE_S) -> SyncState:
        """Look at the folder again if the last look is over five seconds old.

        Waits at most `patience_s` for the running sync, which goes on; a sync that fails is in the
        state, not raised: the index still answers.
        """
        if self._running is None and not self._is_trusted() and not self._stopped:
            self._begin(None)
        if self._running is not None:
            await asyncio.wait({self._running}, timeout=patience_s)
        return self._state

    async def sync_now(self, *, progress: ProgressSink | None = None) -> SyncReport:
        """A full sync that the caller waits for; joins one that runs already.

        Raises:
            RootMissing, DatabaseProblem: as `SyncService.full_sync`.
        """
        return await asyncio.shield(self._running or self._begin(progress))

    async def reindex(self, *, progress: ProgressSink | None = None) -> SyncReport:
        """Read every file again and wait for the end."""
        while self._running is not None:
            await asyncio.wait({self._running})
        return await asyncio.shield(self._begin(progress, everything=True))

    async def stop(self) -> None:
        """End the running sync between two of its steps; none begins after that. Idempotent."""
        self._stopped = True
        if (task := self._running) is not None:
            task.cancel()
            await asyncio.wait({task})

    def _is_trusted(self) -> bool:
        return self._trusted_until is not None and self._clock.monotonic() < self._trusted_until

    def _begin(
        self, progress: ProgressSink | None, *, everything: bool = False
    ) -> asyncio.Task[SyncReport]:
        if self._stopped:
            raise NotReady("The project is being closed", hint="Repeat the call in a moment.")
        looked_at = self._clock.monotonic()

        def show(step: Progress) -> None:
            self._state = replace(self._state, progress=step)
            if progress is not None:
                progress(step)

        if self._state.phase is not SyncPhase.READY:
            self._state = replace(self._state, phase=SyncPhase.INDEXING)
        work = self._sync.reindex if everything else self._sync.full_sync
        task = asyncio.create_task(work(progress=show), name=f"sync {self._name}")
        task.add_done_callback(partial(self._ended, looked_at=looked_at))
        self._running = task
        return task

    def _ended(self, task: asyncio.Task[SyncReport], *, looked_at: float) -> None:
        """What is trusted is the look at the folder, so the time counts from its beginning."""
        self._running = None
        is_good = not task.cancelled() and task.exception() is None
        self._trusted_until = (
            looked_at + TRUSTED_S if is_good else self._clock.monotonic() + RETRY_S
        )
        if task.cancelled():
            self._state = replace(self._state, progress=None)
            return
        match task.exception():
            case None:
                report = task.result()
                faults = any(one.kind is FailureKind.FAULT for one in report.failures)
                self._check(is_suspected=faults)
                self._state = SyncState(SyncPhase.READY, None, self._clock.now(), None, report)
                if report.changes:
                    logger.info(
                        "Project {}: {} new, {} modified, {} moved, {} deleted, {} failed in {:.2f} s",
                        self._name,
                        len(report.new_files),
                        len(report.modified_files),
                        len(report.moved_files),
                        len(report.deleted_files),
                        len(report.failures),
                        report.duration_s,
                    )
            case MemorandaError() as error:
                if self._state.last_error != error.message:
                    logger.error("Project {} cannot be synced: {}", self._name, error.message)
                self._fail(error.message)
            case error:
                logger.opt(exception=error).error("Project {}: the sync failed", self._name)
                self._fail(f"{type(error).__name__} during the sync; the log has the details")
                self._check(is_suspected=True)

    def _check(self, *, is_suspected: bool) -> None:
        if self._is_long_lived and not self._stopped:
            self._integrity.begin(is_suspected=is_suspected)

    def _fail(self, message: str) -> None:
        self._state = replace(
            self._state, phase=SyncPhase.FAILED, progress=None, last_error=message
        )

"""When a project is synced in this process, and what is known about it meanwhile (spec 4.4).

A server tries to lead its project; the one that leads watches and syncs for all (`leader`), the others
follow: they trust what the leader says of itself, try again to lead every second, and look at the folder
themselves when nobody leads, or when the leader cannot see changes come. A command leads nothing.
The coordinator owns its tasks; `stop` ends them between two transactions.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

from loguru import logger

from memoranda.errors import (
    DatabaseAway,
    DatabaseBusy,
    DatabaseLost,
    MemorandaError,
    NotReady,
    OtherFolder,
)
from memoranda.model.embedding import EmbeddingProgress
from memoranda.model.live import LeaderState, WatchPlan
from memoranda.model.sync import FailureKind, Progress, SyncPhase, SyncReport, SyncState
from memoranda.ports import Clock, ProgressSink
from memoranda.services.root_identity import RootCheck
from memoranda.sync.embed_backfill import EmbedBackfill
from memoranda.sync.integrity import IntegrityCheck
from memoranda.sync.leader import Leader, LeadershipLost
from memoranda.sync.lease import ProjectLease
from memoranda.sync.repair import Repair
from memoranda.sync.sync_service import INDEX_VERSION, SyncService

TRUSTED_S = 5.0
RETRY_S = 1.0
PATIENCE_S = 1.0
MENDING_S = 30.0
"""A tool waits so long for what was cut off to be put back: what it would answer from is half done."""
FOLLOW_S = 1.0
"""Between two tries to lead."""
SPARING_S = 30.0
"""The same after one that failed."""

_LISTEN_S = 0.05
_UNDER_WAY = (SyncPhase.STARTING, SyncPhase.INDEXING)


class SyncCoordinator:
    """Owns the syncs of one project in this process.

    Args:
        name: the project's name, for the log.
        sync: does the work.
        integrity: checks the index after syncs, in a server.
        clock: for times.
        lease: the leadership of the project; None: nobody leads, this process looks for itself.
        plan: how to watch when it leads.
        tidy: what a server does when it starts, and now and then when it leads; run in a thread.
        mend: puts back what dead processes left half done, before any sync looks at the folder; run in a
            thread, returns how many calls that were.
        backfill: makes the vectors of the notes, in the process that leads; None: there are none.
        root: whether the folder here is the index's; None: it is nobody else's.

    Attributes:
        reported: told what each sync of this process did, in the event loop; may be set by the owner.
    """

    def __init__(
        self,
        name: str,
        sync: SyncService,
        integrity: IntegrityCheck,
        clock: Clock,
        *,
        lease: ProjectLease | None = None,
        plan: WatchPlan | None = None,
        tidy: Callable[[], None] = lambda: None,
        mend: Callable[[], int] = lambda: 0,
        backfill: EmbedBackfill | None = None,
        root: RootCheck | None = None,
    ) -> None:
        self._name = name
        self._sync = sync
        self._integrity = integrity
        self._clock = clock
        self._lease = lease
        self._plan = plan or WatchPlan()
        self._repair = Repair(name, tidy, mend)
        self._backfill = backfill
        self._root = root
        self._is_long_lived = False
        self._state = SyncState()
        self.is_of_another_folder = False
        self._running: asyncio.Task[SyncReport] | None = None
        self._live: asyncio.Task[None] | None = None
        self._leader: Leader | None = None
        self._trusted_until: float | None = None
        self._stopped = False
        self._is_away = False
        self.reported: Callable[[SyncReport], None] = lambda _: None

    @property
    def state(self) -> SyncState:
        """Where the index stands now: as the leader says, if another process leads."""
        if self._running is None and (other := self._followed()) is not None:
            return replace(other.sync, report=self._state.report)
        return self._state

    @property
    def _is_leading(self) -> bool:
        return self._lease is not None and self._lease.is_held

    @property
    def leader(self) -> LeaderState | None:
        """Who leads the project; None when nobody does."""
        if self._lease is None or (found := self._lease.leader()) is None:
            return None
        if found.is_me and self._leader is not None:
            return replace(found, sync=self._state, watch=self._leader.watch.state)
        return found

    async def embedding(self) -> EmbeddingProgress | None:
        """How far the vectors are, and why they stand still; None without a provider.

        Raises:
            DatabaseProblem: the index cannot be asked.
        """
        if self._backfill is None or (progress := await self._backfill.progress()) is None:
            return None
        leader = self.leader
        if leader is None or not leader.is_alive or leader.is_me:
            return replace(progress, error=self._backfill.error)
        if progress.is_complete:
            return replace(progress, error=leader.embedding_error)
        return replace(progress, error=leader.embedding_trouble(self._backfill.space))

    def start(self) -> None:
        """For a server: begin to lead or to follow, unless that began or the end has come.

        From now on the index is also checked after a sync when that is due.
        """
        self._is_long_lived = True
        if self._stopped:
            return
        self._repair.begin()
        if self._lease is not None:
            if self._live is None:
                with contextlib.suppress(OSError, MemorandaError):  # said when it is tried again
                    self._lease.acquire()
                self._live = asyncio.create_task(self._live_on(), name=f"live {self._name}")
        elif self._trusted_until is None and self._running is None:
            self._begin(None)

    async def fresh(self, *, patience_s: float = PATIENCE_S) -> SyncState:
        """Make sure that the index is not far behind, before a tool answers from it.

        Where changes are noticed as they come nothing is to be done; else the folder is looked at again
        if the last look is over five seconds old. Waits at most `patience_s` for a sync that runs,
        which goes on; a sync that fails is in the state, not raised: the index still answers. What was cut
        off in its middle before this process began is put back first, which may take longer.
        """
        await self._repair.begun_right(MENDING_S)
        if self._lease is not None and self._live is not None:
            await self._lease.answered(patience_s)
        is_first = self._is_leading and self._state.phase in _UNDER_WAY
        if is_first or self._followed() is not None:
            await self._listen(patience_s)
            return self.state
        is_led = self._leader is not None and self._leader.is_up_to_date
        if is_led:
            return self.state
        if self._running is None and not self._stopped and not self._is_trusted():
            self._begin(None)
        if self._running is not None:
            await asyncio.wait({self._running}, timeout=patience_s)
        return self.state

    async def put_right(self) -> int:
        """For a command: put back what dead processes left half done; returns how many calls that were.

        A sync of the coordinator does so by itself. What goes wrong is logged.
        """
        return await self._repair.mended()

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
        for task in (self._live, self._running, self._repair.task):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})
        if self._lease is not None:  # taken by `start`, and the task ended before its first step
            self._lease.release()

    async def _live_on(self) -> None:
        """Lead whenever nobody else does, until cancelled."""
        assert self._lease is not None  # noqa: S101  (only then it is called)
        may_lead, trouble = True, ""
        if not await self._lease.answered(FOLLOW_S):
            await self._repair.tidied_up()
        while may_lead:
            pause_s = FOLLOW_S
            try:
                if self._lease.acquire() or await self._lease.answered(FOLLOW_S):
                    may_lead = await self._lead(self._lease)
            except (DatabaseAway, DatabaseBusy) as error:  # syncs and locks say so
                logger.debug("Project {} cannot be led now: {}", self._name, error)
            except (OSError, MemorandaError) as error:
                if trouble != str(error):
                    logger.error("Project {} cannot be led: {}", self._name, error)
                trouble, pause_s = str(error), SPARING_S  # meanwhile this process looks for itself
                if self._running is None and self._state.phase in _UNDER_WAY:
                    self._fail(str(error))  # nobody need wait for a first sync that does not come
            except Exception:  # noqa: BLE001 - the boundary of the task: logged, and tried again
                logger.exception("Project {}: watching failed", self._name)
                pause_s = SPARING_S
            await asyncio.sleep(pause_s)

    async def _lead(self, lease: ProjectLease) -> bool:
        """Lead until that is over; returns whether to try again."""
        lost = False
        try:
            await self.require_root()
            logger.info("Project {}: this process watches and syncs it", self._name)
            self._leader = self._leader_with(lease)
            await self._leader.run()
        except* LeadershipLost as group:
            reason = group.exceptions[0]
            logger.info("Project {}: this process leads it no more: {}", self._name, reason)
            lost = True
        finally:
            self._leader = None
            lease.release()
        return not (lost and self._sync.is_outdated)

    def _leader_with(self, lease: ProjectLease) -> Leader:
        return Leader(
            self._name,
            self._sync.root,
            self._plan,
            lease,
            self._clock,
            skips=self._sync.skips,
            sync_all=self._sync_all,
            sync_some=self._sync_some,
            state=lambda: self._state,
            folders=self._sync.folders,
            is_outdated=lambda: self._sync.is_outdated,
            backfill=self._backfill,
            quiet=self._quiet,
        )

    async def require_root(self, *, is_adopted: bool = False) -> None:
        """Before anything of another folder gets into the index, or out of it."""
        if self._root is None:
            return
        try:
            await asyncio.to_thread(self._root.adopt if is_adopted else self._root.check)
        except OtherFolder:
            self.is_of_another_folder = True
            raise
        self.is_of_another_folder = False

    async def _quiet(self) -> None:
        """Until no full sync runs."""
        while self._running is not None:
            await asyncio.wait({self._running})

    async def _sync_all(self) -> SyncReport:
        await self._repair.tidied_up()
        await self._quiet()  # what runs may have looked before the folder was watched
        return await asyncio.shield(self._begin(None))

    async def _sync_some(self, paths: Collection[str]) -> SyncReport | None:
        if self._running is not None:  # it may have looked there before the change
            await asyncio.wait({self._running})
        await self._repair.begun_right()
        await self._repair.mended()  # who changed these files may have died in the middle of it
        report = await self._sync.sync_paths(paths)
        if report is not None:
            self._state = replace(self._state, last_scan=self._clock.now())
            self._say(report)
        return report

    def _followed(self) -> LeaderState | None:
        """The leader, if it is another process, alive, and sees changes come."""
        if self._lease is None or self._is_leading:
            return None
        other = self._lease.leader()
        if other is None or not other.is_alive or other.index_version < INDEX_VERSION:
            return None
        if other.serves != self._lease.serves:  # another folder, or a database that is gone
            return None
        if other.sync.phase in _UNDER_WAY:
            return other
        return other if other.is_watching and other.sync.phase is SyncPhase.READY else None

    async def _listen(self, patience_s: float) -> None:
        """Wait until the one who leads has ended its first sync."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                while self.state.phase in _UNDER_WAY:  # noqa: ASYNC110 - another process has no event
                    await asyncio.sleep(_LISTEN_S)

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

        async def work() -> SyncReport:
            await self.require_root(is_adopted=everything)
            await self._repair.begun_right()
            await self._repair.mended()
            sync = self._sync.reindex if everything else self._sync.full_sync
            return await sync(progress=show)

        task = asyncio.create_task(work(), name=f"sync {self._name}")
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
                self._is_away = False
                faults = any(one.kind is FailureKind.FAULT for one in report.failures)
                self._check(is_suspected=faults)
                self._state = SyncState(
                    SyncPhase.READY,
                    last_scan=self._clock.now(),
                    report=report,
                    held=len(report.held),
                    held_reason=report.held_reason,
                )
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
                self._say(report)
            case MemorandaError() as error:
                is_known = isinstance(error, DatabaseAway) and self._is_away
                if self._state.last_error != error.message and not is_known:
                    # An index that is lost is opened anew by itself.
                    is_passing = isinstance(error, DatabaseLost | DatabaseAway)
                    level = "WARNING" if is_passing else "ERROR"
                    logger.log(level, "Project {} cannot be synced: {}", self._name, error.message)
                self._is_away = isinstance(error, DatabaseAway)
                self._fail(error.message)
            case error:
                logger.opt(exception=error).error("Project {}: the sync failed", self._name)
                self._fail(f"{type(error).__name__} during the sync; the log has the details")
                self._check(is_suspected=True)

    def _say(self, report: SyncReport) -> None:
        if self._backfill is not None and report.changes:
            self._backfill.wake()
        self.reported(report)

    def _check(self, *, is_suspected: bool) -> None:
        if self._is_long_lived and not self._stopped:
            self._integrity.begin(is_suspected=is_suspected)

    def _fail(self, message: str) -> None:
        self._state = replace(
            self._state, phase=SyncPhase.FAILED, progress=None, last_error=message
        )

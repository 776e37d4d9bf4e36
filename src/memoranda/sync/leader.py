"""The loop of the process that leads a project: watch, sync what changed, embed, say that it lives.

Events are hints: the disk is asked. A path is looked at when it has been quiet for the configured delay;
what a few paths cannot tell (a note is gone, a folder came) asks for a scan of the whole folder, which
waits until the burst is over. Now and then the whole folder is looked at anyway, and so it is, again and
again, where no events come. A failure is tried again, at longer and longer intervals.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from pathlib import Path

from loguru import logger

from memoranda.errors import MemorandaError, RootMissing
from memoranda.model.live import WatchMode, WatchPlan
from memoranda.model.sync import FailureKind, SyncPhase, SyncReport, SyncState
from memoranda.ports import Clock
from memoranda.sync.embed_backfill import EmbedBackfill
from memoranda.sync.lease import ProjectLease
from memoranda.sync.pending import PendingPaths
from memoranda.sync.watch_service import WatchService

HEARTBEAT_S = 5.0
LOOK_S = 1.0
"""Between two looks whether the root is the folder that it was, and whether there is something to say."""

MANY = 200
"""More paths than that, and a scan of the whole folder is cheaper."""

POLL_S = 5.0
POLL_SHARE = 50
"""Where no events come: between two scans so many times what a scan takes, `POLL_S` at least."""

HELD_S = 61.0
"""Missing notes that are held are looked at again when their minute is over."""

REFUSED_S = 30.0
"""A file that the system refuses is tried again after so long."""

LONGEST_RETRY_S = 60.0
PATIENCE = 10
MOST_PATIENCE_S = 10.0
"""So many times the delay a scan waits for the end of a burst, but not longer than that."""

Stamp = tuple[int, int] | None


class LeadershipLost(Exception):
    """The loop ends: the lock is gone, or a newer version keeps the index."""


class Leader:
    """Leads one project for as long as `run` runs.

    Args:
        name: the project's name, for the log.
        root: its folder.
        plan: how to watch it.
        lease: held by this process.
        clock: for durations.
        sync_all: a full sync; `sync_some`: of these paths, None when a full one is needed.
        state: where the index stands.
        folders: those that a scan looks into. Raises RootMissing.
        skips: folders of other projects inside it.
        is_outdated: whether a newer version keeps the index.
        backfill: makes the vectors from the end of the first good sync on; None: nobody does.
        quiet: waits until no full sync runs.
    """

    def __init__(
        self,
        name: str,
        root: Path,
        plan: WatchPlan,
        lease: ProjectLease,
        clock: Clock,
        *,
        skips: Collection[str],
        sync_all: Callable[[], Awaitable[SyncReport]],
        sync_some: Callable[[Collection[str]], Awaitable[SyncReport | None]],
        state: Callable[[], SyncState],
        folders: Callable[[], Awaitable[tuple[str, ...]]],
        is_outdated: Callable[[], bool],
        backfill: EmbedBackfill | None = None,
        quiet: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._name = name
        self._root = root
        self._plan = plan
        self._lease = lease
        self._clock = clock
        self._sync_all = sync_all
        self._sync_some = sync_some
        self._state = state
        self._folders = folders
        self._is_outdated = is_outdated
        self._backfill = backfill
        self._quiet = quiet
        self._synced = asyncio.Event()
        self._pending = PendingPaths(plan.delay_s)
        self._wake = asyncio.Event()
        self._everything_at = clock.monotonic()
        self._asked_at: float | None = None
        self._watched: frozenset[str] = frozenset()
        self._is_watch_stale = True
        self._failures = 0
        self._is_incomplete = False
        self.watch = WatchService(root, tuple(skips), plan, clock, self._changed)

    @property
    def is_up_to_date(self) -> bool:
        """Whether everything that changed is noticed by events, so that nobody need look."""
        return self.watch.is_watching and not self._failures

    async def run(self) -> None:
        """Lead until cancelled.

        Raises:
            LeadershipLost: in a group of exceptions: somebody else leads from now on.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._live(), name=f"heartbeat {self._name}")
                tasks.create_task(self._work(), name=f"leader {self._name}")
                if self._backfill is not None:
                    tasks.create_task(self._embed(self._backfill), name=f"embed {self._name}")
        finally:
            await self.watch.stop()

    def _changed(self, paths: frozenset[str]) -> None:
        """Take in hints; "" is the root. A watched folder that is named came or went as a whole."""
        if "" in paths or not self._watched.isdisjoint(paths):
            self._is_watch_stale = True
        self._pending.add(paths, self._clock.monotonic())
        self._wake.set()

    async def _live(self) -> None:
        """Look at the root, and tell the others how things stand when that changed, or it is time."""
        root = await self._stamp()
        said: object = None
        spoken, trouble = -HEARTBEAT_S, ""
        while True:
            if self._lease.is_lost():
                raise LeadershipLost("its lock is gone")
            now, state = self._clock.monotonic(), self._told_state()
            told = state.phase, state.progress, state.last_scan, state.last_error, state.held
            backfill = self._backfill
            vectors = (backfill.error, backfill.space) if backfill else ("", "")
            says = told, self.watch.state, vectors
            if says != said or now - spoken >= HEARTBEAT_S:
                try:
                    self._lease.say(state, self.watch.state, *vectors)
                    trouble = ""
                except OSError as error:  # the others then look for themselves
                    self._lease.hush()
                    if trouble != str(error):
                        trouble = str(error)
                        logger.warning(
                            "Project {}: the others cannot be told: {}", self._name, error
                        )
                said, spoken = says, now
            await asyncio.sleep(LOOK_S)
            if (found := await self._stamp()) != root:
                root = found
                self._changed(frozenset({""}))

    async def _embed(self, backfill: EmbedBackfill) -> None:
        """Texts are searched by their words first."""
        await self._synced.wait()
        await backfill.run(self._quiet)

    def _told_state(self) -> SyncState:
        """As the others are told: while a look at some paths fails, the index is not what they may trust."""
        state = self._state()
        if self._failures and state.phase is SyncPhase.READY:
            return replace(state, phase=SyncPhase.FAILED, last_error=self.watch.state.last_error)
        return state

    async def _stamp(self) -> Stamp:
        """Which folder the root is, None when it is not there."""

        def look() -> Stamp:
            try:
                status = os.stat(self._root)  # noqa: PTH116
            except OSError:
                return None
            return status.st_dev, status.st_ino

        return await asyncio.to_thread(look)

    async def _work(self) -> None:
        while True:
            if due := self._pending.take(self._clock.monotonic()):
                if "" in due or len(due) > MANY or self._asked_at is not None:
                    self._ask_for_everything()  # and these are seen as well
                else:
                    await self._do(due)
            if self._is_time_for_everything(self._clock.monotonic()):
                await self._do_everything()
            if self._is_outdated():
                raise LeadershipLost("a newer version of Memoranda keeps the index")
            await self._rest()

    def _ask_for_everything(self) -> None:
        if self._asked_at is None:
            self._asked_at = self._clock.monotonic()

    def _is_time_for_everything(self, now: float) -> bool:
        """Whether it is due, or asked for and the folder is quiet (or never gets quiet)."""
        if self._everything_at <= now:
            return True
        return self._asked_at is not None and (not self._pending or self._patience_ends() <= now)

    def _patience_ends(self) -> float:
        patience = min(PATIENCE * self._plan.delay_s, MOST_PATIENCE_S)
        return (self._asked_at or 0.0) + patience

    async def _rest(self) -> None:
        """Until something is due, or something new is known."""
        moments = [self._everything_at]
        if (due := self._pending.next_at()) is not None:
            moments.append(due)
        if self._asked_at is not None:
            moments.append(self._patience_ends())
        wait = max(0.0, min(moments) - self._clock.monotonic())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if wait == math.inf else wait):
                await self._wake.wait()
        self._wake.clear()

    async def _do_everything(self) -> None:
        """A full sync, after a look at what is to be watched; what comes meanwhile is new."""
        self._pending.clear()
        self._asked_at = None
        try:
            if self._is_watch_stale:
                with contextlib.suppress(RootMissing):  # the sync says so as well
                    await self._watch(await self._folders())
                    self._is_watch_stale = False
            report = await self._sync_all()
        except Exception as error:  # noqa: BLE001 - the boundary of the task: counted, and tried again
            self._is_watch_stale = self._is_incomplete = True
            self._everything_at = self._clock.monotonic() + self._failed(error)
            return
        self._failures, self._is_incomplete = 0, False
        self._synced.set()
        self._take_in(report)
        if set(report.folders) - self._watched:  # something may be in them already
            self._ask_for_everything()
        await self._watch(report.folders)
        wait = self._plan.reconcile_s
        if self._plan.mode is WatchMode.OFF:
            wait = math.inf  # who asks looks
        elif not self.watch.is_watching:
            wait = min(wait, max(POLL_S, POLL_SHARE * report.duration_s))
        if report.held:
            wait = min(wait, HELD_S)
        self._everything_at = self._clock.monotonic() + wait

    async def _watch(self, folders: Collection[str]) -> None:
        await self.watch.watch(tuple(folders))
        self._watched = frozenset(folders)

    async def _do(self, paths: frozenset[str]) -> None:
        """Sync some paths."""
        try:
            report = await self._sync_some(paths)
        except Exception as error:  # noqa: BLE001 - the boundary of the task: counted, and tried again
            self._pending.retry(paths, self._clock.monotonic(), self._failed(error))
            return
        if report is None:
            self._ask_for_everything()
            return
        if not self._is_incomplete:
            self._failures = 0
        self._take_in(report)
        refused = [one.path for one in report.failures if one.kind is FailureKind.IO]
        self._pending.retry(refused, self._clock.monotonic(), REFUSED_S)

    def _take_in(self, report: SyncReport) -> None:
        """Count what was done; what another writer had changed meanwhile is looked at once more."""
        self.watch.synced(report.changes)
        self._pending.retry(report.late_files, self._clock.monotonic(), self._plan.delay_s)

    def _failed(self, error: Exception) -> float:
        """Count a failure; returns seconds until the next try."""
        self._failures += 1
        if isinstance(error, MemorandaError):
            self.watch.failed(error.message)
        else:
            logger.opt(exception=error).error("Project {}: a sync failed", self._name)
            self.watch.failed(f"{type(error).__name__} during a sync; the log has the details")
        return float(min(2 ** (self._failures - 1), LONGEST_RETRY_S))

"""`sync --watch`: projects are kept up to date in the foreground, and a person sees what happens.

The work is done as in a server. What happens is put into values here; `watch_lines` says them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memoranda.model.address import NotePath
from memoranda.model.live import LeaderState, WatchMode, WatchState
from memoranda.model.sync import Progress, SyncPhase, SyncReport, SyncState

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.ports import Clock, ProgressSink
    from memoranda.workspace import Workspace

LOOK_S = 0.5
"""Between two looks at who leads, when nothing else happens."""

PATIENCE_S = 3.0
"""A takeover needs a moment; only after that is it said that nobody leads, or that the leader hangs."""

_BAR_S = 0.1


@dataclass(frozen=True, slots=True)
class Led:
    """Who keeps the project up to date is another than before; None: nobody can, this process looks."""

    project: str
    leader: LeaderState | None


@dataclass(frozen=True, slots=True)
class Watched:
    """This process notices changes, in another way than before."""

    project: str
    watch: WatchState


@dataclass(frozen=True, slots=True)
class Synced:
    """A sync of this process changed something. `is_first`: it is said even if it did not."""

    project: str
    report: SyncReport
    is_first: bool


@dataclass(frozen=True, slots=True)
class Troubled:
    """A sync failed, and is tried again."""

    project: str
    message: str


@dataclass(frozen=True, slots=True)
class Mended:
    """A sync was good after others had failed."""

    project: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """The project is not in the configuration any more, or switched off there."""

    project: str


Happening = Led | Watched | Synced | Troubled | Mended | Dropped
Tell = Callable[[Happening], None]
Bar = Callable[[], "contextlib.AbstractContextManager[ProgressSink | None]"]


class Watching:
    """Keeps projects up to date until it is told to stop.

    Args:
        container: all projects.
        only: the permalink of one project; None: all that are active, also those that come later.
        clock: for durations.
        tell: what happens; may raise, which ends `run`.
    """

    def __init__(self, container: Container, only: str | None, clock: Clock, tell: Tell) -> None:
        self._container = container
        self._only = only
        self._clock = clock
        self._tell = tell
        self._kept: dict[str, Kept] = {}
        self._wake = asyncio.Event()
        self._stopped = False

    def stop(self) -> None:
        """End `run` soon."""
        self._stopped = True
        self._wake.set()

    async def run(self, bar: Bar) -> None:
        """Keep on until `stop`.

        Args:
            bar: opens what shows how far the first syncs of all projects are, None if nothing does.

        Raises:
            Exception: what `tell` raises.
        """
        keeping = asyncio.create_task(
            self._container.keep(only=self._only, opened=self._opened), name="keep projects"
        )
        keeping.add_done_callback(lambda _: self._wake.set())
        try:
            await self._pause(LOOK_S)
            await self._look()
            with bar() as show:
                while show is not None and not self._stopped and (done := self._under_way()):
                    show(done)
                    await self._pause(_BAR_S)
            while not self._stopped and not keeping.done():
                await self._look()
                await self._pause(LOOK_S)
        finally:
            keeping.cancel()
            await asyncio.wait({keeping})
        if not keeping.cancelled():
            keeping.result()

    def _opened(self, workspace: Workspace) -> None:
        permalink = workspace.project.permalink
        kept = self._kept.get(permalink)
        if kept is None:
            kept = self._kept[permalink] = Kept(workspace, self._clock, self._tell)
        kept.workspace = workspace  # perhaps opened anew, or with another name

        def reported(report: SyncReport) -> None:
            kept.reports.append(report)
            self._wake.set()

        workspace.coordinator.reported = reported

    async def _look(self) -> None:
        active = {each.permalink for each in self._container.projects() if each.is_active}
        for permalink in self._kept.keys() - active:
            self._tell(Dropped(self._kept.pop(permalink).name))
        for kept in list(self._kept.values()):
            await kept.look()

    async def _pause(self, most_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                await self._wake.wait()
        if not self._stopped:
            self._wake.clear()

    def _under_way(self) -> Progress | None:
        """How far the first syncs are together; None when all have ended."""
        leaders = [kept.workspace.coordinator.leader for kept in self._kept.values()]
        states = [leader.sync for leader in leaders if leader is not None and leader.is_alive]
        if all(state.phase in (SyncPhase.READY, SyncPhase.FAILED) for state in states):
            return None
        elapsed = max(state.progress.elapsed_s if state.progress else 0.0 for state in states)
        return Progress(
            sum(state.done for state in states), sum(state.total for state in states), elapsed
        )


class Kept:
    """One project, and what was said of it."""

    def __init__(self, workspace: Workspace, clock: Clock, tell: Tell) -> None:
        self.workspace = workspace
        self.reports: deque[SyncReport] = deque()
        self._clock = clock
        self._tell = tell
        self._led: tuple[int, bool] | None = None
        self._is_untold = True
        self._unwell_since: float | None = None
        self._watch: tuple[WatchMode, str] | None = None
        self._errors = 0
        self._trouble: str | None = None
        self._failures: set[tuple[NotePath, str]] = set()
        self._held = 0
        self._is_first = True

    @property
    def name(self) -> str:
        """The project's name."""
        return self.workspace.project.name

    async def look(self) -> None:
        """Say what is new since the last look."""
        leader = self.workspace.coordinator.leader
        if leader is not None and leader.is_alive:
            self._unwell_since = None
            self._say_who_leads(leader)
        else:
            now = self._clock.monotonic()
            self._unwell_since = self._unwell_since or now
            if now - self._unwell_since >= PATIENCE_S:
                self._say_who_leads(leader)
                await self.workspace.coordinator.fresh(patience_s=0)
        if leader is not None and leader.is_me:
            self._say_how_it_watches(leader.watch)
        else:
            self._watch, self._errors = None, 0
        self._say_troubles(leader)
        while self.reports:
            self._say_what_was_done(self.reports.popleft())

    def _say_who_leads(self, leader: LeaderState | None) -> None:
        led = None if leader is None else (leader.pid, leader.is_alive)
        if led == self._led and not self._is_untold:
            return
        self._led, self._is_untold = led, False
        self._tell(Led(self.name, leader))

    def _say_how_it_watches(self, watch: WatchState) -> None:
        how = watch.mode, watch.reason
        if how != self._watch and (watch.running or watch.reason):
            self._watch = how
            self._tell(Watched(self.name, watch))

    def _say_troubles(self, leader: LeaderState | None) -> None:
        own = self.workspace.coordinator.state
        sync = leader.sync if leader is not None and leader.is_alive else own
        message = sync.last_error if sync.phase is SyncPhase.FAILED else None
        if leader is not None and leader.is_me and leader.watch.error_count != self._errors:
            self._errors = leader.watch.error_count
            if leader.watch.last_error != leader.watch.reason:
                message = message or leader.watch.last_error
        if message is not None:
            if message != self._trouble:
                self._trouble = message
                self._tell(Troubled(self.name, message))
        elif self._trouble is not None and self._is_good(leader, sync):
            self._trouble = None
            self._tell(Mended(self.name))

    def _is_good(self, leader: LeaderState | None, sync: SyncState) -> bool:
        """Whether a sync was good since the last look; of others only their state is known."""
        is_ours = leader is not None and leader.is_me
        return bool(self.reports) if is_ours else sync.phase is SyncPhase.READY

    def _say_what_was_done(self, report: SyncReport) -> None:
        changed = {*report.new_files, *report.modified_files, *report.deleted_files}
        known = {one for one in self._failures if one[0] not in changed}
        failures = {(failure.path, failure.reason) for failure in report.failures}
        held = self.workspace.coordinator.state.held  # a look at some paths alone knows of none
        is_news = report.changes or failures - known or held != self._held
        self._failures, self._held = known | failures, held
        if self._is_first or is_news:
            self._tell(Synced(self.name, report, self._is_first))
        self._is_first = False

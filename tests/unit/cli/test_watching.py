"""When `sync --watch` says something, and when it keeps still."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from memoranda.cli.watching import (
    PATIENCE_S,
    Happening,
    Kept,
    Led,
    Mended,
    Synced,
    Troubled,
    Watched,
)
from memoranda.model.address import NotePath
from memoranda.model.live import LeaderState, WatchMode, WatchState
from memoranda.model.sync import FailureKind, FileFailure, SyncPhase, SyncReport, SyncState

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
READY = SyncState(SyncPhase.READY)
EVENTS = WatchState(WatchMode.EVENTS, running=True, folders=2)
OURS = LeaderState(1, "0.2.0", 2002, NOW, NOW, is_alive=True, is_me=True, sync=READY, watch=EVENTS)
OTHER = replace(OURS, pid=4711, is_me=False)
HUNG = replace(OTHER, is_alive=False)
A, B = NotePath("a.md"), NotePath("b.md")
FAILED = FileFailure(A, "permission denied", FailureKind.IO)


@dataclass
class Coordinator:
    leader: LeaderState | None = None
    state: SyncState = READY
    looks: int = 0

    async def fresh(self, *, patience_s: float) -> SyncState:
        self.looks += 1
        return self.state


@dataclass
class World:
    """One project whose leader the test sets."""

    coordinator: Coordinator = field(default_factory=Coordinator)
    time_s: float = 100.0
    told: list[Happening] = field(default_factory=list)
    own: SyncState | None = None
    kept: Any = None

    def __post_init__(self) -> None:
        project = SimpleNamespace(name="main", permalink="main")
        workspace: Any = SimpleNamespace(project=project, coordinator=self.coordinator)
        clock: Any = SimpleNamespace(monotonic=lambda: self.time_s)
        self.kept = Kept(workspace, clock, self.told.append)

    async def look(
        self, leader: LeaderState | None, *reports: SyncReport, after_s: float = 0.5
    ) -> list[Happening]:
        """What is said at a look some time later."""
        self.told.clear()
        self.time_s += after_s
        self.coordinator.leader = leader
        self.coordinator.state = self.own or (leader.sync if leader else READY)
        self.kept.reports.extend(reports)
        await self.kept.look()
        return list(self.told)


@pytest.fixture
def world() -> World:
    return World()


async def test_it_says_once_that_it_leads_and_how_it_watches(world: World) -> None:
    assert await world.look(OURS) == [Led("main", OURS), Watched("main", EVENTS)]
    assert await world.look(replace(OURS, heartbeat=datetime.now(UTC))) == []
    assert world.coordinator.looks == 0


async def test_how_it_watches_is_said_when_that_is_known_and_when_it_changes(world: World) -> None:
    begun = replace(OURS, watch=WatchState())
    assert await world.look(begun) == [Led("main", begun)]
    polling = replace(OURS, watch=WatchState(WatchMode.POLLING, "nfs", running=True))
    assert await world.look(OURS) == [Watched("main", EVENTS)]
    assert await world.look(polling) == [Watched("main", polling.watch)]
    more = replace(EVENTS, folders=3)
    assert await world.look(replace(OURS, watch=more)) == [Watched("main", more)]
    assert await world.look(replace(OURS, watch=replace(more, folders=9))) == []


async def test_the_first_report_is_said_whatever_it_is_and_later_ones_when_they_changed_something(
    world: World,
) -> None:
    await world.look(OURS)
    nothing, change = SyncReport(), SyncReport(new_files=(A,))
    assert await world.look(OURS, nothing) == [Synced("main", nothing, is_first=True)]
    assert await world.look(OURS, nothing, change, nothing) == [
        Synced("main", change, is_first=False)
    ]


async def test_a_failure_is_said_again_only_after_the_file_changed(world: World) -> None:
    await world.look(OURS, SyncReport())
    failed = SyncReport(failures=(FAILED,))
    again = SyncReport(failures=(replace(FAILED, count=2),))
    assert await world.look(OURS, failed, again, failed) == [Synced("main", failed, False)]
    modified = SyncReport(modified_files=(A,))
    assert await world.look(OURS, modified, failed) == [
        Synced("main", modified, False),
        Synced("main", failed, False),
    ]


async def test_kept_notes_are_said_when_their_number_changes(world: World) -> None:
    await world.look(OURS, SyncReport())
    held = SyncReport(held=(A, B), held_reason="the folder is empty")
    leader = replace(OURS, sync=replace(READY, held=2))
    assert await world.look(leader, held, held) == [Synced("main", held, False)]
    assert await world.look(leader, SyncReport()) == []  # a look at some paths alone
    assert await world.look(OURS, SyncReport()) == [Synced("main", SyncReport(), False)]


async def test_it_follows_another_and_says_when_it_takes_over(world: World) -> None:
    assert await world.look(OTHER) == [Led("main", OTHER)]
    assert await world.look(HUNG) == []
    assert await world.look(OURS) == [Led("main", OURS), Watched("main", EVENTS)]
    assert world.coordinator.looks == 0


@pytest.mark.parametrize("leader", [HUNG, None])
async def test_only_after_a_while_it_says_that_nobody_leads_and_looks_itself(
    world: World, leader: LeaderState | None
) -> None:
    assert await world.look(OTHER) == [Led("main", OTHER)]
    assert await world.look(leader) == []
    assert await world.look(leader, after_s=PATIENCE_S - 0.1) == []
    assert world.coordinator.looks == 0
    assert await world.look(leader, after_s=0.2) == [Led("main", leader)]
    assert await world.look(leader) == []
    assert world.coordinator.looks == 2
    assert await world.look(OTHER) == [Led("main", OTHER)]
    assert await world.look(leader) == []


async def test_nobody_leads_from_the_beginning(world: World) -> None:
    assert await world.look(None) == []
    assert await world.look(None, after_s=PATIENCE_S) == [Led("main", None)]


async def test_a_folder_that_goes_and_comes_is_said_once_each(world: World) -> None:
    await world.look(OURS, SyncReport())
    gone = replace(
        OURS,
        sync=SyncState(SyncPhase.FAILED, last_error="not there"),
        watch=replace(EVENTS, error_count=1, last_error="not there"),
    )
    assert await world.look(gone) == [Troubled("main", "not there")]
    again = replace(gone, watch=replace(gone.watch, error_count=2))
    assert await world.look(again) == []
    well = replace(again, sync=READY)
    assert await world.look(well) == []
    assert await world.look(well, SyncReport()) == [Mended("main")]
    assert await world.look(gone) == [Troubled("main", "not there")]


async def test_a_failure_over_a_few_paths_is_said_until_it_is_over(world: World) -> None:
    await world.look(OURS, SyncReport())
    busy = replace(OURS, watch=replace(EVENTS, error_count=1, last_error="busy"))
    assert await world.look(busy) == [Troubled("main", "busy")]
    busy = replace(busy, watch=replace(busy.watch, error_count=2))
    assert await world.look(busy) == []
    assert await world.look(busy, SyncReport()) == [Mended("main")]
    assert await world.look(busy, SyncReport()) == []


async def test_why_it_polls_is_no_trouble_of_its_own(world: World) -> None:
    watch = WatchState(WatchMode.POLLING, "nfs", running=True, error_count=1, last_error="nfs")
    polling = replace(OURS, watch=watch)
    assert await world.look(polling) == [Led("main", polling), Watched("main", watch)]


async def test_the_trouble_of_another_leader_is_said(world: World) -> None:
    await world.look(OTHER)
    failed = replace(OTHER, sync=SyncState(SyncPhase.FAILED, last_error="not there"))
    assert await world.look(failed) == [Troubled("main", "not there")]
    assert await world.look(OTHER) == [Mended("main")]


async def test_the_own_looks_count_while_the_leader_hangs(world: World) -> None:
    await world.look(OTHER)
    hung = replace(HUNG, sync=SyncState(SyncPhase.FAILED, last_error="said long ago"))
    world.own = READY
    assert await world.look(hung) == []
    world.own = SyncState(SyncPhase.FAILED, last_error="not there")
    assert await world.look(hung) == [Troubled("main", "not there")]

"""What the leader does with hints, failures and time. The watcher and the syncs are recorders."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loguru import logger
from tests.integration.conftest import until

from memoranda.errors import DatabaseBusy, RootMissing
from memoranda.files.clock import SystemClock
from memoranda.model.address import NotePath
from memoranda.model.live import WatchMode, WatchPlan, WatchState
from memoranda.model.sync import FailureKind, FileFailure, SyncPhase, SyncReport, SyncState
from memoranda.sync import leader as module
from memoranda.sync.leader import Leader, LeadershipLost
from memoranda.sync.lease import Lease

DELAY_S = 0.05


class FakeWatch:
    """Takes note of what it is asked, and lets a test tell of changes."""

    def __init__(self, _root: Path, _skips: object, plan: WatchPlan, _clock: object, changed: Any):
        self.tell: Callable[[frozenset[str]], None] = changed
        self.watched: list[tuple[str, ...]] = []
        self.errors: list[str] = []
        self.files = 0
        self.stopped = 0
        self.is_watching = plan.mode is not WatchMode.POLLING
        self.state = WatchState(mode=WatchMode.EVENTS, running=True)

    async def watch(self, folders: tuple[str, ...]) -> None:
        self.watched.append(tuple(sorted(folders)))

    async def stop(self) -> None:
        self.stopped += 1

    def failed(self, message: str) -> None:
        self.errors.append(message)
        self.state = replace(self.state, last_error=message)

    def synced(self, files: int) -> None:
        self.files += files


class World:
    """A leader over recorders."""

    def __init__(self, root: Path, lease: Lease) -> None:
        self.root = root
        self.lease = lease
        self.everything = 0
        self.some: list[frozenset[str]] = []
        self.report = SyncReport(folders=("",))
        self.troubles: list[Exception] = []
        self.needs_everything = False
        self.outdated = False
        self.state = SyncState(SyncPhase.READY)

    async def sync_all(self) -> SyncReport:
        self.everything += 1
        self.fail()
        return self.report

    async def sync_some(self, paths: Collection[str]) -> SyncReport | None:
        self.some.append(frozenset(paths))
        self.fail()
        return None if self.needs_everything else SyncReport(modified_files=tuple(paths))  # type: ignore[arg-type]

    def fail(self) -> None:
        if self.troubles:
            raise self.troubles.pop(0)

    async def folders(self) -> tuple[str, ...]:
        return self.report.folders

    @asynccontextmanager
    async def led(self, **plan: Any) -> AsyncIterator[FakeWatch]:
        """While the leader runs; it has done its first sync."""
        self.leader = Leader(
            "main",
            self.root,
            WatchPlan(**({"delay_s": DELAY_S} | plan)),
            self.lease,
            SystemClock(),
            skips=(),
            sync_all=self.sync_all,
            sync_some=self.sync_some,
            state=lambda: self.state,
            folders=self.folders,
            is_outdated=lambda: self.outdated,
        )
        self.task = asyncio.create_task(self.leader.run())
        try:
            await until(lambda: self.everything)
            await asyncio.sleep(0)
            yield self.leader.watch
        finally:
            self.task.cancel()
            await asyncio.wait({self.task})


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "WatchService", FakeWatch)
    monkeypatch.setattr(module, "LOOK_S", 0.01)
    root = tmp_path / "notes"
    root.mkdir()
    lease = Lease(tmp_path / "main", "1", 1)
    assert lease.acquire()
    yield World(root, lease)
    lease.release()


async def test_the_folder_is_watched_before_it_is_synced(world):
    seen: list[int] = []
    original = world.sync_all

    async def sync_all() -> SyncReport:
        seen.append(len(world.leader.watch.watched))
        return await original()

    world.sync_all = sync_all
    world.report = SyncReport(folders=("", "x"))
    async with world.led() as watch:
        assert seen == [1]
        assert watch.watched[0] == ("", "x")


async def test_a_named_path_is_synced_alone_once_it_is_quiet(world):
    async with world.led() as watch:
        for _ in range(5):
            watch.tell(frozenset({"a.md"}))
            await asyncio.sleep(0)
        await until(lambda: world.some)
        assert world.some == [{"a.md"}]
        assert world.everything == 1
        await until(lambda: watch.files == 1)


@pytest.mark.parametrize("paths", [{""}, {f"{n}.md" for n in range(module.MANY + 1)}], ids=len)
async def test_what_may_be_everything_is(world, paths):
    async with world.led() as watch:
        watch.tell(frozenset(paths))
        await until(lambda: world.everything == 2)
        assert world.some == []


async def test_what_paths_do_not_tell_asks_for_everything(world):
    world.needs_everything = True
    async with world.led() as watch:
        watch.tell(frozenset({"gone.md"}))
        await until(lambda: world.everything == 2)
        assert world.some == [{"gone.md"}]


async def test_a_scan_waits_for_the_end_of_a_burst(world):
    world.needs_everything = True
    async with world.led() as watch:
        watch.tell(frozenset({"gone.md"}))
        loop = asyncio.get_running_loop()
        until_s = loop.time() + 4 * DELAY_S
        while loop.time() < until_s:
            watch.tell(frozenset({"busy.md"}))
            await asyncio.sleep(DELAY_S / 10)
        assert world.everything == 1
        await until(lambda: world.everything == 2)


async def test_a_burst_without_an_end_does_not_hold_it_up_for_ever(world):
    world.needs_everything = True
    async with world.led() as watch:
        watch.tell(frozenset({"gone.md"}))
        async with asyncio.timeout(20):
            while world.everything < 2:
                watch.tell(frozenset({"busy.md"}))
                await asyncio.sleep(DELAY_S / 10)


async def test_a_sync_that_fails_is_tried_again(world):
    async with world.led() as watch:
        world.troubles = [DatabaseBusy("busy"), RuntimeError("odd")]
        watch.tell(frozenset({"a.md"}))
        await until(lambda: len(world.some) == 3)
        assert watch.errors == ["busy", "RuntimeError during a sync; the log has the details"]
        assert watch.files == 1
        assert world.leader.is_up_to_date


async def test_a_look_at_some_paths_does_not_make_good_a_scan_that_failed(world):
    async def fail() -> SyncReport:
        raise DatabaseBusy("busy")

    async with world.led() as watch:
        world.leader._sync_all = fail
        watch.tell(frozenset({""}))
        await until(lambda: watch.errors)
        watch.tell(frozenset({"a.md"}))
        await until(lambda: watch.files == 1)
        assert not world.leader.is_up_to_date
        world.leader._sync_all = world.sync_all
        await until(lambda: world.leader.is_up_to_date)


@pytest.mark.parametrize(
    "report",
    [
        SyncReport(late_files=(NotePath("a.md"),)),
        SyncReport(failures=(FileFailure(NotePath("a.md"), "refused", FailureKind.IO),)),
    ],
    ids=["another writer was faster", "the system refused it"],
)
async def test_a_path_that_may_not_be_as_it_is_indexed_is_looked_at_once_more(
    world, monkeypatch, report
):
    monkeypatch.setattr(module, "REFUSED_S", 0.02)
    reports = [report]

    async def sync_some(paths: Collection[str]) -> SyncReport:
        world.some.append(frozenset(paths))
        return reports.pop() if reports else SyncReport()

    async with world.led() as watch:
        world.leader._sync_some = sync_some
        watch.tell(frozenset({"a.md", "b.md"}))
        await until(lambda: world.some == [{"a.md", "b.md"}, {"a.md"}])


async def test_so_is_one_of_a_scan(world):
    async with world.led() as watch:
        world.report = SyncReport(folders=("",), late_files=(NotePath("a.md"),))
        watch.tell(frozenset({""}))
        await until(lambda: world.some == [{"a.md"}])


async def test_so_is_the_first_one(world):
    world.troubles = [RootMissing("r", "The folder is not there")]
    async with world.led() as watch:
        assert not world.leader.is_up_to_date
        await until(lambda: world.everything == 2)
        assert watch.errors == ["The folder is not there"]


async def test_waiting_grows_with_failures(world):
    async with world.led():
        waits = [world.leader._failed(DatabaseBusy("b")) for _ in range(9)]
        assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]


async def test_a_root_that_is_another_folder_is_noticed(world):
    async with world.led() as watch:
        away = world.root.rename(world.root.with_name("away"))
        await until(lambda: world.everything >= 2)
        rounds = world.everything
        away.rename(world.root)
        await until(lambda: world.everything > rounds)
        assert len(watch.watched) >= 3


async def test_new_folders_are_watched_and_looked_into_once_more(world):
    world.needs_everything = True
    async with world.led() as watch:
        world.report = SyncReport(folders=("", "new"))
        watch.tell(frozenset({"new"}))
        await until(lambda: world.everything == 3)
        assert watch.watched[-1] == ("", "new")


async def test_a_watched_folder_that_came_or_went_is_watched_anew(world):
    world.report = SyncReport(folders=("", "x"))
    world.needs_everything = True
    async with world.led() as watch:
        before = len(watch.watched)
        watch.tell(frozenset({"x"}))
        await until(lambda: world.everything == 2)
        await until(lambda: len(watch.watched) >= before + 2)


async def test_the_whole_folder_is_looked_at_now_and_then(world):
    async with world.led(reconcile_s=0.05):
        await until(lambda: world.everything >= 3)


async def test_where_no_events_come_it_is_scanned_again_and_again(world, monkeypatch):
    monkeypatch.setattr(module, "POLL_S", 0.02)
    async with world.led(mode=WatchMode.POLLING):
        assert not world.leader.is_up_to_date
        await until(lambda: world.everything >= 3)


async def test_where_watching_is_off_nobody_looks_unasked(world):
    async with world.led(mode=WatchMode.OFF):
        await until(lambda: world.leader._everything_at == math.inf)


async def test_a_slow_scan_is_repeated_less_often(world, monkeypatch):
    monkeypatch.setattr(module, "POLL_S", 0.02)
    world.report = SyncReport(folders=("",), duration_s=1000.0)
    async with world.led(mode=WatchMode.POLLING) as watch:
        watch.tell(frozenset({""}))
        await until(lambda: world.everything == 2)
        at = world.leader._everything_at
        assert at - SystemClock().monotonic() > 200


async def test_held_notes_are_looked_at_when_their_minute_is_over(world):
    world.report = SyncReport(folders=("",), held=("a.md",))  # type: ignore[arg-type]
    async with world.led():
        await until(lambda: world.leader._everything_at > SystemClock().monotonic())
        wait = world.leader._everything_at - SystemClock().monotonic()
        assert 50 < wait <= module.HELD_S


async def test_the_others_are_told(world):
    other = Lease(world.lease._folder, "1", 1)
    async with world.led() as watch:
        world.state = SyncState(SyncPhase.READY, last_error="told")
        await until(lambda: other.leader().sync.last_error == "told")
        watch.failed("lost")
        await until(lambda: other.leader().watch.last_error == "lost")


async def test_a_heartbeat_comes_when_nothing_happens(world, monkeypatch):
    monkeypatch.setattr(module, "HEARTBEAT_S", 0.05)
    place = world.lease._folder / "leader.json"
    async with world.led():
        await until(lambda: Lease(place.parent, "1", 1).leader().sync.phase is SyncPhase.READY)
        os.utime(place, (1, 1))
        await until(lambda: place.stat().st_mtime > 1)


async def test_a_leader_that_cannot_tell_leads_on(world):
    place = world.lease._folder
    async with world.led() as watch:
        world.lease._said = b""
        (place / "leader.json").unlink()
        (place / "leader.json").mkdir()
        (place / "leader.json" / "x").write_text("")
        world.state = SyncState(SyncPhase.READY, last_error="new")
        watch.tell(frozenset({"a.md"}))
        await until(lambda: world.some)
        assert not world.task.done()
    (place / "leader.json" / "x").unlink()
    (place / "leader.json").rmdir()


async def test_that_it_cannot_tell_is_said_once_until_it_can_again(world, monkeypatch):
    monkeypatch.setattr(module, "HEARTBEAT_S", 0.01)
    said: list[str] = []
    tried: list[object] = []

    def refuse(*_told: object) -> None:
        tried.append(_told)
        raise OSError(30, "Read-only file system")

    async def tries() -> None:
        before = len(tried)
        with monkeypatch.context() as patch:
            patch.setattr(world.lease, "say", refuse)
            await until(lambda: len(tried) > before + 3)

    sink = logger.add(said.append, format="{message}", level="WARNING")
    async with world.led():
        await tries()
        (world.lease._folder / "leader.json").unlink(missing_ok=True)
        await until((world.lease._folder / "leader.json").exists)
        await tries()
    logger.remove(sink)
    assert len(said) == 2


async def test_a_lost_lock_ends_it(world):
    async with world.led() as watch:
        (world.lease._folder / "leader.lock").unlink()
        await until(world.task.done)
        assert isinstance(world.task.exception().exceptions[0], LeadershipLost)
        assert watch.stopped == 1


async def test_a_newer_version_ends_it(world):
    async with world.led() as watch:
        world.outdated = True
        watch.tell(frozenset({"a.md"}))
        await until(world.task.done)
        assert isinstance(world.task.exception().exceptions[0], LeadershipLost)

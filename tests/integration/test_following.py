"""Several servers on one project: one leads, the others trust it, and take over when it ends."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.integration.conftest import Index, until

from memoranda.errors import DatabaseAway, DatabaseBusy, OtherFolder, RootMissing
from memoranda.files.clock import SystemClock
from memoranda.model.live import WatchMode, WatchPlan
from memoranda.model.sync import SyncPhase
from memoranda.sync import coordinator as module
from memoranda.sync.coordinator import SyncCoordinator
from memoranda.sync.lease import Lease
from memoranda.sync.sync_service import INDEX_VERSION

PLAN = WatchPlan(delay_s=0.05)


class NoChecks:
    """The integrity check of who has none."""

    def begin(self, *, is_suspected: bool = False) -> None: ...


class Server:
    """A coordinator that counts its syncs."""

    def __init__(self, index: Index, *, version: int = INDEX_VERSION, plan: WatchPlan = PLAN):
        self.index = index
        self.lease = Lease(index.root.parent / "live", "1", version)
        self.syncs = 0
        self.tidied = 0
        original = index.sync.full_sync

        async def full_sync(**how):
            self.syncs += 1
            return await original(**how)

        index.sync.full_sync = full_sync
        self.coordinator = SyncCoordinator(
            "main",
            index.sync,
            NoChecks(),
            SystemClock(),
            lease=self.lease,
            plan=plan,
            tidy=self.tidy,
        )

    def tidy(self) -> None:
        self.tidied += 1

    def paths(self) -> list[object]:
        return [path for (path,) in self.index.rows("SELECT file_path FROM entity ORDER BY 1")]


@asynccontextmanager
async def running(*servers: Server) -> AsyncIterator[None]:
    """While these servers run, started one after the other; the first leads and has synced."""
    for server in servers:
        server.coordinator.start()
    try:
        await until(lambda: servers[0].coordinator.state.phase is SyncPhase.READY)
        await until(lambda: servers[0].coordinator.leader.is_watching)
        yield
    finally:
        for server in servers:
            await server.coordinator.stop()


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(module, "FOLLOW_S", 0.02)
    monkeypatch.setattr(module, "SPARING_S", 0.02)
    monkeypatch.setattr(module, "SPARING_S", 0.02)
    monkeypatch.setattr("memoranda.sync.leader.LOOK_S", 0.02)


@pytest.fixture
def servers(make_index):
    """Two processes' views of one folder and one database."""
    index = make_index()
    index.write("a.md", "a\n")
    return Server(index), Server(make_index())


async def test_one_leads_and_the_other_does_not_scan(servers):
    one, other = servers
    async with running(*servers):
        assert (one.lease.is_held, other.lease.is_held) == (True, False)
        assert (await other.coordinator.fresh()).phase is SyncPhase.READY
        assert other.syncs == 0
        assert other.coordinator.leader.pid == os.getpid()
        assert not other.coordinator.leader.is_me
        assert one.coordinator.leader.is_me


async def test_an_edit_from_outside_is_seen_by_both(servers):
    one, other = servers
    async with running(*servers):
        one.index.write("b.md", "b\n")
        await until(lambda: other.paths() == ["a.md", "b.md"])
        (one.index.root / "a.md").unlink()
        await until(lambda: other.paths() == ["b.md"])
        assert other.syncs == 0


async def test_where_events_come_the_leader_does_not_scan_for_a_tool(servers):
    one, _ = servers
    async with running(*servers):
        await until(lambda: one.syncs == 1)
        for _ in range(3):
            one.coordinator._trusted_until = 0.0
            await one.coordinator.fresh()
        assert one.syncs == 1


async def test_the_other_takes_over(servers):
    one, other = servers
    async with running(*servers):
        await one.coordinator.stop()
        await until(lambda: other.lease.is_held and other.coordinator.leader.is_watching)
        await until(lambda: other.coordinator.state.phase is SyncPhase.READY)
        assert other.syncs >= 1
        other.index.write("c.md", "c\n")
        await until(lambda: "c.md" in other.paths())


async def test_both_tidy_up_when_they_start(servers):
    async with running(*servers):
        await until(lambda: all(server.tidied for server in servers))


async def test_what_goes_wrong_when_tidying_up_keeps_nobody_from_leading(servers):
    def odd() -> None:
        raise ValueError("a damaged row")

    one, other = servers
    for server in servers:
        server.coordinator._repair._tidy = odd
    async with running(*servers):
        assert one.paths() == ["a.md"]
        await one.coordinator.stop()
        await until(lambda: other.lease.is_held and other.syncs)


async def test_a_leader_that_cannot_speak_leads_all_the_same(servers, monkeypatch):
    one, _ = servers

    def refuse(*_told: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(one.lease, "say", refuse)
    one.coordinator.start()
    await until(lambda: one.paths() == ["a.md"])
    assert one.lease.is_held
    assert one.syncs == 1
    await one.coordinator.stop()


async def test_a_leader_whose_looks_fail_is_not_followed(servers):
    async def busy(_paths: object) -> None:
        raise DatabaseBusy("busy")

    one, other = servers
    async with running(*servers):
        one.index.sync.sync_paths = busy
        one.index.write("b.md", "b\n")
        await until(lambda: other.lease.leader().sync.phase is SyncPhase.FAILED)
        assert other.lease.leader().sync.last_error == "busy"
        await other.coordinator.fresh(patience_s=20)
        assert other.paths() == ["a.md", "b.md"]
        assert other.syncs == 1


async def test_who_leads_another_folder_or_database_is_not_followed(servers):
    _, other = servers
    other.lease.serves = "another"
    async with running(*servers):
        await other.coordinator.fresh(patience_s=20)
        assert other.syncs == 1


async def test_a_leader_without_a_sign_of_life_is_not_followed(servers, monkeypatch):
    one, other = servers
    async with running(*servers):
        monkeypatch.setattr(one.lease, "say", lambda *_: None)
        old = time.time() - 60
        os.utime(one.index.root.parent / "live" / "leader.json", (old, old))
        await other.coordinator.fresh()
        assert other.syncs == 1
        assert not other.lease.is_held


async def test_one_who_is_told_nothing_is_not_trusted_for_long(make_index):
    plan = WatchPlan(mode=WatchMode.POLLING, delay_s=0.05)
    one, other = Server(make_index(), plan=plan), Server(make_index(), plan=plan)
    one.coordinator.start()
    other.coordinator.start()
    await until(lambda: one.coordinator.state.phase is SyncPhase.READY)
    await until(lambda: other.lease.leader().sync.phase is SyncPhase.READY)
    await other.coordinator.fresh()
    assert other.syncs == 1
    await one.coordinator.stop()
    await other.coordinator.stop()


async def test_a_leader_of_an_older_version_is_not_followed(make_index):
    one, other = Server(make_index(), version=INDEX_VERSION - 1), Server(make_index())
    async with running(one, other):
        await other.coordinator.fresh()
        assert other.syncs == 1


async def test_a_leader_of_an_older_version_steps_down(servers):
    one, _ = servers
    async with running(*servers):
        one.index.store.write_now(
            lambda tx: tx.conn.exec_driver_sql(
                f"UPDATE index_meta SET value='{INDEX_VERSION + 1}' WHERE key='index_version'"
            )
        )
        (one.index.root / "a.md").unlink()
        await until(lambda: not one.lease.is_held)


async def test_a_tool_waits_a_moment_for_the_first_sync_of_the_leader(servers, monkeypatch):
    one, other = servers
    gate = asyncio.Event()
    original = one.index.sync.full_sync

    async def slow(**how):
        await gate.wait()
        return await original(**how)

    one.index.sync.full_sync = slow
    one.coordinator.start()
    other.coordinator.start()
    state = await other.coordinator.fresh(patience_s=0.05)
    assert state.phase in (SyncPhase.STARTING, SyncPhase.INDEXING)
    waiting = asyncio.create_task(other.coordinator.fresh(patience_s=20))
    mine = asyncio.create_task(one.coordinator.fresh(patience_s=20))
    gate.set()
    assert (await waiting).phase is SyncPhase.READY
    assert (await mine).phase is SyncPhase.READY
    assert other.syncs == 0
    await one.coordinator.stop()
    await other.coordinator.stop()


async def test_the_error_of_the_leader_is_found_by_the_other_as_well(servers, tmp_path):
    one, other = servers
    async with running(*servers):
        away = one.index.root.rename(tmp_path / "away")
        await until(lambda: one.coordinator.state.phase is SyncPhase.FAILED)
        await until(lambda: other.lease.leader().sync.phase is SyncPhase.FAILED)
        state = await other.coordinator.fresh()
        assert state.phase is SyncPhase.FAILED
        assert "not there" in state.last_error
        away.rename(one.index.root)
        await until(lambda: one.coordinator.state.phase is SyncPhase.READY)
        await until(lambda: other.coordinator.state.phase is SyncPhase.READY)


async def test_a_command_follows_and_never_leads(servers):
    one, other = servers
    one.coordinator.start()
    await until(lambda: one.coordinator.state.phase is SyncPhase.READY)
    await until(lambda: one.coordinator.leader.is_watching)
    await other.coordinator.fresh()
    assert (other.syncs, other.lease.is_held) == (0, False)
    await one.coordinator.stop()
    await other.coordinator.fresh()
    assert (other.syncs, other.lease.is_held) == (1, False)
    await other.coordinator.stop()


async def test_a_loop_that_breaks_is_begun_again(servers, monkeypatch):
    one, _ = servers
    broken = [RuntimeError("odd")]
    original = module.Leader.run

    async def run(self):
        if broken:
            raise broken.pop()
        await original(self)

    monkeypatch.setattr(module.Leader, "run", run)
    async with running(one):
        assert broken == []


async def test_a_folder_where_no_lock_can_be_made_is_no_end(make_index, tmp_path):
    (tmp_path / "live").write_text("a file in the way\n")
    one = Server(make_index())
    one.index.write("a.md", "a\n")
    one.coordinator.start()
    await one.coordinator.fresh(patience_s=20)
    assert one.paths() == ["a.md"]
    (tmp_path / "live").unlink()
    await until(lambda: one.lease.is_held)
    await one.coordinator.stop()


async def test_it_stops_in_the_middle_of_a_sync(servers):
    one, _ = servers

    async def endless(**_how):
        await asyncio.Event().wait()

    one.index.sync.full_sync = endless
    one.coordinator.start()
    await until(lambda: one.coordinator.state.phase is SyncPhase.INDEXING)
    async with asyncio.timeout(2):
        await one.coordinator.stop()
    assert not one.lease.is_held
    with pytest.raises(Exception, match="being closed"):
        await one.coordinator.sync_now()


async def test_a_lock_is_not_kept_by_one_that_stops_as_it_starts(servers):
    one, other = servers
    one.coordinator.start()
    assert one.lease.is_held
    await one.coordinator.stop()
    assert not one.lease.is_held
    assert other.lease.leader() is None


async def test_a_sync_asked_for_while_the_leader_tidies_up_does_not_run_beside_its_own(servers):
    one, _ = servers
    coordinator, gate, go = one.coordinator, threading.Event(), asyncio.Event()
    tidying, tidied = threading.Event(), asyncio.Event()
    at_once: list[int] = []
    tidy_up, full_sync = coordinator._repair.tidied_up, one.index.sync.full_sync

    def slow() -> None:
        tidying.set()
        assert gate.wait(20)

    async def tidied_up() -> None:
        await tidy_up()
        tidied.set()

    async def counted(**how):
        at_once.append(at_once[-1] + 1 if at_once else 1)
        await go.wait()
        try:
            return await full_sync(**how)
        finally:
            at_once.append(at_once[-1] - 1)

    coordinator._repair._tidy, coordinator._repair.tidied_up = slow, tidied_up
    one.index.sync.full_sync = counted
    coordinator.start()
    await until(tidying.is_set)
    asked = asyncio.create_task(coordinator.sync_now())
    await until(lambda: at_once)
    gate.set()
    await until(tidied.is_set)
    await asyncio.sleep(0)
    go.set()
    await asked
    await until(lambda: at_once[-1] == 0 and one.syncs == 2)
    await coordinator.stop()
    assert max(at_once) == 1


async def test_a_missing_folder_is_said_when_it_starts(servers, tmp_path):
    one, _ = servers
    one.index.root.rename(tmp_path / "away")
    one.coordinator.start()
    await until(lambda: one.coordinator.state.phase is SyncPhase.FAILED)
    await until(lambda: one.coordinator.leader.watch.error_count >= 1)
    with pytest.raises(RootMissing):
        await one.coordinator.sync_now()
    await one.coordinator.stop()


async def test_what_was_cut_off_is_put_back_before_the_first_sync_and_the_first_answer(servers):
    one, _ = servers
    mending, gate = threading.Event(), threading.Event()

    def slow() -> int:
        mending.set()
        assert gate.wait(20)
        return 1

    one.coordinator._repair._mend = slow
    one.coordinator.start()
    await until(mending.is_set)
    asked = asyncio.create_task(one.coordinator.fresh(patience_s=0))
    synced = asyncio.create_task(one.coordinator.sync_now())
    done, _ = await asyncio.wait({asked, synced}, timeout=0.2)
    assert (done, one.syncs) == (set(), 0)
    gate.set()
    await asked
    await synced
    assert one.syncs
    await one.coordinator.stop()


async def test_who_died_while_a_server_runs_is_cleaned_up_after_when_its_files_are_seen(servers):
    one, _ = servers
    async with running(*servers):
        seen: list[list[object]] = []

        def mend() -> int:
            seen.append(one.paths())
            return 0

        one.coordinator._repair._mend = mend
        one.index.write("half.md", "half\n")
        await until(lambda: "half.md" in one.paths())
        assert seen[0] == ["a.md"]


async def test_what_goes_wrong_when_something_is_put_back_keeps_nobody_from_syncing(servers):
    def odd() -> int:
        raise ValueError("a damaged row")

    one, _ = servers
    one.coordinator._repair._mend = odd
    assert await one.coordinator.put_right() == 0
    await one.coordinator.sync_now()
    assert one.paths() == ["a.md"]


class Root:
    """A check of the folder that says what a test wants."""

    def __init__(self, *troubles: Exception, last: Exception | None = None) -> None:
        self.troubles = list(troubles)
        self.last = last
        self.adopted = 0

    def check(self) -> None:
        if self.troubles:
            raise self.troubles.pop(0)
        if self.last is not None:
            raise self.last

    def adopt(self) -> None:
        self.adopted += 1
        self.last = None


async def test_who_has_another_folder_leads_nobody_and_syncs_nothing(servers):
    one, other = servers
    one.coordinator._root = root = Root(last=OtherFolder("/notes", "it is another one"))
    one.coordinator.start()
    await one.coordinator.fresh(patience_s=20)
    await until(lambda: one.coordinator.state.phase is SyncPhase.FAILED)
    assert "another folder" in one.coordinator.state.last_error
    await until(lambda: not one.lease.is_held)
    assert one.syncs == 0
    other.coordinator.start()
    await until(lambda: other.lease.is_held and other.coordinator.state.phase is SyncPhase.READY)
    await one.coordinator.reindex()
    assert root.adopted == 1
    assert one.coordinator.state.phase is SyncPhase.READY
    await one.coordinator.stop()
    await other.coordinator.stop()


async def test_a_database_that_is_away_for_a_moment_costs_no_leader_long(servers, monkeypatch):
    monkeypatch.setattr(module, "SPARING_S", 60.0)
    one, _ = servers
    one.coordinator._root = Root(DatabaseAway("away"), DatabaseBusy("busy"))
    async with running(one):
        assert one.paths() == ["a.md"]


async def test_a_leader_that_lost_its_lock_tries_again(servers, monkeypatch):
    one, _ = servers
    async with running(one):
        (one.index.root.parent / "live" / "leader.lock").unlink()
        await until(lambda: one.syncs == 2)
        assert one.lease.is_held

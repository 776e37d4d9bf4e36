"""Commands that meet an index in trouble: it is mended on the way, or the answer says what it lacks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from memoranda.errors import DatabaseBusy, DatabaseDamaged, DiskFull
from memoranda.model.live import WatchState
from memoranda.model.sync import SyncPhase, SyncState
from memoranda.repositories.store import Store
from memoranda.sync.lease import STATE_FILE, Lease
from memoranda.sync.sync_service import INDEX_VERSION, SyncService


def test_sync_makes_an_index_anew_that_turns_out_damaged(
    ready: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_sync, looks = SyncService.full_sync, 0

    async def damaged_once(self: SyncService, **how: object) -> object:
        nonlocal looks
        looks += 1
        if looks == 1:
            self._store.is_damaged = True
            raise DatabaseDamaged("memory.db is damaged: malformed")
        return await full_sync(self, **how)

    monkeypatch.setattr(SyncService, "full_sync", damaged_once)
    outcome = ready("sync")
    assert outcome.code == 0
    assert "4 new" in outcome.out
    assert len(list(home.rglob("memory.damaged-*.db"))) == 1


def test_a_full_disk_of_the_index_does_not_keep_a_search_from_answering(
    ready: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Store, fn: object) -> object:
        raise DiskFull("memory.db")

    (notes / "new.md").write_text("one more heap\n")
    monkeypatch.setattr(Store, "write_now", full)
    outcome = ready("search", "heap")
    assert outcome.code == 0
    assert "Compost" in outcome.out
    assert "note: the index is not brought up to date" in outcome.err


@pytest.mark.parametrize("how", ["hangs", "works", "was killed"])
def test_a_database_that_is_held_is_said_with_who_holds_it(
    ready: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    async def busy(self: SyncService, **how: object) -> object:
        raise DatabaseBusy("The database is busy")

    monkeypatch.setattr(SyncService, "full_sync", busy)
    lease = Lease(home / "my-notes", "0.1.0", INDEX_VERSION)
    assert lease.acquire()
    lease.say(SyncState(SyncPhase.READY), WatchState())
    said = (home / "my-notes" / STATE_FILE).read_bytes()
    if how == "was killed":
        lease.release()
        (home / "my-notes" / STATE_FILE).write_bytes(said)
    if how != "works":
        os.utime(home / "my-notes" / STATE_FILE, (1, 1))
    outcome = ready("search", "heap")
    assert outcome.code == 0
    assert "Compost" in outcome.out
    assert outcome.err == (
        f"note: process {os.getpid()} hangs in the middle of a write, and nothing can be indexed "
        f"until it ends: kill {os.getpid()}\n"
        if how == "hangs"
        else "note: another process is indexing this project; the answer may not be complete\n"
    )
    lease.release()

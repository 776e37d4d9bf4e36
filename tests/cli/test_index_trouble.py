"""Commands that meet an index in trouble: it is mended on the way, or the answer says what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from memoranda.errors import DatabaseDamaged, DiskFull
from memoranda.repositories.store import Store
from memoranda.sync.sync_service import SyncService


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

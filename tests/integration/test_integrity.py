"""The daily check of the index: when it runs, what it finds, how it ends."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.integration.conftest import lose_words

from memoranda.config import load_settings
from memoranda.container import Container
from memoranda.errors import DatabaseBusy
from memoranda.model.search import SearchQuery
from memoranda.sync.integrity import IntegrityCheck
from memoranda.workspace import Workspace

HOUR_S = 3600.0


@dataclass
class DrivenClock:
    """Stands still until it is told otherwise."""

    passed_s: float = 1_000.0
    began: datetime = field(default_factory=lambda: datetime(2026, 5, 4, 12, tzinfo=UTC))

    def now(self) -> datetime:
        return self.began + timedelta(seconds=self.passed_s)

    def monotonic(self) -> float:
        return self.passed_s


@dataclass
class Checker:
    """Counts the checks it is asked for, and finds what it is told to."""

    findings: list[str] = field(default_factory=list)
    error: Exception | None = None
    times: int = 0

    def __call__(self, _is_abandoned: object) -> list[str]:
        self.times += 1
        if self.error is not None:
            raise self.error
        return self.findings


@pytest.fixture
def clock() -> DrivenClock:
    return DrivenClock()


@pytest.fixture
async def container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: DrivenClock
) -> AsyncIterator[Container]:
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "config").mkdir()
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(200):
        (notes / f"n{number}.md").write_text(f"alpha {number}\n" + "many words " * 50)
    settings = {"projects": {"notes": {"path": str(notes)}}}
    (tmp_path / "config" / "config.json").write_text(json.dumps(settings))
    container = await Container.open(load_settings(), clock=clock)
    yield container
    await container.aclose()


@pytest.fixture
async def workspace(container: Container) -> Workspace:
    workspace = await container.workspace(container.find_project(None))
    await workspace.sync.full_sync()
    return workspace


async def checked(check: IntegrityCheck, *, is_suspected: bool = False) -> None:
    """What a server does after a sync, and the end of it."""
    check.begin(is_suspected=is_suspected)
    await check.done()


async def test_a_sound_index_is_checked_once_a_day_by_whoever_comes(workspace, clock):
    checker = Checker()
    one, two = (IntegrityCheck("n", workspace.store, checker, clock) for _ in range(2))
    times = []
    for check, hours in [(one, 0), (one, 0), (two, 0), (two, 23), (one, 2), (two, 0), (one, 25)]:
        clock.passed_s += hours * HOUR_S
        await checked(check)
        times.append(checker.times)
    assert times == [1, 1, 1, 1, 2, 2, 3]
    assert not workspace.store.is_damaged


async def test_a_time_that_lies_ahead_is_not_believed(workspace, clock):
    checker = Checker()
    await checked(IntegrityCheck("n", workspace.store, checker, clock))
    clock.began -= timedelta(days=30)
    await checked(IntegrityCheck("n", workspace.store, checker, clock))
    assert checker.times == 2


async def test_beside_a_log_that_was_left_the_check_comes_sooner(workspace, clock):
    checker = Checker()
    await checked(IntegrityCheck("n", workspace.store, checker, clock))
    clock.passed_s += 2 * HOUR_S
    period = timedelta(hours=1)
    await checked(IntegrityCheck("n", workspace.store, checker, clock, period=period))
    assert checker.times == 2


async def test_a_suspicion_is_checked_at_once_but_once_an_hour(workspace, clock):
    checker = Checker()
    check = IntegrityCheck("n", workspace.store, checker, clock)
    await checked(check)
    times = []
    for minutes in (0, 0, 59, 2):
        clock.passed_s += minutes * 60
        await checked(check, is_suspected=True)
        times.append(checker.times)
    assert times == [2, 2, 2, 3]


async def test_a_check_that_cannot_be_done_is_tried_again_later(workspace, clock):
    checker = Checker(error=DatabaseBusy("busy"))
    check = IntegrityCheck("n", workspace.store, checker, clock)
    await checked(check)
    await checked(check)
    assert checker.times == 1
    assert not workspace.store.is_damaged
    clock.passed_s += 11 * 60
    checker.error = None
    await checked(check)
    assert checker.times == 2


async def test_a_finding_marks_the_store_and_is_not_remembered_as_a_check(workspace, clock):
    checker = Checker(["a page is lost"])
    check = IntegrityCheck("n", workspace.store, checker, clock)
    await checked(check)
    assert workspace.store.is_damaged
    assert check.findings == ("a page is lost",)
    await checked(IntegrityCheck("n", workspace.store, checker, clock))
    assert checker.times == 2


async def test_nothing_begins_after_the_end(workspace, clock):
    checker = Checker()
    check = IntegrityCheck("n", workspace.store, checker, clock)
    check.stop()
    await checked(check)
    assert checker.times == 0


async def test_the_end_waits_for_no_check(workspace, clock):
    begun, abandoned, ended = threading.Event(), threading.Event(), threading.Event()

    def slow(is_abandoned):
        begun.set()
        while not is_abandoned():
            pass
        abandoned.set()
        ended.wait(30)
        return ["found too late"]

    check = IntegrityCheck("n", workspace.store, slow, clock)
    check.begin()
    await asyncio.to_thread(begun.wait, 30)
    check.stop()
    await asyncio.wait_for(check.done(), 30)
    assert await asyncio.to_thread(abandoned.wait, 30)
    ended.set()
    assert check.findings == ()
    assert not workspace.store.is_damaged


async def test_closing_a_workspace_abandons_its_check(workspace, clock):
    begun, abandoned = threading.Event(), threading.Event()

    def slow(is_abandoned):
        begun.set()
        while not (is_abandoned() or ended.is_set()):
            pass
        if is_abandoned():
            abandoned.set()
        return []

    ended = threading.Event()
    check = IntegrityCheck("n", workspace.store, slow, clock)
    check.begin()
    await asyncio.to_thread(begun.wait, 30)
    await replace(workspace, integrity=check).aclose()
    is_abandoned = await asyncio.to_thread(abandoned.wait, 10)
    ended.set()
    assert is_abandoned


async def test_words_that_were_lost_in_silence_are_found_by_the_check_and_indexed_again(
    container, workspace
):
    lose_words(workspace)
    assert not (await workspace.search.search(SearchQuery("alpha"))).hits
    await checked(workspace.integrity)
    again = await container.workspace(workspace.project)
    assert again is not workspace
    assert "full-text index" in again.index.notice
    await again.sync.full_sync()
    assert (await again.search.search(SearchQuery("alpha"))).hits
    await checked(again.integrity)
    assert not again.store.is_damaged


@pytest.mark.sqlite
async def test_damage_of_the_tables_is_found_by_the_check_and_set_aside(container, workspace):
    await container.aclose()
    with (workspace.folder / "memory.db").open("r+b") as file:
        file.seek((workspace.folder / "memory.db").stat().st_size // 2 // 4096 * 4096)
        file.write(b"\xff" * 4096)
    damaged = await container.workspace(workspace.project)
    await checked(damaged.integrity)
    again = await container.workspace(workspace.project)
    await again.sync.full_sync()
    assert (await again.browse.counts()).notes == 200
    assert len(list((workspace.folder / "memory.db").parent.glob("memory.damaged-*.db"))) == 1

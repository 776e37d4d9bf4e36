"""When the index is checked, and what a sync that goes wrong leaves behind."""

from __future__ import annotations

import pytest
from loguru import logger

from memoranda.errors import DatabaseDamaged, DatabaseLost, DatabaseProblem
from memoranda.files.clock import SystemClock
from memoranda.services.reading import read_note
from memoranda.sync.coordinator import SyncCoordinator


class Recorder:
    """Takes note of the checks that are asked for."""

    def __init__(self) -> None:
        self.asked: list[bool] = []

    def begin(self, *, is_suspected: bool = False) -> None:
        self.asked.append(is_suspected)


@pytest.fixture
def checks():
    return Recorder()


async def test_a_server_checks_its_index_after_a_sync(index, checks):
    coordinator = SyncCoordinator("main", index.sync, checks, SystemClock())
    coordinator.start()
    await coordinator.sync_now()
    await coordinator.sync_now()
    assert checks.asked == [False, False]
    await coordinator.stop()


async def test_a_command_does_not_check_it(index, checks):
    coordinator = SyncCoordinator("main", index.sync, checks, SystemClock())
    await coordinator.sync_now()
    assert checks.asked == []


async def test_a_fault_makes_it_suspected(make_index, checks):
    def faulty(data, state):
        if b"poison" in data:
            raise ValueError("poisoned")
        return read_note(data, state)

    index = make_index(read=faulty)
    index.write("a.md", "poison\n")
    coordinator = SyncCoordinator("main", index.sync, checks, SystemClock())
    coordinator.start()
    await coordinator.sync_now()
    assert checks.asked == [True]
    await coordinator.stop()


async def test_so_does_an_exception_that_nobody_foresaw(index, checks, monkeypatch):
    async def fail(**how):
        raise ZeroDivisionError

    monkeypatch.setattr(index.sync, "full_sync", fail)
    coordinator = SyncCoordinator("main", index.sync, checks, SystemClock())
    coordinator.start()
    with pytest.raises(ZeroDivisionError):
        await coordinator.sync_now()
    assert checks.asked == [True]
    await coordinator.stop()


@pytest.mark.parametrize(
    ("error", "level"),
    [(DatabaseLost("it is gone"), "WARNING"), (DatabaseDamaged("malformed"), "ERROR")],
)
async def test_an_index_that_is_opened_anew_is_no_error(index, checks, monkeypatch, error, level):
    async def fail(**how):
        raise error

    monkeypatch.setattr(index.sync, "full_sync", fail)
    coordinator = SyncCoordinator("main", index.sync, checks, SystemClock())
    levels = []
    sink = logger.add(lambda message: levels.append(message.record["level"].name))
    with pytest.raises(DatabaseProblem):
        await coordinator.sync_now()
    logger.remove(sink)
    assert levels == [level]

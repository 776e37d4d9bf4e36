"""A database that goes away and comes back: nothing is lost, nothing is half done, nobody has to be called."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from loguru import logger
from tests.integration.conftest import Index, until
from tests.integration.undo_world import UndoWorld
from tools.postgres_server import Server, why_not

from memoranda.db import postgres_leaders
from memoranda.db.migrate_postgres import bring_up_schema
from memoranda.db.postgres import PostgresDatabase, address_of
from memoranda.db.postgres_leaders import Leadership
from memoranda.db.postgres_locks import PostgresLocks
from memoranda.errors import DatabaseAway, MemorandaError, NotReady
from memoranda.files.clock import SystemClock
from memoranda.files.file_service import checksum
from memoranda.model.live import WatchPlan
from memoranda.model.project import Project
from memoranda.model.sync import SyncPhase
from memoranda.places.postgres import open_in
from memoranda.repositories.store import Tx
from memoranda.services.root_identity import RootCheck
from memoranda.sync import coordinator, leader
from memoranda.sync.shared_lease import SharedLease
from memoranda.sync.sync_service import INDEX_VERSION
from memoranda.workspace import Workspace, assemble

_ALL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'memoranda%'"


# Writing without the locks that all machines share


@pytest.fixture
async def cut_off(index: Index) -> AsyncIterator[UndoWorld]:
    """A folder with some changes, whose index answers, and whose shared locks nobody answers for."""
    index.write("a.md", "# A\n\none\ntwo\n")
    index.write("b.md", "# B\n\nSee [[a]].\n")
    await index.sync.full_sync()
    world = UndoWorld(index)
    world.change = await world.replace("a.md", "two", "2")
    locks = PostgresLocks(address_of("postgresql://127.0.0.1:1/nothing"))
    index.files._path_locks = locks.of_project(1)
    yield world
    locks.close()


WRITES: dict[str, Callable[[UndoWorld], Awaitable[object]]] = {
    "a new note": lambda world: world.index.notes.write(title="N", content="x\n"),
    "another text": lambda world: world.index.notes.write(title="a", content="x\n", overwrite=True),
    "an edit": lambda world: world.replace("a.md", "one", "1"),
    "a deletion": lambda world: world.index.notes.delete("b.md"),
    "a move": lambda world: world.move("a.md", "sub/c.md"),
    "an undo": lambda world: world.undo(world.change),
}


@pytest.mark.parametrize("kind", WRITES)
async def test_nothing_is_written_without_the_locks(cut_off, kind):
    before, changes = cut_off.files(), cut_off.index.history.summary().changes
    with pytest.raises(NotReady, match="cannot be reached") as refusal:
        await WRITES[kind](cut_off)
    assert refusal.value.code == "NOT_READY"
    assert "when the database is back" in refusal.value.hint
    assert cut_off.files() == before
    assert cut_off.index.history.summary().changes == changes
    assert not cut_off.index.history.pending()


# Servers whose database goes away


@dataclass
class Machine:
    """A server on a machine of its own."""

    parts: Workspace
    locks: PostgresLocks
    database: PostgresDatabase

    @property
    def is_leading(self) -> bool:
        lease = self.parts.coordinator._lease
        return lease.is_held and not lease.is_lost() and self.parts.coordinator._leader is not None

    async def known(self, path: str) -> str | None:
        """Which bytes of a file the index has."""
        sql = "SELECT checksum FROM entity WHERE project_id = $1 AND file_path = $2"

        def ask(tx: Tx) -> list[Any]:
            return list(tx.conn.exec_driver_sql(sql, (tx.project_id, path)).all())

        rows = await self.parts.store.read(ask)
        return rows[0][0] if rows else None

    async def has(self, file: Path, within_s: float = 15) -> None:
        """Wait until the index has the file as it is."""
        async with asyncio.timeout(within_s):
            while True:
                with suppress(MemorandaError):
                    if await self.known(file.name) == bytes_of(file):
                        return
                await asyncio.sleep(0.05)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that may be stopped."""
    if reason := why_not():
        pytest.skip(reason)
    server = Server.made()
    server.start()
    database = PostgresDatabase(address_of(server.url("postgres")))
    bring_up_schema(database)
    database.dispose()
    yield server
    server.remove()


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(coordinator, "FOLLOW_S", 0.1)
    monkeypatch.setattr(leader, "LOOK_S", 0.05)
    monkeypatch.setattr(postgres_leaders, "LOOK_S", 0.1)


@asynccontextmanager
async def machines(server: Server, place: Path, count: int = 2) -> AsyncIterator[list[Machine]]:
    """So many servers over one folder; one of them leads and has synced."""
    root = place / "notes"
    root.mkdir()
    (root / "a.md").write_text("first")
    project = Project(place.name, place.name, root)
    made: list[Machine] = []

    def make(number: int) -> Machine:
        address = address_of(server.url("postgres"))
        database, locks = PostgresDatabase(address), PostgresLocks(address)
        index = open_in(database, project, SystemClock())
        leadership = Leadership(locks, index.project_id)
        leadership.watch()
        lease = SharedLease(leadership, "1", INDEX_VERSION)
        home = place / f"machine {number}"
        home.mkdir()
        index = replace(index, lease=lease)
        parts = assemble(project, index, home, SystemClock(), plan=WatchPlan(delay_s=0.05))
        parts.files._path_locks = locks.of_project(index.project_id)
        parts.coordinator._root = RootCheck(parts.store, root, project.name)
        return Machine(parts, locks, database)

    for number in range(count):
        made.append(await asyncio.to_thread(make, number))
        made[-1].parts.coordinator.start()
    try:
        await until(lambda: any(one.is_leading for one in made))
        await until(
            lambda: all(one.parts.coordinator.state.phase is SyncPhase.READY for one in made)
        )
        yield made
    finally:
        for one in made:
            await one.parts.aclose()
        for one in made:
            await asyncio.to_thread(one.locks.close)
            await asyncio.to_thread(one.database.dispose)


@pytest.fixture
def logs() -> Iterator[list[str]]:
    """Every line that is logged at the usual level."""
    lines: list[str] = []
    number = logger.add(
        lambda line: lines.append(str(line)), level="INFO", format="{level} {message}"
    )
    yield lines
    logger.remove(number)


async def test_a_database_that_is_killed_and_started_again(server, tmp_path, logs):
    async with machines(server, tmp_path) as both:
        notes = tmp_path / "notes"
        await both[0].has(notes / "a.md")
        await both[0].parts.notes.write(title="Mine", content="mine")
        logs.clear()
        await asyncio.to_thread(server.stop, signal.SIGKILL)
        try:
            (notes / "b.md").write_text("by hand")
            (notes / "a.md").write_text("second, by hand")
            before = sorted(file.name for file in notes.iterdir())
            for one in both:
                for _ in range(3):
                    with pytest.raises(MemorandaError) as refusal:
                        await one.parts.notes.write(title="New", content="x")
                    assert refusal.value.code == "NOT_READY"
                    assert "when the database is back" in refusal.value.hint
                    await one.parts.coordinator.fresh()
            assert sorted(file.name for file in notes.iterdir()) == before
            await until(lambda: not any(one.is_leading for one in both), within_s=5)
        finally:
            await asyncio.to_thread(server.start)
        await until(lambda: any(one.is_leading for one in both), within_s=10)
        for one in both:
            await one.has(notes / "b.md")
            await one.has(notes / "a.md")
        assert sum(one.is_leading for one in both) == 1
        await both[1].parts.notes.write(title="New", content="x")
        (notes / "c.md").write_text("noticed")
        await both[0].has(notes / "c.md")
    bad = [line for line in logs if line.startswith(("ERROR", "CRITICAL")) or "Traceback" in line]
    assert not bad, bad
    away = [line for line in logs if "cannot be reached" in line]
    assert len(away) <= 4, away  # of each server one for its locks and one for its syncs
    assert sum("answers again" in line for line in logs) == 2
    assert len(logs) < 25, logs


async def test_connections_that_are_cut_in_the_middle_of_writes(server, tmp_path, logs):
    async with machines(server, tmp_path) as both:
        stop = asyncio.Event()

        async def cut() -> None:
            while not stop.is_set():
                await asyncio.sleep(0.2)
                await asyncio.to_thread(ask, server, _ALL)

        async def write(one: Machine, name: str) -> int:
            done = 0
            for number in range(5):
                with suppress(MemorandaError):
                    await one.parts.notes.write(title=name, content=f"{number}", overwrite=True)
                    done += 1
                await asyncio.sleep(0.02)
            return done

        cutting = asyncio.create_task(cut())
        done = await asyncio.gather(*(write(one, f"N{n % 2}") for one in both for n in range(2)))
        stop.set()
        await cutting
        assert any(done)
        notes = tmp_path / "notes"
        await until(lambda: any(one.is_leading for one in both), within_s=10)
        assert not list(notes.glob(".*"))
        assert len(list(notes.glob("*.md"))) == 3
        for file in notes.glob("*.md"):
            for one in both:
                await one.has(file)
    assert not [
        line for line in logs if line.startswith(("ERROR", "CRITICAL")) or "Traceback" in line
    ]


async def test_another_folder_is_not_served(server, tmp_path):
    """It has the project's name, and came to this machine as a copy."""
    async with machines(server, tmp_path, 1) as (one,):
        other = tmp_path / "copy"
        other.mkdir()
        (other / "z.md").write_text("z")
        one.parts.coordinator._root = replace(one.parts.coordinator._root, root=other)
        one.parts.sync.root = other
        with pytest.raises(MemorandaError, match="another folder"):
            await one.parts.coordinator.sync_now()
        assert await one.known("a.md") is not None
        assert await one.known("z.md") is None


def bytes_of(file: Path) -> str:
    """What the index calls them."""
    return checksum(file.read_bytes())


def ask(server: Server, sql: str) -> None:
    """One statement, from outside."""
    import asyncpg

    async def asked() -> None:
        connection = await asyncpg.connect(server.url("postgres"))
        await connection.execute(sql)
        await connection.close()

    asyncio.run(asked())


def test_notes_are_embedded_soon_after(index, logs):
    """However long it was away; of which others tell."""
    for _ in range(20):
        assert index.backfill._failed(DatabaseAway("away"), None) <= 5
    assert index.backfill.error == "away"
    assert not logs

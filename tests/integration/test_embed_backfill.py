"""Notes are embedded in the background: when there is news, by the process that leads, in spite of failures."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest
from loguru import logger
from tests.integration.conftest import Index, until
from tests.integration.embedding_world import CountingProvider, World
from tests.integration.test_following import NoChecks

from memoranda.errors import DiskFull, EmbeddingProblem, RootMissing
from memoranda.files.clock import SystemClock
from memoranda.model.live import WatchMode, WatchPlan
from memoranda.repositories.changes import Mark, change_mark
from memoranda.repositories.store import Tx
from memoranda.sync import coordinator, embed_backfill, leader, refusals
from memoranda.sync.coordinator import SyncCoordinator
from memoranda.sync.embed_backfill import EmbedBackfill
from memoranda.sync.lease import Lease
from memoranda.sync.sync_service import INDEX_VERSION

MakeIndex = Callable[..., Index]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_backfill, "LOOK_S", 0.01)
    monkeypatch.setattr(refusals, "FIRST_RETRY_S", 0.001)
    monkeypatch.setattr(refusals, "LONGEST_RETRY_S", 0.01)
    monkeypatch.setattr(coordinator, "FOLLOW_S", 0.02)
    monkeypatch.setattr(leader, "LOOK_S", 0.02)


@pytest.fixture
def world(index: Index) -> World:
    return World(index)


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    said: list[str] = []
    sink = logger.add(lambda message: said.append(message.record["message"]), level="WARNING")
    yield said
    logger.remove(sink)


@asynccontextmanager
async def running(backfill: EmbedBackfill) -> AsyncIterator[None]:
    task = asyncio.create_task(backfill.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()


async def complete(world: World, notes: int) -> None:
    """Wait until so many notes have their vectors."""
    async with asyncio.timeout(20):
        while (progress := await world.progress()).pending or progress.notes != notes:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def provider(world: World) -> CountingProvider:
    assert world.provider is not None
    return world.provider


async def test_what_is_pending_is_embedded_and_what_comes_later_too(world: World) -> None:
    await world.write("a.md", "One.\n")
    async with running(world.backfill):
        await complete(world, 1)
        await world.write("b.md", "Two.\n")
        await complete(world, 2)
    assert not provider(world).twice


async def test_what_another_process_writes_is_noticed(world: World, make_index: MakeIndex) -> None:
    await world.write("a.md", "One.\n")
    other = make_index()  # another engine, with connections of its own
    async with running(world.backfill):
        await complete(world, 1)
        other.write("b.md", "Two.\n")
        await other.sync.full_sync()
        await complete(world, 2)


async def test_nothing_is_asked_while_nothing_changes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0
    real = world.vectors.pending

    def pending(*given: object) -> object:
        nonlocal looks
        looks += 1
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(world.vectors, "pending", pending)
    await world.write("a.md", "One.\n")
    seen: list[tuple[Mark, int]] = []

    def mark(tx: Tx) -> Mark:
        found = change_mark(tx)
        seen.append((found, looks))
        return found

    monkeypatch.setattr("memoranda.sync.embed_backfill.change_mark", mark)
    async with running(world.backfill):
        await complete(world, 1)
        await until(lambda: len(looks_without_news(seen)) > 30)
        assert not any(looks_without_news(seen))
        before = looks
        world.clock.time += embed_backfill.SURE_S  # but now and then anyway
        await until(lambda: looks > before)


def looks_without_news(seen: Sequence[tuple[Mark, int]]) -> list[int]:
    """How often what is pending was asked for after each mark that was the last one of its connection again.

    `seen`: each mark with how often that had been asked by then. PostgreSQL has another mark now and then
    though nobody changes anything of ours.
    """
    last: dict[int, Mark] = {}
    found = []
    for (mark, looks), (_, then) in pairwise(seen):
        if last.get(mark[0]) == mark:
            found.append(then - looks)
        last[mark[0]] = mark
    return found


async def test_a_provider_that_comes_later_is_used(world: World) -> None:
    late, world.provider = world.provider, None
    await world.write("a.md", "One.\n")
    async with running(world.backfill):
        await asyncio.sleep(0)
        world.provider = late
        await complete(world, 1)


async def test_a_provider_that_fails_first_is_tried_again(
    world: World, warnings: list[str]
) -> None:
    def before(_: Sequence[str]) -> None:
        if provider(world).calls < 8:
            raise EmbeddingProblem("no connection")

    provider(world).before = before
    await world.write("a.md", "One.\n")
    async with running(world.backfill):
        await until(lambda: world.backfill.error == "no connection")
        await complete(world, 1)
        await until(lambda: not world.backfill.error)
    assert warnings == ["Project main: notes are not embedded: no connection"]


async def test_one_that_always_fails_is_asked_at_longer_and_longer_intervals(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "FIRST_RETRY_S", 1.0)
    monkeypatch.setattr(refusals, "LONGEST_RETRY_S", 300.0)
    slept: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await real(0)

    def fail(_: Sequence[str]) -> None:
        raise EmbeddingProblem("no connection")

    provider(world).before = fail
    await world.write("a.md", "One.\n")
    monkeypatch.setattr(asyncio, "sleep", sleep)
    async with running(world.backfill):
        async with asyncio.timeout(20):
            while len(slept) < 12:
                await real(0.001)
    assert slept[:5] == [1, 2, 4, 8, 16]
    assert slept[11] == 300


async def test_a_lasting_failure_waits_for_another_provider(world: World) -> None:
    def fail(_: Sequence[str]) -> None:
        raise EmbeddingProblem("no key", is_lasting=True)

    provider(world).before = fail
    first = provider(world)
    await world.write("a.md", "One.\n")
    async with running(world.backfill):
        await until(lambda: world.backfill.error == "no key")
        await world.write("b.md", "Two.\n")
        world.backfill.wake()
        await asyncio.sleep(0.05)
        assert first.calls == 1
        world.provider = CountingProvider()
        await complete(world, 2)
        await until(lambda: not world.backfill.error)


async def test_an_index_that_fails_is_tried_again(
    world: World, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    real, failures = world.vectors.replace, [ZeroDivisionError(), DiskFull("memory.db")]

    def replace(*given: object) -> None:
        if failures:
            raise failures.pop()
        real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(world.vectors, "replace", replace)
    await world.write("a.md", "One.\n")
    async with running(world.backfill):
        await complete(world, 1)
        await until(lambda: not world.backfill.error)
    assert any("memory.db" in line for line in warnings)
    assert any("ZeroDivisionError" in line for line in warnings)


async def test_what_a_provider_refuses_is_tried_again_by_itself(world: World) -> None:
    world.clock.time = 0.0

    def before(texts: Sequence[str]) -> None:
        if any("Poison" in text for text in texts) and not world.clock.time:
            raise EmbeddingProblem("too long")

    provider(world).before = before
    await world.write("bad.md", "Poison.\n")
    async with running(world.backfill):
        await until(lambda: "too long" in world.backfill.error)
        world.clock.time = embed_backfill.SURE_S / 2
        await until(lambda: "Poison" in "".join(provider(world).made))  # nobody else asks the index
        await complete(world, 1)


class Server:
    """A process that serves the project: a coordinator and what embeds."""

    def __init__(self, index: Index, *, mode: WatchMode = WatchMode.AUTO) -> None:
        self.world = World(index)
        self.provider = provider(self.world)
        self.lease = Lease(index.root.parent / "live", "1", INDEX_VERSION)
        self.coordinator = SyncCoordinator(
            "main",
            index.sync,
            NoChecks(),  # type: ignore[arg-type]
            SystemClock(),
            lease=self.lease,
            plan=WatchPlan(mode, delay_s=0.01),
            backfill=self.world.backfill,
        )


@asynccontextmanager
async def serving(*servers: Server) -> AsyncIterator[None]:
    for server in servers:
        server.coordinator.start()
    try:
        yield
    finally:
        for server in servers:
            await server.coordinator.stop()


async def test_only_the_leader_embeds_and_another_takes_over(make_index: MakeIndex) -> None:
    index = make_index()
    index.write("a.md", "One.\n")
    one, other = Server(index), Server(make_index())
    async with serving(one, other):
        await complete(one.world, 1)
        assert not other.provider.given
        assert (await other.coordinator.embedding()) == (await one.coordinator.embedding())
        await one.coordinator.stop()
        index.write("b.md", "Two.\n")
        await complete(other.world, 2)
    assert not set(one.provider.made) & set(other.provider.made)


@pytest.mark.parametrize("mode", [WatchMode.AUTO, WatchMode.OFF])
async def test_what_a_tool_writes_is_embedded_however_the_folder_is_watched(
    make_index: MakeIndex, mode: WatchMode
) -> None:
    server = Server(make_index(), mode=mode)
    async with serving(server):
        await server.world.write("a.md", "One.\n")
        await complete(server.world, 1)


async def test_a_sync_of_this_process_is_followed_at_once(
    make_index: MakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed_backfill, "LOOK_S", 3600.0)
    index = make_index()
    index.write("a.md", "One.\n")
    server = Server(index)
    async with serving(server):
        await complete(server.world, 1)
        index.write("b.md", "Two.\n")
        await complete(server.world, 2)  # by events
        (index.root / "c.md").write_text("Three.\n")
        await server.coordinator.sync_now()
        await complete(server.world, 3)


async def test_nothing_is_embedded_before_the_first_good_sync(
    make_index: MakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = make_index()
    index.write("a.md", "One.\n")
    await index.sync.full_sync()  # in another life
    server = Server(index)
    calls: list[int] = []
    real = index.sync.full_sync

    async def full_sync(**how: object) -> object:
        calls.append(server.provider.calls)
        if len(calls) < 3:
            raise RootMissing(str(index.root), "it is gone")
        return await real(**how)  # type: ignore[arg-type]

    monkeypatch.setattr(index.sync, "full_sync", full_sync)
    monkeypatch.setattr(leader, "LONGEST_RETRY_S", 0.1)
    async with serving(server):
        await complete(server.world, 1)
    assert calls[:3] == [0, 0, 0]


async def test_embedding_waits_while_a_full_sync_runs(
    make_index: MakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = make_index()
    index.write("a.md", "One.\n")
    server = Server(index, mode=WatchMode.OFF)
    real, go_on, runs = index.sync.full_sync, asyncio.Event(), asyncio.Event()

    async def full_sync(**how: object) -> object:
        runs.set()
        await go_on.wait()
        return await real(**how)  # type: ignore[arg-type]

    known, looks = server.world.vectors.known, threading.Event()

    def look(*given: Any) -> object:
        looks.set()
        return known(*given)

    async with serving(server):
        await complete(server.world, 1)
        # Else it is before removing other vectors that it waits, and does not look.
        await until(lambda: server.world.backfill._embedder._is_tidy)
        monkeypatch.setattr(index.sync, "full_sync", full_sync)
        monkeypatch.setattr(server.world.vectors, "known", look)
        sync = asyncio.create_task(server.coordinator.sync_now())
        await runs.wait()
        calls = server.provider.calls
        index.write("b.md", "Two.\n")
        await real()
        await until(looks.is_set)
        await index.store.read(lambda _: None)
        await index.store.read(lambda _: None)
        assert server.provider.calls == calls
        go_on.set()
        await sync
        await complete(server.world, 2)


async def test_the_others_are_told_why_nothing_is_embedded(make_index: MakeIndex) -> None:
    index = make_index()
    index.write("a.md", "One.\n")
    one, other = Server(index), Server(make_index())

    def fail(_: Sequence[str]) -> None:
        raise EmbeddingProblem("no key", is_lasting=True)

    one.provider.before = fail
    async with serving(one, other):
        async with asyncio.timeout(20):
            while True:
                seen = await other.coordinator.embedding()
                if seen is not None and seen.error:
                    break
                await asyncio.sleep(0.01)
        assert (seen.error, seen.pending, seen.notes) == ("no key", 1, 1)
        assert (await one.coordinator.embedding()) == seen


@pytest.mark.parametrize(
    ("model", "said"),
    [("b", "with another model"), (None, "nothing so far")],
)
async def test_who_waits_for_a_leader_that_embeds_otherwise_is_told(
    make_index: MakeIndex, model: str | None, said: str
) -> None:
    index = make_index()
    index.write("a.md", "One.\n")
    one, other = Server(index), Server(make_index())
    one.world.provider = CountingProvider(model) if model else None
    async with serving(one, other):
        async with asyncio.timeout(20):
            while True:
                seen = await other.coordinator.embedding()
                leader = other.coordinator.leader
                is_known = leader is not None and leader.embedding_space == one.world.backfill.space
                if is_known and seen is not None and seen.notes:
                    break
                await asyncio.sleep(0.01)
        assert (seen.pending, seen.notes) == (1, 1)
        assert seen.error == f"process {os.getpid()} leads the project and embeds {said}"


async def test_an_end_does_not_wait_for_a_provider_that_is_at_work(make_index: MakeIndex) -> None:
    index = make_index()
    index.write("a.md", "One.\n")
    server = Server(index)
    go_on, is_at_work = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def embed_documents(_texts: Sequence[str], /) -> object:
        loop.call_soon(is_at_work.set)
        return await asyncio.to_thread(go_on.wait)

    server.provider.embed_documents = embed_documents  # type: ignore[method-assign,assignment]
    async with serving(server):
        await is_at_work.wait()
        await server.coordinator.stop()
        assert not go_on.is_set()
        go_on.set()


async def test_without_a_provider_there_are_no_figures(make_index: MakeIndex) -> None:
    server = Server(make_index())
    server.world.provider = None
    assert await server.coordinator.embedding() is None

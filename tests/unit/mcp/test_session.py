from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from memoranda.errors import ConfigProblem, NotReady
from memoranda.mcp.session import Session


class Clock:
    def now(self) -> datetime:
        return datetime(2025, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


class Opened:
    """A container without projects."""

    def __init__(self) -> None:
        self.closed = False

    def projects(self) -> tuple[()]:
        return ()

    async def aclose(self) -> None:
        self.closed = True


async def test_the_container_is_opened_once_for_all_calls() -> None:
    opened: list[Opened] = []

    async def open_container() -> Any:
        opened.append(Opened())
        return opened[-1]

    session = Session(open_container, Clock())
    first, second = await asyncio.gather(session.container(), session.container())
    assert first is second is opened[0]
    assert len(opened) == 1
    await session.aclose()
    assert opened[0].closed


async def test_a_call_does_not_wait_for_ever() -> None:
    gate = asyncio.Event()

    async def open_container() -> Any:
        await gate.wait()
        return Opened()

    session = Session(open_container, Clock(), patience_s=0)
    with pytest.raises(NotReady):
        await session.container()
    gate.set()
    await session.start()
    assert isinstance(await session.container(), Opened)
    await session.aclose()


async def test_opening_that_failed_is_tried_again() -> None:
    problems = [ConfigProblem("config.json", "broken")]

    async def open_container() -> Any:
        if problems:
            raise problems.pop()
        return Opened()

    session = Session(open_container, Clock())
    with pytest.raises(ConfigProblem):
        await session.container()
    assert isinstance(await session.container(), Opened)
    await session.aclose()


async def test_closing_while_opening_leaves_nothing_behind() -> None:
    async def open_container() -> Any:
        await asyncio.Event().wait()

    session = Session(open_container, Clock())
    opening = session.start()
    await session.aclose()
    await session.aclose()
    assert opening.cancelled()
    with pytest.raises(NotReady):
        session.start()


@pytest.mark.spec("18")
async def test_a_call_that_was_begun_is_finished_though_nobody_waits_for_it() -> None:
    begun, gate, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def write() -> None:
        begun.set()
        await gate.wait()
        done.set()

    async def open_container() -> Any:
        return Opened()

    session = Session(open_container, Clock())
    caller = asyncio.create_task(session.run(write()))
    await begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    closing = asyncio.create_task(session.aclose())
    gate.set()
    await closing
    assert done.is_set()


async def test_who_closes_second_waits_for_the_first() -> None:
    gate = asyncio.Event()

    class Slow(Opened):
        async def aclose(self) -> None:
            await gate.wait()
            self.closed = True

    slow = Slow()

    async def open_container() -> Any:
        return slow

    session = Session(open_container, Clock())
    await session.container()
    first = asyncio.create_task(session.aclose())
    await asyncio.sleep(0)
    second = asyncio.create_task(session.aclose())
    await asyncio.sleep(0)
    gate.set()
    await second
    assert slow.closed
    await first

"""What was answered lately, for those who come back."""

from __future__ import annotations

import pytest
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCResponse

from memoranda.http.replay import Replay


def message(number: int, text: str = "") -> JSONRPCResponse:
    return JSONRPCResponse(jsonrpc="2.0", id=number, result={"content": [{"text": text}]})


async def replayed(replay: Replay, after: str) -> tuple[str | None, list[int]]:
    sent: list[EventMessage] = []

    async def send(event: EventMessage) -> None:
        sent.append(event)

    stream = await replay.replay_events_after(after, send)
    return stream, [event.message.id for event in sent]


async def test_what_followed_on_the_same_stream_comes_again_in_order() -> None:
    replay = Replay(10_000)
    first = await replay.store_event("a", None)
    for number, stream in enumerate("abab"):
        await replay.store_event(stream, message(number))
    assert await replayed(replay, first) == ("a", [0, 2])
    assert await replayed(replay, "2") == ("a", [2])
    assert await replayed(replay, "5") == ("b", [])


@pytest.mark.parametrize("event", ["0", "6", "-1", "x", "", "１", "9" * 30, "1.0", " 1"])
async def test_an_event_that_is_not_known_gives_nothing(event: str) -> None:
    replay = Replay(10_000)
    for number in range(5):
        await replay.store_event("a", message(number))
    assert await replayed(replay, event) == (None, [])


async def test_the_oldest_go_when_the_texts_take_too_much() -> None:
    replay = Replay(7_000)
    first = await replay.store_event("a", message(1))
    second = await replay.store_event("a", message(2, "x" * 3_000))
    assert await replayed(replay, first) == ("a", [2])
    third = await replay.store_event("a", message(3, "x" * 3_000))
    assert await replayed(replay, first) == (None, [])
    assert await replayed(replay, second) == (None, [])
    assert await replayed(replay, third) == ("a", [])


async def test_events_without_a_text_take_room_too() -> None:
    replay = Replay(5_000)
    events = [await replay.store_event("a", None) for _ in range(10)]
    assert not replay.knows(events[0])
    assert replay.knows(events[-1])

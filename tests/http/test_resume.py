"""Connections that break in the middle of a call: it is carried out once, and its answer can still be had."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client
from tests.http.by_hand import MODERN, Hand, client, events, lose
from tests.http.conftest import Held, Serve, Served

from mcp import ClientSession, MCPError
from memoranda.http import app
from memoranda.http.plan import Limits, ServePlan

WRITE = {"name": "write_note", "arguments": {"title": "Pier", "content": "steel"}}


async def answer_in(stream: httpx2.Response) -> dict[str, Any]:
    """The first message of a stream."""
    async for event in events(stream):
        if event.data:
            return event.message
    raise AssertionError("the stream ended without a message")


async def replayed(hand: Hand, last_event: str) -> list[dict[str, Any]]:
    """The messages that are sent again at once to one who comes back with the number of an event."""
    messages = []
    async with hand.listen(last_event) as stream:
        async for event in events(stream):
            if not event.data:  # from here on it would wait for news
                break
            messages.append(event.message)
    return messages


def lose_all(served: Served) -> None:
    """Every connection breaks."""
    for connection in list(served.uvicorn.server_state.connections):
        connection.transport.abort()


async def test_the_answer_is_there_for_a_client_that_comes_back_after_the_call(
    serving: Serve, held: Held
) -> None:
    async with serving() as served, client(served) as hand:
        request = hand.request("tools/call", **WRITE)
        first = await lose(hand, held, request)
        assert (first.data, first.retry) == ("", "1000")
        held.go.set()
        await held.done.acquire()
        await hand.ask("ping")  # answered behind the call
        async with hand.listen(first.id) as rest:
            assert rest.status_code == 200
            answer = await answer_in(rest)
        assert answer["id"] == request["json"]["id"]
        assert "Created Pier" in answer["result"]["content"][0]["text"]
        assert held.count == 1
        history = (await served.session.workspace(None)).history
        assert [change.author.client for change in history.changes()] == ["by-hand"]


async def test_the_answer_comes_to_a_client_that_is_back_before_it(
    serving: Serve, held: Held
) -> None:
    async with serving() as served, client(served) as hand:
        first = await lose(hand, held, hand.request("tools/call", **WRITE))
        async with hand.listen(first.id) as rest:
            told = events(rest)
            again = await anext(told)
            assert again.data == ""
            assert int(again.id) > int(first.id)
            held.go.set()
            assert "Created Pier" in str((await anext(told)).message["result"])
        assert held.count == 1


async def test_a_client_of_the_sdk_that_loses_its_connections_gets_its_answer(
    serving: Serve, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_RETRY_MS", 1)
    async with (
        serving() as served,
        streamable_http_client(served.url) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        await session.initialize()
        writing = asyncio.create_task(session.call_tool(WRITE["name"], WRITE["arguments"]))
        await held.begun.wait()
        lose_all(served)
        held.go.set()
        assert "Created Pier" in (await writing).content[0].text
        assert held.count == 1
        history = (await served.session.workspace(None)).history
        assert len(history.changes()) == 1


async def test_who_comes_back_is_told_what_was_meant_for_it_and_nothing_of_others(
    serving: Serve, held: Held
) -> None:
    async with serving() as served, client(served) as one, client(served) as two:
        requests = [
            hand.request("tools/call", name="write_note", arguments={"title": title, "content": ""})
            for hand, title in ((one, "Pier"), (two, "Quay"), (one, "Mole"))
        ]
        lost = [
            await lose(hand, held, request)
            for hand, request in zip((one, two, one), requests, strict=True)
        ]
        held.go.set()
        for _ in requests:
            await held.done.acquire()
        for hand in (one, two):
            await hand.ask("ping")  # answered behind the calls
        for hand, first, request, title in zip(
            (one, two, one), lost, requests, ("Pier", "Quay", "Mole"), strict=True
        ):
            (message,) = await replayed(hand, first.id)
            assert message["id"] == request["json"]["id"]
            assert f"Created {title}" in str(message["result"])
        assert await replayed(two, lost[0].id) == []
        assert await replayed(one, lost[1].id) == []


async def test_what_a_client_without_a_session_began_is_finished_when_it_goes_away(
    serving: Serve, held: Held
) -> None:
    async with serving() as served, served.web() as web:
        hand = Hand(web, served.plan.path, MODERN)
        writing = asyncio.create_task(hand.call(WRITE["name"], **WRITE["arguments"]))
        await held.begun.wait()
        writing.cancel()
        await asyncio.wait({writing})
        assert (await web.get("/health")).status_code == 200  # the server has seen it go
        held.go.set()
        await held.done.acquire()
        assert (served.root / "pier.md").is_file()


async def test_what_is_not_kept_any_more_is_not_waited_for(
    serving: Serve, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_RETRY_MS", 1)
    plan = ServePlan(limits=Limits(replay_bytes=1))
    async with serving(plan) as served, client(served) as hand:
        async with hand.web.stream(
            "GET", served.url, headers=hand.headers | {"last-event-id": ""}
        ) as stream:
            assert stream.status_code == 200  # it asks for nothing again
        for never in ("1", "99", "0", "-1", "x", "9" * 30):
            answer = await hand.web.get(served.url, headers=hand.headers | {"last-event-id": never})
            assert answer.status_code == 404
            assert answer.json()["error"]["data"]["code"] == "NO_SUCH_EVENT"
        async with (
            streamable_http_client(served.url) as streams,
            ClientSession(*streams[:2]) as session,
        ):
            await session.initialize()
            writing = asyncio.create_task(session.call_tool(WRITE["name"], WRITE["arguments"]))
            await held.begun.wait()
            lose_all(served)
            with pytest.raises(MCPError, match="reconnection attempts were exhausted"):
                await writing
            held.go.set()
            await held.done.acquire()
            assert (
                "steel" in (await session.call_tool("read_note", {"path": "pier"})).content[0].text
            )

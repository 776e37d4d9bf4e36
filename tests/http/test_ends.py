"""Sessions that end, and the end of the server: what is under way is finished, and nobody waits in vain."""

from __future__ import annotations

import asyncio
import signal

import httpx2
import pytest
import uvicorn
from mcp.client.streamable_http import streamable_http_client
from tests.http.by_hand import client, events, lose
from tests.http.conftest import Held, Serve, initialize

from mcp import ClientSession, MCPError
from memoranda.http.plan import Limits, ServePlan
from memoranda.http.server import HttpServer

WRITE = {"name": "write_note", "arguments": {"title": "Pier", "content": "steel"}}


async def test_a_session_that_its_client_has_ended_is_unknown_and_a_new_one_can_be_begun(
    serving: Serve,
) -> None:
    async with serving() as served, client(served) as hand:
        ended = await hand.web.delete(served.url, headers=hand.headers)
        assert ended.status_code == 200
        for method in ("GET", "POST", "DELETE"):
            request = hand.request("tools/list") if method == "POST" else {"headers": hand.headers}
            answer = await hand.web.request(method, served.url, **request)
            assert (method, answer.status_code) == (method, 404)
        old = hand.headers["mcp-session-id"]
        await hand.greet()
        assert hand.headers["mcp-session-id"] != old
        assert not (await hand.call("list_directory")).result["isError"]


async def test_a_session_of_another_run_of_the_server_is_unknown(serving: Serve) -> None:
    async with serving() as served, client(served) as hand:
        headers = hand.headers | {"last-event-id": "1"}
        request = hand.request("tools/list")
    async with serving() as served, served.web() as web:
        assert (await web.post(served.url, **request)).status_code == 404
        assert (await web.get(served.url, headers=headers)).status_code == 404
        assert (await web.delete(served.url, headers=headers)).status_code == 404


async def test_a_client_of_the_sdk_whose_session_is_gone_is_told_so(serving: Serve) -> None:
    async with (
        serving() as served,
        served.web() as web,
        streamable_http_client(served.url, http_client=web) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        seen: set[str] = set()

        async def look(request: httpx2.Request) -> None:
            seen.add(request.headers.get("mcp-session-id", ""))

        web.event_hooks["request"].append(look)
        await session.initialize()
        await session.list_tools()
        (mine,) = seen - {""}
        assert (await web.delete(served.url, headers={"mcp-session-id": mine})).status_code == 200
        with pytest.raises(MCPError, match="Session not found"):
            await session.list_tools()


async def test_the_session_of_a_client_that_has_vanished_ends(serving: Serve) -> None:
    limits = Limits(idle_s=0.05, requests_per_s=0)
    async with serving(ServePlan(limits=limits)) as served, client(served) as hand:
        async with hand.listen() as stream:  # while it listens it has not vanished
            assert stream.status_code == 200
            assert not (await hand.call("list_directory")).result["isError"]
        sessions = served.uvicorn.config.app._endpoint._sessions()._server_instances
        assert list(sessions) == [hand.headers["mcp-session-id"]]
        async with asyncio.timeout(20):
            while sessions:
                assert (await hand.web.get("/health")).status_code == 200
        answer = await hand.web.post(served.url, **hand.request("tools/list"))
        assert answer.status_code == 404


async def test_streams_that_clients_listen_to_end_at_once_with_the_server(serving: Serve) -> None:
    async with serving() as served, client(served) as hand, hand.listen() as stream:
        served.uvicorn.should_exit = True
        assert [event async for event in events(stream)] == []
        with pytest.raises(httpx2.ConnectError):
            async with served.web() as web:
                await web.get("/health")


async def test_a_call_under_way_is_finished_when_the_server_ends(
    serving: Serve, held: Held
) -> None:
    async with serving() as served, client(served) as hand:
        async with hand.listen() as stream:
            writing = asyncio.create_task(hand.call(WRITE["name"], **WRITE["arguments"]))
            await held.begun.wait()
            served.uvicorn.should_exit = True
            assert [event async for event in events(stream)] == []
        held.go.set()
        assert "Created Pier" in (await writing).text
    assert (served.root / "pier.md").is_file()


async def test_a_call_whose_client_is_gone_is_finished_when_the_server_ends(
    serving: Serve, held: Held
) -> None:
    async with serving() as served, client(served) as hand:
        await lose(hand, held, hand.request("tools/call", **WRITE))
        served.uvicorn.should_exit = True
        held.go.set()
    assert (served.root / "pier.md").is_file()


async def test_what_is_asked_of_a_server_that_ends_is_refused(serving: Serve) -> None:
    async with serving() as served, client(served) as hand:
        served.uvicorn._end()
        for request in (hand.request("tools/list"), {"json": initialize()}):
            answer = await hand.web.post(served.url, **request)
            assert (answer.status_code, answer.headers["connection"]) == (503, "close")
            assert answer.json()["error"]["data"]["code"] == "ENDING"
        assert (await hand.web.get("/health")).status_code == 200


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_server_and_a_second_one_at_once_unless_the_terminal_was_closed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = signal_of(name)
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.SIG_DFL)
    server = HttpServer(uvicorn.Config(lambda: None), begin=lambda: None, end=lambda: None)
    with server.capture_signals():
        signal.raise_signal(number)
        assert (server.should_exit, server.force_exit) == (True, False)
        signal.raise_signal(number)
        assert (server.should_exit, server.force_exit) == (True, name != "SIGHUP")


def test_a_closed_terminal_ends_nothing_when_that_was_switched_off() -> None:
    number = signal_of("SIGHUP")
    before = signal.signal(number, signal.SIG_IGN)
    try:
        server = HttpServer(uvicorn.Config(lambda: None), begin=lambda: None, end=lambda: None)
        with server.capture_signals():
            signal.raise_signal(number)
        assert not server.should_exit
    finally:
        signal.signal(number, before)


def signal_of(name: str) -> int:
    number = getattr(signal, name, None)
    if number is None:
        pytest.skip("this system has no such signal")
    return int(number)

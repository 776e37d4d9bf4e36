"""Clients that break the protocol, and clients that reach for what is another's."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.http.attacks import (
    SECRET,
    answer_to,
    assert_quiet,
    assert_serves,
    connected,
    head,
    logged,
    post,
)
from tests.http.by_hand import MODERN, Hand, reply_of
from tests.http.conftest import TOKEN, Held, Serve, Served, initialize

from memoranda.http.plan import Limits, ServePlan

NEWEST = "2025-11-25"
FREE = Limits(requests_per_s=0)
CALL = json.dumps(initialize()).encode()


def message(method: str, number: object = None, **params: Any) -> bytes:
    value: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(value if number is None else value | {"id": number}).encode()


def of(hand: Hand) -> str:
    return f"mcp-session-id: {hand.headers['mcp-session-id']}"


def sessions(served: Served) -> set[str]:
    manager = served.uvicorn.config.app._endpoint._sessions()
    assert manager is not None
    return set(manager._server_instances)


async def test_the_session_of_another_cannot_be_used_without_the_token(serving: Serve) -> None:
    async with serving(ServePlan(token=TOKEN, limits=FREE)) as served, served.web() as web:
        hand = Hand(web, "/mcp", NEWEST)
        await hand.greet()
        for method in ("POST", "GET", "DELETE"):
            for wrong in ("authorization: Bearer x", "authorization:"):
                asked = head(served, method, None, of(hand), wrong, "content-length: 0")
                assert (await answer_to(served, asked)).status == 401
        assert (await hand.ask("ping")).status == 200


async def test_a_client_cannot_choose_its_session(serving: Serve, tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(limits=FREE)) as served:
            ids = (SECRET, "0" * 32, "../..", "a" * 20_000, "*", "None", f"{SECRET}\x1b[2J")
            for chosen in ids:
                answer = await answer_to(served, post(served, CALL, f"mcp-session-id: {chosen}"))
                assert answer.status == 404
                assert SECRET.encode() not in answer.body
            assert sessions(served) == set()
            # In other places it does not count.
            asked = message("initialize", 1, sessionId=SECRET, **initialize()["params"])
            answer = await answer_to(
                served, post(served, asked, f"cookie: mcp-session-id={SECRET}")
            )
            assert answer.headers["mcp-session-id"] != SECRET
            assert sessions(served) == {answer.headers["mcp-session-id"]}
            assert_quiet(log, served)


async def test_sessions_have_names_that_cannot_be_guessed(serving: Serve) -> None:
    async with serving(ServePlan(limits=FREE)) as served:
        ids = {
            (await answer_to(served, post(served, CALL))).headers["mcp-session-id"]
            for _ in range(20)
        }
    assert len(ids) == 20
    assert all(len(each) == 32 for each in ids)
    assert all(len({each[at] for each in ids}) > 1 for at in range(12))  # nothing counts up


async def test_the_calls_of_another_session_cannot_be_cancelled_or_answered(
    serving: Serve, held: Held
) -> None:
    async with serving(ServePlan(limits=FREE)) as served, served.web() as web:
        victim, attacker = Hand(web, "/mcp", NEWEST), Hand(web, "/mcp", NEWEST)
        await victim.greet()
        await attacker.greet()
        calling = asyncio.ensure_future(victim.call("write_note", title="Pier", content="steel"))
        await held.begun.wait()
        for number in (1, 2, 3, "2", None):
            for data in (
                message("notifications/cancelled", requestId=number, reason="x"),
                json.dumps({"jsonrpc": "2.0", "id": number, "result": {}}).encode(),
                message("notifications/progress", progressToken=number, progress=1),
            ):
                answer = await answer_to(served, post(served, data, of(attacker)))
                assert answer.status in {202, 400}  # an id may not be null
        stateless = message("notifications/cancelled", requestId=2)
        asked = post(served, stateless, f"mcp-protocol-version: {MODERN}")
        assert (await answer_to(served, asked)).status == 202
        held.go.set()
        answer = await calling
        assert "Pier" in answer.text
        assert answer.result["isError"] is False


# The SDK forgets the streams of those whose id is taken by another.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_one_id_for_many_requests_harms_only_its_session(
    serving: Serve, tmp_path: Path
) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(limits=FREE)) as served, served.web() as web:
            hand, other = Hand(web, "/mcp", NEWEST), Hand(web, "/mcp", NEWEST)
            await hand.greet()
            await other.greet()
            async with contextlib.AsyncExitStack() as lines:
                for number in (1, 1, 1, "1", "_GET_stream", "_GET_stream"):
                    line = await lines.enter_async_context(connected(served))
                    await line.send(post(served, message("tools/list", number), of(hand)))
                assert (await other.ask("tools/list")).status == 200
                assert (await hand.ask("ping")).status == 200
            assert (await other.call("list_memory_projects")).status == 200
            await assert_serves(served)
            assert_quiet(log, served)


UNASKED = {
    "a batch": (b"[" + message("tools/list", 2) + b"]", 400),
    "an empty batch": (b"[]", 400),
    "a batch of notices": (b"[" + message("notifications/initialized") + b"]", 400),
    "an answer to nothing": (b'{"jsonrpc":"2.0","id":77,"result":{}}', 202),
    "an error to nothing": (b'{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}', 202),
    "an unknown notice": (message("notifications/evil"), 202),
    "a notice of wrong types": (message("notifications/cancelled", requestId=[1], reason=2), 202),
    "another version": (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', 400),
    "no version": (b'{"id":1,"method":"ping"}', 400),
    # The SDK takes them for notices, which nobody answers.
    "an id that is a list": (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', 202),
    "an id that is a fraction": (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 202),
    "params that are a list": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', 400),
    "params that are a text": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', 400),
    "a text": (b'"ping"', 400),
    "null": (b"null", 400),
    "no number": (b"NaN", 400),
}
REFUSED = {
    "an unknown method": message("evil/method", 5),
    "a method of the inside": message("__class__", 5),
    "a method of clients": message("sampling/createMessage", 5, messages=[]),
    "no tool": message("tools/call", 5, name="evil", arguments={}),
    "a tool that is a list": message("tools/call", 5, name=[1]),
    "arguments that are a text": message("tools/call", 5, name="read_note", arguments="x"),
    "arguments that are a list": message("tools/call", 5, name="read_note", arguments=[1]),
    "no params": b'{"jsonrpc":"2.0","id":5,"method":"tools/call"}',
    "a resource elsewhere": message("resources/read", 5, uri="file:///etc/passwd"),
    "no resource": message("resources/read", 5, uri="\x00"),
    "no prompt": message("prompts/get", 5, name="../evil"),
    "no number": b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_note",'
    b'"arguments":{"identifier":NaN}}}',
    "a number without end": message(
        "tools/call", 5, name="list_directory", arguments={"depth": 10**400}
    ),
}


async def test_what_is_no_request_of_the_protocol_is_refused(
    serving: Serve, tmp_path: Path
) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(limits=FREE)) as served, served.web() as web:
            hand = Hand(web, "/mcp", NEWEST)
            await hand.greet()
            version = f"mcp-protocol-version: {NEWEST}"
            for name, (data, status) in UNASKED.items():
                answer = await answer_to(served, post(served, data, of(hand), version))
                assert (name, answer.status) == (name, status)
            for name, data in REFUSED.items():
                answer = await web.post("/mcp", content=data, headers=hand.headers)
                told = reply_of(answer).message if answer.status_code == 200 else {"error": 1}
                is_error = "error" in told or told["result"].get("isError") is True
                assert (name, is_error, answer.status_code < 500) == (name, True, True)
            assert (await hand.ask("ping")).status == 200
            await assert_serves(served)
            assert_quiet(log, served)


async def test_a_flood_of_notices_does_not_hold_up_the_session(
    serving: Serve, tmp_path: Path
) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(limits=FREE)) as served, served.web() as web:
            hand = Hand(web, "/mcp", NEWEST)
            await hand.greet()
            notices = (
                message("notifications/initialized"),
                message("notifications/roots/list_changed"),
                message("notifications/cancelled", requestId=SECRET, reason=SECRET),
                message("notifications/evil", text=SECRET),
            )
            for data in notices * 25:
                answer = await web.post("/mcp", content=data, headers=hand.headers)
                assert answer.status_code == 202
            assert (await hand.ask("tools/list")).status == 200
            await assert_serves(served)
            assert_quiet(log, served)


async def test_a_session_that_has_ended_is_unknown_to_all(serving: Serve, tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(limits=FREE)) as served, served.web() as web:
            hand = Hand(web, "/mcp", NEWEST)
            await hand.greet()
            async with hand.listen() as stream:
                assert stream.status_code == 200
                assert (await answer_to(served, head(served, "GET", None, of(hand)))).status == 409
                ended = await answer_to(served, head(served, "DELETE", None, of(hand)))
                assert ended.status == 200
                await stream.aread()  # it ends
            for asked in (
                head(served, "DELETE", None, of(hand)),
                head(served, "GET", None, of(hand)),
                head(served, "GET", None, of(hand), "last-event-id: 1"),
                post(served, message("ping", 3), of(hand)),
                post(served, message("notifications/initialized"), of(hand)),
                post(served, CALL, of(hand)),
            ):
                assert (await answer_to(served, asked)).status == 404
            assert sessions(served) == set()
            await assert_serves(served)
            assert_quiet(log, served)
            assert hand.headers["mcp-session-id"] not in log.read_text("utf-8")


async def test_events_that_are_none_are_not_waited_for(serving: Serve) -> None:
    async with serving(ServePlan(limits=FREE)) as served, served.web() as web:
        hand = Hand(web, "/mcp", NEWEST)
        await hand.greet()
        for event in (
            "0",
            "-1",
            "1e3",
            "999999999999999999999999",
            "x",
            "\u00b2",
            "../1",
            "1" * 9000,
        ):
            line = f"last-event-id: {event}".encode("latin-1")
            answer = await answer_to(served, head(served, "GET", None, of(hand), line))
            assert (event, answer.status) == (event, 404)
        assert (await hand.ask("ping")).status == 200


async def test_other_methods_are_refused(serving: Serve) -> None:
    async with serving(ServePlan(limits=FREE)) as served:
        for method in ("PUT", "PATCH", "TRACE", "OPTIONS", "PROPFIND", "post", "EVIL"):
            asked = head(served, method, None, f"x-secret: {SECRET}")
            answer = await answer_to(served, asked)
            assert (method, answer.status) == (method, 405)
            assert SECRET.encode() not in answer.body

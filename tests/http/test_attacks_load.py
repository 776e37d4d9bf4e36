"""Too many connections, sessions, requests and lines of log: a bounded price, and the others are served on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections import Counter
from pathlib import Path

import pytest
from tests.http.attacks import (
    SECRET,
    answer_to,
    assert_quiet,
    assert_serves,
    connected,
    head,
    logged,
    open_lines,
    post,
    sessions,
    until,
)
from tests.http.by_hand import MODERN, Hand
from tests.http.conftest import TOKEN, Held, Serve, initialize

from memoranda.http.answers import NO_TOKEN
from memoranda.http.connections import most_connections
from memoranda.http.plan import Limits, ServePlan
from memoranda.http.refusals import RefusalLog

CALL = json.dumps(initialize()).encode()
FREE = Limits(head_s=60, requests_per_s=0)


async def test_no_more_connections_than_allowed(serving: Serve) -> None:
    limits = Limits(connections=3, requests_per_s=0)
    async with serving(ServePlan(limits=limits)) as served, contextlib.AsyncExitStack() as open_:
        held = [await open_.enter_async_context(connected(served)) for _ in range(3)]
        await until(lambda: open_lines(served) == 3)
        for _ in range(20):
            assert (await answer_to(served, head(served, "GET", "/health"))).status == 503
        await held[0].send(head(served, "GET", "/health"))  # who is there is served
        assert (await held[0].answer()).status == 200
        for line in held:
            line.writer.close()
        await until(lambda: not open_lines(served))
        await assert_serves(served)


async def test_no_more_sessions_than_allowed(serving: Serve, tmp_path: Path) -> None:
    plan = ServePlan(limits=Limits(sessions=2, requests_per_s=0))
    with logged(tmp_path) as log:
        async with serving(plan) as served, served.web() as web:
            first, second, third = (Hand(web, "/mcp", "2025-11-25") for _ in range(3))
            await first.greet()
            await second.greet()
            async with second.listen():
                async with first.listen():  # both are in use
                    for _ in range(30):
                        assert (await answer_to(served, post(served, CALL))).status == 503
                    assert (await first.ask("tools/list")).status == 200
                    assert (await second.call("list_memory_projects")).status == 200
                    await assert_serves(served)  # without a session
                assert (await web.delete("/mcp", headers=first.headers)).status_code == 200
                await third.greet()
                assert (await third.ask("tools/list")).status == 200
                for _ in range(30):  # who opens many takes the place of the idle ones alone
                    assert (await answer_to(served, post(served, CALL))).status == 200
                await until(lambda: len(sessions(served)) <= 2)
                assert (await second.ask("ping")).status == 200
            assert_quiet(log, served)


async def test_requests_that_open_no_session_leave_none(serving: Serve, tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(limits=Limits(sessions=2, requests_per_s=0))) as served:
            found: Counter[int] = Counter()
            for number in range(30):
                unknown = f"mcp-session-id: {SECRET}-{number}"
                for asked in (
                    post(served, CALL, unknown),
                    head(served, "GET", None, unknown),
                    head(served, "DELETE", None, unknown),
                    post(served, b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'),
                    post(served, b"[]"),
                ):
                    found[(await answer_to(served, asked)).status] += 1
            assert found == {404: 90, 400: 60}
            assert sessions(served) == {}
            await assert_serves(served)
            assert_quiet(log, served)


async def test_a_flood_is_refused_and_who_has_the_token_is_served(
    serving: Serve, tmp_path: Path
) -> None:
    clock = [0.0]
    plan = ServePlan(token=TOKEN, limits=Limits(requests_per_s=2, burst=20))
    with logged(tmp_path) as log:
        async with serving(plan) as served:
            gate = served.uvicorn.config.app._outer
            gate._now_s = lambda: clock[0]
            lines = (
                "authorization: Bearer x",
                "x-forwarded-for: 10.9.8.7",
                "forwarded: for=10.9.8.7",
            )
            flood = head(served, "POST", None, *lines, "content-length: 0")
            async with connected(served) as line:
                sending = asyncio.ensure_future(line.send(flood * 1000))
                answers = [await line.answer() for _ in range(1000)]
                await sending
            assert Counter(each.status for each in answers) == {401: 20, 429: 980}
            assert {each.headers["retry-after"] for each in answers[20:]} == {"1"}
            await assert_serves(served)  # the same address, with the token
            assert {address for _, address in served.refused} == {"127.0.0.1"}
            clock[0] += 0.5
            found = [(await answer_to(served, flood)).status for _ in range(2)]
            assert found == [401, 429]
            assert_quiet(log, served)


async def test_a_page_that_is_refused_takes_nothing_from_the_clients_beside_it(
    serving: Serve,
) -> None:
    plan = ServePlan(limits=Limits(requests_per_s=0.001, burst=5))
    async with serving(plan) as served:
        page = head(served, "GET", "/health", "origin: https://page.example")
        found = [(await answer_to(served, page)).status for _ in range(10)]
        assert found == [403] * 5 + [429] * 5
        await assert_serves(served)


LARGE = 100_000
HUGE = 900_000
HOSTILE: dict[str, bytes] = {
    "brackets": b"[" * LARGE,
    "pairs": b"[" + b"[]," * LARGE + b"[]]",
    "objects": b'{"a":' * LARGE,
    "deep and closed": b"[" * LARGE + b"]" * LARGE,
    "halves of pairs": b'{"a":"' + b"\\ud800" * LARGE + b'"}',
    "quotes that do not end": b"[" * 200 + b'"\\' * (HUGE // 2),
    "strings that do not end": b"[" * 200 + b'"' + b"\\" * HUGE,
    "lines in strings": b"[" * 200 + b'"\\\n' * (HUGE // 3),
    "a number": b'{"jsonrpc":"2.0","method":"x","id":' + b"9" * HUGE + b"}",
    "an exponent": b'{"jsonrpc":"2.0","method":"x","id":1e999999999}',
    "many keys": b"{" + b",".join(b'"%d":1' % each for each in range(LARGE // 5)) + b"}",
    "one key": b"{" + b",".join([b'"a":1'] * LARGE) + b"}",
    "no UTF-8": b'{"jsonrpc":"2.0","method":"\xff\xfe","id":1}' * 10,
    "zeros": bytes(HUGE),
    "nothing": b"",
    "a batch": b"[" + CALL + b"]",
}


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
async def test_a_hostile_body_is_refused(serving: Serve, tmp_path: Path, version: str) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(limits=FREE)) as served:
            for name, body in HOSTILE.items():
                asked = post(served, body, f"mcp-protocol-version: {version}")
                answer = await answer_to(served, asked)
                assert (name, answer.status) == (name, 400)
                assert len(answer.body) < 10_000
            assert sessions(served) == {}
            await assert_serves(served)
            assert_quiet(log, served)


async def test_a_call_that_takes_too_long_is_answered_and_what_it_writes_is_written(
    serving: Serve, held: Held
) -> None:
    async with serving(ServePlan(limits=Limits(call_s=0.1))) as served, served.web() as web:
        hand = Hand(web, "/mcp", "2025-11-25")
        await hand.greet()
        answer = await hand.call("write_note", title="Pier", content="steel")
        assert held.begun.is_set()
        assert answer.status == 200
        assert answer.result["isError"] is True
        assert "NOT_READY" in answer.text
        assert not list(served.root.glob("*.md"))
        held.go.set()
        await until(lambda: list(served.root.glob("*.md")))
        assert (await hand.ask("ping")).status == 200


def test_connections_leave_files_to_the_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    for files, most in (
        (resource.RLIM_INFINITY, 500),
        (65_536, 500),
        (1024, 448),
        (256, 64),
        (20, 8),
    ):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert (files, most_connections(500)) == (files, most)
    assert most_connections(3) == 3


async def test_answers_are_sent_at_once(serving: Serve) -> None:
    """Not when the client has acknowledged the headers, which takes 40 ms."""
    async with serving(ServePlan(limits=FREE)) as served, connected(served) as line:
        await line.send(head(served, "GET", "/health"))
        assert (await line.answer()).status == 200
        (connection,) = served.uvicorn.server_state.connections
        sent_at = connection.transport.get_extra_info("socket")
        assert sent_at.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_many_addresses_cannot_fill_the_log(tmp_path: Path) -> None:
    clock = [0.0]
    with logged(tmp_path) as log:
        tell = RefusalLog(now_s=lambda: clock[0])
        for number in range(3000):
            tell(NO_TOKEN, f"2001:db8:0:{number:x}::1")
            tell(NO_TOKEN, f"127.0.{number >> 8}.{number & 255}")
        assert log.read_text("utf-8").count("\n") == 20
        assert len(tell._said) == 1000
        clock[0] = 60.0
        tell(NO_TOKEN, "10.0.0.1")
        last = log.read_text("utf-8").splitlines()[20:]
    assert [line.split(": ", 1)[1] for line in last] == [
        "Refused 2,981 more requests, from many clients",
        "Refused a request from 10.0.0.1: The token is missing (401)",
    ]

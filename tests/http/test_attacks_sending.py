"""Requests that are too large, too slow, two in one, or no HTTP: each ends, and the others are served on."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
from pathlib import Path

import pytest
from fastmcp.server.http import StreamableHTTPASGIApp
from starlette.types import Send
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
from tests.http.conftest import TOKEN, Serve, initialize
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from memoranda.http import gate
from memoranda.http.connections import guarded_protocol
from memoranda.http.plan import Limits, ServePlan

CALL = json.dumps(initialize()).encode()
QUICK = Limits(head_s=0.15, body_s=0.15, requests_per_s=0)
FREE = Limits(head_s=60, requests_per_s=0)


async def test_a_body_that_is_too_large_is_refused(serving: Serve, tmp_path: Path) -> None:
    plan = ServePlan(limits=Limits(body_bytes=10_000, requests_per_s=0))
    spaces = CALL + b" " * (10_000 - len(CALL))
    chunk = b"3e8\r\n" + b" " * 1000 + b"\r\n"
    with logged(tmp_path) as log:
        async with serving(plan) as served:
            chunked = head(served, "POST", None, "transfer-encoding: chunked")
            asked = {
                "all that may be": post(served, spaces),
                "declared": head(served, "POST", None, "content-length: 10001"),
                "declared and sent": post(served, spaces + b" "),
                "declared beyond all numbers": head(
                    served, "POST", None, f"content-length: {'9' * 20}"
                ),
                "in pieces": chunked + chunk * 11,
                "in pieces without end": chunked + chunk * 200,
                "packed": post(served, gzip.compress(b" " * 5_000_000), "content-encoding: gzip"),
            }
            found = {name: (await answer_to(served, data)).status for name, data in asked.items()}
            await assert_serves(served)
            assert_quiet(log, served)
    assert found.pop("all that may be") == 200
    assert found.pop("packed") == 400  # as it came it is no JSON; it is not unpacked
    assert set(found.values()) == {413}


AMBIGUOUS = {
    "negative": ("content-length: -1",),
    "signed": ("content-length: +5",),
    "other figures": (b"content-length: \xb2",),
    "hexadecimal": ("content-length: 0x10",),
    "two": ("content-length: 5", "content-length: 6"),
    "two in one": ("content-length: 5, 6",),
    "both": ("content-length: 5", "transfer-encoding: chunked"),
    "both, the other way": ("transfer-encoding: chunked", "content-length: 5"),
    "chunked twice": ("transfer-encoding: chunked, chunked",),
    "not the last": ("transfer-encoding: chunked, identity",),
    "unknown": ("transfer-encoding: xchunked",),
    "packed": ("transfer-encoding: gzip, chunked",),
    "a space before the colon": ("transfer-encoding : chunked",),
    "a bare carriage return": ("x: y\rtransfer-encoding: chunked",),
    "a zero": ("x: \0",),
}


async def test_no_request_hides_in_another(serving: Serve, tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(limits=QUICK)) as served:
            hidden = head(served, "GET", f"/health?{SECRET}")
            for name, lines in AMBIGUOUS.items():
                async with connected(served) as line:
                    await line.send(head(served, "POST", None, *lines) + b"0\r\n\r\n" + hidden)
                    told = await line.rest()  # the connection ends
                assert (name, told[:13], told.count(b"HTTP/1.1 ")) == (name, b"HTTP/1.1 400 ", 1)
            await assert_serves(served)
            assert_quiet(log, served)


async def test_what_follows_a_body_is_a_request_of_its_own(serving: Serve) -> None:
    async with serving(ServePlan(limits=QUICK)) as served, connected(served) as line:
        short = head(served, "POST", None, "content-length: 5")
        foreign = head(served, "GET", "/health", host="evil.example")
        await line.send(short + b"[1,2]" + foreign + b"garbage\r\n\r\n")
        assert [(await line.answer()).status for _ in range(3)] == [400, 421, 400]
        assert await line.rest() == b""


NO_HTTP = {
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500), 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 421),
    "HTTP/0.9": (b"GET /mcp\r\n\r\n", 400),
    "SSH": (b"SSH-2.0-OpenSSH_9.9\r\n", 408),
    "zeros": (bytes(1000) + b"\r\n\r\n", 400),
    "all bytes": (bytes(range(256)) * 10 + b"\r\n\r\n", 400),
    "empty lines": (b"\r\n" * 1000, 400),
    "a long line": (b"GET /" + b"a" * 200_000, 400),
    "long headers": (b"GET / HTTP/1.1\r\nhost: localhost\r\n" + b"a:\r\n" * 25_000 + b"\r\n", 400),
    "a folded line": (b"GET / HTTP/1.1\r\n folded: x\r\n\r\n", 400),
    "a header without name": (b"GET / HTTP/1.1\r\n: x\r\n\r\n", 400),
}


async def test_what_is_no_http_is_answered_once_and_ends(serving: Serve, tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(limits=QUICK)) as served:
            for name, (data, status) in NO_HTTP.items():
                found = (await answer_to(served, data)).status
                assert (name, found) in {
                    (name, status),
                    (name, 0 if len(data) > 65_536 else status),
                }
            await until(lambda: not open_lines(served))
            await assert_serves(served)
            assert_quiet(log, served)


async def test_an_upgrade_is_not_taken(serving: Serve, tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(token=TOKEN, limits=QUICK)) as served:
            for to in ("websocket", "h2c", "TLS/1.3"):
                lines = ("connection: upgrade", f"upgrade: {to}", "authorization: x")
                asked = head(served, "GET", None, *lines, "sec-websocket-version: 13")
                assert (await answer_to(served, asked)).status == 401
            await assert_serves(served)
            assert_quiet(log, served)


async def test_who_is_slow_to_ask_is_let_go(serving: Serve, tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(limits=QUICK)) as served:
            async with connected(served) as line:
                assert await line.rest() == b""
            async with connected(served) as line:
                await line.send(head(served)[:-1])
                assert (await line.rest()).startswith(b"HTTP/1.1 408 ")
            async with connected(served) as line:  # a byte now and then
                reading = asyncio.ensure_future(line.rest())
                for byte in head(served, "POST", None, *("x: y",) * 100):
                    await line.send(bytes([byte]))
                    if (await asyncio.wait({reading}, timeout=0.02))[0]:
                        break
                assert (await reading).startswith(b"HTTP/1.1 408 ")
            async with connected(served) as line:  # the second request of a connection
                await line.send(head(served, "GET", "/health") + b"G")
                assert (await line.answer()).status == 200
                assert (await line.rest()).startswith(b"HTTP/1.1 408 ")
            for start in (
                post(served, CALL)[:-1],
                head(served, "POST", None, "transfer-encoding: chunked") + b"5\r\n[1,",
            ):
                async with connected(served) as line:
                    await line.send(start)
                    assert (await line.rest()).startswith(b"HTTP/1.1 408 ")
            await until(lambda: not open_lines(served))
            await assert_serves(served)
            assert_quiet(log, served)


async def test_what_breaks_off_before_its_end_is_not_carried_out(serving: Serve) -> None:
    async with serving(ServePlan(limits=FREE)) as served:
        async with connected(served) as line:
            start = head(served, "POST", None, "transfer-encoding: chunked")
            await line.send(start + b"%x\r\n%b\r\n" % (len(CALL), CALL))
            await until(lambda: served.uvicorn.server_state.tasks)
        await until(lambda: not served.uvicorn.server_state.tasks)
        assert sessions(served) == {}


@pytest.mark.parametrize("begins", [False, True])
async def test_a_request_that_takes_too_long_is_ended(
    serving: Serve, monkeypatch: pytest.MonkeyPatch, *, begins: bool
) -> None:
    async def wait(_self: object, _scope: object, _receive: object, send: Send) -> None:
        if begins:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.Event().wait()

    monkeypatch.setattr(StreamableHTTPASGIApp, "__call__", wait)
    monkeypatch.setattr(gate, "_GRACE_S", 0)
    async with serving(ServePlan(limits=Limits(call_s=0.05))) as served:
        answer = await answer_to(served, post(served, CALL))
        assert answer.status == (200 if begins else 504)
        assert (b"TOO_LONG" in answer.body) is not begins
        assert [refused.code for refused, _ in served.refused] == ["TOO_LONG"]


async def test_who_was_refused_cannot_go_on_sending(serving: Serve, tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(token=TOKEN, limits=QUICK)) as served:
            refused = ("authorization: Bearer x",)
            sized = head(served, "POST", None, "content-length: 100000", *refused)
            chunked = head(served, "POST", None, "transfer-encoding: chunked", *refused)
            for start, more in (
                (sized, b""),
                (sized, b"x"),
                (chunked, b"1\r\nx\r\n"),
                (chunked, b"1\r\nx\r\n" * 50_000),
                (chunked, b"no chunk\r\n"),
                (sized, b"x" * 100_000 + b"no request\r\n\r\n"),
                (sized.replace(b"100000", b"1"), b"x"),
            ):
                async with connected(served) as line:
                    await line.send(start)
                    assert (await line.answer()).status == 401
                    for _ in range(5):
                        await line.send(more)
                    assert b"401" not in await line.rest()  # it ends
            await until(lambda: not open_lines(served))
            await assert_serves(served)
            assert_quiet(log, served)


async def test_what_nobody_reads_is_not_taken_for_ever(serving: Serve) -> None:
    async with serving(ServePlan(token=TOKEN, limits=FREE)) as served, connected(served) as line:
        lines = ("transfer-encoding: chunked", "authorization: Bearer x")
        await line.send(head(served, "POST", None, *lines))
        assert (await line.answer()).status == 401
        sending = asyncio.ensure_future(line.send(b"1\r\nx\r\n" * 50_000))
        assert await line.rest() == b""  # long before the deadline
        await sending


async def test_who_does_not_read_is_let_go(serving: Serve) -> None:
    async with serving(ServePlan(limits=QUICK)) as served:
        with socket.socket() as idle:
            idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            idle.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(idle, ("127.0.0.1", served.port))
            async with served.web() as web:
                request = Hand(web, "/mcp", MODERN).request("tools/list")
            lines = [f"{name}: {value}" for name, value in request["headers"].items()]
            asked = post(served, json.dumps(request["json"]).encode(), *lines)
            with contextlib.suppress(ConnectionError):
                async with asyncio.timeout(20):
                    while open_lines(served):
                        with contextlib.suppress(BlockingIOError):
                            idle.send(asked)
                        await asyncio.sleep(0.001)
            assert not open_lines(served)
        await assert_serves(served)


class Stuck(asyncio.Transport):
    aborted = False
    closing = False

    def get_extra_info(self, name: str, default: object = None) -> object:
        return default

    def write(self, data: object) -> None:
        pass

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.aborted = True


def protocol_on(transport: Stuck, limits: Limits) -> H11Protocol:
    async def application(_scope: object, _receive: object, _send: object) -> None:
        raise AssertionError

    config = Config(application, ws="none", log_config=None)
    protocol = guarded_protocol(limits)(config, ServerState(), {})
    protocol.connection_made(transport)
    return protocol


async def test_a_connection_that_is_closed_does_not_wait_for_its_client() -> None:
    """What is in the buffer of a connection keeps it open, and who does not read decides for how long."""
    for connections, data in ((9, b"garbage\r\n\r\n"), (9, b"GET"), (9, b""), (0, b"")):
        transport = Stuck()
        limits = Limits(head_s=0.01, body_s=0.01, connections=connections)
        protocol = protocol_on(transport, limits)
        if data:
            protocol.data_received(data)
        await until(lambda: transport.aborted)  # noqa: B023
        protocol.connection_lost(None)


async def test_a_client_that_stops_reading_is_not_waited_for() -> None:
    transport = Stuck()
    protocol = protocol_on(transport, Limits(head_s=60, body_s=0.01))
    protocol.pause_writing()
    protocol.resume_writing()
    protocol.pause_writing()
    await until(lambda: transport.aborted)
    protocol.connection_lost(None)

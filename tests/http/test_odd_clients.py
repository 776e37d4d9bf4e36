"""Requests as clients of many kinds write them, byte for byte, and what they are answered."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

import fastmcp
import pytest
from fastmcp.server.http import StreamableHTTPASGIApp
from tests.http.conftest import TOKEN, Serve, Served, initialize

from memoranda.http.plan import ServePlan

BODY = json.dumps(initialize()).encode()
BOTH = "application/json, text/event-stream"


@dataclass(frozen=True, slots=True)
class Raw:
    """All that came over a connection until the server closed it."""

    data: bytes

    @property
    def status(self) -> int:
        return int(self.data.split(b" ", 2)[1])

    @property
    def head(self) -> bytes:
        return self.data.partition(b"\r\n\r\n")[0].lower()

    @property
    def body(self) -> bytes:
        return self.data.partition(b"\r\n\r\n")[2]


async def send(
    served: Served,
    request: str = "POST /mcp HTTP/1.1",
    body: bytes = BODY,
    *,
    without: str = "",
    later: bytes = b"",
    **headers: str,
) -> Raw:
    """One connection with one request. An empty header is left out; `later` follows an answer to the head."""
    lines = {
        "Host": f"127.0.0.1:{served.port}",
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json",
        "Accept": BOTH,
        "Content-Length": str(len(body or later)),
        "Connection": "close",
    } | {name.replace("_", "-"): value for name, value in headers.items()}
    head = [request, *(f"{name}: {value}" for name, value in lines.items() if name != without)]
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    try:
        writer.write("\r\n".join([*head, "", ""]).encode() + body)
        first = b""
        if later:
            first = await reader.readuntil(b"\r\n\r\n")
            writer.write(later)
        return Raw(first + await reader.read())
    finally:
        writer.close()


@pytest.fixture
def plan() -> ServePlan:
    return ServePlan(token=TOKEN)


async def test_what_clients_write_in_their_own_way_is_served(
    serving: Serve, plan: ServePlan
) -> None:
    chunked = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (BODY[:9], BODY[9:]))
    async with serving(plan) as served:
        answers = {
            "as the specification says": await send(served),
            "a wildcard": await send(served, Accept="*/*"),
            "qualities": await send(served, Accept="text/*;q=0.1, application/*"),
            "a character set": await send(served, Content_Type="application/json; charset=utf-8"),
            "a slash at the end": await send(served, "POST /mcp/ HTTP/1.1"),
            "a query": await send(served, "POST /mcp?session=1 HTTP/1.1"),
            "small letters": await send(served, Authorization=f"bearer {TOKEN}"),
            "capitals": await send(served, Authorization=f"BEARER {TOKEN}"),
            "its own origin": await send(served, Origin=served.origin),
            "chunks": await send(
                served,
                body=chunked + b"0\r\n\r\n",
                without="Content-Length",
                Transfer_Encoding="chunked",
            ),
            "an old version": await send(served, "POST /mcp HTTP/1.0"),
            "an event it has seen": await send(served, Last_Event_ID="999"),
            "a byte order mark": await send(served, body=b"\xef\xbb\xbf" + BODY),
        }
        for way, answer in answers.items():
            assert (way, answer.status) == (way, 200)
            assert b"\r\nserver:" not in answer.head
            assert b'"serverInfo":{"name":"Memoranda"' in answer.body
        assert b"transfer-encoding" not in answers["an old version"].head
    assert served.refused == []


async def test_who_waits_for_leave_to_send_the_body_gets_it_or_the_refusal(
    serving: Serve, plan: ServePlan
) -> None:
    async with serving(plan) as served:
        allowed = await send(served, body=b"", later=BODY, Expect="100-continue")
        assert allowed.status == 100
        assert Raw(allowed.body).status == 200
        refused = await send(
            served, body=b"", later=BODY, Expect="100-continue", Authorization="Bearer wrong"
        )
        assert refused.status == 401


async def test_an_answer_to_head_has_no_body(serving: Serve, plan: ServePlan) -> None:
    async with serving(plan) as served:
        alive = await send(served, "HEAD /health HTTP/1.1", b"")
        assert (alive.status, alive.body) == (200, b"")
        refused = await send(served, "HEAD /mcp HTTP/1.1", b"")
        assert (refused.status, refused.body) == (405, b"")
        assert b"\r\nallow: get, post, delete" in refused.head


async def test_what_cannot_be_served_is_refused_with_its_own_status(
    serving: Serve, plan: ServePlan
) -> None:
    async with serving(plan) as served:
        answers = [
            (404, await send(served, "POST //mcp HTTP/1.1")),
            (404, await send(served, "POST /mcp/x HTTP/1.1")),
            (405, await send(served, "PUT /mcp HTTP/1.1")),
            (405, await send(served, "POST /health HTTP/1.1")),
            (405, await send(served, "OPTIONS /mcp HTTP/1.1", b"")),
            (401, await send(served, Authorization=f"Basic {TOKEN}")),
            (421, await send(served, "POST /mcp HTTP/1.0", without="Host")),
            (400, await send(served, without="Host")),
            (406, await send(served, Accept="text/html")),
            (406, await send(served, "GET /mcp HTTP/1.1", b"", Accept="text/html")),
            (400, await send(served, Content_Type="text/plain")),
            (400, await send(served, body=b"")),
            (400, await send(served, body=b"{not json}")),
            (400, await send(served, body=b"[%b]" % BODY)),
            (400, await send(served, "GET /mcp HTTP/1.1", b"")),
            (400, await send(served, "DELETE /mcp HTTP/1.1", b"")),
            (400, await send(served, "\x16\x03\x01", b"")),
        ]
        assert [status for status, _ in answers] == [answer.status for _, answer in answers]
        assert (await send(served)).status == 200


async def test_a_fault_shows_nothing_of_itself(
    serving: Serve, plan: ServePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("steel")

    monkeypatch.setattr(StreamableHTTPASGIApp, "__call__", fail)
    monkeypatch.setattr(fastmcp.settings, "debug", True)
    async with serving(plan) as served:
        answer = await send(served)
    assert answer.status == 500
    assert b"steel" not in answer.body

"""The protocol over HTTP without the SDK: what is sent, and what came back, as it was."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
from tests.http.conftest import Held, Served, initialize

MODERN = "2026-07-28"
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_META = "io.modelcontextprotocol"
_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream."""

    id: str
    data: str
    retry: str = ""

    @property
    def message(self) -> dict[str, Any]:
        return dict(json.loads(self.data))


@dataclass(frozen=True, slots=True)
class Reply:
    """What a request was answered: the JSON-RPC message in whatever way it came."""

    status: int
    message: dict[str, Any]
    events: tuple[Event, ...] = ()

    @property
    def result(self) -> dict[str, Any]:
        return dict(self.message["result"])

    @property
    def error(self) -> dict[str, Any]:
        return dict(self.message["error"])

    @property
    def text(self) -> str:
        """Of a tool's result."""
        return "\n".join(block["text"] for block in self.result["content"])


@dataclass(slots=True)
class Hand:
    """One client: a session of a handshake version, or one that says all with each request."""

    web: httpx2.AsyncClient
    path: str
    version: str
    name: str = "by-hand"
    headers: dict[str, str] = field(default_factory=dict)
    _ids: Any = field(default_factory=lambda: itertools.count(2))

    async def greet(self) -> Reply:
        """Open a session; with the newest version ask who the server is."""
        if self.version == MODERN:
            return await self.ask("server/discover")
        answer = await self.web.post(self.path, json=initialize(self.version))
        reply = reply_of(answer)
        self.headers = {
            "mcp-session-id": answer.headers["mcp-session-id"],
            "mcp-protocol-version": reply.result["protocolVersion"],
        }
        notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (
            await self.web.post(self.path, json=notice, headers=self.headers)
        ).status_code == 202
        return reply

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """The arguments of `web.post` and `web.stream` for a request."""
        headers = dict(self.headers)
        if self.version == MODERN:
            headers |= {"mcp-protocol-version": self.version, "mcp-method": method}
            if method in _NAMES:
                headers["mcp-name"] = str(params[_NAMES[method]])
            params["_meta"] = {
                f"{_META}/protocolVersion": self.version,
                f"{_META}/clientInfo": {"name": self.name, "version": "1"},
                f"{_META}/clientCapabilities": {},
            }
        body = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        return {"json": body, "headers": headers}

    async def ask(self, method: str, **params: Any) -> Reply:
        """Send a request, and read all of the answer."""
        return reply_of(await self.web.post(self.path, **self.request(method, **params)))

    async def call(self, tool: str, **arguments: Any) -> Reply:
        """Call a tool."""
        return await self.ask("tools/call", name=tool, arguments=arguments)

    def listen(self, last_event: str = "") -> Any:
        """Open a stream; with the number of an event the rest of its own."""
        headers = self.headers | ({"last-event-id": last_event} if last_event else {})
        return self.web.stream("GET", self.path, headers=headers)


@contextlib.asynccontextmanager
async def client(served: Served) -> AsyncIterator[Hand]:
    """A client with a session of its own."""
    async with served.web() as web:
        hand = Hand(web, served.plan.path, HANDSHAKES[-1])
        await hand.greet()
        yield hand


async def lose(hand: Hand, held: Held, request: dict[str, Any]) -> Event:
    """Send a request, and lose the connection when the call has begun; returns the only event of it."""
    held.begun.clear()
    async with hand.web.stream("POST", hand.path, **request) as answer:
        first = await anext(events(answer))
        await held.begun.wait()
    return first


def reply_of(answer: httpx2.Response) -> Reply:
    """The message in an answer, which is JSON or the last event of a stream."""
    if not answer.headers.get("content-type", "").startswith("text/event-stream"):
        return Reply(answer.status_code, dict(answer.json()))
    events = tuple(_event(block) for block in answer.text.replace("\r\n", "\n").split("\n\n"))
    told = tuple(each for each in events if each is not None)
    return Reply(answer.status_code, told[-1].message, told)


async def events(answer: httpx2.Response) -> AsyncIterator[Event]:
    """The events of a stream as they come, without comments."""
    lines: list[str] = []
    async for line in answer.aiter_lines():
        if line:
            lines.append(line)
        elif (event := _event("\n".join(lines))) is not None:
            yield event
            lines = []


def _event(block: str) -> Event | None:
    fields = dict.fromkeys(("id", "data", "retry"), "")
    for line in block.splitlines():
        name, _, value = line.partition(":")
        if name in fields:
            fields[name] = value.removeprefix(" ")
    return Event(**fields) if any(fields.values()) else None

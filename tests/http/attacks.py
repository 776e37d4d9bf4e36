"""What an attacker sends: bytes as they are over a socket of his own, and what came back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from loguru import logger
from tests.http.by_hand import MODERN, Hand
from tests.http.conftest import PROTOCOL, Served

from memoranda.http.refusals import RefusalLog
from memoranda.http.server import _LOUD, _hush
from memoranda.logs import configure_logging

SECRET: Final = "do-not-repeat-this"
"""It is in what attackers send, and shall be in no answer of the gate and in no log."""
_PATIENCE_S: Final = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; status 0 is a connection that ended without."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(slots=True)
class Line:
    """A connection to a server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            self.writer.write(data)
            await self.writer.drain()

    async def answer(self) -> Answer:
        """The next answer: a stream to its end."""
        try:
            async with asyncio.timeout(_PATIENCE_S):
                head = await self.reader.readuntil(b"\r\n\r\n")
                first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
                headers = {
                    name.strip().lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in lines)
                }
                return Answer(int(first.split(" ")[1]), headers, await self._body(headers))
        except (asyncio.IncompleteReadError, ConnectionError):
            return Answer()

    async def _body(self, headers: dict[str, str]) -> bytes:
        if (size := headers.get("content-length")) is not None:
            return await self.reader.readexactly(int(size))
        if headers.get("transfer-encoding") != "chunked":
            return await self.reader.read()
        parts = []
        while size := int(await self.reader.readline(), 16):
            parts.append(await self.reader.readexactly(size))
            await self.reader.readline()
        await self.reader.readline()
        return b"".join(parts)

    async def rest(self) -> bytes:
        """What comes until the server ends the connection, which it must, in order or not."""
        parts: list[bytes] = []
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(_PATIENCE_S):
                while part := await self.reader.read(65_536):
                    parts.append(part)
        return b"".join(parts)


@contextlib.asynccontextmanager
async def connected(served: Served) -> AsyncIterator[Line]:
    """A connection, with nothing sent."""
    line = Line(*await asyncio.open_connection("127.0.0.1", served.port))
    try:
        yield line
    finally:
        line.writer.close()


async def answer_to(served: Served, data: bytes) -> Answer:
    """What bytes are answered that come over a connection of their own."""
    async with connected(served) as line:
        await line.send(data)
        return await line.answer()


def head(
    served: Served,
    method: str = "POST",
    target: str | bytes | None = None,
    *lines: str | bytes,
    host: str | bytes | None = None,
) -> bytes:
    """A request without body: the headers that the protocol needs, and further lines.

    Args:
        served: the right Host is its own, and the token if it has one is sent.
        method: of HTTP.
        target: the endpoint, if it is not another.
        lines: further headers; one of a name that would be sent anyway takes its place.
        host: the value of Host, if it is not the right one.
    """
    target = served.plan.path if target is None else target
    own = {"host": host or f"127.0.0.1:{served.port}"} | PROTOCOL
    if served.plan.token:
        own["authorization"] = f"Bearer {served.plan.token}"
    further = [_bytes(line) for line in lines]
    names = {line.partition(b":")[0].strip().lower() for line in further}
    usual = [
        name.encode() + b": " + _bytes(value)
        for name, value in own.items()
        if name.encode() not in names
    ]
    first = b" ".join((method.encode(), _bytes(target), b"HTTP/1.1"))
    return b"\r\n".join((first, *usual, *further, b"", b""))


def post(
    served: Served, body: bytes, *lines: str | bytes, host: str | bytes | None = None
) -> bytes:
    """A request to the endpoint with a body."""
    return head(served, "POST", None, *lines, f"content-length: {len(body)}", host=host) + body


async def assert_serves(served: Served) -> None:
    """A good client is served as ever."""
    async with served.web() as web:
        listed = await Hand(web, served.plan.path, MODERN).ask("tools/list")
    assert listed.status == 200
    assert len(listed.result["tools"]) > 5


@contextlib.contextmanager
def logged(folder: Path, level: str = "INFO") -> Iterator[Path]:
    """The log file, set up as `memoranda serve` does."""
    file = folder / "memoranda.log"
    before = logging.root.handlers[:], logging.root.level
    levels = {name: logging.getLogger(name).level for name in (*_LOUD, "FastMCP")}
    configure_logging(level, file, stderr=False)
    _hush()
    try:
        yield file
    finally:
        logger.remove()
        logging.root.handlers, logging.root.level = before
        for name, old in levels.items():
            logging.getLogger(name).setLevel(old)


def assert_quiet(log: Path, served: Served, *, most_lines: int = 20) -> None:
    """The log holds nothing of what was sent, no traceback, and few lines, whatever was refused."""
    tell = RefusalLog()
    for refused, address in served.refused:
        tell(refused, address)
    text = log.read_text("utf-8")
    secrets = {SECRET, "Traceback", "ERROR", "evil"} | ({served.plan.token or SECRET})
    assert [each for each in secrets if each in text] == []
    assert text.count("\n") <= most_lines, text


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8")


async def until(is_true: Callable[[], object]) -> None:
    """Wait for what the server has no event for."""
    async with asyncio.timeout(20):
        while not is_true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def open_lines(served: Served) -> int:
    """How many connections the server has."""
    return len(served.uvicorn.server_state.connections)


def sessions(served: Served) -> dict[str, Any]:
    """The sessions that are open, by their ids."""
    manager = served.uvicorn.config.app._endpoint._sessions()
    assert manager is not None
    return dict(manager._server_instances)

"""An MCP client over stdio, for figures that an assistant would see."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CALL_TIMEOUT_S = 120.0
_LOOK_S = 0.5
_QUIET_LOOKS = 4
_IDLE_SHARE = 0.04
"""Of a core: a server that watches takes less, one that indexes or embeds much more."""


@dataclass(frozen=True, slots=True)
class Server:
    """How to start a server, and where its log goes."""

    command: Sequence[str]
    env: Mapping[str, str]
    log: Path


async def call(session: Any, tool: str, arguments: dict[str, Any]) -> Any:
    """Call a tool; returns the result, raises when the tool says that it failed."""
    result = await session.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError(f"{tool} {arguments}: {result.content}")
    return result


@asynccontextmanager
async def connect(server: Server) -> AsyncIterator[tuple[Any, set[int]]]:
    """An initialized client session, and the processes that were started for it."""
    from mcp.client.stdio import StdioServerParameters, stdio_client

    from mcp import ClientSession

    before = children()
    parameters = StdioServerParameters(
        command=server.command[0], args=list(server.command[1:]), env=dict(server.env)
    )
    with server.log.open("w") as log:
        async with (
            stdio_client(parameters, errlog=log) as (reader, writer),
            ClientSession(reader, writer, read_timeout_seconds=_CALL_TIMEOUT_S) as session,
        ):
            await session.initialize()
            yield session, children() - before


def children(process: str | int = "self") -> set[int]:
    """Child processes of one (Linux; elsewhere none are known)."""
    found: set[int] = set()
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        found |= {int(word) for word in file.read_text().split()}
    return found


def cpu_s(processes: Iterable[int]) -> float:
    """Processor seconds, user and system, that these processes have had so far (Linux)."""
    return sum(time.clock_gettime(~process << 3 | 2) for process in processes)


async def until_idle(processes: Iterable[int], *, patience_s: float = 120.0) -> None:
    """Wait until these processes do nothing for a while: what they began by themselves is done.

    Raises:
        TimeoutError: they still work after `patience_s`.
    """
    quiet = 0
    async with asyncio.timeout(patience_s):
        while quiet < _QUIET_LOOKS:
            before = cpu_s(processes)
            await asyncio.sleep(_LOOK_S)
            quiet = quiet + 1 if cpu_s(processes) - before < _IDLE_SHARE * _LOOK_S else 0

"""What a call costs over HTTP and over stdio, ours and a bare server's: the same calls by turns in one run."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.client import Server, call, connect, until_idle
from benchmarks.latency import Home, prepared
from benchmarks.latency_calls import Call, Connection, Taken, carry_out
from benchmarks.measure import MEMORANDA, Figure, Report
from benchmarks.queries import query_mix

NOTES = 1000
_BLOCK = 10
_BARE: Call = ("search_notes", {"query": "floor"})
_STDIO, _SESSION, _STATELESS = "stdio", "HTTP, a session", "HTTP, stateless"
_MODES = {_SESSION: "legacy", _STATELESS: "2026-07-28"}
_NO_LIMIT = {"BASIC_MEMORY_HTTP_REQUESTS_PER_SECOND": "0"}
_PATIENCE_S = 30.0
_LOOK_S = 0.05


def main(*, notes: int = NOTES, calls: int = 100) -> int:
    """Measure on a vault of so many notes; returns how many figures are over, of none that has a target."""
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as temporary:
        return asyncio.run(_measure(prepared(Path(temporary) / "home", notes), calls))


async def _measure(home: Home, calls: int) -> int:
    report = Report("transports")
    async with contextlib.AsyncExitStack() as stack:
        bare = await _connections(stack, home.floor, home.floor.command)
        ours = await _connections(stack, home.server, [*MEMORANDA, "serve", "--port"])
        for session, processes in ours.values():
            await call(session, "search_notes", {"query": "what is warm"})
            await until_idle(processes)
        for name, jobs in (await asyncio.to_thread(_jobs, home, calls)).items():
            await _compare(report, name, jobs, bare, ours)
    return report.over


def _jobs(home: Home, calls: int) -> Mapping[str, Sequence[Call]]:
    titles = home.vault.titles(calls)
    words = query_mix(home.vault.database, calls).words
    return {
        "read_note": [("read_note", {"path": title}) for title in titles],
        "search by words": [
            ("search_notes", {"query": query, "search_type": "fts"}) for query in words
        ],
        "hybrid search": [("search_notes", {"query": query}) for query in words],
    }


async def _compare(
    report: Report,
    name: str,
    jobs: Sequence[Call],
    bare: Mapping[str, Connection],
    ours: Mapping[str, Connection],
) -> None:
    """Every server and client block by block: a change of load meets all alike."""
    taken = {way: (Taken(), Taken()) for way in ours}
    for way, connection in ours.items():  # the first call of its kind is not like others
        await carry_out(bare[way], [_BARE], Taken())
        await carry_out(connection, jobs[:1], Taken())
    for first in range(0, len(jobs), _BLOCK):
        block = jobs[first : first + _BLOCK]
        for way, (of_bare, of_ours) in taken.items():
            await carry_out(bare[way], [_BARE] * len(block), of_bare)
            await carry_out(ours[way], block, of_ours)
    for way, (of_bare, of_ours) in taken.items():
        for whose, one in ((f"{name}, {way}", of_ours), (f"a bare call, {way}", of_bare)):
            report.put(Figure(f"{whose}: CPU", one.cpu_ms, "ms", note=f"p50 {one.p50_ms:.2f} ms"))


async def _connections(
    stack: contextlib.AsyncExitStack, stdio: Server, over_http: Sequence[str]
) -> Mapping[str, Connection]:
    """A server over stdio, and one over HTTP with a client of each kind."""
    port = _free_port()
    log = stdio.log.with_name(f"http-{port}.log")
    web = Server([*over_http, str(port)], {**stdio.env, **_NO_LIMIT}, log)
    process = await stack.enter_async_context(_started(web, port))
    url = f"http://127.0.0.1:{port}/mcp"
    clients = {
        way: (await stack.enter_async_context(_client(url, mode)), {process})
        for way, mode in _MODES.items()
    }
    return {_STDIO: await stack.enter_async_context(connect(stdio)), **clients}


@contextlib.asynccontextmanager
async def _client(url: str, mode: str) -> AsyncIterator[Any]:
    from mcp.client.client import Client

    async with Client(url, mode=mode) as client:
        yield client


@contextlib.asynccontextmanager
async def _started(server: Server, port: int) -> AsyncIterator[int]:
    """A server that listens at this port; its process."""
    with server.log.open("wb") as log:
        process = subprocess.Popen(  # noqa: ASYNC220 - it is there before anything is measured
            server.command, env=dict(server.env), stdout=log, stderr=log, stdin=subprocess.DEVNULL
        )
    try:
        async with asyncio.timeout(_PATIENCE_S):
            while not await _listens(port):  # noqa: ASYNC110 - the loop has no event for this
                await asyncio.sleep(_LOOK_S)
        yield process.pid
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait)


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])

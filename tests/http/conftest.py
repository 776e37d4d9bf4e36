"""A server over HTTP in this process: real sockets on a free port, and the real container."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn

from memoranda.config import load_settings
from memoranda.container import Container
from memoranda.files.clock import SystemClock
from memoranda.http.answers import Refused
from memoranda.http.app import Application
from memoranda.http.connections import protocol_settings
from memoranda.http.listening import addresses, listen
from memoranda.http.patience import Patience
from memoranda.http.plan import ServePlan
from memoranda.http.server import HttpServer
from memoranda.mcp import served_tools
from memoranda.mcp.server import build_server
from memoranda.mcp.session import Session
from memoranda.model.toolset import Toolset

TOKEN = "correct-horse-battery-staple-0123456789"
PROTOCOL = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}
EVERYTHING = tuple(str(toolset) for toolset in Toolset)


@dataclass(slots=True)
class Served:
    """A server that listens, and what it refused: each refusal with the address it came from."""

    port: int
    plan: ServePlan
    session: Session
    root: Path
    uvicorn: HttpServer
    refused: list[tuple[Refused, str]] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return self.origin + self.plan.path

    def web(self, **headers: str) -> httpx2.AsyncClient:
        """A client of HTTP with the headers that the protocol needs, and the token if there is one."""
        token = {"authorization": f"Bearer {self.plan.token}"} if self.plan.token else {}
        return httpx2.AsyncClient(
            base_url=self.origin, headers={**PROTOCOL, **token, **headers}, timeout=20
        )


Serve = Callable[..., AbstractAsyncContextManager[Served]]


def initialize(version: str = "2025-11-25") -> dict[str, object]:
    """The first request of a session."""
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "by-hand", "version": "1"},
        },
    }


@dataclass(slots=True)
class Held:
    """Calls that have begun and do nothing before they are let go; `done` can be had once for each."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    count: int = 0


@pytest.fixture
def tmp_path(memory_path: Path) -> Path:
    """What is tested here is not the disk."""
    return memory_path


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    """Every call of a tool is held."""
    held, call = Held(), served_tools.call

    async def wait_and_call(*arguments: Any) -> Any:
        held.count += 1
        held.begun.set()
        await held.go.wait()
        try:
            return await call(*arguments)
        finally:
            held.done.release()

    monkeypatch.setattr(served_tools, "call", wait_and_call)
    return held


@pytest.fixture
def project_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of Main, the only project. The configuration is this test's own."""
    root, config = tmp_path / "main", tmp_path / "config"
    for folder in (root, config):
        folder.mkdir()
    (config / "config.json").write_text(
        json.dumps({"projects": {"Main": {"path": str(root)}}}), "utf-8"
    )
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(config))
    monkeypatch.delenv("BASIC_MEMORY_HTTP_TOKEN", raising=False)
    return root


@pytest.fixture
def serving(project_root: Path) -> Serve:
    """`async with serving(plan, toolsets=...) as served:`; the plan's host and port do not matter."""

    @contextlib.asynccontextmanager
    async def serve(
        plan: ServePlan | None = None, *, toolsets: Collection[str] = EVERYTHING
    ) -> AsyncIterator[Served]:
        async def open_container() -> Container:
            return await Container.open(load_settings())

        plan = plan or ServePlan()
        sockets = listen(addresses("127.0.0.1"), 0)
        plan = replace(plan, port=sockets[0].getsockname()[1])
        session = Session(
            open_container, SystemClock(), read_only=plan.is_read_only, is_remote=True
        )
        server = build_server(session, toolsets=toolsets, middleware=[Patience(plan.limits.call_s)])
        refused: list[tuple[Refused, str]] = []
        application = Application(
            server, plan, tell=lambda refusal, address: refused.append((refusal, address))
        )
        listens = asyncio.Event()

        def begin() -> None:
            session.start()
            listens.set()

        config = uvicorn.Config(
            application,
            lifespan="on",
            timeout_graceful_shutdown=2,
            **protocol_settings(plan.limits),
        )
        http = HttpServer(config, begin=begin, end=application.end)
        running = asyncio.create_task(http.serve(sockets=list(sockets)))
        waiting = asyncio.create_task(listens.wait())
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if running.done():
            running.result()
        try:
            yield Served(plan.port, plan, session, project_root, http, refused)
        finally:
            http.should_exit = True
            await running

    return serve

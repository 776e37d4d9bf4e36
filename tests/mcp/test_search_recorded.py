"""A search by an assistant is recorded with the name of its client."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from fastmcp import Client
from mcp_types import Implementation
from tests.mcp.conftest import Caller

from memoranda.files.search_log import SearchLogFile
from memoranda.mcp.server import build_server
from memoranda.model.search_log import SearchRecord
from memoranda.services.search import SearchService


async def recorded(caller: Caller, number: int) -> tuple[SearchRecord, ...]:
    """Wait until so many searches of Main are recorded: an answer does not wait for that."""
    log = SearchLogFile(caller.root.parent / "config" / "main" / "searches.jsonl")
    deadline = time.monotonic() + 20
    while len(found := log.read().records) < number:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    return found


async def test_a_search_is_recorded_with_who_asked(caller: Caller) -> None:
    (caller.root / "a.md").write_text("about compost\n")
    await caller.indexed()
    await caller.text("search_notes", query="compost", search_type="fts")
    data = await caller.data("search_notes", query="no such word")
    me = Implementation(name="claude-code", version="2.0")
    async with Client(build_server(caller.session), client_info=me) as client:
        await client.call_tool("search_notes", {"query": "heaps"})
    first, second, third = await recorded(caller, 3)
    assert (first.query, first.total, first.is_degraded) == ("compost", 1, False)
    assert (second.query, second.total) == ("no such word", data["total"])
    assert (second.mode, second.is_degraded) == (data["search_type"], data["degraded"] is not None)
    assert (third.query, third.client) == ("heaps", "claude-code")
    assert first.client != third.client


async def test_closing_the_server_waits_for_the_last_record(
    caller: Caller, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aclose, closed = SearchService.aclose, list[SearchService]()

    async def noted(self: SearchService) -> None:
        await aclose(self)
        closed.append(self)

    monkeypatch.setattr(SearchService, "aclose", noted)
    await caller.text("search_notes", query="compost")
    workspace = await caller.session.workspace(None)
    await caller.session.aclose()
    assert workspace.search in closed
    log = SearchLogFile(project_root.parent / "config" / "main" / "searches.jsonl")
    assert [record.query for record in log.read().records] == ["compost"]

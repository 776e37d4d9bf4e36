"""What the gate refuses, as the client of the SDK tells it to the model or the person who uses it."""

from __future__ import annotations

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client
from tests.http.conftest import TOKEN, Serve, Served

from mcp import ClientSession, MCPError
from memoranda.http.plan import Limits, ServePlan

LOCKED = ServePlan(token=TOKEN)


async def said(served: Served, path: str = "/mcp", **headers: str) -> str:
    """What a client is told that cannot begin."""
    async with (
        httpx2.AsyncClient(headers=headers) as web,
        streamable_http_client(served.origin + path, http_client=web) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        with pytest.raises(MCPError) as told:
            await session.initialize()
    return str(told.value)


async def test_a_client_is_told_why_it_is_refused_and_what_to_do(serving: Serve) -> None:
    right = {"authorization": f"Bearer {TOKEN}"}
    async with serving(LOCKED) as served:
        assert "Authorization: Bearer TOKEN" in await said(served)
        assert "`memoranda token`" in await said(served, authorization="Bearer wrong")
        assert "--allow-host" in await said(served, **right, host="notes.example")
        assert "--allow-origin" in await said(served, **right, origin="https://page.example")
        assert "`memoranda serve`" in await said(served, "/", **right)


async def test_a_client_that_is_too_fast_is_told_how_long_to_wait(serving: Serve) -> None:
    plan = ServePlan(limits=Limits(requests_per_s=0.01, burst=1))
    async with serving(plan) as served, served.web() as web:
        assert (await web.get("/health")).status_code == 200
        assert "Seconds to wait: 100." in await said(served)


@pytest.mark.parametrize("size", [1_000_000, 6_000_000])
async def test_a_client_whose_note_is_too_long_is_told_so_and_goes_on(
    serving: Serve, size: int
) -> None:
    async with (
        serving() as served,
        streamable_http_client(served.url) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        await session.initialize()
        with pytest.raises(MCPError, match="edit_note"):
            await session.call_tool("write_note", {"title": "Long", "content": "x" * size})
        written = await session.call_tool("write_note", {"title": "Pier", "content": "steel"})
    assert not written.is_error

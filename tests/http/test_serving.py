"""What a server over HTTP does for those it is meant for."""

from __future__ import annotations

from mcp.client.streamable_http import streamable_http_client

from mcp import ClientSession


async def test_a_client_of_the_sdk_writes_and_finds(serving) -> None:
    async with (
        serving() as served,
        streamable_http_client(served.url) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        await session.initialize()
        written = await session.call_tool("write_note", {"title": "Pier", "content": "steel"})
        found = await session.call_tool("search_notes", {"query": "steel"})
    assert not written.is_error
    assert "Pier" in found.content[0].text
    assert (served.root / "Pier.md").is_file() or (served.root / "pier.md").is_file()
    assert served.refused == []


async def test_health_says_that_it_lives_and_nothing_else(serving) -> None:
    async with serving() as served, served.web() as web:
        answer = await web.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})

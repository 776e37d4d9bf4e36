"""Who is written down as the author of a change: what the client says of itself, a call at a time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from mcp_types import Implementation
from tests.mcp.conftest import Caller

from memoranda.mcp.client import acting, author
from memoranda.mcp.dispatch import call
from memoranda.mcp.server import build_server
from memoranda.mcp.table import TOOLS
from memoranda.model.history import NOBODY, Author, RecordedChange


async def changes(caller: Caller) -> list[RecordedChange]:
    """What the history of the default project knows, oldest first."""
    return (await caller.session.workspace(None)).history.changes()[::-1]


def client_of(server: FastMCP, name: str, version: str) -> Client[Any]:
    """A client of that server that says this of itself."""
    return Client(server, client_info=Implementation(name=name, version=version))


async def test_every_writing_tool_says_who_used_it(caller: Caller) -> None:
    async with client_of(build_server(caller.session), "claude-code", "2.1.0") as client:
        await client.call_tool("write_note", {"title": "N", "content": "one"})
        await client.call_tool("edit_note", {"path": "n", "content_updates": "two"})
        await client.call_tool("move_note", {"path": "n", "destination": "m.md"})
        await client.call_tool("delete_note", {"path": "m.md"})
        await client.call_tool("undo_change", {"change_id": 4})
        assert [change.author for change in await changes(caller)] == [
            Author("claude-code", "2.1.0", tool)
            for tool in ("write_note", "edit_note", "move_note", "delete_note", "undo_change")
        ]


async def test_clients_of_one_server_are_told_apart(caller: Caller) -> None:
    await caller.text("write_note", title="N", content="start")
    server = build_server(caller.session)
    async with client_of(server, "one", "1") as one, client_of(server, "two", "2") as two:
        await asyncio.gather(
            *(
                client.call_tool("edit_note", {"path": "n", "content_updates": f"{name} {i}"})
                for i in range(5)
                for name, client in (("one", one), ("two", two))
            )
        )
        history = (await caller.session.workspace(None)).history
        edits = (await changes(caller))[1:]
        assert len(edits) == 10
        for change in edits:
            text = (history.content(change.after or "") or b"").decode()
            assert text.splitlines()[-1].split()[0] == change.author.client
    assert author() == NOBODY


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("", ""),
        ("Claude Desktop", "Claude Desktop"),
        ("two\nlines\tand\x00\x1b[31mred", "two lines and [31mred"),
        ("turned \u202earound\u200b", "turned around"),
        ("lone \ud800 half", "lone half"),
        ("Ü知" * 300, "Ü知" * 100),
        ("\n" * 5_000_000 + "late", ""),
    ],
)
def test_what_a_client_says_is_a_bounded_line(said: str, kept: str) -> None:
    with acting(Author(said, said), "edit_note"):
        assert author() == Author(kept, kept, "edit_note")
    assert author() == NOBODY


async def test_a_call_without_a_client_is_fine(caller: Caller) -> None:
    (write_note,) = (tool for tool in TOOLS if tool.name == "write_note")
    reply = await call(write_note, caller.session, {"title": "N", "content": "x"})
    assert not reply.is_error
    assert [change.author for change in await changes(caller)] == [Author("", "", "write_note")]


async def test_a_tool_called_without_a_request_is_fine(caller: Caller) -> None:
    tool = await build_server(caller.session).get_tool("write_note")
    assert tool is not None
    await tool.run({"title": "N", "content": "x"})
    assert [change.author for change in await changes(caller)] == [Author("", "", "write_note")]

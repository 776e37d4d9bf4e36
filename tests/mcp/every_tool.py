"""A call of every tool by a client of the official SDK, whatever the transport."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mcp import ClientSession
from memoranda.mcp.table import TOOLS


async def call_every_tool(
    session: ClientSession, root: Path, *, third: str, client: str = "mcp"
) -> set[str]:
    """Write, find, move, take back and delete, in an order in which each call has something to do.

    Args:
        session: initialized, with a server that offers everything and has an empty default project Main.
        root: the folder of that project.
        third: the path of a project to be made.
        client: what this client says that it is called.

    Returns:
        The names of the tools that answered.
    """
    called: set[str] = set()

    async def text(tool: str, **arguments: Any) -> str:
        result = await session.call_tool(tool, arguments)
        told = "\n".join(block.text for block in result.content)
        assert not result.is_error, told
        called.add(tool)
        return told

    async def data(tool: str, **arguments: Any) -> dict[str, Any]:
        result = await session.call_tool(tool, arguments)
        assert not result.is_error, result.content[0].text
        assert json.loads(result.content[0].text) == result.structured_content
        called.add(tool)
        return dict(result.structured_content)

    listed = (await session.list_tools()).tools
    assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]

    assert "Created Plan" in await text("write_note", title="Plan", content="- [fact] the plan")
    assert "the plan" in await text("read_note", path="plan")
    assert "+more" in await text("edit_note", path="plan", content_updates="more")
    assert "Plan — plan" in await text("search_notes", query="plan")
    assert "Plan" in await text("build_context", path="memory://plan")
    assert "plan.md" in await text("list_directory")
    assert "Plan — plan" in await text("recent_activity")
    assert "Main (default)" in await text("list_memory_projects")
    assert "Created" in await text("create_memory_project", name="Third", path=third)
    assert "old/plan.md" in await text("move_note", path="plan", destination="old/plan.md")
    assert "moved old/plan.md from plan.md" in await text("note_history", path="old/plan")
    found = await data("search", query="plan")
    assert set(found) == {"results"}
    assert [set(each) for each in found["results"]] == [{"id", "title", "url"}]
    document = await data("fetch", id=found["results"][0]["id"])
    assert set(document) == {"id", "title", "text", "url", "metadata"}
    assert document["text"] == (root / "old/plan.md").read_text("utf-8")
    took_back = await text("undo_change", client=client, since="1 hour", dry_run=True)
    assert "would take back 3 changes" in took_back
    assert "1 note" in await text("memory_status")
    assert "Reindexed Main: 1 file" in await text("reindex")
    assert "No note was deleted" in await text("delete_memory_project", name="third")
    assert "Deleted Plan" in await text("delete_note", path="old/plan.md")
    return called

"""Every tool of every toolset, called by the client of the official SDK: one server process, one session."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import stdio_client

from mcp import ClientSession, StdioServerParameters
from memoranda.mcp.table import TOOLS
from memoranda.model.toolset import Toolset

pytestmark = pytest.mark.slow

BOUND = 20_000
Record = Callable[[str, object], None]


async def test_every_tool_is_called_by_a_client_of_the_sdk(
    project_root: Path, record_property: Record
) -> None:
    everything = json.dumps([toolset.value for toolset in Toolset])
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memoranda", "mcp"],
        env=dict(os.environ) | {"BASIC_MEMORY_TOOLSETS": everything},
    )
    called: set[str] = set()
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()

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
        folder = str(project_root.parent / "third")
        assert "Created" in await text("create_memory_project", name="Third", path=folder)
        assert "old/plan.md" in await text("move_note", path="plan", destination="old/plan.md")
        assert "moved old/plan.md from plan.md" in await text("note_history", path="old/plan")
        found = await data("search", query="plan")
        assert set(found) == {"results"}
        assert [set(each) for each in found["results"]] == [{"id", "title", "url"}]
        document = await data("fetch", id=found["results"][0]["id"])
        assert set(document) == {"id", "title", "text", "url", "metadata"}
        assert document["text"] == (project_root / "old/plan.md").read_text("utf-8")
        took_back = await text("undo_change", client="mcp", since="1 hour", dry_run=True)
        assert "would take back 3 changes" in took_back
        assert "1 note" in await text("memory_status")
        assert "Reindexed Main: 1 file" in await text("reindex")
        assert "No note was deleted" in await text("delete_memory_project", name="third")
        assert "Deleted Plan" in await text("delete_note", path="old/plan.md")
    assert called == {tool.name for tool in TOOLS}
    record_property("tools", len(called))


@pytest.mark.spec("6.1")
async def test_a_server_that_only_reads_lists_what_reads_and_refuses_the_rest(
    project_root: Path,
) -> None:
    (project_root / "n.md").write_text("text\n", "utf-8")
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memoranda", "mcp", "--read-only"],
        env=dict(os.environ),
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        names = {tool.name for tool in (await session.list_tools()).tools}
        assert names == {
            tool.name
            for tool in TOOLS
            if tool.read_only and tool.toolset in (Toolset.CORE, Toolset.NOTES)
        }
        assert not (await session.call_tool("read_note", {"path": "n"})).is_error
        refused = await session.call_tool("delete_note", {"path": "n"})
        assert refused.is_error
        assert refused.content[0].text.startswith("READ_ONLY")
    assert (project_root / "n.md").read_text("utf-8") == "text\n"

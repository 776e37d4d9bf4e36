"""Every tool of every toolset, called by the client of the official SDK: one server process, one session."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp.client.stdio import stdio_client
from tests.mcp.every_tool import call_every_tool

from mcp import ClientSession, StdioServerParameters
from memoranda.mcp.table import TOOLS
from memoranda.model.toolset import Toolset

pytestmark = pytest.mark.slow

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
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        third = str(project_root.parent / "third")
        called = await call_every_tool(session, project_root, third=third)
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

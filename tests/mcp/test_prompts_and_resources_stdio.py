"""Prompts and resources over the wire, with the client of the official SDK."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from mcp.client.stdio import stdio_client
from mcp_types import TextContent, TextResourceContents

from mcp import ClientSession, MCPError, StdioServerParameters
from memoranda.mcp.guide import GUIDE, instructions


@pytest.mark.spec("6.3")
@pytest.mark.spec("6.4")
async def test_a_client_of_the_sdk_reads_resources_and_gets_prompts(project_root: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "memoranda", "mcp"], env=dict(os.environ)
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        hello = await session.initialize()
        assert hello.instructions == instructions()
        assert hello.capabilities.prompts is not None
        assert not hello.capabilities.prompts.list_changed
        assert hello.capabilities.resources is not None
        assert not hello.capabilities.resources.list_changed
        assert len((await session.list_prompts()).prompts) == 4
        assert len((await session.list_resource_templates()).resource_templates) == 3
        await session.call_tool("write_note", {"title": "Größe", "content": "Ein Meter achtzig."})
        listed = (await session.list_resources()).resources
        assert [each.title for each in listed] == ["Project info", "AI assistant guide", "Größe"]
        for uri in (listed[2].uri, "memory://Größe.md", "memory://gr%C3%B6%C3%9Fe"):
            (content,) = (await session.read_resource(uri)).contents
            assert isinstance(content, TextResourceContents)
            assert "Ein Meter achtzig." in content.text
        with pytest.raises(MCPError, match="NOTE_NOT_FOUND") as caught:
            await session.read_resource("memory://nothing")
        assert caught.value.error.data["error"]["hint"]
        (message,) = (await session.get_prompt("search", {"query": "Meter"})).messages
        assert isinstance(message.content, TextContent)
        assert "Ein Meter achtzig." in message.content.text
        (message,) = (await session.get_prompt("ai_assistant_guide")).messages
        assert isinstance(message.content, TextContent)
        assert message.content.text == GUIDE
        with pytest.raises(MCPError, match="INVALID_ARGUMENT"):
            await session.get_prompt("search")

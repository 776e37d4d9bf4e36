"""Every tool, resource and prompt over HTTP, by the client of the official SDK."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation, TextContent, TextResourceContents
from tests.http.conftest import TOKEN, Serve, Served
from tests.mcp.every_tool import call_every_tool

from mcp import ClientSession, MCPError
from memoranda.http.plan import ServePlan
from memoranda.mcp.guide import GUIDE, instructions
from memoranda.mcp.table import TOOLS
from memoranda.model.toolset import Toolset


@contextlib.asynccontextmanager
async def connected(
    served: Served, *, name: str = "mcp", version: str = "0.1.0"
) -> AsyncIterator[ClientSession]:
    """A session of the SDK's client, initialized, with the token if the server wants one."""
    async with (
        served.web() as web,
        streamable_http_client(served.url, http_client=web) as streams,
        ClientSession(
            *streams[:2], client_info=Implementation(name=name, version=version)
        ) as session,
    ):
        await session.initialize()
        yield session


@pytest.fixture
def projects_root(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder below which clients may make projects."""
    root = project_root.parent / "projects"
    root.mkdir()
    monkeypatch.setenv("BASIC_MEMORY_PROJECTS_ROOT", str(root))
    return root


@pytest.mark.parametrize("token", [None, TOKEN])
async def test_every_tool_is_called_by_a_client_of_the_sdk(
    serving: Serve, projects_root: Path, token: str | None
) -> None:
    async with serving(ServePlan(token=token)) as served, connected(served) as session:
        called = await call_every_tool(session, served.root, third="third")
    assert called == {tool.name for tool in TOOLS}
    assert (projects_root / "third").is_dir()
    assert served.refused == []


async def test_a_client_of_the_sdk_reads_resources_and_gets_prompts(serving: Serve) -> None:
    async with serving() as served, connected(served) as session:
        hello = session.initialize_result
        assert hello is not None
        assert hello.instructions == instructions()
        assert len((await session.list_prompts()).prompts) == 4
        assert len((await session.list_resource_templates()).resource_templates) == 3
        await session.call_tool("write_note", {"title": "Größe", "content": "Ein Meter achtzig."})
        listed = (await session.list_resources()).resources
        assert [each.title for each in listed] == ["Project info", "AI assistant guide", "Größe"]
        (content,) = (await session.read_resource(listed[2].uri)).contents
        assert isinstance(content, TextResourceContents)
        assert "Ein Meter achtzig." in content.text
        with pytest.raises(MCPError, match="NOTE_NOT_FOUND"):
            await session.read_resource("memory://nothing")
        (message,) = (await session.get_prompt("search", {"query": "Meter"})).messages
        assert isinstance(message.content, TextContent)
        assert "Ein Meter achtzig." in message.content.text
        (message,) = (await session.get_prompt("ai_assistant_guide")).messages
        assert isinstance(message.content, TextContent)
        assert message.content.text == GUIDE


async def test_a_server_that_only_reads_lists_what_reads_and_refuses_the_rest(
    serving: Serve, project_root: Path
) -> None:
    (project_root / "n.md").write_text("text\n", "utf-8")
    async with (
        serving(ServePlan(is_read_only=True), toolsets=[Toolset.NOTES]) as served,
        connected(served) as session,
    ):
        names = {tool.name for tool in (await session.list_tools()).tools}
        assert names == {
            tool.name
            for tool in TOOLS
            if tool.read_only and tool.toolset in (Toolset.CORE, Toolset.NOTES)
        }
        assert not (await session.call_tool("read_note", {"path": "n"})).is_error
        for tool, arguments in (
            ("delete_note", {"path": "n"}),
            ("write_note", {"title": "New", "content": "text"}),
        ):
            refused = await session.call_tool(tool, arguments)
            assert refused.is_error
            assert refused.content[0].text.startswith("READ_ONLY")
    assert not list(project_root.glob("new*"))  # noqa: ASYNC240
    assert (project_root / "n.md").read_text("utf-8") == "text\n"


@pytest.mark.spec("12.2")
async def test_each_of_two_clients_at_once_is_the_author_of_its_own_writes(serving: Serve) -> None:
    clients = {"claude-code": "2.1.0", "cursor": "9"}
    async with contextlib.AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving())
        sessions = {
            name: await stack.enter_async_context(connected(served, name=name, version=version))
            for name, version in clients.items()
        }
        await asyncio.gather(
            *(
                session.call_tool("write_note", {"title": f"{name} {i}", "content": name})
                for i in range(4)
                for name, session in sessions.items()
            )
        )
        history = (await served.session.workspace(None)).history
        authors = [(change.author.client, change.author.version) for change in history.changes()]
        assert sorted(authors) == sorted(list(clients.items()) * 4)
        for change in history.changes():
            assert (
                (history.content(change.after or "") or b"")
                .strip()
                .endswith(change.author.client.encode())
            )


async def test_a_client_without_a_session_is_known_by_what_it_says_with_each_request(
    serving: Serve,
) -> None:
    async with serving() as served:
        for name in ("one", "two"):
            async with Client(
                served.url, client_info=Implementation(name=name, version="1")
            ) as client:
                assert client.protocol_version == "2026-07-28"
                await client.call_tool("write_note", {"title": name, "content": "text"})
        history = (await served.session.workspace(None)).history
        assert [change.author.client for change in history.changes()] == ["two", "one"]

"""Which tools a server offers, what they cost, and a server that only reads."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from mcp_types import ListToolsResult
from tests.mcp.conftest import Caller, open_container

from memoranda.config import load_settings
from memoranda.errors import ConfigProblem
from memoranda.files.clock import SystemClock
from memoranda.mcp.declarations import Declaration
from memoranda.mcp.server import build_server
from memoranda.mcp.session import Session
from memoranda.mcp.table import TOOLS
from memoranda.model.toolset import Toolset

MOST_CHARS = 20_000
Record = Callable[[str, object], None]


@asynccontextmanager
async def served(
    root: Path, toolsets: Collection[str] = (Toolset.NOTES,), *, read_only: bool = False
) -> AsyncIterator[Caller]:
    """A client of a server with these toolsets."""
    session = Session(open_container, SystemClock(), read_only=read_only)
    async with Client(build_server(session, toolsets=toolsets)) as client:
        yield Caller(client, session, root)


async def names(caller: Caller) -> list[str]:
    return [tool.name for tool in await caller.client.list_tools()]


def configure(root: Path, **settings: Any) -> None:
    """Change the configuration of the test's projects."""
    file = root.parent / "config/config.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | settings), "utf-8")


async def test_the_whole_list_of_the_usual_tools_is_small(
    caller: Caller, record_property: Record
) -> None:
    answer = ListToolsResult(tools=list(await caller.client.list_tools()))
    sent = answer.model_dump_json(by_alias=True, exclude_none=True)
    record_property("characters of tools/list", len(sent))
    print(f"tools/list with the usual toolsets: {len(sent):,} characters")
    assert len(sent) < MOST_CHARS
    assert "anyOf" not in sent
    assert "_meta" not in sent
    assert "outputSchema" not in sent


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_is_told_in_a_form_that_strict_clients_take(tool: Declaration) -> None:
    schema = tool.input_schema
    assert schema["additionalProperties"] is False
    for name, described in schema["properties"].items():
        assert isinstance(described["type"], str), name
        assert set(described) <= {
            "type",
            "items",
            "enum",
            "minimum",
            "maximum",
            "default",
            "description",
        }, name
        if described["type"] == "array":
            assert described["items"]["type"] == "string"
    told = [
        tool.description,
        *(each.get("description", "") for each in schema["properties"].values()),
    ]
    for text in told:
        assert len(re.findall(r"[.!?](?=\s|$)", text)) <= 2, text
    assert tool.description.endswith(".")
    assert set(schema.get("required", ())) <= set(schema["properties"])
    assert not (tool.read_only and tool.destructive)


async def test_each_toolset_comes_and_goes_as_a_whole(project_root: Path) -> None:
    of = {toolset: [tool.name for tool in TOOLS if tool.toolset == toolset] for toolset in Toolset}
    assert len(of[Toolset.CORE]) == 10
    for wanted in ([], ["admin"], ["notes", "chatgpt"], ["core"]):
        async with served(project_root, wanted) as caller:
            assert await names(caller) == [
                name
                for toolset in Toolset
                if toolset == Toolset.CORE or toolset in wanted
                for name in of[toolset]
            ]


async def test_a_tool_of_another_toolset_says_how_to_get_it(project_root: Path) -> None:
    async with served(project_root, []) as caller:
        error = await caller.error("reindex")
        assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", "name")
        assert "'admin'" in error["message"]
        assert "toolsets" in error["hint"]


async def test_a_tool_that_there_is_not_names_the_nearest(caller: Caller) -> None:
    text = await caller.error_text("serach_notes", query="x")
    assert text.startswith("INVALID_ARGUMENT: There is no tool 'serach_notes'\n")
    assert "Did you mean 'search_notes'?" in text
    assert len(await caller.error_text("x" * 100_000)) < 1000


@pytest.mark.parametrize("is_by_settings", [True, False])
async def test_where_only_reading_is_allowed_nothing_is_written(
    project_root: Path, is_by_settings: bool
) -> None:
    (project_root / "n.md").write_text("- [fact] text\n", "utf-8")
    configure(project_root, read_only=is_by_settings)
    config = (project_root.parent / "config/config.json").read_bytes()
    async with served(project_root, list(Toolset), read_only=not is_by_settings) as caller:
        for tool in TOOLS:
            if not tool.read_only:
                for arguments in ({}, {"path": "n", "name": "Second", "content_updates": "x"}):
                    error = await caller.error(tool.name, **arguments)
                    assert error["code"] == "READ_ONLY", tool.name
                    assert "--read-only" in error["hint"]
        assert (await caller.data("read_note", path="n"))["content"] == "- [fact] text\n"
        assert (await caller.data("search_notes", query="text"))["results"]
    assert (project_root / "n.md").read_text("utf-8") == "- [fact] text\n"
    assert (project_root.parent / "config/config.json").read_bytes() == config


async def test_a_server_that_only_reads_lists_only_what_reads(project_root: Path) -> None:
    async with served(project_root, list(Toolset), read_only=True) as caller:
        assert await names(caller) == [tool.name for tool in TOOLS if tool.read_only]


async def test_reading_only_holds_as_soon_as_the_configuration_says_so(caller: Caller) -> None:
    await caller.text("write_note", title="A", content="x")
    configure(caller.root, read_only=True)
    await caller.text("list_memory_projects")  # looks at the configuration
    assert (await caller.error("write_note", title="B", content="x"))["code"] == "READ_ONLY"


def test_the_settings_name_the_toolsets(project_root: Path) -> None:
    assert load_settings().toolsets == ["notes"]
    configure(project_root, toolsets=[" Admin", "chatgpt", "admin"])
    assert load_settings().toolsets == ["admin", "chatgpt"]


@pytest.mark.parametrize("variable", [True, False])
def test_an_unknown_toolset_is_an_error_that_names_those_there_are(
    project_root: Path, monkeypatch: pytest.MonkeyPatch, variable: bool
) -> None:
    if variable:
        monkeypatch.setenv("BASIC_MEMORY_TOOLSETS", '["graph"]')
    else:
        configure(project_root, toolsets=["notes", "graph"])
    with pytest.raises(ConfigProblem, match="'graph'; there are core, notes, admin, chatgpt"):
        load_settings()


def test_a_list_of_toolsets_that_is_no_json_says_how_to_write_it(
    project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_TOOLSETS", "notes,admin")
    with pytest.raises(ConfigProblem) as caught:
        load_settings()
    assert caught.value.hint == 'Write for example ["notes", "admin"].'
    monkeypatch.setenv("BASIC_MEMORY_TOOLSETS", '["admin"]')
    monkeypatch.setenv("BASIC_MEMORY_READ_ONLY", "true")
    assert (load_settings().toolsets, load_settings().read_only) == (["admin"], True)

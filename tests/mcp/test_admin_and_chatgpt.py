"""The toolsets that are not offered unless the configuration says so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from tests.mcp.conftest import Caller, open_container

from memoranda.errors import DatabaseBusy
from memoranda.files.clock import SystemClock
from memoranda.mcp.server import build_server
from memoranda.mcp.session import Session
from memoranda.model.sync import SyncReport
from memoranda.workspace import Workspace


@pytest.fixture
async def all_tools(project_root: Path) -> AsyncIterator[Caller]:
    """A client of a server with both toolsets."""
    session = Session(open_container, SystemClock())
    async with Client(build_server(session, toolsets=["admin", "chatgpt"])) as client:
        yield Caller(client, session, project_root)


async def document(caller: Caller, tool: str, **arguments: Any) -> dict[str, Any]:
    """The JSON of a tool that has no other form: one text, and the same as structured content."""
    result = await caller.client.call_tool(tool, arguments)
    (block,) = result.content
    assert json.loads(block.text) == result.structured_content
    return dict(result.structured_content)


async def test_status_says_sizes_and_what_is_not_indexed_and_why(all_tools: Caller) -> None:
    (all_tools.root / "broken.md").write_text("---\ntitle: a: b\n---\n", "utf-8")
    (all_tools.root / ".hidden.md").write_text("x", "utf-8")
    await all_tools.indexed()
    await all_tools.text("write_note", title="One", content="- [fact] x\n- knows [[Nobody]]")
    data = await all_tools.data("memory_status")
    assert (data["name"], data["status"], data["entity_count"]) == ("Main", "ready", 2)
    assert [item["path"] for item in data["problems"]] == ["broken.md"]
    assert (data["problems_total"], data["skipped_total"]) == (1, 1)
    assert data["skipped"][0]["path"] == ".hidden.md"
    text = await all_tools.text("memory_status")
    assert text.startswith(f"Main (default) · {all_tools.root} · ready")
    assert "2 notes, 1 observation, 1 relation (1 unresolved)" in text
    assert "- broken.md: " in text
    assert "Left out on purpose: 1 path (1 hidden)." in text
    assert (await all_tools.data("memory_status", project="second"))["name"] == "Second"


async def test_the_status_of_a_large_mess_is_bounded(all_tools: Caller) -> None:
    for number in range(60):
        name = f"{number:02} {'long ' * 40}.md"
        (all_tools.root / name).write_text("---\ntitle: a: b\n---\n", "utf-8")
        (all_tools.root / f".{name}").write_text("x", "utf-8")
    await all_tools.indexed()
    data = await all_tools.data("memory_status")
    assert len(json.dumps(data, ensure_ascii=False)) < 20_500
    assert (data["problems_total"], data["skipped_total"]) == (60, 60)
    assert 0 < len(data["problems"]) < 60
    assert len(await all_tools.text("memory_status")) < 20_000


async def test_the_status_says_that_the_folder_is_not_there(
    all_tools: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.sync.coordinator.TRUSTED_S", 0.0)
    monkeypatch.setattr("memoranda.sync.leader.Leader.is_up_to_date", False)
    await all_tools.indexed()
    all_tools.root.rename(all_tools.root.with_name("elsewhere"))
    data = await all_tools.data("memory_status")
    assert data["status"].startswith("failed: ")
    assert str(all_tools.root) in data["status"]
    text = await all_tools.text("memory_status")
    assert "· failed: " in text


@pytest.mark.sqlite
async def test_a_project_is_removed_and_nothing_of_it_is_deleted(all_tools: Caller) -> None:
    await all_tools.text("write_note", title="Here", content="x", project="Second")
    folder = all_tools.root.with_name("second")
    data = await all_tools.data("delete_memory_project", project="SECOND")
    assert (data["name"], data["removed"], data["notes_deleted"]) == ("Second", True, False)
    assert data["default_project"] == "Main"
    assert (folder / "here.md").is_file()
    assert (all_tools.root.parent / "config/second/memory.db").is_file()
    assert (all_tools.root.parent / "config/second/history").is_dir()
    names = [one["name"] for one in (await all_tools.data("list_memory_projects"))["projects"]]
    assert names == ["Main"]
    text = await all_tools.text("create_memory_project", name="Second", path=str(folder))
    assert "Created Second" in text
    assert (await all_tools.data("read_note", path="here", project="Second"))["title"] == "Here"
    text = await all_tools.text("delete_memory_project", name="Second")
    assert "No note was deleted" in text
    assert "create_memory_project" in text


@pytest.mark.parametrize("name", [" ", "\t", "Thrid"])
async def test_no_project_is_removed_that_is_not_named(all_tools: Caller, name: str) -> None:
    config = (all_tools.root.parent / "config/config.json").read_bytes()
    error = await all_tools.error("delete_memory_project", name=name)
    assert error["code"] in {"INVALID_ARGUMENT", "PROJECT_NOT_FOUND"}
    assert (all_tools.root.parent / "config/config.json").read_bytes() == config


async def test_reindex_reads_everything_again(all_tools: Caller) -> None:
    await all_tools.text("write_note", title="One", content="x")
    data = await all_tools.data("reindex")
    assert (data["done"], data["total_files"], data["failed"]) == (True, 1, [])
    assert (await all_tools.text("reindex")).startswith("Reindexed Main: 1 file in ")


async def test_a_long_reindexing_goes_on_after_the_answer(
    all_tools: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, let_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(_: Workspace) -> SyncReport:
        begun.set()
        await let_on.wait()
        ended.set()
        return SyncReport()

    monkeypatch.setattr(Workspace, "reindex", slow)
    monkeypatch.setattr("memoranda.mcp.tools.admin.REINDEX_PATIENCE_S", 0.01)
    data = await all_tools.data("reindex")
    assert (data["done"], begun.is_set()) == (False, True)
    assert "memory_status" in await all_tools.text("reindex")
    let_on.set()
    await asyncio.wait_for(ended.wait(), 5)


async def test_a_reindexing_that_fails_after_the_answer_is_said_in_the_log(
    all_tools: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    from loguru import logger

    let_on, logged = asyncio.Event(), asyncio.Event()

    async def fail(_: Workspace) -> SyncReport:
        await let_on.wait()
        raise DatabaseBusy("memory.db is in use")

    monkeypatch.setattr(Workspace, "reindex", fail)
    monkeypatch.setattr("memoranda.mcp.tools.admin.REINDEX_PATIENCE_S", 0.01)
    assert not (await all_tools.data("reindex"))["done"]
    lines: list[str] = []
    sink = logger.add(lambda line: (lines.append(line), logged.set()), level="ERROR")
    let_on.set()
    await asyncio.wait_for(logged.wait(), 5)
    logger.remove(sink)
    assert "Project Main: reindexing failed: memory.db is in use" in "".join(lines)


async def test_search_and_fetch_have_the_shapes_that_chatgpt_reads(all_tools: Caller) -> None:
    await all_tools.text("write_note", title="Plan", content="- [fact] plan one\n- [fact] plan two")
    await all_tools.text("write_note", title="Other", content="a plan", directory="sub")
    found = await document(all_tools, "search", query="plan")
    assert set(found) == {"results"}
    assert sorted(found["results"], key=lambda one: one["id"]) == [
        {"id": "plan", "title": "Plan", "url": "memory://plan"},
        {"id": "sub/other", "title": "Other", "url": "memory://sub/other"},
    ]
    note = await document(all_tools, "fetch", id="sub/other")
    assert set(note) == {"id", "title", "text", "url", "metadata"}
    assert note["text"] == (all_tools.root / "sub/other.md").read_text("utf-8")
    assert note["metadata"]["file_path"] == "sub/other.md"
    assert await document(all_tools, "search", query="zzqqxx") == {"results": []}
    error = (await all_tools.client.call_tool("fetch", {"id": "no"}, raise_on_error=False)).content
    assert json.loads(error[0].text)["error"]["code"] == "NOTE_NOT_FOUND"


async def test_each_takes_one_parameter_and_no_more(all_tools: Caller) -> None:
    tools = {tool.name: tool for tool in await all_tools.client.list_tools()}
    for name, parameter in (("search", "query"), ("fetch", "id")):
        assert list(tools[name].input_schema["properties"]) == [parameter]
        assert tools[name].input_schema["required"] == [parameter]


async def test_a_long_note_is_fetched_in_parts_by_the_ids_that_it_names(all_tools: Caller) -> None:
    text = "".join(f'line {number} "{"x" * 50}"\n' for number in range(1, 1001))
    (all_tools.root / "long.md").write_text(text, "utf-8", newline="")
    whole, wanted = "", "long"
    while wanted:
        part = await document(all_tools, "fetch", id=wanted)
        assert len(json.dumps(part)) <= 20_500
        assert part["id"] == wanted
        whole += part["text"]
        wanted = part["metadata"].get("next_id")
    assert whole == text

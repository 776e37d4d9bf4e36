"""The tool contract line by line: names, hints, what is accepted, and the keys of every answer."""

from __future__ import annotations

from typing import Any

import pytest
from tests.mcp.conftest import Caller

from memoranda.mcp.arguments import parse
from memoranda.mcp.parameters import Kind
from memoranda.mcp.table import TOOLS

ALIASES = {
    "path": ("identifier", "permalink", "note", "url", "uri"),
    "directory": ("folder", "dir"),
    "query": ("q", "search", "text"),
    "content": ("body", "text"),
    "content_updates": ("content", "new_content", "replacement"),
    "timeframe": ("since", "lookback"),
}
FOLDERS = {"list_directory", "create_memory_project"}
"""Tools whose `path` is a folder and no note."""
REFERENCE = {
    "title",
    "permalink",
    "file_path",
    "uri",
    "note_type",
    "tags",
    "created_at",
    "updated_at",
    "checksum",
    "external_id",
    "project",
}
HINTS = {  # tool -> reads only, may destroy, harmless to repeat
    "write_note": (False, True, False),
    "read_note": (True, False, True),
    "edit_note": (False, True, False),
    "delete_note": (False, True, False),
    "search_notes": (True, False, True),
    "build_context": (True, False, True),
    "list_directory": (True, False, True),
    "recent_activity": (True, False, True),
    "list_memory_projects": (True, False, True),
    "create_memory_project": (False, False, True),
    "move_note": (False, True, False),
    "note_history": (True, False, True),
    "undo_change": (False, True, False),
    "memory_status": (True, False, True),
    "delete_memory_project": (False, True, False),
    "reindex": (False, False, True),
    "search": (True, False, True),
    "fetch": (True, False, True),
}


@pytest.fixture
async def noted(caller: Caller) -> Caller:
    """Two notes that know each other."""
    await caller.text("write_note", title="Focus", content="- requires [[Research]]")
    await caller.text(
        "write_note",
        title="Research",
        content="# Head\n\n- [fact] x #tag (why)\n- needs [[Focus]] (deep)\n- misses [[Nobody]]",
        metadata={"status": "done"},
    )
    return caller


def test_the_hints_are_those_of_the_contract() -> None:
    assert {
        tool.name: (tool.read_only, tool.destructive, tool.idempotent) for tool in TOOLS
    } == HINTS


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_takes_the_other_names_that_models_reach_for(tool: Any) -> None:
    for param in tool.params:
        aliases = ALIASES.get(param.name, ())
        if param.name == "path" and tool.name in FOLDERS:
            aliases = ("directory", *ALIASES["directory"])
        assert set(aliases) <= set(param.aliases), param.name
        others = {other.name: "1" for other in tool.params if other.required and other != param}
        for alias in param.aliases:
            value = '{"a": 1}' if param.kind is Kind.MAPPING else "1"
            assert parse(tool.params, others | {alias: value})[param.name], alias


async def test_write_note_echoes_what_was_read(caller: Caller) -> None:
    await caller.text("write_note", title="Deep work", content="x")
    data = await caller.data(
        "write_note",
        title="Deep works",
        content="- [fact] one #tag\n- [fact]two\n- needs [[A]] and [[B\n",
    )
    assert set(data) == REFERENCE | {"action", "observations", "relations", "warnings", "similar"}
    assert data["action"] == "created"
    assert [one["content"] for one in data["observations"]] == ["one"]
    assert [one["permalink"] for one in data["similar"]] == ["deep-work"]
    assert [warning[:7] for warning in data["warnings"]] == ["Line 7 ", "Line 8:"]
    text = await caller.text(
        "edit_note", path="deep-works", content_updates="- [fact]three", dry_run=True
    )
    assert "Warning: Line 9 is not read as an observation; write '- [fact] three'." in text
    assert "Line 7" not in text


async def test_the_actions_of_a_write(caller: Caller) -> None:
    note = {"title": "A", "content": "x", "metadata": None, "tags": None}
    assert (await caller.data("write_note", **note))["action"] == "created"
    same = await caller.data("write_note", **note, overwrite=True)
    assert same["action"] == "unchanged"
    data = await caller.data(
        "write_note", title="A", content="y", expected_checksum=same["checksum"]
    )
    assert data["action"] == "updated"
    error = await caller.error(
        "write_note", title="A", content="z", expected_checksum=same["checksum"]
    )
    assert (error["code"], error["checksum"]) == ("CONFLICT", data["checksum"])


@pytest.mark.parametrize("title", ["", " ", "...", "\u200b"])
async def test_a_title_without_a_word_is_refused(caller: Caller, title: str) -> None:
    error = await caller.error("write_note", title=title, content="x")
    assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", "title")
    assert error["hint"]
    assert list(caller.root.iterdir()) == []


async def test_content_with_a_header_of_its_own_is_merged_and_arguments_win(caller: Caller) -> None:
    content = "---\ntitle: Theirs\nkept: yes\nstatus: old\n---\n\nbody"
    await caller.text("write_note", title="Mine", content=content, metadata={"status": "new"})
    text = (caller.root / "mine.md").read_text("utf-8")
    assert text == "---\ntitle: Mine\ntype: note\nstatus: new\nkept: yes\n---\n\nbody"


async def test_the_keys_of_read_note(noted: Caller) -> None:
    data = await noted.data("read_note", path="research")
    assert (
        REFERENCE
        | {
            "frontmatter",
            "content",
            "observations",
            "relations",
            "backlinks",
            "outline",
            "related",
            "next_line",
        }
        <= data.keys()
    )
    (fact,) = data["observations"]
    assert set(fact) == {"category", "content", "tags", "context", "permalink", "line"}
    for link in data["relations"]:
        assert set(link) == {
            "relation_type",
            "to_name",
            "to_title",
            "to_permalink",
            "resolved",
            "context",
            "line",
        }
    assert [link["resolved"] for link in data["relations"]] == [True, False]
    (link,) = data["backlinks"]
    assert {"from_title", "from_permalink", "relation_type", "context", "line"} <= set(link)


async def test_the_keys_of_edit_note_and_delete_note(noted: Caller) -> None:
    data = await noted.data("edit_note", path="research", metadata={"status": None, "n": 1})
    assert REFERENCE | {"action", "diff", "observations", "relations", "warnings"} <= data.keys()
    assert "-status: done" in data["diff"]
    data = await noted.data("delete_note", path="research")
    assert REFERENCE | {"deleted", "unresolved_backlinks"} <= data.keys()
    assert [link["from_permalink"] for link in data["unresolved_backlinks"]] == ["focus"]


async def test_the_keys_of_search_notes(noted: Caller) -> None:
    data = await noted.data("search_notes", query="research")
    assert {
        "query",
        "search_type",
        "degraded",
        "results",
        "page",
        "page_size",
        "total",
        "total_is_exact",
        "has_more",
        "suggestion",
    } <= data.keys()
    assert data["page_size"] == 10
    hit = data["results"][0]
    assert REFERENCE | {"score", "confidence", "item_type", "passages"} <= hit.keys()
    assert {"text", "heading_path", "start_line", "end_line", "score"} <= hit["passages"][0].keys()


async def test_an_empty_query_with_a_filter_lists_the_newest(noted: Caller) -> None:
    data = await noted.data("search_notes", query="", metadata_filters={"status": "done"})
    assert [hit["permalink"] for hit in data["results"]] == ["research"]


async def test_the_keys_of_the_tools_that_look_around(noted: Caller) -> None:
    listing = await noted.data("list_directory")
    assert {"path", "entries", "page", "page_size", "total", "has_more"} <= listing.keys()
    for entry in listing["entries"]:
        assert {"name", "type", "path", "title", "permalink", "updated_at", "size_bytes"} <= set(
            entry
        )
    recent = await noted.data("recent_activity", types="note")
    assert {"since", "results", "page", "has_more"} <= recent.keys()
    assert all(set(hit) >= REFERENCE for hit in recent["results"])
    (context,) = (await noted.data("build_context", path="memory://research"))["contexts"]
    assert REFERENCE | {"observations", "relations", "related"} <= set(context)
    assert {"summary", "why", "distance"} <= set(context["related"][0])


async def test_the_keys_of_projects(noted: Caller) -> None:
    keys = {
        "name",
        "path",
        "is_active",
        "is_default",
        "entity_count",
        "observation_count",
        "relation_count",
        "status",
    }
    for project in (await noted.data("list_memory_projects"))["projects"]:
        assert keys <= set(project)
    folder = str(noted.root.parent / "third")
    made = await noted.data("create_memory_project", name="Third", dir=folder, set_default="true")
    assert keys | {"created"} <= set(made)
    assert (made["created"], made["is_default"]) == (True, True)

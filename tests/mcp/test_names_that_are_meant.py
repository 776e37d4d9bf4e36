"""Names of parameters and tools that models make up: taken where that is safe, else told what is meant."""

from __future__ import annotations

import pytest
from fastmcp import Client
from tests.mcp.conftest import Caller

from memoranda.mcp.other_names import MEANT, TOOLS_MEANT
from memoranda.mcp.server import build_server
from memoranda.mcp.table import TOOLS

PLAN = "# Plan\n\n## Goals\n\nold\n"


@pytest.fixture
async def plan(caller: Caller) -> Caller:
    """A client of a project with one note."""
    await caller.text("write_note", title="Plan", content=PLAN, directory="research")
    return caller


@pytest.mark.parametrize(
    ("tool", "word", "meant"),
    [
        ("read_note", "page", "'start_line'"),
        ("read_note", "limit", "'max_chars'"),
        ("edit_note", "text", "'content_updates'"),
        ("edit_note", "replace", "'content_updates'"),
        ("edit_note", "find", "find_text and"),
        ("edit_note", "append", "'operation'"),
        ("edit_note", "mode", "'operation'"),
        ("edit_note", "count", "'expected_replacements'"),
        ("edit_note", "destination", "move_note"),
        ("write_note", "path", "title and directory"),
        ("move_note", "folder", "'destination'"),
        ("move_note", "new_title", "'destination'"),
        ("search_notes", "folder", "permalink_match"),
        ("search_notes", "type", "'note_types'"),
        ("list_directory", "recursive", "'depth'"),
        ("recent_activity", "days", "'timeframe'"),
        ("undo_change", "last", "change_id, from note_history"),
    ],
)
async def test_a_made_up_parameter_is_refused_with_the_one_that_is_meant(
    caller: Caller, tool: str, word: str, meant: str
) -> None:
    error = await caller.error(tool, **{word: "x"})
    assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", word)
    assert meant in error["hint"].split("Parameters:")[0]


@pytest.mark.parametrize("word", ["texts", "find_txt", "findtext", "heding", "context", "fnd_text"])
async def test_letters_alone_never_suggest_the_text_to_find(caller: Caller, word: str) -> None:
    assert "Did you mean 'find_text'" not in await caller.error_text("edit_note", **{word: "x"})


def test_what_is_meant_is_a_parameter_or_says_what_to_do() -> None:
    tools = {tool.name: tool for tool in TOOLS}
    for name, meanings in MEANT.items():
        params = tools[name].all_params
        taken = {word for param in params for word in (param.name, *param.aliases)}
        assert not taken & meanings.keys(), name
        assert all(meant in taken or " " in meant for meant in meanings.values()), name
    assert TOOLS_MEANT.keys() & tools.keys() == {"search", "fetch"}
    assert set(TOOLS_MEANT.values()) <= tools.keys()


@pytest.mark.parametrize("word", ["file", "title", "name", "filename", "file_path"])
async def test_a_note_to_read_goes_by_any_word_for_it(plan: Caller, word: str) -> None:
    assert (await plan.data("read_note", **{word: "research/plan.md"}))["title"] == "Plan"
    assert (await plan.data("build_context", **{word: "Plan"}))["contexts"][0]["title"] == "Plan"


async def test_words_of_other_editors_are_taken(plan: Caller) -> None:
    note = plan.root / "research" / "plan.md"
    await plan.text("edit_note", path="research/plan", old_string="old", new_string="new")
    assert "\nnew\n" in note.read_text("utf-8")
    await plan.text(
        "edit_note",
        path="research/plan",
        operation="replace_section",
        heading="Goals",
        new_text="newest\n",
        properties={"status": "done"},
    )
    assert "newest\n" in note.read_text("utf-8")
    assert "status: done" in note.read_text("utf-8")
    listed = await plan.text("list_directory", pattern="pl*", path="research")
    assert "plan" in listed
    await plan.text("write_note", title="A", content="x", type="idea", frontmatter={"a": 1})
    assert "type: idea\n" in (plan.root / "a.md").read_text("utf-8")


async def test_ways_to_search_go_by_other_words(plan: Caller) -> None:
    for word in ("text", "Keyword", "semantic"):
        await plan.text("search_notes", query="plan", search_type=word, since="7d")
    error = await plan.error("search_notes", query="plan", search_type="fuzzy")
    assert error["hint"] == "One of: fts, vector, hybrid."


async def test_the_number_of_a_change_is_taken_as_it_is_listed(plan: Caller) -> None:
    listed = await plan.data("note_history")
    number = listed["changes"][0]["id"]
    assert "research/plan.md" in await plan.text("undo_change", change_id=f"#{number}")
    assert not (plan.root / "research" / "plan.md").exists()


async def test_metadata_as_a_line_of_yaml_is_shown_as_an_object(plan: Caller) -> None:
    for tool, more in (
        ("write_note", {"title": "B", "content": "x"}),
        ("edit_note", {"path": "research/plan"}),
    ):
        error = await plan.error(tool, metadata="status: done\nrank: 2", **more)
        assert '{"status": "done"}' in error["hint"]
    assert not (plan.root / "b.md").exists()


@pytest.mark.parametrize("empty", ["", " "])
async def test_an_empty_checksum_is_no_check_and_is_refused(plan: Caller, empty: str) -> None:
    note = plan.root / "research" / "plan.md"
    before = note.read_bytes()
    for tool, more in (
        ("edit_note", {"path": "research/plan", "content_updates": "x"}),
        (
            "write_note",
            {"title": "Plan", "content": "x", "directory": "research", "overwrite": True},
        ),
    ):
        error = await plan.error(tool, expected_checksum=empty, **more)
        assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", "expected_checksum")
    more = {"title": "Plan", "content": "x", "directory": "research"}
    error = await plan.error("write_note", expected_checksum=empty, **more)
    assert error["code"] == "NOTE_EXISTS"
    assert note.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("update_note", "edit_note"),
        ("append-to-note", "edit_note"),
        ("create_note", "write_note"),
        ("get_note", "read_note"),
        ("Remove_Note", "delete_note"),
        ("list_notes", "list_directory"),
        ("find", "search_notes"),
        ("rename_note", "move_note"),
        ("undo", "undo_change"),
        ("history", "note_history"),
        ("recent", "recent_activity"),
        ("context", "build_context"),
    ],
)
async def test_a_tool_of_another_name_is_told(caller: Caller, name: str, meant: str) -> None:
    assert f"Did you mean '{meant}'?" in await caller.error_text(name)


@pytest.mark.parametrize("name", ["delet_note", "deleted_note", "date_note", "undo_chance"])
async def test_letters_alone_never_suggest_a_tool_that_destroys(caller: Caller, name: str) -> None:
    assert "Did you mean" not in await caller.error_text(name)


async def test_tools_of_a_toolset_that_is_not_offered_name_those_that_do_it(
    caller: Caller,
) -> None:
    for name, other in (("search", "search_notes"), ("fetch", "read_note")):
        error = await caller.error(name)
        assert "the toolset 'chatgpt'" in error["message"]
        assert error["hint"].startswith(f"Use {other}. ")
    async with Client(build_server(caller.session, toolsets=())) as client:
        result = await client.call_tool("rename_note", {}, raise_on_error=False)
        assert "The tool for it is move_note, which this server" in result.content[0].text
        assert "Did you mean" not in result.content[0].text

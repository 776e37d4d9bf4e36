from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memoranda.errors import DatabaseDamaged
from memoranda.mcp.table import TOOLS
from memoranda.model.views import ProjectInfo
from memoranda.services.projects import ProjectService

if TYPE_CHECKING:
    from collections.abc import Sequence

    Caller = Any

RESEARCH = """\
- [definition] A study of one's own #method (at work)

- requires [[Focus]]
"""


async def test_the_tool_list_is_small_and_annotated(caller: Caller) -> None:
    tools = await caller.client.list_tools()
    assert [tool.name for tool in tools] == [
        "write_note",
        "read_note",
        "edit_note",
        "delete_note",
        "search_notes",
        "build_context",
        "list_directory",
        "recent_activity",
        "list_memory_projects",
        "create_memory_project",
        "move_note",
        "note_history",
        "undo_change",
    ]
    sent = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools])
    assert len(sent) < 20_000
    for tool in tools:
        assert tool.output_schema is None
        assert tool.annotations.title == tool.title
        assert tool.annotations.open_world_hint is False
        assert tool.annotations.read_only_hint is not None
        assert tool.description


@pytest.mark.parametrize(
    ("tool", "parameters"),
    [
        (
            "write_note",
            {
                "title",
                "content",
                "directory",
                "project",
                "tags",
                "note_type",
                "metadata",
                "overwrite",
            },
        ),
        ("read_note", {"path", "project"}),
        ("edit_note", {"path", "content_updates", "project"}),
        ("delete_note", {"path", "project"}),
        (
            "search_notes",
            {
                "query",
                "project",
                "page",
                "search_type",
                "output_format",
                "note_types",
                "after_date",
                "tags",
            },
        ),
        ("build_context", {"path", "project"}),
        ("list_directory", {"project", "path"}),
        ("recent_activity", {"timeframe", "project"}),
        ("create_memory_project", {"name", "path"}),
    ],
)
@pytest.mark.spec("6.2")
def test_the_specs_parameters_are_there(tool: str, parameters: set[str]) -> None:
    declared = next(declaration for declaration in TOOLS if declaration.name == tool)
    assert parameters <= set(declared.input_schema["properties"])


@pytest.mark.spec("6.2")
def test_the_specs_defaults_and_required_parameters_hold() -> None:
    schemas = {declaration.name: declaration.input_schema for declaration in TOOLS}
    assert schemas["write_note"]["required"] == ["title", "content"]
    assert schemas["write_note"]["properties"]["note_type"]["default"] == "note"
    assert schemas["write_note"]["properties"]["overwrite"]["default"] is False
    assert schemas["search_notes"]["required"] == ["query"]
    assert schemas["search_notes"]["properties"]["search_type"]["default"] == "hybrid"
    assert schemas["search_notes"]["properties"]["page"]["default"] == 1
    assert schemas["search_notes"]["properties"]["output_format"]["default"] == "text"
    assert schemas["edit_note"]["required"] == ["path", "content_updates"]
    assert schemas["recent_activity"]["properties"]["timeframe"]["default"] == "1 day"
    assert schemas["create_memory_project"]["required"] == ["name", "path"]


@pytest.mark.spec("13.4")
async def test_write_note_creates_the_file_with_frontmatter(caller: Caller) -> None:
    data = await caller.data("write_note", title="Test", content="Hello", tags=["a"])
    text = (caller.root / "test.md").read_text("utf-8")
    assert text.startswith("---\n")
    assert "title: Test\n" in text
    assert "type: note\n" in text
    assert text.rstrip().endswith("Hello")
    assert data["action"] == "created"
    assert data["permalink"] == "test"
    assert data["file_path"] == "test.md"
    assert data["tags"] == ["a"]


@pytest.mark.spec("13.4")
async def test_write_note_respects_the_directory(caller: Caller) -> None:
    await caller.text("write_note", title="Deep", content="...", directory="research/ai")
    assert (caller.root / "research/ai/deep.md").is_file()


async def test_write_note_keeps_the_type_and_tags_that_its_content_names(caller: Caller) -> None:
    content = "---\ntype: concept\ntags: [keep]\n---\nx"
    data = await caller.data("write_note", title="Test", content=content, tags=["new"])
    assert (data["note_type"], data["tags"]) == ("concept", ["new", "keep"])


@pytest.mark.spec("13.4")
async def test_write_note_refuses_to_overwrite(caller: Caller) -> None:
    (caller.root / "test.md").write_text("mine", "utf-8")
    error = await caller.error("write_note", title="Test", content="Hello")
    assert error["code"] == "NOTE_EXISTS"
    assert (caller.root / "test.md").read_text("utf-8") == "mine"
    await caller.text("write_note", title="Test", content="Hello", overwrite="true")
    assert "Hello" in (caller.root / "test.md").read_text("utf-8")


@pytest.mark.spec("13.4")
async def test_read_note_by_permalink_holds_observations_and_relations(caller: Caller) -> None:
    await caller.text("write_note", title="My Research", content=RESEARCH)
    data = await caller.data("read_note", path="my-research")
    assert data["title"] == "My Research"
    assert data["observations"][0]["category"] == "definition"
    assert data["observations"][0]["tags"] == ["method"]
    assert data["observations"][0]["context"] == "at work"
    assert data["relations"][0]["relation_type"] == "requires"
    assert data["relations"][0]["resolved"] is False
    assert data["content"] == (caller.root / "my-research.md").read_text("utf-8")


@pytest.mark.spec("6.2.2")
async def test_read_note_text_is_the_file_as_it_is(caller: Caller) -> None:
    text = "---\ntitle: What: now?\n---\n\nBody  \n\n"
    (caller.root / "odd.md").write_text(text, "utf-8", newline="")
    result = await caller.client.call_tool("read_note", {"path": "odd.md"})
    assert result.content[0].text == text
    assert "odd.md" in result.content[1].text


async def test_a_long_note_is_read_in_parts(caller: Caller) -> None:
    text = "".join(f"line {number} {'x' * 50}\n" for number in range(1, 1001))
    (caller.root / "long.md").write_text(text, "utf-8", newline="")
    read, line = "", 1
    while line is not None:
        data = await caller.data("read_note", path="long.md", start_line=line)
        assert len(json.dumps(data)) <= 20_500
        read += data["content"]
        line = data["next_line"]
    assert read == text


@pytest.mark.spec("13.4")
async def test_search_notes_answers_as_text_and_as_json(caller: Caller) -> None:
    await caller.text("write_note", title="Test Plan", content="We test every rule.")
    data = await caller.data("search_notes", query="test")
    assert [hit["permalink"] for hit in data["results"]] == ["test-plan"]
    assert data["results"][0]["score"] > 0
    text = await caller.text("search_notes", query="test", output_format="text")
    assert "1. Test Plan — test-plan" in text
    assert not text.startswith("{")


@pytest.mark.spec("5.5")
async def test_search_filters_reach_the_index(caller: Caller) -> None:
    await caller.text("write_note", title="One", content="word", note_type="concept", tags="x,y")
    await caller.text("write_note", title="Two", content="word", metadata='{"status": "done"}')

    async def found(**filters: Any) -> set[str]:
        data = await caller.data("search_notes", query="word", **filters)
        return {hit["title"] for hit in data["results"]}

    assert await found() == {"One", "Two"}
    assert await found(note_types=["concept"]) == {"One"}
    assert await found(tags="x, y") == {"One"}
    assert await found(tags=["x", "z"]) == set()
    assert await found(metadata_filters={"status": "done"}) == {"Two"}
    assert await found(title="tw") == {"Two"}
    assert await found(permalink="one") == {"One"}
    assert await found(permalink_match="t*") == {"Two"}
    assert await found(after_date="2000-01-01") == {"One", "Two"}
    assert (await caller.error("search_notes", query="w", after_date="2999-01-01"))[
        "parameter"
    ] == "after_date"


@pytest.mark.spec("13.3")
async def test_search_pages_follow_each_other(caller: Caller) -> None:
    for number in range(12):
        (caller.root / f"n{number:02}.md").write_text(f"shared {number}\n", "utf-8")
    await caller.indexed()
    pages = [
        await caller.data("search_notes", query="shared", search_type="fts", page=page, page_size=5)
        for page in (1, 2, 3)
    ]
    assert [len(page["results"]) for page in pages] == [5, 5, 2]
    assert len({hit["permalink"] for page in pages for hit in page["results"]}) == 12
    assert [page["next_page"] for page in pages] == [2, 3, None]


@pytest.mark.spec("12.3")
async def test_a_search_without_result_suggests_something(caller: Caller) -> None:
    data = await caller.data("search_notes", query="zzqqxx")
    assert data["results"] == []
    assert data["suggestion"]


@pytest.mark.spec("13.4")
async def test_build_context_resolves_a_memory_uri(caller: Caller) -> None:
    await caller.text("write_note", title="Focus", content="About attention.")
    await caller.text("write_note", title="My Research", content=RESEARCH)
    data = await caller.data("build_context", path="memory://my-research")
    context = data["contexts"][0]
    assert context["permalink"] == "my-research"
    assert context["relations"][0]["to_permalink"] == "focus"
    assert [item["permalink"] for item in context["related"]] == ["focus"]
    text = await caller.text("build_context", path="memory://my-research")
    assert "A study of one's own" in text
    assert "Focus — focus" in text


@pytest.mark.spec("13.4")
async def test_recent_activity_lists_the_newest_first(caller: Caller) -> None:
    for name, age in (("old", 7200), ("older", 1800), ("newer", 60)):
        await caller.text("write_note", title=name, content="x")
        path = caller.root / f"{name}.md"
        stamp = path.stat().st_mtime - age
        os.utime(path, (stamp, stamp))
    await caller.indexed()
    data = await caller.data("recent_activity", timeframe="1 hour")
    assert [note["title"] for note in data["results"]] == ["newer", "older"]
    assert "newer — newer" in await caller.text("recent_activity", timeframe="1 hour")


@pytest.mark.spec("13.4")
async def test_list_memory_projects_shows_both(caller: Caller) -> None:
    await caller.text("write_note", title="One", content="- [fact] x")
    projects = (await caller.data("list_memory_projects"))["projects"]
    assert [(item["name"], item["is_default"], item["is_active"]) for item in projects] == [
        ("Main", True, True),
        ("Second", False, True),
    ]
    assert projects[0]["path"] == str(caller.root)
    assert (projects[0]["entity_count"], projects[0]["observation_count"]) == (1, 1)
    assert "Second" in await caller.text("list_memory_projects")


@pytest.mark.spec("13.4")
async def test_delete_note_removes_the_file_and_its_rows(caller: Caller) -> None:
    await caller.text("write_note", title="Test Note", content=RESEARCH)
    await caller.text("write_note", title="Pointer", content="See [[Test Note]].")
    data = await caller.data("delete_note", path="test-note")
    assert data["deleted"] is True
    assert [link["from_permalink"] for link in data["unresolved_backlinks"]] == ["pointer"]
    assert not (caller.root / "test-note.md").exists()
    assert (await caller.error("read_note", path="test-note"))["code"] == "NOTE_NOT_FOUND"
    project = (await caller.data("list_memory_projects"))["projects"][0]
    assert project["entity_count"] == 1
    assert project["observation_count"] == 0
    assert project["relation_count"] == 1


@pytest.mark.spec("6.2.3")
async def test_edit_note_changes_what_was_asked_and_nothing_else(caller: Caller) -> None:
    path = caller.root / "n.md"
    path.write_bytes(b"---\ntitle: N\n---\r\nold  text\r\n")
    await caller.text("edit_note", path="n.md", content_updates="added")
    assert path.read_bytes().startswith(b"---\ntitle: N\n---\r\nold  text\r\n")
    assert b"added" in path.read_bytes()
    data = await caller.data("edit_note", path="n.md", find_text="old", content_updates="new")
    assert data["action"] == "updated"
    assert "+new  text" in data["diff"]
    assert b"\r\nnew  text\r\n" in path.read_bytes()


async def test_edit_note_with_dry_run_shows_the_diff_only(caller: Caller) -> None:
    await caller.text("write_note", title="N", content="old")
    before = (caller.root / "n.md").read_bytes()
    text = await caller.text(
        "edit_note", path="n", operation="replace", content_updates="new", dry_run=True
    )
    assert text.startswith("Dry run, would update N")
    assert "-old" in text
    assert (caller.root / "n.md").read_bytes() == before


async def test_edit_note_refuses_a_mismatch_and_a_stale_checksum(caller: Caller) -> None:
    await caller.text("write_note", title="N", content="a a")
    error = await caller.error("edit_note", path="n", find_text="a a a", content_updates="b")
    assert (error["code"], error["found"], error["expected"]) == ("INVALID_ARGUMENT", 0, 1)
    error = await caller.error(
        "edit_note", path="n", content_updates="b", expected_checksum="0" * 64
    )
    assert error["code"] == "CONFLICT"
    assert error["checksum"] == (await caller.data("read_note", path="n"))["checksum"]
    assert error["checksum"] in await caller.error_text(
        "edit_note", path="n", content_updates="b", expected_checksum="0" * 64
    )


async def test_find_text_without_its_operation_is_refused(caller: Caller) -> None:
    await caller.text("write_note", title="N", content="a")
    for arguments in (
        {"operation": "append", "find_text": "a"},
        {"operation": "find_replace"},
        {"operation": "replace_section"},
    ):
        error = await caller.error("edit_note", path="n", content_updates="b", **arguments)
        assert error["code"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize("name", ["find_text", "old_string"])
async def test_an_empty_text_to_find_adds_nothing(caller: Caller, name: str) -> None:
    await caller.text("write_note", title="N", content="a")
    before = (await caller.data("read_note", path="n"))["checksum"]
    for operation in ({}, {"operation": "find_replace"}):
        error = await caller.error(
            "edit_note", path="n", content_updates="b", **operation, **{name: ""}
        )
        assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", "find_text")
    assert (await caller.data("read_note", path="n"))["checksum"] == before
    for arguments in (
        {"content_updates": "c", "operation": "append"},
        {"content_updates": "", "metadata": {"a": 1}},
        {"metadata": {"a": 2}},
    ):
        await caller.text("edit_note", path="n", **arguments, **{name: ""})


@pytest.mark.spec("6.2.7")
async def test_list_directory_shows_folders_and_files(caller: Caller) -> None:
    await caller.text("write_note", title="Top", content="x")
    await caller.text("write_note", title="Deep", content="x", directory="a/b")
    entries = (await caller.data("list_directory"))["entries"]
    assert [(item["type"], item["path"]) for item in entries] == [
        ("directory", "a"),
        ("file", "top.md"),
    ]
    assert entries[0]["count"] == 1
    assert entries[1]["title"] == "Top"
    deep = await caller.data("list_directory", path="a/b")
    assert [item["path"] for item in deep["entries"]] == ["a/b/deep.md"]
    assert "a/ (1 note)" in await caller.text("list_directory", path="/")


@pytest.mark.spec("6.2.10")
async def test_a_project_inside_another_is_told_what_that_means(caller: Caller) -> None:
    inner = caller.root / "inner"
    inner.mkdir()
    said = await caller.text("create_memory_project", name="Inner", path=str(inner))
    note = f"{inner.resolve()} lies inside the project {{}}, which leaves it out from now on"
    outer = said.partition("lies inside the project ")[2].partition(",")[0]
    assert said.splitlines()[1] == f"Note: {note.format(outer)}."
    data = await caller.data("create_memory_project", name="Inner", path=str(inner))
    assert data["notes"] == [note.format(outer)]


@pytest.mark.spec("6.2.10")
async def test_create_memory_project_makes_the_folder_and_indexes_it(
    caller: Caller, tmp_path: Path
) -> None:
    folder = tmp_path / "third"
    data = await caller.data("create_memory_project", name="Third", path=str(folder))
    assert data["created"] is True
    assert folder.is_dir()
    await caller.text("write_note", title="Here", content="x", project="third")
    assert (folder / "here.md").is_file()
    names = [item["name"] for item in (await caller.data("list_memory_projects"))["projects"]]
    assert names == ["Main", "Second", "Third"]


@pytest.mark.spec("11")
async def test_projects_are_found_case_blind_and_blank_is_the_default(
    caller: Caller, tmp_path: Path
) -> None:
    await caller.text("write_note", title="A", content="x", project="SECOND")
    assert (tmp_path / "second/a.md").is_file()
    await caller.text("write_note", title="B", content="x", project=" ")
    assert (caller.root / "b.md").is_file()


@pytest.mark.spec("11")
async def test_an_unknown_project_is_an_error_that_lists_the_names(caller: Caller) -> None:
    error = await caller.error("write_note", title="A", content="x", project="Thrid")
    assert error["code"] == "PROJECT_NOT_FOUND"
    assert error["projects"] == ["Main", "Second"]
    assert list(caller.root.iterdir()) == []


@pytest.mark.spec("7.1")
async def test_an_address_chooses_the_project(caller: Caller) -> None:
    await caller.text("write_note", title="There", content="x", project="Second")
    data = await caller.data("read_note", path="memory://@second/there")
    assert data["project"] == "Second"
    assert data["uri"] == "memory://@second/there"
    again = await caller.data("build_context", path=data["uri"], project="second")
    assert again["contexts"][0]["permalink"] == "there"
    error = await caller.error("read_note", path=data["uri"], project="Main")
    assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", "project")


@pytest.mark.spec("7.2")
@pytest.mark.parametrize(
    "address", ["memory://", "memory://a://b", "memory://a//b", "memory://a<b", "memory://a?"]
)
async def test_a_bad_memory_address_is_refused(caller: Caller, address: str) -> None:
    assert (await caller.error("read_note", path=address))["code"] == "INVALID_URI"


@pytest.mark.spec("7.2")
async def test_a_title_with_signs_is_no_address(caller: Caller) -> None:
    await caller.text("write_note", title="What: now?", content="x")
    assert (await caller.data("read_note", path="What: now?"))["title"] == "What: now?"


async def test_unknown_and_missing_arguments_are_named(caller: Caller) -> None:
    assert "Did you mean 'title'" in await caller.error_text("write_note", tittle="A", content="x")
    error = await caller.error("write_note", title="A")
    assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", "content")
    assert (await caller.error("search_notes", query="x", page="two"))["parameter"] == "page"


async def test_text_that_looks_like_json_stays_text(caller: Caller) -> None:
    await caller.text("write_note", title=2024, content='{"a": [1]}')
    assert '{"a": [1]}' in (caller.root / "2024.md").read_text("utf-8")


async def test_an_error_as_text_is_a_line_and_a_hint(caller: Caller) -> None:
    lines = (await caller.error_text("read_note", path="nothing")).splitlines()
    assert lines[0] == "NOTE_NOT_FOUND: There is no note 'nothing'"
    assert len(lines) == 2


async def test_a_huge_argument_makes_no_huge_error(caller: Caller) -> None:
    for arguments in ({"path": "x" * 100_000}, {"y" * 100_000: 1}, {"path": ["z"] * 10_000}):
        assert len(await caller.error_text("read_note", **arguments)) < 2000
        result = await caller.client.call_tool(
            "read_note", arguments | {"output_format": "json"}, raise_on_error=False
        )
        assert len(result.content[0].text) < 4000


@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "a/../../secret.md"])
async def test_nothing_outside_the_project_is_read(
    caller: Caller, tmp_path: Path, path: str
) -> None:
    (tmp_path / "secret.md").write_text("secret", "utf-8")
    text = await caller.error_text("read_note", path=path)
    assert text.startswith(("OUTSIDE_PROJECT", "NOTE_NOT_FOUND"))
    assert str(tmp_path) not in text


async def test_what_nobody_foresaw_is_answered_and_logged_without_details(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    from loguru import logger

    async def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("/secret/path")

    workspace = await caller.session.workspace(None)
    monkeypatch.setattr(type(workspace.search), "search", broken)
    lines: list[str] = []
    sink = logger.add(lines.append, format="{message}\n{exception}")
    try:
        error = await caller.error("search_notes", query="x")
    finally:
        logger.remove(sink)
    assert error["code"] == "INTERNAL"
    assert "secret" not in json.dumps(error)
    assert "ZeroDivisionError" in "".join(lines)


async def test_an_edit_from_outside_is_found_once_the_file_is_quiet(caller: Caller) -> None:
    await caller.indexed()
    (caller.root / "outside.md").write_text("elsewhere\n", "utf-8")
    data = await caller.data("search_notes", query="elsewhere")
    while not data["results"]:
        data = await caller.data("search_notes", query="elsewhere")
    assert [hit["permalink"] for hit in data["results"]] == ["outside"]


async def test_an_edit_from_outside_is_found_where_nothing_is_watched(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.sync.coordinator.TRUSTED_S", 0.0)
    monkeypatch.setattr("memoranda.sync.leader.Leader.is_up_to_date", False)
    await caller.indexed()
    (caller.root / "outside.md").write_text("elsewhere\n", "utf-8")
    data = await caller.data("search_notes", query="elsewhere")
    assert [hit["permalink"] for hit in data["results"]] == ["outside"]


@pytest.mark.parametrize("tool", ["edit_note", "delete_note"])
async def test_a_file_from_outside_can_be_edited_and_deleted(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    monkeypatch.setattr("memoranda.sync.coordinator.TRUSTED_S", 0.0)
    monkeypatch.setattr("memoranda.sync.leader.Leader.is_up_to_date", False)
    await caller.indexed()
    (caller.root / "outside.md").write_text("---\npermalink: elsewhere\n---\n", "utf-8")
    more = {"content_updates": "added"} if tool == "edit_note" else {}
    await caller.text(tool, path="elsewhere", **more)


@pytest.mark.spec("6.2.2")
async def test_read_note_names_the_notes_around_it(caller: Caller) -> None:
    await caller.text("write_note", title="A", content="- needs [[B]]")
    await caller.text("write_note", title="B", content="About b.")
    (related,) = (await caller.data("read_note", path="a"))["related"]
    assert (related["permalink"], related["why"], related["summary"]) == ("b", "needs", "About b.")


async def test_a_part_of_a_note_says_all_its_links(caller: Caller) -> None:
    await caller.text("write_note", title="A", content="text\n\n- needs [[B]]")
    data = await caller.data("read_note", path="a", start_line=1, end_line=1)
    assert [link["to_name"] for link in data["relations"]] == ["b"]


async def test_answers_of_another_project_say_how_to_stay_in_it(caller: Caller) -> None:
    await caller.text("write_note", title="There", content="far away", project="second")
    for tool, arguments in (
        ("search_notes", {"query": "far"}),
        ("read_note", {"path": "there"}),
        ("list_directory", {}),
    ):
        assert "pass project='Second'" in await caller.text(tool, project="second", **arguments)
    assert "pass project=" not in await caller.text("list_directory")


async def test_lines_that_are_not_there_are_refused(caller: Caller) -> None:
    await caller.text("write_note", title="A", content="text")
    for window in ({"start_line": 99}, {"start_line": 3, "end_line": 2}):
        error = await caller.error("read_note", path="a", **window)
        assert error["code"] == "INVALID_ARGUMENT"
        assert error["hint"] == "The note has 6 lines."


async def test_a_folder_that_is_not_there_is_told_from_a_note(caller: Caller) -> None:
    await caller.text("write_note", title="A", content="text", directory="sub")
    error = await caller.error("list_directory", path="nope")
    assert error["message"] == "There is no folder 'nope' with notes"
    assert "sub" in error["hint"]
    error = await caller.error("list_directory", path="sub/a.md")
    assert error["message"] == "'sub/a.md' is a note"


async def test_empty_texts_of_optional_parameters_are_none(caller: Caller) -> None:
    await caller.text("write_note", title="A", content="text", expected_checksum="", tags="")
    assert "a.md" in await caller.text("list_directory", glob="", page="")
    await caller.text("edit_note", path="a", operation="append", content_updates="x", find_text="")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_note", {"path": "a" * 100_000}),
        ("recent_activity", {"timeframe": "0001-01-01T00:00:00+14:00"}),
        ("search_notes", {"query": "", "tags": [f"t{i}" for i in range(1500)]}),
    ],
)
async def test_extreme_values_are_never_an_internal_error(
    caller: Caller, tool: str, arguments: dict[str, Any]
) -> None:
    result = await caller.client.call_tool(tool, arguments, raise_on_error=False)
    assert "INTERNAL" not in result.content[0].text


async def test_very_long_names_do_not_swell_the_answers(caller: Caller) -> None:
    await caller.text("write_note", title="T" * 30_000, content="# " + "word " * 40_000)
    for tool, arguments in (("search_notes", {"query": "word"}), ("list_directory", {})):
        data = await caller.data(tool, **arguments)
        assert len(json.dumps(data)) < 20_000


async def test_calls_at_once_all_succeed(caller: Caller) -> None:
    await caller.text("write_note", title="Log", content="start")
    await asyncio.gather(
        *(caller.text("edit_note", path="log", content_updates=f"entry {n}") for n in range(20))
    )
    text = (caller.root / "log.md").read_text("utf-8")
    assert all(f"entry {n}\n" in text + "\n" for n in range(20))


@pytest.mark.spec("6.3")
async def test_project_info_is_a_resource(caller: Caller) -> None:
    await caller.text("write_note", title="One", content="- [fact] x")
    (default,) = await caller.client.read_resource("memory://project_info")
    info = json.loads(default.text)
    assert (info["name"], info["entity_count"], info["observation_count"]) == ("Main", 1, 1)
    assert info["index"]["status"] == "ready"
    (named,) = await caller.client.read_resource("memory://@second/project_info")
    assert json.loads(named.text)["name"] == "Second"
    templates = {each.uri_template for each in await caller.client.list_resource_templates()}
    assert "memory://@{project}/project_info" in templates
    with pytest.raises(Exception, match="PROJECT_NOT_FOUND"):
        await caller.client.read_resource("memory://@third/project_info")


async def test_project_info_is_read_again_when_the_index_turns_out_damaged(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    info, looks = ProjectService.info, 0

    async def damaged_once(self: ProjectService, name: str | None) -> ProjectInfo:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise DatabaseDamaged("memory.db is damaged: malformed")
        return await info(self, name)

    monkeypatch.setattr(ProjectService, "info", damaged_once)
    (default,) = await caller.client.read_resource("memory://project_info")
    assert (json.loads(default.text)["name"], looks) == ("Main", 2)


def test_tool_modules_do_not_import_fastmcp() -> None:
    code = "import sys, memoranda.mcp.table; print([m for m in sys.modules if m in HEAVY])"
    heavy: Sequence[str] = ("fastmcp", "sqlalchemy", "dateparser", "rich", "alembic", "pydantic")
    import subprocess

    out = subprocess.run(
        [sys.executable, "-c", f"HEAVY = {heavy!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert out.stdout.strip() == "[]"

"""A folder's name where a note is wanted, a pattern, and a section behind a title."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.mcp.conftest import Caller


@pytest.fixture
async def ideas(caller: Caller) -> Caller:
    """A folder with two notes, one of them further down."""
    await caller.text("write_note", title="One", content="## Syntax\n\nsigns\n", directory="ideas")
    await caller.text("write_note", title="Two#3", content="three", directory="ideas/deep")
    return caller


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_note", {}),
        ("delete_note", {}),
        ("edit_note", {"content_updates": "x"}),
        ("edit_note", {"content_updates": "x", "dry_run": True}),
    ],
)
@pytest.mark.parametrize("name", ["ideas", "ideas/", "memory://ideas"])
async def test_a_folder_is_named_as_one_where_a_note_is_wanted(
    ideas: Caller, tool: str, arguments: dict[str, Any], name: str
) -> None:
    error = await ideas.error(tool, path=name, **arguments)
    assert error["code"] == "NOTE_NOT_FOUND"
    assert error["message"].startswith("'ideas' is a folder (2 notes)")
    assert "list_directory" in error["hint"]
    assert "write_note" not in error["hint"]
    assert (ideas.root / "ideas" / "one.md").is_file()


async def test_an_edit_of_no_note_says_what_makes_one(ideas: Caller) -> None:
    error = await ideas.error("edit_note", path="nowhere at all", content_updates="x")
    assert error["message"].startswith("There is no note")
    assert "write_note" in error["hint"]
    error = await ideas.error("read_note", path="nowhere at all")
    assert "write_note" not in error["hint"]


async def test_a_move_offers_the_folder_that_is_nearly_named_so(ideas: Caller) -> None:
    for name in ("idea", "idea/"):
        error = await ideas.error("move_note", path=name, destination="thoughts/")
        assert error["code"] == "NOTE_NOT_FOUND"
        assert "Folders there are: ideas" in error["hint"]


async def test_a_move_of_a_pattern_says_to_name_the_folder(ideas: Caller) -> None:
    error = await ideas.error("move_note", path="ideas/*", destination="thoughts/")
    assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", "path")
    assert "Name the folder" in error["hint"]


@pytest.mark.parametrize("name", ["One#Syntax", "ideas/one#Syntax", "memory://ideas/one#syntax"])
async def test_a_section_may_stand_behind_the_name_of_the_note(ideas: Caller, name: str) -> None:
    data = await ideas.data("read_note", path=name)
    assert data["title"] == "One"
    assert data["content"].startswith("## Syntax")


async def test_a_name_with_that_sign_comes_first(ideas: Caller) -> None:
    assert (await ideas.data("read_note", path="Two#3"))["title"] == "Two#3"
    error = await ideas.error("read_note", path="One#Nothing")
    assert error["code"] == "SECTION_NOT_FOUND"
    error = await ideas.error("read_note", path="Nowhere#Syntax")
    assert (error["code"], error["name"]) == ("NOTE_NOT_FOUND", "Nowhere#Syntax")


async def test_the_history_of_a_note_is_found_by_its_title(ideas: Caller) -> None:
    assert (await ideas.data("note_history", path="One"))["path"] == "ideas/one.md"


async def test_a_dry_run_of_what_was_taken_back_says_so_as_the_undo_does(ideas: Caller) -> None:
    change = (await ideas.data("note_history"))["changes"][0]
    await ideas.text("undo_change", change_id=change["id"])
    planned = await ideas.text("undo_change", change_id=change["id"], dry_run=True)
    assert planned.startswith("Nothing to do: 1 change had been taken back already.")
    assert planned == await ideas.text("undo_change", change_id=change["id"])


async def test_a_change_in_the_way_is_named_before_the_undo_is_tried(ideas: Caller) -> None:
    made = (await ideas.data("note_history", path="One"))["changes"][0]["id"]
    await ideas.text("edit_note", path="ideas/one", content_updates="more")
    later = (await ideas.data("note_history", path="One"))["changes"][0]["id"]
    text = await ideas.text("note_history", change_id=made)
    assert f"This change alone cannot be taken back: Take back change {later} (by " in text
    data = await ideas.data("note_history", change_id=made)
    error = await ideas.error("undo_change", change_id=made)
    assert data["undo_needs"] in error["hint"]
    assert (error["later_changes"], len(error["later_clients"])) == ([later], 1)

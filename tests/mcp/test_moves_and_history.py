"""The tools that move, show what was changed, and take it back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.mcp.test_client import client_of

from memoranda.mcp.server import build_server

if TYPE_CHECKING:
    from tests.mcp.conftest import Caller


@pytest.fixture
async def two(caller: Caller) -> Caller:
    """Two notes, and one points at the other in every way."""
    await caller.text("write_note", title="Plan", content="the plan", directory="plans")
    links = "- part_of [[plans/plan]]\n\nSee [the plan](plans/plan.md#x) and [[Plan]].\n"
    await caller.text("write_note", title="Index", content=links)
    return caller


async def last(caller: Caller, **filters: Any) -> dict[str, Any]:
    """The newest change."""
    return dict((await caller.data("note_history", **filters))["changes"][0])


async def test_move_note_says_what_moved_and_which_links_were_rewritten(two: Caller) -> None:
    before = (two.root / "index.md").read_text("utf-8")
    planned = await two.data(
        "move_note", path="plans/plan", destination="old/plan.md", dry_run=True
    )
    assert (planned["dry_run"], planned["change_id"]) == (True, None)
    assert (two.root / "index.md").read_text("utf-8") == before
    data = await two.data("move_note", path="plans/plan", destination="old/plan.md")
    assert planned | {"dry_run": False, "change_id": data["change_id"]} == data
    assert data["notes"] == [
        {
            "title": "Plan",
            "from_path": "plans/plan.md",
            "to_path": "old/plan.md",
            "from_permalink": "plans/plan",
            "to_permalink": "old/plan",
        }
    ]
    assert not (two.root / "plans").exists()
    assert {link["path"] for link in data["links"]} == {"index.md"}
    after = (two.root / "index.md").read_text("utf-8")
    for link in data["links"]:
        assert link["before"] in before.splitlines()[link["line"] - 1]
        assert link["after"] in after.splitlines()[link["line"] - 1]
    links = (await two.data("read_note", path="index"))["relations"]
    assert {link["to_permalink"] for link in links} == {"old/plan"}


async def test_move_note_as_text_says_how_to_take_it_back(two: Caller) -> None:
    text = await two.text("move_note", note="memory://plans/plan", to="old/plan.md", dry_run="true")
    assert text.startswith("Dry run, would move Plan: plans/plan.md → old/plan.md")
    assert "undo_change" not in text
    text = await two.text("move_note", path="plans/plan", destination="old/plan.md")
    assert text.startswith("Moved Plan: plans/plan.md → old/plan.md")
    assert "index.md line " in text
    change = await last(two)
    assert f"change_id {change['batch']}" in text


async def test_a_folder_moves_with_all_that_is_in_it(two: Caller) -> None:
    (two.root / "plans/picture.png").write_bytes(b"png")
    data = await two.data("move_note", path="plans", destination="attic/plans")
    assert (data["is_folder"], data["other_files"], len(data["notes"])) == (True, 1, 1)
    assert (two.root / "attic/plans/picture.png").read_bytes() == b"png"
    assert (two.root / "attic/plans/plan.md").is_file()


@pytest.mark.parametrize(
    ("path", "destination", "code"),
    [
        ("plans/plan", "index.md", "NOTE_EXISTS"),
        ("plans/plan", "../out.md", "OUTSIDE_PROJECT"),
        ("nothing", "a.md", "NOTE_NOT_FOUND"),
    ],
)
async def test_a_move_that_cannot_be_changes_nothing(
    two: Caller, path: str, destination: str, code: str
) -> None:
    files = {file: file.read_bytes() for file in two.root.rglob("*.md")}
    error = await two.error("move_note", path=path, destination=destination)
    assert error["code"] == code
    assert error["hint"]
    assert {file: file.read_bytes() for file in two.root.rglob("*.md")} == files


async def test_note_history_lists_newest_first_and_goes_on(two: Caller) -> None:
    for number in range(5):
        await two.text("edit_note", path="index", content_updates=f"line {number}")
    ids: list[int] = []
    more: dict[str, Any] = {}
    while True:
        page = await two.data("note_history", page_size=3, **more)
        ids += [change["id"] for change in page["changes"]]
        if not page["has_more"]:
            break
        more = {"before_id": page["next_before_id"]}
    assert ids == sorted(ids, reverse=True)
    assert len(ids) == len(set(ids)) == 7
    newest = (await two.data("note_history", path="index"))["changes"][0]
    assert (newest["tool"], newest["kind"], newest["file_path"]) == (
        "edit_note",
        "updated",
        "index.md",
    )
    assert newest["after_bytes"] > newest["before_bytes"]
    lines = (await two.text("note_history", page_size=3)).splitlines()
    assert lines[0].startswith(f"{newest['id']} · ")
    assert "updated index.md" in lines[0]
    assert lines[-1] == f"Older changes: before_id={ids[2]}"


async def test_note_history_shows_a_change_and_the_note_before_and_after(two: Caller) -> None:
    path = two.root / "plans/plan.md"
    before = path.read_text("utf-8")
    await two.text("edit_note", path="plans/plan", content_updates="more")
    after, change = path.read_text("utf-8"), await last(two)
    shown = await two.data("note_history", change_id=change["id"])
    assert "+more" in shown["diff"]
    assert (shown["is_changed_since"], shown["next_line"]) == (False, None)
    for version, text in (("before", before), ("after", after)):
        data = await two.data("note_history", change_id=change["id"], version=version)
        assert (data["content"], data["version"]) == (text, version)
        result = await two.client.call_tool(
            "note_history", {"change_id": change["id"], "version": version}
        )
        assert result.content[1].text == text
    assert "+more" in await two.text("note_history", change_id=str(change["id"]))


async def test_a_long_difference_is_read_in_parts(two: Caller) -> None:
    text = "".join(f"line {number} {'x' * 50}\n" for number in range(1000))
    await two.text("edit_note", path="plans/plan", operation="replace", content_updates=text)
    change, line, whole = (await last(two))["id"], 1, ""
    while line is not None:
        data = await two.data("note_history", change_id=change, version="after", start_line=line)
        assert len(json.dumps(data)) <= 20_500
        whole += data["content"]
        line = data["next_line"]
    assert whole == (two.root / "plans/plan.md").read_text("utf-8")
    diff = await two.text("note_history", change_id=change)
    assert len(diff) <= 20_000
    assert "Go on with start_line=" in diff


async def test_what_has_no_meaning_together_is_refused(two: Caller) -> None:
    for tool, arguments, parameter in (
        ("note_history", {"version": "before"}, "change_id"),
        ("note_history", {"change_id": 1, "client": "x"}, "client"),
        ("note_history", {"change_id": 999}, "change_id"),
        ("note_history", {"change_id": 1, "version": "before"}, None),
        ("undo_change", {}, "change_id"),
        ("undo_change", {"client": "x"}, "change_id"),
        ("undo_change", {"change_id": 999}, "change_id"),
        ("undo_change", {"client": "x", "since": "9999-01-01"}, "since"),
    ):
        error = await two.error(tool, **arguments)
        assert error["code"] == "INVALID_ARGUMENT", arguments
        assert error["hint"], arguments
        assert parameter in (None, error["parameter"]), arguments


async def test_undo_change_brings_the_bytes_back_and_can_itself_be_undone(two: Caller) -> None:
    before = {file: file.read_bytes() for file in two.root.rglob("*.md")}
    move = await two.data("move_note", path="plans", destination="old")
    after = {file: file.read_bytes() for file in two.root.rglob("*.md")}
    planned = await two.data("undo_change", change_id=move["change_id"], dry_run=True)
    assert {file: file.read_bytes() for file in two.root.rglob("*.md")} == after
    undone = await two.data("undo_change", change_id=move["change_id"])
    assert planned["files"] == undone["files"]
    assert {file: file.read_bytes() for file in two.root.rglob("*.md")} == before
    assert {file["path"] for file in undone["files"]} == {"index.md", "plans/plan.md"}
    text = await two.text("undo_change", change_id=undone["change_id"])
    assert text.startswith("Took back ")
    assert {file: file.read_bytes() for file in two.root.rglob("*.md")} == after


async def test_everything_of_a_client_is_taken_back_and_nothing_of_another(two: Caller) -> None:
    server = build_server(two.session)
    async with client_of(server, "careful", "1") as careful, client_of(server, "wild", "2") as wild:
        await careful.call_tool("write_note", {"title": "Kept", "content": "x"})
        await wild.call_tool("write_note", {"title": "Gone", "content": "x"})
        await wild.call_tool("edit_note", {"path": "plans/plan", "content_updates": "wild words"})
        await wild.call_tool("delete_note", {"path": "index"})
        done = await two.data("undo_change", client="wild", since="1 hour")
        assert len(done["changes"]) == 3
        assert {(file["path"], file["action"]) for file in done["files"]} == {
            ("gone.md", "deleted"),
            ("index.md", "created"),
            ("plans/plan.md", "rewritten"),
        }
        assert (two.root / "kept.md").is_file()
        assert "wild words" not in (two.root / "plans/plan.md").read_text("utf-8")
        assert (await two.data("read_note", path="index"))["title"] == "Index"


async def test_an_undo_that_later_edits_overlap_is_refused_with_the_difference(two: Caller) -> None:
    await two.text("edit_note", path="plans/plan", find_text="the plan", content_updates="plan one")
    change = await last(two)
    path = two.root / "plans/plan.md"
    path.write_text(path.read_text("utf-8").replace("plan one", "plan two"), "utf-8")
    now = path.read_bytes()
    error = await two.error("undo_change", change_id=change["id"])
    assert error["code"] == "CONFLICT"
    assert error["hint"]
    assert (error["file_path"], error["later_changes"]) == ("plans/plan.md", [])
    assert "plan two" in error["diff"]
    assert path.read_bytes() == now

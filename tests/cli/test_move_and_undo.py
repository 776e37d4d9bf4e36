"""Moving notes from the command line, and taking changes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli
from tests.cli.test_write_and_edit import on_terminal

from memoranda.cli.command_line import command_line


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_moved_note_keeps_its_links_and_an_undo_gives_every_byte_back(
    ready: Cli, notes: Path
) -> None:
    (notes / "index.md").write_text("See [the heap](garden/Compost.md).\n")
    before = snapshot(notes)
    done = ready("mv", "garden/compost", "heaps/Warm heap")
    assert done.code == 0
    assert "Moved Compost: garden/Compost.md → heaps/Warm heap.md\n" in done.out
    assert (notes / "index.md").read_text() == "See [the heap](<heaps/Warm heap.md>).\n" or (
        notes / "index.md"
    ).read_text() == "See [the heap](heaps/Warm%20heap.md).\n"
    assert done.out.splitlines()[-1] == f"Undo: {command_line('undo', '1', project='my notes')}"
    assert ready("read", "heaps/Warm heap.md").code == 0
    assert ready("undo", "1").code == 0
    assert snapshot(notes) == before


def test_a_dry_move_moves_nothing(ready: Cli, notes: Path) -> None:
    before = snapshot(notes)
    done = ready("mv", "garden", "yard", "--dry-run")
    assert done.out.startswith("Dry run, would move a folder (2 notes): garden → yard\n")
    assert "Undo: " not in done.out
    assert snapshot(notes) == before
    assert ready("mv", "garden", "yard", "--json").json["change_id"] == 1
    assert not (notes / "garden").exists()


def test_a_move_never_replaces_a_note(ready: Cli, notes: Path) -> None:
    before = snapshot(notes)
    done = ready("mv", "garden/compost", "Garden diary.md")
    assert (done.code, "already exists" in done.err) == (1, True)
    for source, destination in (("", "x"), ("x", " ")):
        assert "give a path" in ready("mv", source, destination).err
    assert snapshot(notes) == before


def test_a_path_of_the_machine_is_one_of_the_project(ready: Cli, notes: Path) -> None:
    assert ready("mv", notes / "garden" / "Compost.md", f"{notes}/heaps/").code == 0
    assert (notes / "heaps" / "Compost.md").exists()


@pytest.fixture
def edited(ready: Cli) -> Cli:
    """Three changes: two of a note, and the deletion of another."""
    ready("edit", "Compost", "--append", "- one")
    ready("edit", "Compost", "--append", "- two")
    ready("rm", "garden-diary")
    return ready


def test_an_undo_keeps_what_came_later(edited: Cli, notes: Path) -> None:
    assert "later changes are kept" in edited("undo", "1").out
    assert (notes / "garden" / "Compost.md").read_text().endswith("[[Garden beds]]\n- two\n")
    done = edited("undo", "3", "--json").json
    assert done["files"] == [
        {"path": "Garden diary.md", "action": "created", "diff": done["files"][0]["diff"]}
    ]
    assert done["change_id"] == 5


def test_what_is_in_the_way_is_shown_and_nothing_is_changed(edited: Cli, notes: Path) -> None:
    edited("edit", "Compost", "--find", "- one", "--replace-with", "- won")
    before = snapshot(notes)
    done = edited("undo", "1")
    assert done.code == 1
    assert done.out == ""
    error, hint, *diff = done.err.splitlines()
    assert error.startswith("error: garden/Compost.md cannot be put back")
    assert hint.startswith("hint: Nothing was changed.")
    assert {"-- one", "+- won"} <= set(diff)
    as_json = edited("undo", "1", "--json")
    assert as_json.json["error"]["code"] == "CONFLICT"
    assert "+- won" in as_json.json["error"]["diff"]
    assert as_json.err == ""
    assert snapshot(notes) == before


def test_an_undo_is_taken_back_like_any_other_change(edited: Cli, notes: Path) -> None:
    before = snapshot(notes)
    done = edited("undo", "3")
    assert done.out.splitlines()[-1] == f"Undo: {command_line('undo', '4', project='my notes')}"
    assert edited("undo", "4").code == 0
    assert snapshot(notes) == before


def test_a_dry_undo_changes_nothing(edited: Cli, notes: Path) -> None:
    before = snapshot(notes)
    done = edited("undo", "--client", "memoranda", "--dry-run")
    assert done.out.startswith("Dry run, would take back 3 changes:\n")
    assert snapshot(notes) == before


def test_all_of_a_client_is_taken_back_only_where_it_was_asked_or_said(
    edited: Cli, notes: Path
) -> None:
    for which in ([], ["--client", "memoranda"], ["--since", "1h"]):
        refused = edited("undo", *which)
        assert (refused.code, "nobody can be asked here" in refused.err) == (2, True)
        assert ("give ID or --yes" in refused.err) == (which == [])
    done = edited("undo", "--since", "1h", "--path", "garden", "--yes", "--json").json
    assert [change["id"] for change in done["changes"]] == [2, 1]
    assert not (notes / "Garden diary.md").exists()
    assert edited("undo", "--client", "MEMORANDA", "--yes").code == 0
    assert (notes / "Garden diary.md").exists()


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1)])
def test_without_a_number_the_newest_change_is_shown_and_asked_for(
    edited: Cli, notes: Path, home: Path, answer: str, code: int
) -> None:
    done, asked = on_terminal(home, answer, "undo")
    assert done == code
    assert "rm    deleted  Garden diary.md" in asked
    assert "Take back this change?" in asked
    assert (notes / "Garden diary.md").exists() == (code == 0)


def test_what_cannot_be_taken_back_is_said(ready: Cli) -> None:
    said: list[tuple[list[Any], int, str]] = [
        (["1"], 1, "There is no change 1"),
        (["--yes"], 1, "No change is recorded for my notes"),
        (["--client", "nobody", "--yes"], 1, "No change by 'nobody'"),
        (["0"], 2, "must be at least 1"),
        (["1", "--since", "1d"], 2, "give ID, or --client and --since"),
        (["--path", "garden"], 2, "give --client or --since as well"),
        (["--since", "tomorrow?", "--yes"], 1, "--since"),
    ]
    for arguments, code, words in said:
        done = ready("undo", *arguments)
        assert (done.code, words in done.err) == (code, True), done.err
        assert "note_history" not in done.err


def test_a_folder_that_is_nearly_named_so_is_offered_and_one_is_no_note(ready: Cli) -> None:
    assert "Folders there are: garden." in ready("mv", "gardn", "yard/").err
    for command in (("rm", "garden", "--yes"), ("edit", "garden", "--append", "x")):
        said = ready(*command).err
        assert "'garden' is a folder (2 notes), not a note" in said
        assert "memoranda ls NAME" in said
    assert "memoranda write` makes a new one" in ready("edit", "nowhere", "--append", "x").err

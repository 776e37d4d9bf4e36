from __future__ import annotations

import inspect
import re

import pytest

from memoranda import errors
from memoranda.cli.wording import around, hint, message, next_page, nothing_found, way_back

TOOL = re.compile(
    r"\b(?:\w+_note|\w+_notes|\w+_activity|\w+_directory|note_history|find_text|overwrite=)"
)
MADE: list[errors.MemorandaError] = [
    errors.EditMismatch("a.md", 0, 1),
    errors.EditMismatch("a.md", 3, 2),
    errors.NoteNotFound("a"),
    errors.NoteNotFound("a", ["b"]),
    errors.FolderNotFound("a"),
    errors.FolderNotFound("a", ["b"]),
    errors.FolderNotFound("a", is_note=True),
    errors.NameOfFolder("a", "a", 2),
    errors.AmbiguousName("a", ["b", "c"]),
    errors.NoteExists("a.md"),
    errors.Conflict("a.md", "00"),
    errors.UndoConflict("a.md", "it is gone"),
    errors.ChangeNotFound(7),
    errors.SectionNotFound("a.md", "b", []),
    errors.AmbiguousSection("a.md", "b", ["c"]),
    errors.NotIndexed("a.md", "busy"),
    errors.OutsideProject("../a"),
    errors.DiskFull("a.md"),
    errors.InvalidUri("memory://", "empty"),
    errors.ProjectNotFound("a", ["b"]),
    errors.ProjectNotFound(None, []),
    errors.OtherFolder("/notes", "it has other files", name="a"),
]


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_an_error_speaks_of_commands_and_not_of_tools(error: errors.MemorandaError) -> None:
    assert not TOOL.search(message(error)), message(error)
    assert not TOOL.search(hint(error)), hint(error)


def test_every_kind_of_error_that_is_made_without_a_text_is_looked_at() -> None:
    fixed = {
        cls
        for _, cls in inspect.getmembers(errors, inspect.isclass)
        if issubclass(cls, errors.MemorandaError)
        and "__init__" in vars(cls)
        and "message" not in inspect.signature(cls).parameters
    }
    assert fixed <= {type(error) for error in MADE}


def test_a_mismatch_is_counted_in_words() -> None:
    assert message(errors.EditMismatch("a.md", 0, 1)) == (
        "The text of --find is not in a.md, expected once"
    )
    assert message(errors.EditMismatch("a.md", 1, 2)) == (
        "The text of --find is once in a.md, expected 2 times"
    )


def test_how_to_go_on_is_an_option() -> None:
    assert next_page("1. a\nMore: page=2, page_size=10") == "1. a\nMore: --page 2, page_size=10"
    assert next_page("a note on More: page=2") == "a note on More: page=2"
    assert nothing_found("none, begin with page=1.") == "none, begin with --page 1."
    assert nothing_found("timeframe=2026-01-01 lists it.") == (
        "`memoranda recent 2026-01-01` lists it."
    )
    assert around("Cut here: read_note path=a/b start_line=7") == (
        "Cut here: memoranda read a/b --start-line 7"
    )


def test_the_way_back_of_a_move_is_a_command_and_its_links_stay() -> None:
    text = "Moved A\n- a.md line 1: [[undo_change]] → [[b]]\nTake it back with undo_change, change_id 7."
    assert way_back(text, "memoranda undo 7") == (
        "Moved A\n- a.md line 1: [[undo_change]] → [[b]]\nUndo: memoranda undo 7"
    )

from __future__ import annotations

from dataclasses import replace

import pytest

from memoranda.model.address import NotePath, Permalink
from memoranda.model.moves import LinkLeft, MovedNote, MoveResult, RewrittenLink
from memoranda.render.bounds import ANSWER_CHARS, compact
from memoranda.render.moves import move_data, move_text


def moved(number: int) -> MovedNote:
    name = f"note {number}"
    return MovedNote(
        name,
        NotePath(f"old/{name}.md"),
        NotePath(f"new/{name}.md"),
        Permalink(f"old/note-{number}"),
        Permalink(f"new/note-{number}"),
    )


def result(notes: int = 1, links: int = 0, left: int = 0) -> MoveResult:
    path = NotePath("index.md")
    return MoveResult(
        "old",
        "new",
        notes > 1,
        tuple(map(moved, range(notes))),
        0,
        tuple(RewrittenLink(path, n, f"[[old/{n}]]", f"[[new/{n}]]") for n in range(1, links + 1)),
        tuple(LinkLeft(path, n, f"gone {n}", "it is ambiguous") for n in range(1, left + 1)),
        False,
        7,
    )


def test_one_note_is_told_with_its_permalinks_and_links() -> None:
    assert move_text(replace(result(links=1, left=1), source="old/note 0.md")) == (
        "Moved note 0: old/note 0.md → new\n"
        "permalink old/note-0 → new/note-0\n"
        "1 link rewritten, so that it still means the same:\n"
        "- index.md line 1: [[old/1]] → [[new/1]]\n"
        "1 link could not be rewritten and leads nowhere or elsewhere:\n"
        "- index.md line 1: gone 1 (it is ambiguous)\n"
        "Take it back with undo_change, change_id 7."
    )


def test_a_dry_run_says_what_would_be_and_names_no_change() -> None:
    text = move_text(replace(result(2, 2), is_dry_run=True, change_id=None, other_files=3))
    assert text.startswith("Dry run, would move a folder (2 notes, 3 other files): old → new\n")
    assert "2 links would be rewritten, so that they still mean the same:" in text
    assert "undo_change" not in text


@pytest.mark.parametrize(
    ("notes", "links", "left"), [(3000, 3000, 3000), (1, 0, 5000), (900, 1, 1)]
)
def test_a_large_move_is_bounded_and_says_how_much_there_is(
    notes: int, links: int, left: int
) -> None:
    large = result(notes, links, left)
    data = move_data(large)
    assert len(compact(data)) <= ANSWER_CHARS
    for name, number in (("notes", notes), ("links", links), ("left", left)):
        assert data.get(f"{name}_total", len(data[name])) == number
    text = move_text(large)
    assert len(text) <= ANSWER_CHARS
    assert text.endswith("Take it back with undo_change, change_id 7.")


def test_long_lines_do_not_swell_the_text() -> None:
    long = RewrittenLink(NotePath("n.md"), 1, "[[" + "x" * 100_000, "y" * 100_000)
    large = replace(result(), links=(long,) * 100)
    assert len(move_text(large)) <= ANSWER_CHARS
    assert len(compact(move_data(large))) <= ANSWER_CHARS


def test_what_else_the_caller_should_know_is_said() -> None:
    warned = replace(result(links=1), warnings=("There is a folder ideas.",))
    assert "Note:\n- There is a folder ideas." in move_text(warned)
    assert move_data(warned)["warnings"] == ["There is a folder ideas."]
    assert move_data(result())["warnings"] == []
    many = replace(result(), warnings=("long " * 200,) * 500)
    assert move_data(many)["warnings_total"] == 500
    assert len(compact(move_data(many))) <= ANSWER_CHARS
    assert len(move_text(many)) <= ANSWER_CHARS

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.model.address import NotePath
from memoranda.model.history import Author, ChangeKind, ChangeState, RecordedChange
from memoranda.model.undoing import HistoryPage, ShownChange, UndoAction, UndoneFile, UndoResult
from memoranda.render.bounds import ANSWER_CHARS, compact
from memoranda.render.history import (
    change_text,
    page_data,
    page_text,
    part_of,
    shown_data,
    shown_text,
    undo_data,
    undo_text,
)

CHANGE = RecordedChange(
    12,
    datetime(2026, 3, 1, 10, 0, tzinfo=UTC),
    Author("claude-code", "2.1", "edit_note"),
    "/vault",
    NotePath("work/plan.md"),
    ChangeKind.UPDATED,
    ChangeState.DONE,
    "a" * 64,
    "b" * 64,
    1200,
    1300,
    12,
)


def shown(diff: str, notice: str = "") -> ShownChange:
    return ShownChange(CHANGE, diff, notice, False)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            CHANGE,
            "12 · 2026-03-01 10:00:00 UTC · updated work/plan.md · 1,200 → 1,300 bytes · "
            "claude-code 2.1 (edit_note)",
        ),
        (
            replace(CHANGE, kind=ChangeKind.CREATED, before=None, before_bytes=0, author=Author()),
            "12 · 2026-03-01 10:00:00 UTC · created work/plan.md · 1,300 bytes · unknown",
        ),
        (
            replace(CHANGE, kind=ChangeKind.MOVED, moved_from=NotePath("plan.md"), batch=10),
            "12 · 2026-03-01 10:00:00 UTC · moved work/plan.md from plan.md · 1,200 → 1,300 bytes · "
            "claude-code 2.1 (edit_note) · call 10",
        ),
        (
            replace(CHANGE, state=ChangeState.UNSURE),
            "12 · 2026-03-01 10:00:00 UTC · updated work/plan.md, cut off and unsure · "
            "1,200 → 1,300 bytes · claude-code 2.1 (edit_note)",
        ),
    ],
)
def test_a_change_is_a_line(change: RecordedChange, text: str) -> None:
    assert change_text(change) == text


def test_a_page_that_does_not_fit_goes_on_where_it_was_cut() -> None:
    long = NotePath("long " * 60 + ".md")
    changes = tuple(replace(CHANGE, change_id=n, path=long) for n in range(200, 0, -1))
    page = HistoryPage(changes, None, None)
    data, text = page_data(page), page_text(page)
    assert len(compact(data)) <= ANSWER_CHARS
    assert data["has_more"]
    assert data["next_before_id"] == data["changes"][-1]["id"] > 1
    assert len(text) <= ANSWER_CHARS
    *lines, last = text.splitlines()
    assert last == f"Older changes: before_id={lines[-1].split()[0]}"


def test_the_end_of_the_history_is_the_end() -> None:
    page = HistoryPage((CHANGE,), None, None)
    assert (page_data(page)["has_more"], page_data(page)["next_before_id"]) == (False, None)
    assert page_text(HistoryPage((), None, None)) == "No change by a tool is recorded here."


@given(
    st.lists(st.sampled_from(["a\n", "bb\r\n", "\n", "c" * 30 + "\n"]), max_size=30),
    st.integers(min_value=20, max_value=100),
    st.booleans(),
)
def test_parts_follow_each_other_to_the_end(lines: list[str], limit: int, as_json: bool) -> None:
    text, start, whole = "".join(lines), 1, ""
    for _ in range(len(lines) + 1):
        part = part_of(text, start, limit, as_json=as_json)
        assert len(part.text) <= limit
        whole += part.text
        if part.next_line is None:
            break
        start = part.next_line
    cut = any(
        part_of(text, n, limit, as_json=as_json).is_line_cut for n in range(1, len(lines) + 1)
    )
    assert cut or whole == text


def test_behind_the_end_there_is_nothing() -> None:
    part = part_of("a\nb\n", 10**9, 100)
    assert (part.text, part.next_line, part.total) == ("", None, 2)
    assert shown_text(shown("a\nb\n"), 10**9)[0].endswith("There are 2 lines.")


def test_a_change_is_shown_with_its_difference_apart() -> None:
    about, diff = shown_text(shown("-a\n+b\n"), 1)
    assert about == change_text(CHANGE)
    assert diff == "-a\n+b\n"
    assert shown_text(shown("", "the text is lost"), 1) == (
        f"{change_text(CHANGE)}\nthe text is lost\nNo text differs.",
    )


def test_a_long_difference_is_cut_and_a_line_that_is_too_long_too() -> None:
    for diff in ("+line\n" * 100_000, "x" * 1_000_000):
        data = shown_data(shown(diff), 1)
        assert len(compact(data)) <= ANSWER_CHARS
        assert data["next_line"] or data["line_cut"]
        assert sum(map(len, shown_text(shown(diff), 1))) <= ANSWER_CHARS


def undone(files: int, diff: str) -> UndoResult:
    return UndoResult(
        tuple(replace(CHANGE, change_id=n) for n in range(files)),
        tuple(UndoneFile(f"n{n}.md", UndoAction.REWRITTEN, diff=diff) for n in range(files)),
        False,
        99,
    )


@pytest.mark.parametrize("files", [1, 5, 30, 3000])
@pytest.mark.parametrize("diff", ["", "-a\n+b\n", "+line\n" * 10_000, "x" * 100_000])
def test_an_undo_is_bounded_and_says_its_own_change(files: int, diff: str) -> None:
    data, text = undo_data(undone(files, diff)), undo_text(undone(files, diff))
    assert len(compact(data)) <= ANSWER_CHARS
    assert data.get("files_total", len(data["files"])) == files
    assert data["change_id"] == 99
    assert len(text) <= ANSWER_CHARS
    assert text.startswith("Took back ")
    assert text.endswith("This is change 99; undo_change with it brings everything back.")


def test_an_undo_of_what_was_undone_says_so() -> None:
    nothing = UndoResult((CHANGE,), (UndoneFile("n.md", UndoAction.UNCHANGED),), False, None)
    assert undo_text(nothing).startswith("Nothing to do: 1 change had been taken back already.")
    planned = replace(nothing, is_dry_run=True)
    assert undo_text(planned).startswith("Nothing to do: 1 change had been taken back already.")
    changed = replace(planned, files=(UndoneFile("n.md", UndoAction.DELETED),))
    assert undo_text(changed).startswith("Dry run, would take back 1 change.")


def test_a_file_says_where_it_was_and_that_later_changes_are_kept() -> None:
    file = UndoneFile("a.md", UndoAction.MOVED, moved_from="b/a.md", is_merged=True, diff="+x\n")
    result = UndoResult((CHANGE,), (file,), False, 99)
    assert "- a.md (was b/a.md): moved, later changes are kept\n+x\n" in undo_text(result)
    assert undo_data(result)["files"] == [
        {
            "path": "a.md",
            "action": "moved",
            "moved_from": "b/a.md",
            "is_merged": True,
            "diff": "+x\n",
        }
    ]

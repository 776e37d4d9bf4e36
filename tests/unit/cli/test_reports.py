from __future__ import annotations

from memoranda.cli.reports import held_lines, nothing_read, report_json, report_text, unchanged
from memoranda.model.address import NotePath
from memoranda.model.sync import FailureKind, FileFailure, SkipCause, Skipped, SyncReport

A, B, C = NotePath("a.md"), NotePath("b.md"), NotePath("c.md")
FAILED = FileFailure(C, "permission denied", FailureKind.IO)


def test_text_names_what_changed_and_what_failed() -> None:
    report = SyncReport(
        new_files=(A,), moved_files=((B, NotePath("d.md")),), failures=(FAILED,), total_files=5
    )
    text = report_text("main", report)
    assert text.splitlines()[0].startswith(
        "main: 1 new, 0 modified, 1 moved, 0 deleted, 1 failed, 2 unchanged"
    )
    assert "b.md -> d.md" in text
    assert "c.md: permission denied" in text


def test_text_without_details_still_names_failures() -> None:
    text = report_text("main", SyncReport(new_files=(A,), failures=(FAILED,)), details=False)
    assert "a.md" not in text
    assert "c.md" in text


def test_long_lists_are_cut_in_text_and_whole_in_json() -> None:
    report = SyncReport(new_files=tuple(NotePath(f"{i}.md") for i in range(50)), total_files=50)
    text = report_text("main", report)
    assert "... and 40 more" in text
    assert len(text.splitlines()) == 12
    assert len(report_json("main", report)["new"]) == 50


def test_skipped_is_part_of_the_json() -> None:
    report = SyncReport(skipped=(Skipped(".git", "hidden", SkipCause.HIDDEN),))
    assert report_json("main", report)["skipped"] == [
        {"path": ".git", "reason": "hidden", "cause": "hidden"}
    ]


def test_a_failure_of_a_new_file_is_not_counted_twice() -> None:
    assert unchanged(SyncReport(failures=(FAILED,), total_files=3)) == 2
    assert unchanged(SyncReport(new_files=(C,), failures=(FAILED,), total_files=3)) == 2


def test_nothing_read_means_every_file_failed() -> None:
    assert nothing_read(SyncReport(failures=(FAILED,), total_files=1))
    assert not nothing_read(SyncReport(failures=(FAILED,), total_files=2))
    assert not nothing_read(SyncReport())


def test_the_number_of_missing_notes_is_said_once() -> None:
    (*_, few) = held_lines([A, B], "2 of 5 notes are missing", "main")
    assert few.startswith(
        "  kept      2 of 5 notes although their files are missing; put the files"
    )
    (*_, more) = held_lines([A], "1,200 of 1,300 notes are missing", "main", 1200)
    assert more.startswith("  kept      1,200 of 1,300 notes although their files are missing; put")
    (*_, other) = held_lines([A], "the folder is empty", "main")
    assert other.startswith("  kept      1 note although its file is missing: the folder is empty;")
    (*_, old) = held_lines([A], "2 of 5 notes are missing", "main")
    assert "1 note although its file is missing: 2 of 5 notes are missing; put" in old

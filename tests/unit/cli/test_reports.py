from __future__ import annotations

from memoranda.cli.reports import nothing_read, report_json, report_text, unchanged
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

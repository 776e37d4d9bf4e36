"""How a person finds out what is not indexed."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli

from memoranda.cli.command_line import command_line


def leave_out(notes: Path, number: int) -> None:
    for each in range(number):
        (notes / f"draft {each:03}.md").write_text("draft\n")
    (notes / ".gitignore").write_text("# mine\ndraft*.md\n")
    (notes / ".hidden.md").write_text("hidden\n")
    (notes / "out.md").symlink_to("not there.md")


def test_status_shows_one_path_for_a_reason_and_the_way_to_all(ready: Cli, notes: Path) -> None:
    leave_out(notes, 7)
    text = ready("status").out
    assert "  skipped   draft 000.md: ignored by .gitignore, line 2 (and 6 more)\n" in text
    assert "  skipped   .hidden.md: hidden\n" in text
    assert "draft 001.md" not in text
    run = command_line("status", "--skipped", project="my notes")
    assert f"  skipped   1 linked to nothing, 7 ignored, 1 hidden; to see all, run: {run}\n" in text


def test_a_few_skipped_paths_are_all_shown_at_once(ready: Cli, notes: Path) -> None:
    (notes / ".hidden.md").write_text("hidden\n")
    text = ready("status").out
    assert "skipped   .hidden.md: hidden" in text
    assert "--skipped" not in text


def test_all_that_is_skipped_is_listed_under_its_reason(ready: Cli, notes: Path) -> None:
    leave_out(notes, 130)
    lines = ready("status", "--skipped").out.splitlines()
    assert lines[0] == "my notes: 132 paths left out"
    at = lines.index("  130 ignored by .gitignore, line 2")
    assert lines[at + 1 : at + 131] == [f"    draft {each:03}.md" for each in range(130)]
    assert lines[lines.index("  1 hidden") + 1] == "    .hidden.md"
    assert lines[lines.index("  1 a link to nothing") + 1] == "    out.md"
    assert len(lines) == 1 + 3 + 132


def test_the_json_has_every_skipped_path_with_reason_and_cause(ready: Cli, notes: Path) -> None:
    leave_out(notes, 130)
    for arguments in (["status", "--json"], ["status", "--skipped", "--json"]):
        (project,) = ready(*arguments).json["projects"]
        assert len(project["skipped"]) == project["skipped_total"] == 132
        assert project["skipped_by_cause"] == {"nothing": 1, "ignored": 130, "hidden": 1}
        assert project["skipped"][1] == {
            "path": "draft 000.md",
            "reason": "ignored by .gitignore, line 2",
            "cause": "ignored",
        }


def test_nothing_left_out_is_said(ready: Cli) -> None:
    assert ready("status", "--skipped").out == "my notes: nothing left out\n"


def test_a_missing_folder_is_said_there_too(ready: Cli, notes: Path) -> None:
    notes.rename(notes.with_name("away"))
    assert "error     " in ready("status", "--skipped").out


def test_a_name_with_a_line_break_stays_on_its_line(ready: Cli, notes: Path) -> None:
    (notes / ".a\nb.md").write_text("hidden\n")
    assert "    .a\\nb.md\n" in ready("status", "--skipped").out
    assert "skipped   .a\\nb.md: hidden\n" in ready("status").out

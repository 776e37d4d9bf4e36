"""Bad input: one clear message with what to do next, exit code 1, nothing lost."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoranda.cli.command_line import command_line

Cli = Callable[..., Any]  # the fixtures of conftest.py


def failed(cli: Cli, *arguments: object) -> str:
    """The message of a command that fails in the usual way, in both forms."""
    outcome = cli(*arguments)
    assert outcome.code == 1
    assert outcome.out == ""
    lines = outcome.err.splitlines()
    assert lines[0].startswith("error: ")
    assert len(lines) == 1 or lines[1].startswith("hint: ")
    assert len(lines) <= 2
    assert "Traceback" not in outcome.err
    as_json = cli(*arguments, "--json")
    assert as_json.code == 1
    assert as_json.err == ""
    error = as_json.json["error"]
    assert f"error: {error['message']}" == lines[0]
    assert error["code"].isupper()
    return outcome.err


def test_missing_folder(cli: Cli, tmp_path: Path, home: Path) -> None:
    assert "There is no folder" in failed(cli, "up", tmp_path / "nowhere")
    assert "There is no folder" in failed(cli, "project", "add", "x", tmp_path / "nowhere")
    assert not (home / "config.json").exists()


def test_file_instead_of_a_folder(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("x")
    assert "is a file, not a folder" in failed(cli, "up", tmp_path / "note.md")


def test_unreadable_folder(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o000)
    if os.access(folder, os.R_OK):
        pytest.skip("this user may read everything")
    assert "Permission denied" in failed(cli, "up", folder)
    assert "Permission denied" in failed(cli, "up", folder / "inner")
    assert "Permission denied" in failed(cli, "project", "add", "x", folder)


def test_folder_of_an_unknown_user(cli: Cli) -> None:
    assert "cannot be reached" in failed(cli, "up", "~nobody-of-that-name/notes")


def test_folders_that_are_refused(cli: Cli, home: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    assert "home folder" in failed(cli, "up", tmp_path / "home")
    assert "root of the file system" in failed(cli, "up", "/")
    home.mkdir(exist_ok=True)
    assert "configuration folder" in failed(cli, "up", home)


def test_folder_added_twice_under_two_names(ready: Cli, notes: Path) -> None:
    message = failed(ready, "project", "add", "again", notes)
    assert "my notes" in message


def test_unknown_project_names_the_known_ones(ready: Cli) -> None:
    for arguments in (
        ["sync"], ["status"], ["search", "x"], ["read", "x"], ["reindex"], ["project", "info"], ["config", "show"],
        ["project", "default"], ["project", "remove"], ["project", "list"],
    ):  # fmt: skip
        message = failed(ready, *arguments, "--project", "nope")
        assert "There is no project 'nope'" in message
        assert "my notes" in message


def test_no_project_at_all_says_how_to_begin(cli: Cli) -> None:
    for arguments in (["sync"], ["search", "x"], ["read", "x"]):
        assert "memoranda up PATH" in failed(cli, *arguments)
    assert "memoranda up PATH" in cli("status").out
    assert "memoranda up PATH" in cli("project", "list").out


def test_a_configured_default_that_does_not_exist_is_an_error_where_it_is_meant(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_DEFAULT_PROJECT", "nope")
    for arguments in (["search", "x"], ["read", "Compost"], ["reindex"], ["project", "info"]):
        message = failed(ready, *arguments)
        assert "There is no project 'nope'" in message
        assert "BASIC_MEMORY_DEFAULT_PROJECT" in message
        assert "Known projects: my notes" in message
    for arguments in (["sync"], ["search", "heap", "--project", "my notes"]):
        assert ready(*arguments).code == 0
    for arguments in (["status"], ["project", "list"]):
        assert "default project 'nope' does not exist" in ready(*arguments).err


def test_unknown_note_names_near_ones(ready: Cli) -> None:
    assert "garden/compost" in failed(ready, "read", "compst")


def test_hints_name_commands_that_run_and_no_tools(cli: Cli, notes: Path) -> None:
    assert f"`{command_line('up', 'PATH')}`" in failed(cli, "search", "x")
    assert cli("up", notes).code == 0
    hint = failed(cli, "read", "qwertzuiop")
    assert f"`{command_line('search', 'WORDS')}`" in hint
    assert "search_notes" not in hint


def test_lines_that_the_note_does_not_have(ready: Cli) -> None:
    for arguments in (
        ["--start-line", 12],
        ["--start-line", 7, "--end-line", 6],
        ["--start-line", 12, "--end-line", 11],
    ):
        assert "has 11 lines" in failed(ready, "read", "Compost", *arguments)
    assert ready("read", "Compost", "--start-line", 11, "--end-line", 99).code == 0


def test_an_empty_note_has_a_first_line(ready: Cli, notes: Path) -> None:
    (notes / "empty.md").write_text("")
    assert ready("read", "empty", "--start-line", 1).code == 0
    assert "has 0 lines" in failed(ready, "read", "empty", "--start-line", 2)


def test_note_outside_the_project(ready: Cli) -> None:
    failed(ready, "read", "../../etc/passwd")


def test_bad_address(ready: Cli) -> None:
    assert "memory://" in failed(ready, "read", "memory://a//b")


def test_bad_date(ready: Cli) -> None:
    for text in ("not a date at all", "2999-01-01"):
        for option in ("--since", "--after"):
            assert "--since" in failed(ready, "search", "x", option, text)
        assert "WHEN" in failed(ready, "recent", text)
        assert "--since" in failed(ready, "context", "Compost", "--since", text)


@pytest.mark.parametrize("text", ["{", "", "[]", '{"log_level": "LOUD"}'])
def test_corrupt_configuration_is_reported_and_kept(
    cli: Cli, home: Path, notes: Path, text: str
) -> None:
    home.mkdir()
    (home / "config.json").write_text(text)
    for arguments in (["up", notes], ["sync"], ["project", "list"], ["config", "show"]):
        assert "config.json" in failed(cli, *arguments)
    assert (home / "config.json").read_text() == text


def test_folder_that_vanished_keeps_the_index(ready: Cli, notes: Path, home: Path) -> None:
    notes.rename(notes.with_name("away"))
    failed(ready, "sync")
    failed(ready, "search", "garden")
    database = sqlite3.connect(home / "my-notes" / "memory.db")
    try:
        assert database.execute("SELECT count(*) FROM entity").fetchone() == (4,)
    finally:
        database.close()


def test_corrupt_database_is_set_aside_and_rebuilt(ready: Cli, home: Path) -> None:
    folder = home / "my-notes"
    for file in folder.glob("memory.db-*"):
        file.unlink()
    (folder / "memory.db").write_bytes(b"this is no database" * 1000)
    outcome = ready("search", "heap", "--json")
    assert outcome.code == 0
    assert outcome.json["total"] == 1
    (kept,) = [
        path for path in folder.glob("memory*") if path.read_bytes().startswith(b"this is no data")
    ]
    assert outcome.err.startswith("note: my notes: the index could not be used")
    assert kept.name in outcome.err


def test_unexpected_error_is_logged_and_told_in_two_lines(
    ready: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("memoranda.cli.commands.status.print_status", broken)
    message = failed(ready, "status")
    assert "RuntimeError: boom" in message
    assert "boom" in (home / "memoranda.log").read_text()

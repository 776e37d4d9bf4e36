"""What a person sees of what assistants did, takes back, and deletes for good."""

from __future__ import annotations

import errno
import io
import os
import pty
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli

from memoranda.cli.command_line import command_line
from memoranda.config import configured_projects, find_project, history_folder, load_settings
from memoranda.files.clock import SystemClock
from memoranda.files.file_service import checksum
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.history import Author, HistoryLimits, Purged

OLD = "# Compost\n\nTurn the heap.\n"
NEW = "# Compost\n\nTurn the heap every day.\n"
Changing = Callable[..., None]


class PastClock(SystemClock):
    """So many days ago."""

    def __init__(self, days: int) -> None:
        self.days = days

    def now(self) -> datetime:
        return super().now() - timedelta(days=self.days)


@pytest.fixture
def change(ready: Cli, notes: Path) -> Changing:
    """Records a change as a tool does, without changing the file."""
    project = find_project(configured_projects(load_settings()), None)

    def record(
        before: bytes | str | None,
        after: bytes | str | None,
        path: str = "garden/Compost.md",
        *,
        by: Author = Author("claude-code", "2.1", "edit_note"),  # noqa: B008  (a value)
        days_ago: int = 0,
    ) -> None:
        sides = [each.encode() if isinstance(each, str) else each for each in (before, after)]
        store = HistoryStore(
            history_folder(project), project.path, PastClock(days_ago), HistoryLimits()
        )
        with store.recording(
            NotePath(path), before=sides[0], after=sides[1], by=by, current=lambda: None
        ):
            pass
        store.close()

    return record


def test_without_changes_it_says_so_and_makes_nothing(ready: Cli, home: Path) -> None:
    done = ready("history", "list")
    assert done.code == 0
    assert done.out == "No change is recorded for my notes.\n"
    assert ready("history", "list", "--json").json == {
        "path": None,
        "changes": [],
        "has_more": False,
        "next_before_id": None,
        "project": "my notes",
        "total_changes": 0,
        "size_bytes": 0,
        "set_aside": [],
    }
    assert not (home / "my-notes" / "history").exists()


def test_the_list_says_who_did_what_the_newest_first(ready: Cli, change: Changing) -> None:
    change(None, OLD, by=Author("codex", "1", "write_note"))
    change(OLD, NEW)
    change(NEW, None, by=Author())
    head, *lines = ready("history", "list").out.splitlines()
    assert head.split() == ["ID", "WHEN", "(UTC)", "CLIENT", "TOOL", "WHAT", "NOTE"]
    rows = [line.split() for line in lines]
    assert [row[0] for row in rows] == ["3", "2", "1"]
    assert rows[2][3:] == ["codex", "write_note", "created", "garden/Compost.md"]
    assert rows[1][3:] == ["claude-code", "edit_note", "updated", "garden/Compost.md"]
    assert rows[0][3:] == ["-", "-", "deleted", "garden/Compost.md"]


def test_the_json_of_the_list_has_all_about_a_change(ready: Cli, change: Changing) -> None:
    change(OLD, NEW)
    data = ready("history", "list", "--json").json
    (found,) = data["changes"]
    at = datetime.fromisoformat(found.pop("at"))
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=5)
    assert found == {
        "id": 1,
        "client": "claude-code",
        "client_version": "2.1",
        "tool": "edit_note",
        "kind": "updated",
        "state": "done",
        "file_path": "garden/Compost.md",
        "before": checksum(OLD.encode()),
        "after": checksum(NEW.encode()),
        "before_bytes": len(OLD),
        "after_bytes": len(NEW),
        "batch": 1,
    }
    assert data["total_changes"] == 1
    assert data["size_bytes"] > 0


def test_the_list_is_narrowed_by_note_client_and_time(
    ready: Cli, change: Changing, notes: Path
) -> None:
    change(None, "1", "a.md", days_ago=20)
    change(None, "2", "b.md", by=Author("Codex", "1", "write_note"))
    change("1", "3", "a.md")

    def ids(*arguments: object) -> list[int]:
        found = ready("history", "list", "--json", *arguments).json
        return [each["id"] for each in found["changes"]]

    assert ids() == [3, 2, 1]
    assert ids("a.md") == ids("./a.md") == ids(notes / "a.md") == [3, 1]
    assert ids("--client", "codex") == [2]
    assert ids("--since", "7d") == [3, 2]
    assert ids("a.md", "--since", "7d") == [3]
    assert ids("--project", "my notes", "-n", "1") == [3]
    page = ready("history", "list", "-n", "1", "--json").json
    assert (page["has_more"], page["next_before_id"]) == (True, 3)
    assert ids("--before-id", "3") == [2, 1]
    assert "go on with --before-id 2" in ready("history", "list", "-n", "2").err
    assert ready("history", "list", "-n", "3").err == ""


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["c.md"], "No change of c.md is recorded for my notes.\n"),
        (["--client", "x"], "No change that fits is recorded for my notes.\n"),
    ],
)
def test_nothing_found_is_no_failure(
    ready: Cli, change: Changing, arguments: list[str], text: str
) -> None:
    change(OLD, NEW)
    done = ready("history", "list", *arguments)
    assert (done.code, done.out) == (0, text)


def test_a_change_is_shown_with_its_difference(ready: Cli, change: Changing, notes: Path) -> None:
    change(OLD, NEW)
    text = ready("history", "show", 1).out
    assert "  what      updated\n  note      garden/Compost.md\n" in text
    assert "  by        claude-code 2.1 with edit_note\n" in text
    assert f"  before    {len(OLD)} bytes, {checksum(OLD.encode())[:12]}\n" in text
    assert f"  undo      {command_line('undo', '1', project='my notes')}\n" in text
    assert "restore" not in text
    assert text.endswith("-Turn the heap.\n+Turn the heap every day.\n")
    shown = ready("history", "show", 1, "--json").json
    assert "-Turn the heap.\n+Turn the heap every day.\n" in shown["diff"]
    assert (shown["id"], shown["project"]) == (1, "my notes")


def test_that_the_note_was_changed_since_is_said_before_the_way_back(
    ready: Cli, change: Changing, notes: Path
) -> None:
    change(OLD, NEW)
    warning = (
        "  now       the note has been changed since; an undo keeps that where it does not overlap"
    )
    note = notes / "garden" / "Compost.md"
    note.write_text(f"{NEW}More by hand.\n")
    assert f"{warning}\n  undo      " in ready("history", "show", 1).out
    assert ready("history", "show", 1, "--json").json["is_changed_since"] is True
    note.write_text(NEW)
    assert "  now  " not in ready("history", "show", 1).out
    assert ready("history", "show", 1, "--json").json["is_changed_since"] is False
    note.write_text(OLD)
    assert "  now  " not in ready("history", "show", 1).out, "it was put back already"
    note.unlink()
    assert "  now  " not in ready("history", "show", 1).out


def restore_line(text: str) -> str:
    (line,) = re.findall(r"^  restore   (.*)$", text, re.MULTILINE)
    return str(line)


def test_of_a_removed_project_the_old_text_can_still_be_written(
    ready: Cli, change: Changing, notes: Path
) -> None:
    note = notes / "garden" / "Compost.md"
    change(OLD, NEW)
    ready("project", "remove", "my notes")
    text = ready("history", "show", 1, "-p", "my notes").out
    assert (
        "  now       the note has been changed since; this line puts all of that back too" in text
    )
    assert "  undo  " not in text
    done = subprocess.run(restore_line(text), shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert note.read_text() == OLD
    assert sorted(note.parent.iterdir()) == [note, note.with_name("Garden beds.md")]


@pytest.mark.parametrize(("before", "after", "sign"), [(None, OLD, "+"), (OLD, None, "-")])
def test_a_note_that_was_created_or_deleted_is_shown_whole(
    ready: Cli, change: Changing, before: str | None, after: str | None, sign: str
) -> None:
    change(before, after)
    text = ready("history", "show", 1).out
    assert f"{sign}# Compost\n{sign}\n{sign}Turn the heap.\n" in text
    assert f"  {'before' if before is None else 'after ':<9} no file\n" in text
    assert "  undo      " in text


def test_where_the_folder_has_moved_an_undo_is_not_offered(
    ready: Cli, change: Changing, notes: Path
) -> None:
    change(OLD, NEW)
    ready("project", "remove", "my notes")
    notes.rename(notes.with_name("elsewhere"))
    ready("project", "add", "my notes", notes.with_name("elsewhere"))
    text = ready("history", "show", 1).out
    assert "  undo  " not in text
    assert restore_line(text)
    assert ready("undo", 1).code == 1


def test_of_a_removed_project_a_deleted_note_is_not_written_over_another(
    ready: Cli, change: Changing, notes: Path
) -> None:
    change(OLD, None, "gone/it's here/a.md")
    ready("project", "remove", "my notes")
    line = restore_line(ready("history", "show", 1, "-p", "my notes").out)
    assert "--force" not in line, "a note that comes meanwhile is not replaced"
    done = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert (notes / "gone" / "it's here" / "a.md").read_text() == OLD
    again = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert again.returncode == 1
    assert "is there already\nhint: Give --force to replace it." in again.stderr


def test_a_note_that_is_put_back_keeps_its_mode_and_its_link(
    ready: Cli, change: Changing, notes: Path, tmp_path: Path
) -> None:
    change(OLD, NEW)
    real, note = tmp_path / "real.md", notes / "garden" / "Compost.md"
    real.write_text(NEW)
    real.chmod(0o640)
    note.unlink()
    note.symlink_to(real)
    done = ready("history", "show", 1, "--before", "--output", note, "--force")
    said = f"Wrote garden/Compost.md as it was before change 1 to {real} ({len(OLD)} bytes).\n"
    assert (done.code, done.out) == (0, said)
    assert note.is_symlink()
    assert real.read_text() == OLD
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_file_is_written_only_when_it_may_and_whole(
    ready: Cli, change: Changing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(OLD, NEW)
    file = tmp_path / "new folder" / "a.md"
    data = ready("history", "show", 1, "--after", "-o", file, "--json").json
    assert data == {
        "id": 1,
        "file_path": "garden/Compost.md",
        "side": "after",
        "output": str(file),
        "bytes": len(NEW),
    }
    refused = ready("history", "show", 1, "--before", "-o", file)
    assert (refused.code, file.read_text()) == (1, NEW)
    folder = ready("history", "show", 1, "--before", "-o", tmp_path, "--force")
    assert (folder.code, "is not a file" in folder.err) == (1, True)

    def full(_fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "The disk is full" in ready("history", "show", 1, "--before", "-o", file, "--force").err
    assert [each.name for each in file.parent.iterdir()] == ["a.md"]
    assert file.read_text() == NEW
    other = tmp_path / "other folder" / "a.md"
    assert ready("history", "show", 1, "--before", "-o", other).code == 1
    assert not other.parent.exists()


def test_a_file_that_comes_meanwhile_is_not_replaced(
    ready: Cli, change: Changing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(OLD, NEW)
    file = tmp_path / "a.md"
    fsync = os.fsync

    def slow(fd: int) -> None:
        file.write_text("by another")
        fsync(fd)

    monkeypatch.setattr(os, "fsync", slow)
    done = ready("history", "show", 1, "--before", "-o", file)
    assert (done.code, "is there already" in done.err) == (1, True)
    assert file.read_text() == "by another"
    assert not list(tmp_path.glob(".*.tmp"))


def test_where_no_file_can_be_written_is_said(ready: Cli, change: Changing, notes: Path) -> None:
    change(OLD, NEW)
    below = notes / "Garden diary.md" / "a.md"
    done = ready("history", "show", 1, "--before", "-o", below)
    assert done.code == 1
    assert f"error: {below} cannot be written: Not a directory\n" in done.err


def test_the_list_takes_a_note_as_people_name_it_and_folders(
    ready: Cli, change: Changing, notes: Path
) -> None:
    for path in ("garden/Garden beds.md", "garden/deep/Pond.md", "garden.md", "garden-2/x.md"):
        change(None, "text", path)

    def paths(path: object) -> list[str]:
        found = ready("history", "list", "--json", path).json
        return [each["file_path"] for each in reversed(found["changes"])]

    beds, pond, garden, other = paths(".")
    assert paths("garden/Garden beds") == paths("garden/garden-beds") == [beds]
    assert paths(notes / "garden" / "Garden beds.md") == [beds]
    assert paths("garden/deep") == paths("garden/deep/") == paths("Garden/Deep") == [pond]
    assert paths("garden") == [beds, pond, garden]
    assert paths("garden.md") == [garden]
    assert paths("garden/Deep/none") == []
    assert other == "garden-2/x.md"


def test_a_note_that_the_history_does_not_know_may_have_had_another_name(
    ready: Cli, change: Changing
) -> None:
    change(OLD, NEW)
    old_path = "hint: The history knows a note by the path it had; after a rename look for the old"
    assert ready("history", "list", "c.md").err.startswith(old_path)
    assert ready("history", "list", "garden", "--client", "nobody").err == ""


@pytest.mark.parametrize("data", [b"", b"no end", b"\0\xff binary \r\n", "\ufeffBOM\r\n".encode()])
def test_the_bytes_before_and_after_are_printed_as_they_were(
    ready: Cli, change: Changing, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(data, b"between")
    change(b"between", data)

    def raw(*arguments: object) -> bytes:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        monkeypatch.setattr(sys, "stdout", out)
        assert ready("history", "show", *arguments).code == 0
        out.flush()
        buffer = out.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue()

    assert raw(1, "--before") == raw(2, "--after") == data
    assert raw(1, "--after") == b"between"


def test_the_json_of_bytes_is_text_or_base64(ready: Cli, change: Changing) -> None:
    change("text ä\n", b"\xff\0")
    before = ready("history", "show", 1, "--before", "--json").json
    after = ready("history", "show", 1, "--after", "--json").json
    assert (before["encoding"], before["content"], before["side"]) == (
        "utf-8",
        "text ä\n",
        "before",
    )
    assert (after["encoding"], after["content"]) == ("base64", "/wA=")
    assert "(It is not text.)" in ready("history", "show", 1).out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["show", "7"], 1, "There is no change 7"),
        (["show", "1", "--before"], 1, "There is no content of garden/Compost.md before change 1"),
        (["show", "1", "--before", "--after"], 2, "not both"),
        (["show", "x"], 2, "whole number"),
        (["show", "1", "--output", "x"], 2, "give --before or --after as well"),
        (["show", "1", "--before", "--output", " "], 2, "name a file"),
        (["show", "1", "--before", "--force"], 2, "it is for --output"),
        (["show"], 2, "Missing argument"),
        (["list", "--since", "never"], 1, "--since 'never' is not a time"),
        (["list", "--limit", "0"], 2, "at least 1"),
        (["list", "--project", "nobody"], 1, "There is no project 'nobody'"),
        (["purge"], 2, "give either --older-than DAYS or --all"),
        (["purge", "--all", "--older-than", "3"], 2, "give either"),
        (["purge", "--older-than", "-1"], 2, "at least 0"),
        (["purge", "--all"], 2, "give --yes"),
    ],
)
def test_what_cannot_be_done_is_said(
    ready: Cli, change: Changing, arguments: list[str], code: int, words: str
) -> None:
    change(None, OLD)
    done = ready("history", *arguments)
    assert (done.code, done.out) == (code, "")
    assert words in done.err
    done = ready("history", *arguments, "--json")
    assert done.code == code
    assert words in done.json["error"]["message"]


def test_a_purge_deletes_everything_or_what_is_old(ready: Cli, change: Changing) -> None:
    change(None, "1", days_ago=40)
    change("1", "2", days_ago=20)
    change("2", "3")
    done = ready("history", "purge", "--older-than", "30", "--yes")
    assert done.code == 0
    assert done.out.startswith("Deleted 1 change of my notes")
    assert done.out.endswith(", 2 are left.\n")
    data = ready("history", "purge", "--all", "--yes", "--json").json
    assert (data["deleted_changes"], data["left_changes"]) == (2, 0)
    assert ready("history", "list", "--json").json["changes"] == []
    assert ready("history", "list").out == "No change is recorded for my notes.\n"


@pytest.mark.parametrize(("freed", "said"), [(0, ""), (512, " (512 bytes freed)")])
def test_a_purge_says_what_it_freed_if_it_did(
    ready: Cli, change: Changing, monkeypatch: pytest.MonkeyPatch, freed: int, said: str
) -> None:
    change(OLD, NEW)
    purge = HistoryStore.purge

    def purged(self: HistoryStore, **how: Any) -> Purged:
        return replace(purge(self, **how), freed_bytes=freed)

    monkeypatch.setattr(HistoryStore, "purge", purged)
    done = ready("history", "purge", "--all", "--yes")
    assert done.out == f"Deleted 1 change of my notes{said}, 0 are left.\n"


def test_a_purge_with_nothing_to_delete_does_not_ask(ready: Cli, change: Changing) -> None:
    nothing = "There was nothing to delete in the history of my notes.\n"
    done = ready("history", "purge", "--all")
    assert (done.code, done.out) == (0, nothing)
    change(OLD, NEW)
    done = ready("history", "purge", "--older-than", "30")
    assert (done.code, done.out) == (0, nothing)


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, 0), ("n\n", 1, 1), ("\n", 1, 1)])
def test_a_purge_asks_on_a_terminal(
    ready: Cli, change: Changing, home: Path, answer: str, code: int, left: int
) -> None:
    change(OLD, NEW)
    main_end, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "memoranda", "history", "purge", "--all"],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env=os.environ | {"BASIC_MEMORY_CONFIG_DIR": str(home)},
    )
    os.close(terminal)
    asked = b""
    while b"[y/N]" not in asked:
        asked += os.read(main_end, 1000)
    os.write(main_end, answer.encode())
    out = process.communicate(timeout=50)[0].decode()
    os.close(main_end)
    assert process.returncode == code
    assert b"Delete all 1 change (" in asked
    assert ("Deleted 1 change" in out) == (not left)
    assert len(ready("history", "list", "--json").json["changes"]) == left


def test_the_history_of_a_removed_project_is_still_there(
    ready: Cli, change: Changing, notes: Path
) -> None:
    change(OLD, NEW)
    assert ready("project", "remove", "my notes", "--delete-index").code == 0
    assert len(ready("history", "list", "-p", "my notes", "--json").json["changes"]) == 1
    assert OLD.splitlines()[2] in ready("history", "show", 1, "--project", "my notes").out
    assert ready("history", "purge", "--all", "--yes", "-p", "my notes").code == 0
    assert ready("project", "add", "my notes", notes).code == 0
    assert ready("history", "list", "--json").json["changes"] == []


def test_a_damaged_history_is_said(ready: Cli, change: Changing, home: Path) -> None:
    change(OLD, NEW)
    database = home / "my-notes" / "history" / "history.db"
    database.write_bytes(b"rubbish" * 1000)
    done = ready("history", "list")
    assert done.code == 0
    (kept,) = database.parent.glob("history.damaged-*.db")
    assert f"note: a history that could not be used is kept as {kept}\n" in done.err
    assert ready("history", "list", "--json").json["set_aside"] == [str(kept)]
    done = ready("history", "purge", "--all", "--yes")
    assert f"is still there: {kept}\n" in done.err
    assert kept.read_bytes() == b"rubbish" * 1000


def test_the_history_needs_no_index(ready: Cli, change: Changing, home: Path) -> None:
    change(OLD, NEW)
    (home / "my-notes" / "memory.db").unlink()
    assert ready("history", "list").code == 0
    assert ready("history", "show", 1).code == 0
    assert not (home / "my-notes" / "memory.db").exists()


def test_names_that_would_steer_the_terminal_stay_on_their_line(
    ready: Cli, change: Changing
) -> None:
    change(OLD, NEW, "odd\nname.md", by=Author("a\nb", "1\n2", "t\nu"))
    lines = ready("history", "list").out.splitlines()
    assert len(lines) == 2
    assert lines[1].endswith("a b     t u   updated  odd name.md")
    assert "  by        a b 1 2 with t u\n" in ready("history", "show", 1).out


def test_a_note_that_was_lost_to_damage_is_said(ready: Cli, change: Changing, home: Path) -> None:
    change(OLD, NEW)
    database = home / "my-notes" / "history" / "history.db"
    with sqlite3.connect(database) as conn:
        conn.execute("DELETE FROM content")
    conn.close()
    assert "(The text is lost: " in ready("history", "show", 1).out
    done = ready("history", "show", 1, "--before")
    assert done.code == 1
    assert "is lost" in done.err


def test_a_newer_history_is_refused(ready: Cli, change: Changing, home: Path) -> None:
    change(OLD, NEW)
    with sqlite3.connect(home / "my-notes" / "history" / "history.db") as conn:
        conn.execute("PRAGMA user_version = 9")
    conn.close()
    done = ready("history", "list")
    assert done.code == 1
    assert "A newer version of Memoranda wrote the history" in done.err

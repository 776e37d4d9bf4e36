"""What commands do and print, on real folders and a real database."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoranda.cli.command_line import command_line

Cli = Callable[..., Any]  # the fixtures of conftest.py


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and modification time of every file."""
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_up_registers_indexes_samples_and_connects(cli: Cli, notes: Path, home: Path) -> None:
    before = snapshot(notes)
    outcome = cli("up", notes)
    assert outcome.code == 0
    assert outcome.err == ""
    assert "my notes: 4 new, 0 modified, 0 moved, 0 deleted, 0 failed, 0 unchanged" in outcome.out
    assert "Indexed: 4 notes, 1 observation, " in outcome.out
    assert "(1 to a note that does not exist)" in outcome.out
    assert f"A sample: {command_line('search', 'garden')}\n" in outcome.out
    assert f"(see: {command_line('status')})" in outcome.out
    assert "garden/garden-beds" in outcome.out
    assert f"  {command_line('connect', 'claude-code', '--write')}\n" in outcome.out
    assert "default project is" not in outcome.out
    assert snapshot(notes) == before
    assert json.loads((home / "config.json").read_text())["projects"]["my notes"]["path"] == str(
        notes
    )


def test_up_as_json_has_counts_sample_and_connection(cli: Cli, notes: Path, home: Path) -> None:
    result = cli("up", notes, "--json").json
    assert result["created"] is True
    assert result["counts"]["notes"] == 4
    assert result["sample"]["results"]
    assert result["sample"]["search_type"] == "hybrid"
    vectors = result["sync"]["vectors"]
    assert vectors["notes"] == result["counts"]["notes"]
    assert vectors["pending"] == 0
    server = result["connect"]["configuration"]["mcpServers"]["memoranda"]
    assert Path(server["command"]).is_absolute()
    assert server["env"] == {"BASIC_MEMORY_CONFIG_DIR": str(home)}


def test_the_sample_is_searched_as_the_command_beside_it_searches(
    cli: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = cli("up", notes, "--json").json["sample"]
    own = cli("search", sample["query"], "--limit", 3, "--json").json
    assert own["results"] == sample["results"]
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED", "false")
    sample = cli("up", notes, "--json").json["sample"]
    assert (sample["search_type"], sample["degraded"]) == ("fts", None)


def test_up_again_uses_the_same_project(ready: Cli, notes: Path) -> None:
    (notes / "new.md").write_text("# New\n")
    result = ready("up", notes / "garden" / "..", "--json").json
    assert result["created"] is False
    assert result["sync"]["new"] == ["new.md"]
    assert len(ready("project", "list", "--json").json["projects"]) == 1


def test_two_folders_of_one_name_become_two_projects(cli: Cli, tmp_path: Path) -> None:
    for parent in ("a", "b"):
        (tmp_path / parent / "notes").mkdir(parents=True)
        outcome = cli("up", tmp_path / parent / "notes")
        assert outcome.code == 0
    names = [project["name"] for project in cli("project", "list", "--json").json["projects"]]
    assert names == ["notes", "notes-2"]
    assert outcome.err.startswith("note: the folder's name 'notes' is taken")
    assert "called notes-2" in outcome.err


def test_up_of_a_second_folder_says_which_project_is_the_default(
    ready: Cli, tmp_path: Path
) -> None:
    second = tmp_path / "second notes"
    second.mkdir()
    (second / "Zebra.md").write_text("# Zebra\n")
    outcome = ready("up", second)
    change = command_line("project", "default", "second notes")
    assert f"The default project is my notes; make this one the default with: {change}\n" in (
        outcome.out
    )
    assert command_line("search", "zebra", project="second notes") in outcome.out
    assert ready("up", second, "--json").json["default_project"] == "my notes"


def test_up_under_another_name_says_what_the_project_is_called(ready: Cli, notes: Path) -> None:
    outcome = ready("up", notes, "--name", "other")
    assert outcome.code == 0
    assert "already the project my notes" in outcome.err
    assert ready("up", notes, "--name", "other", "--json").json["project"] == "my notes"
    assert ready("up", notes, "--name", "My Notes").err == ""


def test_up_finds_the_project_of_a_folder_that_is_configured_by_a_link(
    cli: Cli, notes: Path, home: Path
) -> None:
    link = notes.with_name("link")
    link.symlink_to(notes)
    home.mkdir()
    (home / "config.json").write_text(json.dumps({"projects": {"linked": str(link)}}))
    assert cli("up", notes, "--json").json["project"] == "linked"


def test_folders_inside_each_other_are_told(ready: Cli, notes: Path) -> None:
    inner = ready("up", notes / "garden")
    assert inner.code == 0
    assert "lies inside the project my notes" in inner.err
    outer = ready("project", "add", "all", notes.parent, "--json").json
    assert len(outer["notes"]) == 2
    assert "all leaves that folder out" in outer["notes"][0]


def test_up_gives_the_entry_of_clients_its_name(cli: Cli, notes: Path) -> None:
    result = cli("up", notes, "--entry", "memoranda-example", "--json").json
    assert list(result["connect"]["configuration"]["mcpServers"]) == ["memoranda-example"]
    assert " memoranda-example --env " in result["connect"]["claude_code"]


def test_up_on_an_empty_folder_is_no_error(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    outcome = cli("up", tmp_path / "empty")
    assert outcome.code == 0
    assert "No .md file is in this folder yet." in outcome.out
    assert "Indexed" not in outcome.out
    assert "A sample" not in outcome.out


def test_sync_reports_every_kind_of_change(ready: Cli, notes: Path) -> None:
    (notes / "new.md").write_text("# New\n")
    (notes / "Garden diary.md").write_text("Second frost.\n")
    (notes / "garden" / "Compost.md").rename(notes / "Compost heap.md")
    (notes / "broken header.md").unlink()
    outcome = ready("sync")
    assert outcome.code == 0
    assert outcome.out.splitlines()[0].startswith(
        "my notes: 1 new, 1 modified, 1 moved, 1 deleted, 0 failed, 1 unchanged"
    )
    assert "garden/Compost.md -> Compost heap.md" in outcome.out


def test_sync_as_json_lists_paths(ready: Cli, notes: Path) -> None:
    (notes / "new.md").write_text("# New\n")
    (synced,) = ready("sync", "--json").json["projects"]
    assert synced["new"] == ["new.md"]
    assert synced["unchanged"] == 4


def test_sync_goes_on_after_a_missing_folder(ready: Cli, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert ready("project", "add", "other", other).code == 0
    other.rmdir()
    outcome = ready("sync")
    assert outcome.code == 1
    assert "my notes: 0 new" in outcome.out
    assert outcome.err.startswith("error: ")
    assert str(other) in outcome.err
    result = ready("sync", "--json")
    assert result.code == 1
    assert [error["code"] for error in result.json["errors"]] == ["IO_ERROR"]


def test_search_prints_passages_with_their_lines(ready: Cli) -> None:
    outcome = ready("search", "heap")
    assert outcome.code == 0
    assert "Compost — garden/compost" in outcome.out
    assert "Turn the heap every week" in outcome.out


def test_search_sees_an_edit_at_once(ready: Cli, notes: Path) -> None:
    (notes / "new.md").write_text("A zebra in the greenhouse.\n")
    found = ready("search", "zebra", "--json").json
    assert [hit["file_path"] for hit in found["results"]] == ["new.md"]


def test_search_filters_and_pages(ready: Cli, notes: Path) -> None:
    def paths(*arguments: str) -> list[str]:
        found = ready("search", *arguments, "--json").json
        return [hit["file_path"] for hit in found["results"]]

    assert paths("--tag", "#garden") == ["garden/Compost.md"]
    assert paths("beds", "--type", "diary") == ["Garden diary.md"]
    assert paths("--title", "BEDS") == ["garden/Garden beds.md"]
    assert paths("beds", "--after", "1 day") == paths("beds")
    os.utime(notes / "Garden diary.md", (1_000_000_000, 1_000_000_000))
    assert paths("beds", "--type", "diary", "--after", "1 day") == []
    first, second = (paths("garden", "-n", "1", "--page", page) for page in "12")
    assert first
    assert second
    assert first != second


def test_nothing_found_is_no_failure(ready: Cli) -> None:
    outcome = ready("search", "qwertzuiop")
    assert outcome.code == 0
    assert "Nothing found" in outcome.out


def test_read_prints_the_file_as_it_is(ready: Cli, notes: Path) -> None:
    text = (notes / "garden" / "Compost.md").read_text()
    for name in ("Compost", "garden/compost", "garden/Compost.md", "memory://garden/compost"):
        assert ready("read", name).out == text


def test_read_of_some_lines(ready: Cli) -> None:
    assert ready("read", "Compost", "--start-line", 6, "--end-line", 8).out.splitlines() == [
        "# Compost",
        "",
        "Turn the heap every week.",
    ]


def test_read_as_json_is_the_object_of_the_tool(ready: Cli) -> None:
    note = ready("read", "Compost", "--json").json
    assert note["permalink"] == "garden/compost"
    assert note["observations"][0]["category"] == "method"
    assert [link["from_title"] for link in note["backlinks"]] == ["Garden beds"]


def test_read_of_a_long_note_is_never_cut(ready: Cli, notes: Path) -> None:
    text = "".join(f"Line {number} of a long note.\n" for number in range(5000))
    (notes / "long.md").write_text(text)
    assert ready("read", "long").out == text
    assert ready("read", "long", "--json").json["content"] == text


def test_status_says_what_is_indexed_and_where(ready: Cli, home: Path) -> None:
    text = ready("status").out
    assert "my notes (default)" in text
    assert "notes     4" in text
    assert "never" not in text
    assert str(home / "my-notes" / "memory.db") in text
    assert "faulty    1 note not read whole or not for certain, indexed all the same" in text
    assert "problem   broken header.md: " in text
    (project,) = ready("status", "--json").json["projects"]
    assert project["entity_count"] == 4
    assert project["problems_total"] == 1
    assert project["file_count"] == 4
    assert project["database_bytes"] > 0


def test_status_says_when_the_index_is_behind(ready: Cli, notes: Path) -> None:
    assert "behind" not in ready("status").out
    (notes / "new.md").write_text("# New\n")
    run = command_line("sync", project="my notes")
    assert f"the folder has 5 notes; run: {run}\n" in ready("status").out
    assert "1 observation, " in ready("status").out
    assert ready("status", "--json").json["projects"][0]["entity_count"] == 4


def test_status_of_a_missing_folder_still_tells_the_rest(ready: Cli, notes: Path) -> None:
    notes.rename(notes.with_name("away"))
    outcome = ready("status")
    assert outcome.code == 1
    assert "notes     4" in outcome.out
    assert "error     " in outcome.out
    assert "behind" not in outcome.out
    outcome = ready("status", "--json")
    assert outcome.code == 1
    assert outcome.json["projects"][0]["folder_error"]
    assert (ready("status", "--skipped").code, ready("project", "info").code) == (1, 1)


def test_status_of_a_folder_that_was_never_there_fails(cli: Cli, notes: Path) -> None:
    cli("project", "add", "main", notes)
    notes.rename(notes.with_name("away"))
    outcome = cli("status")
    assert outcome.code == 1
    assert f"error     The project's folder {notes} is not there" in outcome.out


def test_status_names_what_is_left_out(cli: Cli, notes: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("outside\n")
    (notes / "link.md").symlink_to(tmp_path / "secret.md")
    cli("up", notes)
    assert "link.md" in cli("status").out
    assert cli("status", "--json").json["projects"][0]["skipped"][0]["path"] == "link.md"


def test_reindex_builds_the_same_index_again(ready: Cli, notes: Path) -> None:
    before = snapshot(notes)
    wanted = ready("search", "garden", "--json").json["total"]
    outcome = ready("reindex")
    assert outcome.code == 0
    assert ready("search", "garden", "--json").json["total"] == wanted
    assert snapshot(notes) == before
    assert ready("reindex", "--json").json["project"] == "my notes"


def test_projects_are_added_chosen_and_removed(ready: Cli, tmp_path: Path, notes: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    added = ready("project", "add", "work", work, "--json").json
    assert (added["name"], added["created"], added["is_default"]) == ("work", True, False)
    assert ready("project", "default", "WORK", "--json").json["name"] == "work"
    assert ready("project", "info", "--json").json["name"] == "work"
    listing = ready("project", "list").out
    assert "work *" in listing
    assert "my notes" in listing
    removed = ready("project", "remove", "my notes")
    assert removed.code == 0
    assert "untouched" in removed.out
    assert (notes / "Garden diary.md").exists()
    assert [p["name"] for p in ready("project", "list", "--json").json["projects"]] == ["work"]


def test_remove_says_which_project_is_the_default_now(
    ready: Cli, tmp_path: Path, notes: Path
) -> None:
    for name in ("work", "trips"):
        (tmp_path / name).mkdir()
        ready("project", "add", name, tmp_path / name)
    assert "The default project is my notes." in ready("project", "remove", "trips").out
    assert "The default project is now work." in ready("project", "remove", "my notes").out
    assert "No project is left." in ready("project", "remove", "work").out
    ready("up", notes)
    assert ready("project", "remove", "my notes", "--json").json["default_project"] is None


def test_default_that_the_environment_overrides_is_not_claimed(
    ready: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    ready("project", "add", "work", tmp_path / "work")
    monkeypatch.setenv("BASIC_MEMORY_DEFAULT_PROJECT", "my notes")
    outcome = ready("project", "default", "work")
    assert "in the configuration file is work" in outcome.out
    assert "BASIC_MEMORY_DEFAULT_PROJECT" in outcome.err
    assert ready("project", "default", "work", "--json").json["is_default"] is False


def test_remove_keeps_the_index_unless_asked(ready: Cli, notes: Path, home: Path) -> None:
    before = snapshot(notes)
    database = home / "my-notes" / "memory.db"
    assert "is kept" in ready("project", "remove", "my notes").out
    assert database.exists()
    ready("up", notes)
    removed = ready("project", "remove", "my notes", "--delete-index", "--json").json
    assert removed["index_deleted"] is True
    assert not database.exists()
    assert snapshot(notes) == before


def test_config_show_names_file_and_values(ready: Cli, home: Path, notes: Path) -> None:
    shown = ready("config", "show", "--json").json
    assert shown["config_file"] == str(home / "config.json")
    assert shown["settings"]["projects"]["my notes"]["path"] == str(notes)
    assert "server_name = Memoranda" in ready("config", "show").out


def test_config_show_says_where_each_value_comes_from(
    ready: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready("project", "default", "my notes")
    monkeypatch.setenv("BASIC_MEMORY_LOG_LEVEL", "ERROR")
    monkeypatch.setenv("BASIC_MEMORY_PROJECTS", json.dumps({"other": str(tmp_path / "other")}))
    text = ready("config", "show").out
    assert "log_level = ERROR  (environment)\n" in text
    assert "default_project = my notes  (file)\n" in text
    assert "server_name = Memoranda  (default)\n" in text
    sources = ready("config", "show", "--json").json["sources"]
    assert sources["projects"] == {"other": "environment", "my notes": "file"}
    assert sources["log_level"] == "environment"
    only = ready("config", "show", "--project", "other", "--json").json
    assert only["sources"]["projects"] == {"other": "environment"}


def test_config_show_hides_the_password(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASIC_MEMORY_DATABASE_URL", "postgresql://me:s3cret@db.example/notes")
    for outcome in (cli("config", "show"), cli("config", "show", "--json")):
        assert "s3cret" not in outcome.out
        assert "postgresql://me:***@db.example/notes" in outcome.out


def test_every_command_answers_with_one_json_document(ready: Cli, notes: Path) -> None:
    for arguments in (
        ["up", notes], ["sync"], ["status"], ["search", "garden"], ["read", "Compost"], ["reindex"],
        ["project", "list"], ["project", "info"], ["project", "default", "my notes"], ["config", "show"],
        ["project", "remove", "my notes"], ["project", "list"], ["status"],
    ):  # fmt: skip
        outcome = ready(*arguments, "--json")
        assert outcome.code == 0, arguments
        assert isinstance(outcome.json, dict), arguments
        assert outcome.err == "", arguments

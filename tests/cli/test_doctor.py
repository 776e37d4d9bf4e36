"""`memoranda doctor`: it finds what is wrong, also when nothing else works, and changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli, Outcome

from memoranda.cli.command_line import command_line
from memoranda.cli.version import version
from memoranda.db import fts
from memoranda.doctor import configuration, index, sources, system
from memoranda.files.clock import SystemClock
from memoranda.files.search_log import SearchLogFile
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.history import Author, HistoryLimits
from memoranda.model.live import WatchMode, WatchState
from memoranda.model.search import SearchType
from memoranda.model.search_log import SearchRecord
from memoranda.model.sync import SyncPhase, SyncState
from memoranda.sync.lease import STATE_FILE, Lease
from memoranda.sync.sync_service import INDEX_VERSION

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
OK, WARNING, PROBLEM = "ok", "warning", "problem"


@pytest.fixture(autouse=True)
def machine(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with space and watches, the configuration on a disk of its own, no search by meaning."""
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED", "false")
    monkeypatch.setattr(system, "_free_bytes", lambda path: 10_000_000_000)
    monkeypatch.setattr(system, "_max_watches", lambda: 65_536)
    monkeypatch.setattr(configuration, "_network", lambda folder: "")


def checks(outcome: Outcome) -> dict[str, tuple[str, str, str]]:
    """Name of a check -> verdict, message, hint; of one project at most."""
    assert outcome.err == ""
    return {
        check["name"]: (check["verdict"], check["message"], check["hint"])
        for section in outcome.json["sections"]
        for check in section["checks"]
    }


def asked(cli: Cli, name: str, *options: str) -> tuple[str, str, str]:
    """One check of a `doctor --json`."""
    return checks(cli("doctor", "--json", *options))[name]


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    """All files below a folder, with their times, but for those that SQLite has beside a database."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


def content(folder: Path) -> dict[str, bytes]:
    return {name: data for name, (_, data) in tree(folder).items()}


@pytest.fixture
def lease(ready: Cli, home: Path, notes: Path) -> Iterator[Lease]:
    """The leadership of `my notes`, held by something that is not the command."""
    status = (home / "my-notes" / "memory.db").stat()
    serves = f"{notes}\n{(status.st_dev, status.st_ino)}"
    lease = Lease(home / "my-notes", version(), INDEX_VERSION, serves=serves)
    assert lease.acquire()
    lease.say(SyncState(SyncPhase.READY), WatchState(WatchMode.EVENTS, running=True, folders=2))
    yield lease
    lease.release()


def test_without_anything_it_says_how_to_begin_and_makes_nothing(cli: Cli, home: Path) -> None:
    outcome = cli("doctor")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"Memoranda {version()}: 1 warning\n")
    assert "no project is configured yet" in outcome.out
    assert f"hint: Begin with `{command_line('up', 'PATH')}`" in outcome.out
    assert "with FTS5" in outcome.out
    assert not home.exists()


def test_a_project_that_works_is_well(ready: Cli, notes: Path) -> None:
    (notes / "broken header.md").unlink()
    ready("sync")
    outcome = ready("doctor")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"Memoranda {version()}: all well\n")
    found = checks(ready("doctor", "--json"))
    assert {verdict for verdict, _, _ in found.values()} == {OK}
    assert list(found) == [
        "settings",
        "access",
        "model",
        "folder",
        "index",
        "soundness",
        "up to date",
        "server",
        "history",
        "searches",
        "version",
        "SQLite",
        "disk",
        "watch limit",
    ]
    assert found["folder"][1] == f"{notes} has 3 notes"
    assert found["soundness"][1] == "tables and full-text index are sound"


def test_it_changes_nothing(ready: Cli, home: Path, notes: Path) -> None:
    (notes / "new.md").write_text("not indexed yet\n")
    before = tree(home), tree(notes)
    ready("doctor")
    ready("doctor", "--json", "--quick")
    assert (tree(home), tree(notes)) == before


def test_a_broken_configuration_is_found_with_its_place(ready: Cli, home: Path) -> None:
    (home / "config.json").write_text('{"projects": {},\n "sync_delay": }')
    before = content(home)
    outcome = ready("doctor", "--json")
    assert outcome.code == 1
    verdict, message, hint = checks(outcome)["settings"]
    assert verdict == PROBLEM
    assert "is not JSON" in message
    assert "line 2" in message
    assert hint
    assert "SQLite" in checks(outcome)
    assert content(home) == before


def test_a_value_that_cannot_be_used_is_found(ready: Cli, home: Path) -> None:
    config = json.loads((home / "config.json").read_text())
    (home / "config.json").write_text(json.dumps(config | {"sync_delay": "soon"}))
    assert asked(ready, "settings")[0] == PROBLEM


def test_a_folder_that_no_configuration_can_be_in_is_found(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", "~nobody-of-that-name/x")
    outcome = cli("doctor", "--json")
    assert outcome.code == 1
    assert checks(outcome)["settings"][0] == PROBLEM


def test_misspelled_settings_are_found(
    ready: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = json.loads((home / "config.json").read_text())
    (home / "config.json").write_text(json.dumps(config | {"sync_dely": 5, "their_theme": 1}))
    monkeypatch.setenv("BASIC_MEMORY_LOG_LEVL", "DEBUG")
    outcome = ready("doctor")
    assert "sync_dely is no setting and has no effect" in outcome.out
    assert "Perhaps sync_delay is meant." in outcome.out
    assert "Perhaps BASIC_MEMORY_LOG_LEVEL is meant." in outcome.out
    assert "kept and not used: their_theme" in outcome.out


def test_what_others_may_read_is_found(ready: Cli, home: Path) -> None:
    (home / "config.json").chmod(0o644)
    assert asked(ready, "access")[0] == OK  # nobody comes to it
    home.chmod(0o755)
    verdict, message, hint = asked(ready, "privacy")
    assert verdict == WARNING
    assert message == f"other users of this machine have access to {home}, {home / 'config.json'}"
    assert hint == f"Take it away with: chmod -R go-rwx '{home}'"


def test_what_this_user_may_not_write_is_found(
    ready: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = os.access
    database = home / "my-notes" / "memory.db"
    monkeypatch.setattr(
        os, "access", lambda path, mode: Path(path) != database and access(path, mode)
    )
    for name in ("access", "index"):
        verdict, message, _ = asked(ready, name)
        assert (verdict, message) == (PROBLEM, f"this user may not read and write {database}")


def test_a_default_that_does_not_exist_is_found(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_DEFAULT_PROJECT", "work")
    assert asked(ready, "default")[:2] == (PROBLEM, "the default project 'work' does not exist")


def test_a_missing_folder_is_a_problem_and_the_rest_is_looked_at(ready: Cli, notes: Path) -> None:
    notes.rename(notes.with_name("elsewhere"))
    outcome = ready("doctor", "--json")
    assert outcome.code == 1
    found = checks(outcome)
    assert found["folder"][0] == PROBLEM
    assert found["soundness"][0] == OK
    assert "up to date" not in found


def test_two_projects_on_one_folder_are_found(ready: Cli, home: Path, notes: Path) -> None:
    config = json.loads((home / "config.json").read_text())
    config["projects"] |= {"twin": {"path": str(notes)}, "off": {"path": "/x", "is_active": False}}
    (home / "config.json").write_text(json.dumps(config))
    verdict, message, hint = asked(ready, "folder", "--project", "twin")
    assert verdict == WARNING
    assert "has the same folder" in message
    assert command_line("project", "remove", "twin") in hint
    assert asked(ready, "folder", "--project", "off")[0] == OK


def test_only_the_project_that_is_named_is_looked_at(ready: Cli, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    ready("up", tmp_path / "second")
    named = ready("doctor", "--json", "--project", "second").json["sections"]
    assert [part["project"] for part in named] == [None, None, "second", None]
    assert [part["project"] for part in ready("doctor", "--json").json["sections"]] == [
        None,
        None,
        "my notes",
        "second",
        None,
    ]
    outcome = ready("doctor", "--json", "--project", "third")
    assert (outcome.code, outcome.json["error"]["code"]) == (1, "PROJECT_NOT_FOUND")


def test_an_index_that_is_not_there_is_a_warning(ready: Cli, home: Path) -> None:
    for file in (home / "my-notes").glob("memory.db*"):
        file.unlink()
    verdict, message, hint = asked(ready, "index")
    assert (verdict, message) == (WARNING, "nothing is indexed yet")
    assert command_line("sync", project="my notes") in hint
    assert not (home / "my-notes" / "memory.db").exists()


def test_a_file_that_is_no_database_is_found_and_left(ready: Cli, home: Path) -> None:
    database = home / "my-notes" / "memory.db"
    database.write_bytes(b"this is no database" * 1000)
    before = content(home)
    outcome = ready("doctor", "--json")
    assert outcome.code == 1
    assert checks(outcome)["index"][0] == PROBLEM
    assert "not a SQLite database" in checks(outcome)["index"][1]
    assert content(home) == before
    assert ready("sync").code == 0
    verdict, message, _ = asked(ready, "set aside")
    assert verdict == WARNING
    assert "memory.foreign-" in message
    assert asked(ready, "index")[0] == OK


@pytest.mark.parametrize(("table", "name"), [("observation", "index"), ("note_name", "soundness")])
def test_damage_in_a_table_is_found_and_left(ready: Cli, home: Path, table: str, name: str) -> None:
    database = home / "my-notes" / "memory.db"
    with closing(sqlite3.connect(database)) as db:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        ((page,),) = db.execute(query, (table,)).fetchall()
        ((size,),) = db.execute("PRAGMA page_size").fetchall()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with database.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    before = content(home)
    outcome = ready("doctor", "--json")
    assert outcome.code == 1
    assert checks(outcome)[name][0] == PROBLEM
    assert content(home) == before


def test_damage_in_the_full_text_index_is_found(ready: Cli, home: Path) -> None:
    with closing(sqlite3.connect(home / "my-notes" / "memory.db")) as db:
        db.execute(f"DELETE FROM {fts.TABLE}_docsize")
        db.commit()
    verdict, message, hint = asked(ready, "soundness")
    assert verdict == PROBLEM
    assert "full-text index" in message
    assert command_line("reindex", project="my notes") in hint
    verdict, message, _ = asked(ready, "soundness", "--quick")
    assert (verdict, "not checked (--quick); no server has checked it yet" in message) == (OK, True)


def test_an_index_of_a_newer_version_is_a_problem(ready: Cli, home: Path) -> None:
    with closing(sqlite3.connect(home / "my-notes" / "memory.db")) as db:
        db.execute("PRAGMA user_version = 9999")
        db.commit()
    verdict, message, _ = asked(ready, "index")
    assert (verdict, message) == (PROBLEM, "a newer version of Memoranda wrote it")


def test_a_writer_that_stays_keeps_the_check_from_running_and_is_said(
    ready: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_BUSY_MS", 10)
    with closing(sqlite3.connect(home / "my-notes" / "memory.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        verdict, message, _ = asked(ready, "soundness")
    assert verdict == OK
    assert "not checked (another process is writing to it)" in message


def test_what_the_index_has_not_yet_is_found(ready: Cli, notes: Path) -> None:
    (notes / "new.md").write_text("a new one\n")
    (notes / "Garden diary.md").write_text("all changed now\n")
    (notes / "garden" / "Compost.md").unlink()
    verdict, message, hint = asked(ready, "up to date")
    assert verdict == WARNING
    assert message.startswith(
        "not indexed yet: 1 new (new.md), 1 changed (Garden diary.md), 1 gone (garden/Compost.md)"
    )
    assert command_line("sync", project="my notes") in hint
    ready("sync")
    assert asked(ready, "up to date")[0] == OK


def test_a_note_that_is_only_to_be_read_again_is_as_indexed(ready: Cli, notes: Path) -> None:
    (notes / "Garden diary.md").chmod(0o600)
    assert asked(ready, "up to date")[0] == OK


def test_an_index_for_other_languages_is_found(ready: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "languages" not in checks(ready("doctor", "--json"))
    monkeypatch.setenv("BASIC_MEMORY_SEARCH_LANGUAGES", '["german"]')
    assert asked(ready, "languages")[0] == WARNING
    ready("sync")
    assert "languages" not in checks(ready("doctor", "--json"))


def test_notes_with_broken_headers_are_counted(ready: Cli) -> None:
    verdict, message, _ = asked(ready, "headers")
    assert (verdict, message[:6]) == (WARNING, "1 note")


def test_a_file_that_cannot_be_indexed_is_named_and_is_not_behind(ready: Cli, notes: Path) -> None:
    with (notes / "huge.md").open("wb") as file:
        file.truncate((64 << 20) + 1)
    ready("sync")
    verdict, message, _ = asked(ready, "failures")
    assert (verdict, message) == (WARNING, "1 file could not be indexed: huge.md")
    assert asked(ready, "up to date")[0] == OK


def test_notes_that_are_kept_without_files_are_found(ready: Cli, notes: Path) -> None:
    shutil.rmtree(notes)
    notes.mkdir()
    ready("sync")
    found = checks(ready("doctor", "--json"))
    verdict, message, hint = found["kept"]
    assert verdict == WARNING
    assert message.startswith("4 notes without a file stay in the index: ")
    assert command_line("sync", "--accept-deletions", project="my notes") in hint
    assert found["up to date"][0] == OK


def test_a_server_that_works_is_named(ready: Cli, lease: Lease, notes: Path) -> None:
    (notes / "new.md").write_text("a new one\n")
    found = checks(ready("doctor", "--json"))
    assert found["server"][0] == OK
    assert found["server"][1].startswith(f"process {os.getpid()} (version {version()}) keeps ")
    assert found["watching"][:2] == (OK, "2 folders, by events")
    assert found["up to date"][0] == OK  # the server is at it
    assert "1 new (new.md)" in found["up to date"][1]


def test_a_server_that_hangs_is_a_problem(ready: Cli, lease: Lease, home: Path) -> None:
    os.utime(home / "my-notes" / STATE_FILE, (1, 1))
    outcome = ready("doctor", "--json")
    assert outcome.code == 1
    verdict, _, hint = checks(outcome)["server"]
    assert verdict == PROBLEM
    assert hint.endswith(f"kill {os.getpid()}")
    assert lease.is_held


def test_what_a_killed_server_left_is_no_server(ready: Cli, lease: Lease, home: Path) -> None:
    state = home / "my-notes" / STATE_FILE
    said = state.read_bytes()
    lease.release()
    state.write_bytes(said)
    verdict, message, _ = asked(ready, "server")
    assert verdict == OK
    assert message.endswith(f"(process {os.getpid()} was killed)")


def test_polling_for_want_of_watches_is_a_warning(ready: Cli, lease: Lease) -> None:
    watch = WatchState(WatchMode.POLLING, running=True, reason="the system watches no more")
    lease.say(SyncState(SyncPhase.READY), watch)
    verdict, message, _ = asked(ready, "watching")
    assert (verdict, message) == (WARNING, "by polling: the system watches no more")


def test_the_history_is_looked_at_and_left(ready: Cli, home: Path, notes: Path) -> None:
    store = HistoryStore(home / "my-notes" / "history", notes, SystemClock(), HistoryLimits())
    by = Author("test", "1", "write_note")
    with store.recording(
        NotePath("a.md"), before=None, after=b"new\n", by=by, current=lambda: b"new\n"
    ):
        pass
    store.close()
    verdict, message, _ = asked(ready, "history")
    assert (verdict, message[:15]) == (OK, "1 change since ")
    database = home / "my-notes" / "history" / "history.db"
    database.write_bytes(b"broken" + database.read_bytes()[6:])
    before = content(home)
    outcome = ready("doctor", "--json")
    assert outcome.code == 1
    assert checks(outcome)["history"][0] == PROBLEM
    assert content(home) == before


def test_a_database_that_is_no_history_is_a_problem(ready: Cli, home: Path) -> None:
    folder = home / "my-notes" / "history"
    folder.mkdir(mode=0o700)
    with closing(sqlite3.connect(folder / "history.db")) as db:
        db.execute("CREATE TABLE x (y)")
        db.commit()
    verdict, message, _ = asked(ready, "history")
    assert verdict == PROBLEM
    assert message.endswith("cannot be used, or not whole: it is no history")


def test_a_history_of_a_newer_version_is_a_problem(ready: Cli, home: Path) -> None:
    folder = home / "my-notes" / "history"
    folder.mkdir(mode=0o700)
    with closing(sqlite3.connect(folder / "history.db")) as db:
        db.execute(f"PRAGMA application_id = {0x4D4D4853}")
        db.execute("PRAGMA user_version = 9999")
        db.execute("CREATE TABLE x (y)")
        db.commit()
    verdict, message, _ = asked(ready, "history")
    assert (verdict, message[:15]) == (PROBLEM, "a newer version")


def test_what_is_no_file_at_the_place_of_one_is_a_problem(ready: Cli, home: Path) -> None:
    folder = home / "my-notes"
    (folder / "history" / "history.db").mkdir(parents=True)
    (folder / "searches.jsonl").mkdir()
    (folder / "leader.lock").mkdir()
    for file in folder.glob("memory.db*"):
        file.unlink()
    (folder / "memory.db").mkdir()
    outcome = ready("doctor", "--json")
    assert outcome.code == 1
    found = checks(outcome)
    for name, verdict, said in (
        ("history", PROBLEM, "history.db cannot be used"),
        ("searches", WARNING, "searches.jsonl cannot be read: Is a directory"),
        ("server", PROBLEM, "leader.lock cannot be locked: Is a directory"),
        ("index", PROBLEM, "memory.db is not a file"),
    ):
        assert found[name][0] == verdict
        assert said in found[name][1]


def test_searches_are_summed_up(ready: Cli, home: Path) -> None:
    log = SearchLogFile(home / "my-notes" / "searches.jsonl")
    for query, total, latency_ms in (("heap", 3, 4.0), ("snails", 0, 9.0), ("beds", 2, 700.0)):
        log.record(SearchRecord(AT, query, SearchType.FTS, total, latency_ms, "claude-code"))
    outcome = ready("doctor", "--json")
    found = checks(outcome)
    assert found["searches"][1].startswith("3 searches since 2026-03-04 05:06:07 UTC by claude-")
    assert found["latency"][1] == (
        'half in 9.0 ms, 95 % in 700 ms; the slowest: "beds" 700 ms; "snails" 9.0 ms; "heap" 4.0 ms'
    )
    assert found["found nothing"][1] == '"snails"'
    summary: dict[str, Any] = outcome.json["searches"]["my notes"]
    assert (summary["total"], summary["empty"], summary["p95_ms"]) == (3, 1, 700.0)
    assert summary["slowest"][0]["query"] == "beds"


def test_that_searches_are_not_recorded_is_said(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_SEARCH_LOG", "false")
    assert "search_log is off" in asked(ready, "searches")[1]


def test_a_fault_in_one_look_does_not_hide_the_others(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(index, "look", fail)
    outcome = ready("doctor", "--json")
    assert outcome.code == 1
    found = checks(outcome)
    assert found["index"][:2] == (PROBLEM, "could not be looked at: ZeroDivisionError: by zero")
    assert found["history"][0] == OK

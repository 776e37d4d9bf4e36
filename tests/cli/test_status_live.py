"""How a person finds out who keeps the notes up to date."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from memoranda.cli.command_line import command_line
from memoranda.cli.version import version
from memoranda.model.live import EventKind, FileEvent, WatchMode, WatchState
from memoranda.model.sync import Progress, SyncPhase, SyncState
from memoranda.sync.lease import ALIVE_S, LOCK_FILE, STATE_FILE, Lease
from memoranda.sync.sync_service import INDEX_VERSION

MOMENT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
READY = SyncState(SyncPhase.READY, last_scan=MOMENT)
WATCH = WatchState(
    WatchMode.EVENTS,
    running=True,
    start_time=MOMENT,
    folders=2,
    synced_files=7,
    recent_events=tuple(FileEvent(MOMENT, EventKind.CREATED, f"{n}.md") for n in range(15)),
)


@pytest.fixture
def lease(ready: Cli, home: Path) -> Iterator[Lease]:
    """The leadership of the project `my notes`, held by something that is not the command."""
    lease = Lease(home / "my-notes", version(), INDEX_VERSION)
    assert lease.acquire()
    lease.say(READY, WATCH)
    yield lease
    lease.release()


def live(outcome_text: str) -> list[str]:
    return [
        line.strip()
        for line in outcome_text.splitlines()
        if line.startswith(("  live", "  watching", "  indexing", "  trouble", "  error"))
    ]


def test_without_a_server_it_says_so(ready: Cli) -> None:
    assert live(ready("status").out) == [
        "live      no server runs: changes are indexed at the next command or server start"
    ]
    assert ready("status", "--json").json["projects"][0]["leader"] is None


def test_a_server_is_named_in_two_lines(ready: Cli, lease: Lease) -> None:
    first, second = live(ready("status").out)
    assert first.startswith(f"live      process {os.getpid()} (version {version()}) keeps it up to")
    assert second == "watching  2 folders, by events; 7 files indexed since"


def test_the_json_has_all_of_it(ready: Cli, lease: Lease) -> None:
    for leader in (
        ready("status", "--json").json["projects"][0]["leader"],
        ready("project", "info", "--json").json["leader"],
    ):
        assert (leader["pid"], leader["is_alive"]) == (os.getpid(), True)
        assert (leader["version_skew"], leader["sync"]["status"]) == ("", "ready")
        assert (leader["watch"]["mode"], leader["watch"]["synced_files"]) == ("events", 7)
        assert len(leader["watch"]["recent_events"]) == 15


def test_progress_and_troubles_of_the_server_are_shown(ready: Cli, lease: Lease) -> None:
    lease.say(
        replace(READY, progress=Progress(10, 40, 2.0)),
        replace(WATCH, error_count=2, last_error="The database is busy", last_error_at=MOMENT),
    )
    assert live(ready("status").out)[1:] == [
        "indexing  10 of 40 files, about 6 s left",
        "watching  2 folders, by events; 7 files indexed since",
        "trouble   2 errors, the last at 2026-03-04 05:06:07 UTC: The database is busy",
    ]


def test_a_server_that_hangs_is_not_taken_for_one_that_works(
    ready: Cli, lease: Lease, home: Path
) -> None:
    old = time.time() - ALIVE_S - 3600
    os.utime(home / "my-notes" / STATE_FILE, (old, old))
    (line,) = live(ready("status").out)
    assert f"end it (process {os.getpid()})" in line
    leader = ready("status", "--json").json["projects"][0]["leader"]
    assert not leader["is_alive"]
    assert leader["heartbeat_age_s"] >= 3600


@pytest.mark.parametrize("is_lock_there", [True, False])
def test_what_a_killed_server_left_is_no_server(
    ready: Cli, lease: Lease, home: Path, is_lock_there: bool
) -> None:
    folder = home / "my-notes"
    said = (folder / STATE_FILE).read_bytes()
    lease.release()
    (folder / STATE_FILE).write_bytes(said)
    os.utime(folder / STATE_FILE, (1, 1))
    (folder / LOCK_FILE).touch()
    if not is_lock_there:
        (folder / LOCK_FILE).unlink()
    (line,) = live(ready("status").out)
    assert line.startswith("live      no server runs: ")
    assert Lease(folder, "1", 1).acquire()  # and the look has not taken it


def test_a_server_of_an_older_version_is_said(ready: Cli, lease: Lease, home: Path) -> None:
    lease.release()
    old = Lease(home / "my-notes", "0.0.1", INDEX_VERSION - 1)
    assert old.acquire()
    old.say(READY, WATCH)
    assert "live      it is older than this command" in live(ready("status").out)[1]
    leader = ready("status", "--json").json["projects"][0]["leader"]
    assert leader["version_skew"] == "older"
    old.release()


def test_a_folder_that_went_away_under_a_server_is_said_once(
    ready: Cli, lease: Lease, notes: Path
) -> None:
    notes.rename(notes.with_name("away"))
    message = f"The project's folder {notes} is not there"
    lease.say(
        SyncState(SyncPhase.FAILED, last_error=message),
        replace(WATCH, mode=WatchMode.POLLING, reason="moved", error_count=1, last_error=message),
    )
    outcome = ready("status")
    assert outcome.code == 1
    assert outcome.out.count(message) == 1
    assert "watching  by polling (moved)" in outcome.out


def test_what_the_server_has_not_seen_yet_needs_no_command(
    ready: Cli, lease: Lease, notes: Path
) -> None:
    (notes / "new.md").write_text("new\n")
    assert "behind    the folder has 5 notes; the server indexes it in a moment" in (
        ready("status").out
    )
    lease.say(SyncState(SyncPhase.FAILED, last_error="no"), WATCH)
    run = command_line("sync", project="my notes")
    assert f"behind    the folder has 5 notes; run: {run}" in ready("status").out


def test_a_server_that_watches_nothing_is_said(ready: Cli, lease: Lease) -> None:
    lease.say(READY, WatchState(WatchMode.OFF, "switched off in the configuration", synced_files=3))
    assert live(ready("status").out)[1] == (
        "watching  off (set so in the configuration): tools look at the folder when they are called"
    )


@pytest.mark.parametrize("option", [(), ("--skipped",)])
def test_what_to_do_about_a_missing_folder_is_said(
    ready: Cli, notes: Path, option: tuple[str, ...]
) -> None:
    notes.rename(notes.with_name("away"))
    text = ready("status", *option).out
    assert f"error     The project's folder {notes} is not there: connect the drive or put" in text
    (project,) = ready("status", "--json").json["projects"]
    assert project["folder_hint"].startswith("Connect the drive or put the folder back")


def test_a_project_that_is_added_while_a_server_runs_needs_no_command(
    ready: Cli, lease: Lease, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    said = ready("project", "add", "other", tmp_path / "other").out
    assert "The server that runs indexes it within seconds; to wait for that, run: " in said
    lease.release()
    assert "\nIndex it with: " in ready("project", "add", "other", tmp_path / "other").out

"""What a person reads of who keeps a project up to date."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memoranda.cli.keeping import keeping_lines, watch_texts
from memoranda.model.live import LeaderState, WatchMode, WatchState
from memoranda.model.sync import Progress, SyncPhase, SyncState
from memoranda.render.live import Onlooker

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ME = Onlooker(NOW, "0.2.0", 2002)
WATCH = WatchState(mode=WatchMode.EVENTS, running=True, folders=12, synced_files=34)
LEADER = LeaderState(
    pid=4711,
    version="0.2.0",
    index_version=2002,
    since=NOW - timedelta(hours=1),
    heartbeat=NOW - timedelta(seconds=2),
    is_alive=True,
    is_me=False,
    sync=SyncState(SyncPhase.READY),
    watch=WATCH,
)


def lines(leader: LeaderState | None, *known: str) -> list[str]:
    return [line.strip() for line in keeping_lines(leader, ME, known=known)]


def test_without_a_server_it_says_when_changes_are_indexed() -> None:
    assert lines(None) == [
        "live      no server runs: changes are indexed at the next command or server start"
    ]


def test_when_all_is_well_two_lines_say_it() -> None:
    assert lines(LEADER) == [
        "live      process 4711 (version 0.2.0) keeps it up to date since 2026-03-04 04:06:07 UTC, "
        "last sign of life 2 s ago",
        "watching  12 folders, by events; 34 files indexed since",
    ]


def test_a_leader_that_hangs_is_named_with_what_to_do_and_nothing_it_said_before() -> None:
    hung = replace(LEADER, is_alive=False, heartbeat=NOW - timedelta(minutes=5))
    (line,) = lines(hung)
    assert "gave no sign of life for 5 min: it hangs or is stopped" in line
    assert "end it (process 4711), and another server takes over" in line
    assert "in the middle of a write: then nothing can be indexed until it is ended" in line
    assert "keeps it up to date" not in line


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("0.1.0", "live      it is older than this command (version 0.2.0): restart its client"),
        ("0.3.0", "live      it is newer than this command (version 0.2.0)"),
    ],
)
def test_a_leader_of_another_version_is_said(version: str, said: str) -> None:
    assert lines(replace(LEADER, version=version))[1].startswith(said)


def test_progress_of_a_running_sync_is_said() -> None:
    for phase in (SyncPhase.INDEXING, SyncPhase.READY):
        at_work = replace(LEADER, sync=SyncState(phase, Progress(1200, 4800, 3.0)))
        assert lines(at_work)[1] == "indexing  1,200 of 4,800 files, about 9 s left"
    begun = replace(LEADER, sync=SyncState(SyncPhase.STARTING))
    assert lines(begun)[1] == "indexing  it begins"


def test_a_failed_sync_is_said_once_and_not_at_all_when_it_was_said_before() -> None:
    failed = replace(
        LEADER,
        sync=SyncState(SyncPhase.FAILED, last_error="The disk is full"),
        watch=replace(WATCH, error_count=3, last_error="The disk is full", last_error_at=NOW),
    )
    assert lines(failed)[2:] == ["error     the last sync failed: The disk is full"]
    assert lines(failed, "The disk is full")[2:] == []


def test_the_last_error_stays_with_its_time_when_all_is_well_again() -> None:
    watch = replace(WATCH, error_count=3, last_error="The database is busy", last_error_at=NOW)
    assert lines(replace(LEADER, watch=watch))[2:] == [
        "trouble   3 errors, the last at 2026-03-04 05:06:07 UTC: The database is busy"
    ]


def test_the_reason_for_polling_is_not_said_again_as_an_error() -> None:
    reason = "the folder is on a network drive (nfs)"
    watch = replace(WATCH, mode=WatchMode.POLLING, reason=reason, error_count=1, last_error=reason)
    assert lines(replace(LEADER, watch=watch))[1:] == [
        f"watching  by polling ({reason}): the folder is looked at again and again; "
        "34 files indexed since"
    ]


@pytest.mark.parametrize(
    ("watch", "texts"),
    [
        (WatchState(WatchMode.EVENTS, "no events below a/", True, folders=1),
         ["1 folder, by events", "not all: no events below a/"]),
        (WatchState(WatchMode.OFF, "switched off in the configuration"),
         ["off (set so in the configuration): tools look at the folder when they are called"]),
        (WatchState(), []),
    ],
)  # fmt: skip
def test_how_changes_are_noticed(watch: WatchState, texts: list[str]) -> None:
    assert watch_texts(watch) == texts


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7_300, "2 h"), (400_000, "5 d")],
)
def test_a_span_is_said_in_one_unit(seconds: int, said: str) -> None:
    old = replace(LEADER, heartbeat=NOW - timedelta(seconds=seconds))
    assert lines(old)[0].endswith(f"last sign of life {said} ago")

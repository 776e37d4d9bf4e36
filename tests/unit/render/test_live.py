from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memoranda.model.live import EventKind, FileEvent, LeaderState, WatchMode, WatchState
from memoranda.model.sync import Progress, SyncPhase, SyncState
from memoranda.render.live import Onlooker, Skew, heartbeat_age_s, leader_data, skew

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ME = Onlooker(NOW, "0.2.0", 2002)
LEADER = LeaderState(
    pid=4711,
    version="0.2.0",
    index_version=2002,
    since=NOW - timedelta(hours=1),
    heartbeat=NOW - timedelta(seconds=3),
    is_alive=True,
    is_me=False,
    sync=SyncState(SyncPhase.INDEXING, Progress(5, 20, 1.0), held=2, held_reason="gone"),
    watch=WatchState(
        mode=WatchMode.POLLING,
        reason="a network drive",
        running=True,
        folders=3,
        error_count=1,
        last_error="x " * 400,
        last_error_at=NOW,
        synced_files=9,
        recent_events=tuple(FileEvent(NOW, EventKind.MODIFIED, f"{n}.md") for n in range(15)),
    ),
)


@pytest.mark.parametrize(
    ("version", "index_version", "expected"),
    [
        ("0.2.0", 2002, Skew.NONE),
        ("0.1.9", 2002, Skew.OLDER),
        ("0.10.0", 2002, Skew.NEWER),
        ("0.9.0", 2001, Skew.OLDER),
        ("0.1.0", 2003, Skew.NEWER),
        ("0.2.0.dev1", 2002, Skew.NONE),
        ("unknown", 2002, Skew.OLDER),
    ],
)
def test_what_makes_the_index_decides_who_is_older_and_then_the_release(
    version: str, index_version: int, expected: Skew
) -> None:
    assert skew(replace(LEADER, version=version, index_version=index_version), ME) is expected


def test_the_age_of_a_heartbeat_is_never_negative() -> None:
    assert heartbeat_age_s(LEADER, ME) == 3
    assert heartbeat_age_s(replace(LEADER, heartbeat=NOW + timedelta(days=1)), ME) == 0


def test_nobody_leads_is_null() -> None:
    assert leader_data(None, ME) is None


def test_the_json_says_all_of_the_leader() -> None:
    data = leader_data(LEADER, ME)
    assert data is not None
    assert (data["pid"], data["version"], data["version_skew"]) == (4711, "0.2.0", "")
    assert (data["is_alive"], data["is_this_process"], data["heartbeat_age_s"]) == (True, False, 3)
    assert data["since"] == "2026-03-04T04:06:07+00:00"
    assert data["sync"] == {
        "status": "indexing",
        "done": 5,
        "total": 20,
        "seconds_left": 3,
        "held": 2,
        "held_reason": "gone",
        "last_scan": None,
    }
    watch = data["watch"]
    assert (watch["mode"], watch["reason"], watch["running"]) == (
        "polling",
        "a network drive",
        True,
    )
    assert (watch["folders"], watch["synced_files"], watch["error_count"]) == (3, 9, 1)
    assert len(watch["last_error"]) <= 300
    assert watch["last_error_at"] == "2026-03-04T05:06:07+00:00"
    assert len(watch["recent_events"]) == 15


@pytest.mark.parametrize(("most", "first"), [(10, "5.md"), (100, "0.md"), (1, "14.md")])
def test_the_last_events_are_told_up_to_a_limit(most: int, first: str) -> None:
    data = leader_data(LEADER, ME, most_events=most)
    assert data is not None
    events = data["watch"]["recent_events"]
    assert len(events) == min(most, 15)
    assert events[0] == {"at": "2026-03-04T05:06:07+00:00", "kind": "modified", "path": first}
    assert events[-1]["path"] == "14.md"


def test_no_events_are_wanted() -> None:
    data = leader_data(LEADER, ME, most_events=0)
    assert data is not None
    assert data["watch"]["recent_events"] == []

"""What `sync --watch` says of each thing that happens."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memoranda.cli.watch_lines import happening_data, happening_text
from memoranda.cli.watching import Dropped, Happening, Led, Mended, Synced, Troubled, Watched
from memoranda.model.address import NotePath
from memoranda.model.live import LeaderState, WatchMode, WatchState
from memoranda.model.sync import FailureKind, FileFailure, SyncReport, SyncState
from memoranda.render.live import Onlooker

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ME = Onlooker(NOW, "0.2.0", 2002)
A, B, C, D = (NotePath(f"{name}.md") for name in "abcd")
LEADER = LeaderState(
    4711, "0.2.0", 2002, NOW, NOW, is_alive=True, is_me=False, sync=SyncState(), watch=WatchState()
)
FAILED = FileFailure(D, "permission denied", FailureKind.IO)


@pytest.mark.parametrize(
    ("happening", "text"),
    [
        (Led("main", replace(LEADER, is_me=True)),
         "note: main: this process keeps it up to date; Ctrl-C ends it"),
        (Led("main", LEADER),
         "note: main: process 4711 (version 0.2.0) keeps it up to date; this one takes over when "
         "that ends"),
        (Led("main", replace(LEADER, is_alive=False)),
         "note: main: process 4711 (version 0.2.0) leads and gives no sign of life; until it is "
         "ended, this process looks at the folder itself every few seconds"),
        (Led("main", None),
         "note: main: no process can lead, the log file says why; this process looks at the folder "
         "itself every few seconds"),
        (Watched("main", WatchState(WatchMode.EVENTS, running=True, folders=2, synced_files=7)),
         "note: main: watching 2 folders, by events"),
        (Watched("main", WatchState()), ""),
        (Troubled("main", "The disk is full"), "error: main: The disk is full; it is tried again"),
        (Mended("main"), "note: main: it works again"),
        (Dropped("main"), "note: main: it is no active project any more; this process leaves it alone"),
        (Synced("main", SyncReport(new_files=(A,), modified_files=(B,), moved_files=((B, C),),
                                   failures=(FAILED,)), is_first=False),
         "05:06:07 main: 1 new, 1 modified, 1 moved, 1 failed: a.md, b.md, b.md -> c.md and 1 more"),
        (Synced("main", SyncReport(deleted_files=(A, B), duration_s=0.2), is_first=False),
         "05:06:07 main: 2 deleted: a.md, b.md"),
        (Synced("main", SyncReport(held=(A,), held_reason="the folder is empty"), is_first=False),
         "05:06:07 main: 1 kept although missing: a.md"),
        (Synced("main", SyncReport(), is_first=False), "05:06:07 main: no file is missing any more"),
        (Synced("main", SyncReport(failures=(FAILED,)), is_first=False),
         "05:06:07 main: 1 failed: d.md (permission denied)"),
        (Synced("main", SyncReport(new_files=(NotePath("a\nb.md"),)), is_first=False),
         "05:06:07 main: 1 new: a b.md"),
    ],
)  # fmt: skip
def test_text(happening: Happening, text: str) -> None:
    assert happening_text(happening, NOW) == text


def test_the_first_sync_is_reported_as_by_sync() -> None:
    said = happening_text(Synced("main", SyncReport(total_files=4), is_first=True), NOW)
    assert said.startswith("main: 0 new, 0 modified, 0 moved, 0 deleted, 0 failed, 4 unchanged")


@pytest.mark.parametrize(
    ("happening", "event", "more"),
    [
        (Led("main", None), "leader", {"leader": None}),
        (Watched("main", WatchState(WatchMode.POLLING, "nfs")), "watch",
         {"mode": "polling", "reason": "nfs", "folders": 0}),
        (Troubled("main", "no"), "error", {"message": "no"}),
        (Mended("main"), "recovered", {}),
        (Dropped("main"), "removed", {}),
        (Synced("main", SyncReport(moved_files=((A, B),), held=(C,), held_reason="x"), is_first=True),
         "sync",
         {"new": [], "modified": [], "moved": [{"from": "a.md", "to": "b.md"}], "deleted": [],
          "left_out": [], "failed": [], "held": ["c.md"], "held_reason": "x", "duration_s": 0.0}),
    ],
)  # fmt: skip
def test_json(happening: Happening, event: str, more: dict[str, object]) -> None:
    data = happening_data(happening, ME)
    head = {"event": event, "project": "main", "at": "2026-03-04T05:06:07+00:00"}
    assert data == head | more
    assert json.dumps(data)


def test_json_of_the_leader_is_that_of_status() -> None:
    assert happening_data(Led("main", LEADER), ME)["leader"]["pid"] == 4711

"""What an assistant reads of a project that another process keeps up to date."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.conftest import Caller

from memoranda.model.embedding import (
    EmbeddingProgress,
    EmbeddingSpace,
    ProviderPhase,
    ProviderState,
)
from memoranda.model.live import EventKind, FileEvent, WatchMode, WatchState
from memoranda.model.sync import SyncPhase, SyncState
from memoranda.model.views import ProjectInfo
from memoranda.sync.lease import Lease
from memoranda.sync.sync_service import INDEX_VERSION
from memoranda.workspace import Workspace

MOMENT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
WATCH = WatchState(
    WatchMode.EVENTS,
    running=True,
    folders=1,
    error_count=1,
    last_error="The database is busy",
    last_error_at=MOMENT,
    recent_events=tuple(FileEvent(MOMENT, EventKind.CREATED, f"{n}.md") for n in range(20)),
)


@pytest.fixture
def other_leader(project_root: Path) -> Iterator[Lease]:
    """A process that leads Main, of a later version."""
    lease = Lease(Path(os.environ["BASIC_MEMORY_CONFIG_DIR"]) / "main", "9.0", INDEX_VERSION + 1)
    assert lease.acquire()
    yield lease
    lease.release()


async def lead_the_same(lease: Lease, caller: Caller) -> None:
    """Lead the folder and the database that the server has opened, and say so."""
    workspace = await caller.session.workspace(None)
    lease.release()
    lease.serves = workspace.coordinator._lease.serves
    assert lease.acquire()
    lease.say(SyncState(SyncPhase.READY, last_scan=MOMENT, held=2, held_reason="gone"), WATCH)


async def info(caller: Caller) -> dict[str, Any]:
    (text,) = await caller.client.read_resource("memory://project_info")
    return dict(json.loads(text.text))


async def test_a_leader_names_itself(caller: Caller) -> None:
    (caller.root / ".hidden.md").write_text("hidden\n")
    await caller.indexed()
    said = await info(caller)
    assert said["leader"]["is_this_process"]
    assert (said["leader"]["pid"], said["leader"]["version_skew"]) == (os.getpid(), "")
    assert said["skipped"] == [{"path": ".hidden.md", "reason": "hidden"}]
    assert "folder_error" not in said


@pytest.mark.sqlite
async def test_a_follower_tells_how_the_leader_stands(other_leader: Lease, caller: Caller) -> None:
    await lead_the_same(other_leader, caller)
    said = await info(caller)
    leader = said["leader"]
    assert (leader["is_alive"], leader["is_this_process"]) == (True, False)
    assert (leader["version"], leader["version_skew"]) == ("9.0", "newer")
    assert leader["watch"]["last_error"] == "The database is busy"
    assert leader["watch"]["last_error_at"] == "2026-03-04T05:06:07+00:00"
    assert [event["path"] for event in leader["watch"]["recent_events"]] == [
        f"{n}.md" for n in range(10, 20)
    ]
    assert said["index"] == {
        "status": "ready",
        "done": 0,
        "total": 0,
        "held": 2,
        "held_reason": "gone",
        "last_scan": "2026-03-04T05:06:07+00:00",
        "last_full_sync": None,
    }


async def test_a_follower_looks_itself_what_is_left_out(
    other_leader: Lease, caller: Caller
) -> None:
    await lead_the_same(other_leader, caller)
    (caller.root / ".hidden.md").write_text("hidden\n")
    said = await info(caller)
    assert (said["skipped_total"], said["skipped"][0]["path"]) == (1, ".hidden.md")


async def test_a_folder_that_is_missing_is_said(other_leader: Lease, caller: Caller) -> None:
    caller.root.rename(caller.root.with_name("away"))
    said = await info(caller)
    assert str(caller.root) in said["folder_error"]
    assert said["skipped"] == []


async def test_how_search_by_meaning_stands_is_said(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = EmbeddingSpace("static", "bundled", "53aa", 256)
    known = Workspace.info

    async def with_meaning(self: Workspace) -> ProjectInfo:
        return replace(
            await known(self),
            provider=ProviderState(ProviderPhase.READY, "static", "bundled", "why", space),
            embedding=EmbeddingProgress(notes=8, pending=6, vectors=9, error="the disk is full"),
        )

    monkeypatch.setattr(Workspace, "info", with_meaning)
    assert (await info(caller))["meaning"] == {
        "state": "ready",
        "provider": "static",
        "model": "bundled",
        "dimensions": 256,
        "space": "static:bundled@53aa/256",
        "reason": "why",
        "download": None,
        "notes": 8,
        "notes_done": 2,
        "vectors": 9,
        "is_complete": False,
        "error": "the disk is full",
    }

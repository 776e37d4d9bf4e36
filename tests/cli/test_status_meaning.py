"""How a person finds out how search by meaning stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from memoranda.cli.command_line import command_line
from memoranda.cli.version import version
from memoranda.model.embedding import (
    EmbeddingProgress,
    EmbeddingSpace,
    ProviderPhase,
    ProviderState,
)
from memoranda.model.live import WatchState
from memoranda.model.sync import SyncPhase, SyncState
from memoranda.model.views import ProjectInfo
from memoranda.sync.lease import Lease
from memoranda.sync.sync_service import INDEX_VERSION
from memoranda.workspace import Workspace

Standing = Callable[[ProviderState | None, EmbeddingProgress | None], None]

SPACE = EmbeddingSpace("static", "bundled", "53aa", 256)
STATIC = ProviderState(ProviderPhase.READY, "static", "bundled", space=SPACE)
PART = EmbeddingProgress(notes=4, pending=3, vectors=2)


@pytest.fixture
def standing(monkeypatch: pytest.MonkeyPatch) -> Standing:
    """Makes a project say how search by meaning stands."""
    known = Workspace.info

    def standing(provider: ProviderState | None, embedding: EmbeddingProgress | None) -> None:
        async def info(self: Workspace) -> ProjectInfo:
            return replace(await known(self), provider=provider, embedding=embedding)

        monkeypatch.setattr(Workspace, "info", info)

    return standing


def meaning(cli: Cli) -> list[str]:
    outcome = cli("status")
    assert (outcome.code, outcome.err) == (0, "")
    return [line for line in outcome.out.splitlines() if line.startswith("  meaning   ")]


def test_what_nobody_has_asked_is_not_said(ready: Cli, standing: Standing) -> None:
    standing(None, None)
    assert meaning(ready) == []
    assert ready("status", "--json").json["projects"][0]["meaning"] is None


def test_what_is_embedded_is_said_and_how_to_go_on(ready: Cli, standing: Standing) -> None:
    standing(STATIC, PART)
    assert meaning(ready) == [
        "  meaning   static model, 1 of 4 notes embedded (25 %); run: "
        + command_line("sync", project="my notes")
    ]
    said = ready("status", "--json").json["projects"][0]["meaning"]
    assert (said["notes_done"], said["notes"], said["vectors"]) == (1, 4, 2)
    assert ready("project", "info", "--json").json["meaning"] == said


def test_a_server_goes_on_by_itself(ready: Cli, standing: Standing, home: Path) -> None:
    lease = Lease(home / "my-notes", version(), INDEX_VERSION)
    assert lease.acquire()
    try:
        lease.say(SyncState(SyncPhase.READY), WatchState())
        standing(STATIC, PART)
        (line,) = meaning(ready)
        assert line.endswith("1 of 4 notes embedded (25 %); the server embeds the rest")
    finally:
        lease.release()


def test_why_it_stands_still_or_is_off_is_said(ready: Cli, standing: Standing) -> None:
    standing(STATIC, replace(PART, error="the disk is full"))
    assert meaning(ready)[1:] == ["  meaning   stands still: the disk is full"]
    standing(ProviderState(ProviderPhase.OFF), None)
    assert meaning(ready) == ["  meaning   off: the settings say so"]


def test_after_a_sync_all_is_embedded_by_the_model_that_comes_along(ready: Cli) -> None:
    ready("sync")
    first, second = meaning(ready)
    assert first.startswith("  meaning   static model, all 4 notes embedded (")
    assert second.startswith("  meaning   why this model: it comes with the program")


def test_what_was_set_and_cannot_be_used_is_said(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER", "psychic")
    (line,) = meaning(ready)
    assert line.startswith("  meaning   psychic cannot be used, searches go by words: There is no ")

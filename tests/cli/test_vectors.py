"""What `sync` and `reindex` say of vectors, and who makes them."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli

from memoranda.embeddings.static import SPACE, StaticProvider
from memoranda.errors import EmbeddingProblem
from memoranda.model.live import WatchState
from memoranda.model.sync import SyncState
from memoranda.sync.lease import Lease
from memoranda.sync.sync_service import INDEX_VERSION


@pytest.fixture(autouse=True)
def bundled(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundled model, whatever is installed."""
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER", "static")


@pytest.fixture
def vault(cli: Cli, notes: Path) -> Path:
    """Notes of a project that was never synced."""
    assert cli("project", "add", "my notes", notes).code == 0
    return notes


def _failing(fail: Callable[[], None]) -> Any:
    """It takes one text, as when a provider is chosen, and fails with more."""
    real = StaticProvider.embed_documents

    async def embed_documents(self: StaticProvider, texts: Sequence[str], /) -> Any:
        if len(texts) > 1:
            fail()
        return await real(self, texts)

    return embed_documents


def test_sync_embeds_and_says_so_in_one_line(cli: Cli, vault: Path) -> None:
    lines = cli("sync").out.splitlines()
    assert lines[-1].startswith("  vectors   4 notes, ")
    assert " texts in " in lines[-1]


def test_again_there_is_nothing_to_do(cli: Cli, vault: Path) -> None:
    first = cli("sync", "--json").json["projects"][0]["vectors"]
    assert first["notes"] == 4
    assert first["texts"] == first["stored"] > 4
    again = cli("sync", "--json").json["projects"][0]["vectors"]
    assert (again["notes"], again["texts"], again["pending"]) == (0, 0, 0)
    line = cli("sync").out.splitlines()[-1]
    assert line == f"  vectors   up to date, {first['stored']} of 4 notes"


def test_an_edit_embeds_what_it_changed(cli: Cli, vault: Path) -> None:
    cli("sync")
    with (vault / "Garden diary.md").open("a") as file:
        file.write("\n## Second frost\n\nA week later.\n")
    vectors = cli("sync", "--json").json["projects"][0]["vectors"]
    assert (vectors["notes"], vectors["texts"]) == (1, 1)


def test_reindex_keeps_the_vectors_of_texts_that_are_as_before(cli: Cli, vault: Path) -> None:
    cli("sync")
    vectors = cli("reindex", "--json").json["vectors"]
    assert (vectors["texts"], vectors["pending"]) == (0, 0)
    assert "  vectors   " in cli("reindex").out


def test_a_provider_that_is_off_is_said(
    cli: Cli, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED", "false")
    done = cli("sync")
    assert done.out.splitlines()[-1] == "  vectors   none: semantic_search_enabled is false"
    assert done.code == 0


def test_a_provider_that_fails_is_said_and_is_no_failure_of_the_sync(
    cli: Cli, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise EmbeddingProblem("The model is gone", is_lasting=True, hint="Put it back.")

    monkeypatch.setattr(StaticProvider, "embed_documents", _failing(fail))
    done = cli("sync")
    assert done.code == 0
    assert done.out.splitlines()[-1] == (
        "  vectors   stopped, 4 notes of 4 to do: The model is gone. Put it back"
    )
    vectors = cli("sync", "--json").json["projects"][0]["vectors"]
    assert (vectors["notes"], vectors["pending"]) == (None, 4)
    assert vectors["reason"].startswith("The model is gone")


def test_what_a_server_does_is_not_done_twice(cli: Cli, vault: Path, home: Path) -> None:
    (database,) = _databases(cli, home)
    lease = Lease(database.parent, "1", INDEX_VERSION)
    assert lease.acquire()
    lease.say(SyncState(), WatchState(), embedding_space=SPACE.name)
    _pretend_another(database.parent)
    try:
        done = cli("sync")
        vectors = cli("sync", "--json").json["projects"][0]["vectors"]
    finally:
        lease.release()
    line = done.out.splitlines()[-1]
    assert line == f"  vectors   process {os.getppid()} makes them, 4 notes of 4 to do"
    assert (vectors["notes"], vectors["made_by"]) == (None, os.getppid())


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ("", "4 notes, 9 texts in"),
        (
            "other:m@1/8",
            f"4 notes of 4 to do: process {os.getppid()} leads the project and embeds with another model",
        ),
    ],
)
def test_what_a_server_does_not_do_is_done_unless_it_has_another_model(
    cli: Cli, vault: Path, home: Path, space: str, said: str
) -> None:
    (database,) = _databases(cli, home)
    lease = Lease(database.parent, "1", INDEX_VERSION)
    assert lease.acquire()
    lease.say(SyncState(), WatchState(), embedding_space=space)
    _pretend_another(database.parent)
    try:
        line = cli("sync").out.splitlines()[-1]
    finally:
        lease.release()
    assert line.startswith(f"  vectors   {said}")


def test_interrupted_it_keeps_what_is_done_and_says_so(
    cli: Cli, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = StaticProvider.embed_documents
    interrupt = partial(os.kill, os.getpid(), signal.SIGINT)
    monkeypatch.setattr(StaticProvider, "embed_documents", _failing(interrupt))
    done = cli("sync")
    assert done.code == 130
    assert "what is embedded stays" in done.err
    monkeypatch.setattr(StaticProvider, "embed_documents", real)
    assert cli("sync", "--json").json["projects"][0]["vectors"]["pending"] == 0


def _databases(cli: Cli, home: Path) -> list[Path]:
    """After one sync whose vectors are taken away."""
    cli("sync")
    found = list(home.glob("*/memory.db"))
    for database in found:
        with sqlite3.connect(database) as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("DELETE FROM search_vector_notes")
            connection.execute("DELETE FROM search_vector_chunks")
        connection.close()
    return found


def _pretend_another(folder: Path) -> None:
    """The leader says that it is the process that started this one."""
    state = folder / "leader.json"
    text = state.read_text().replace(f'"pid": {os.getpid()}', f'"pid": {os.getppid()}')
    state.write_text(text)

"""What `sync` and `reindex` say of vectors, and who makes them."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli

from memoranda.container import Container
from memoranda.embeddings.choice import Sources
from memoranda.embeddings.local_models import LocalModel
from memoranda.embeddings.static import SPACE, StaticProvider
from memoranda.errors import EmbeddingProblem
from memoranda.model.live import WatchState
from memoranda.model.sync import SyncState
from memoranda.ports import EmbeddingProvider
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


class Hub:
    """Has a model, which is the bundled one in truth; `failure` ends a download."""

    def __init__(self) -> None:
        self.runs = 0
        self.is_here = False
        self.failure: EmbeddingProblem | None = None
        self.cache = Path()

    def load(self, wanted: LocalModel) -> EmbeddingProvider | None:
        return StaticProvider() if self.is_here else None

    def download(self, model: str, cache: Path) -> Hub:
        self.cache = cache
        return self

    def progress(self) -> float:
        return 0.5

    async def run(self) -> None:
        self.runs += 1
        if self.failure is not None:
            raise self.failure
        (self.cache / "models--one").mkdir(parents=True)
        self.is_here = True


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
    assert line == f"  vectors   up to date: {first['stored']} vectors of 4 notes"


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


def test_vectors_that_are_not_used_now_are_not_said_to_be_none(
    cli: Cli, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("sync")
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED", "false")
    line = cli("sync").out.splitlines()[-1]
    assert line == "  vectors   kept, nothing embedded: semantic_search_enabled is false"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    """Fastembed has no files of its model, and they may be fetched."""
    hub = Hub()
    sources = Sources(is_installed=lambda: True, load=hub.load, download=hub.download)  # type: ignore[arg-type]
    real = Container.open
    monkeypatch.setattr(Container, "open", partial(real, sources=sources))
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER", "fastembed")
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_ALLOW_DOWNLOAD", "true")
    return hub


@pytest.mark.parametrize("command", [("sync",), ("reindex",)])
def test_a_model_that_may_be_downloaded_is_waited_for(
    cli: Cli, vault: Path, hub: Hub, command: tuple[str, ...]
) -> None:
    done = cli(*command)
    assert done.code == 0
    assert "The files of the model bge-small-en-v1.5 are downloaded" in done.err
    assert done.out.splitlines()[-1].startswith("  vectors   4 notes, 9 texts in ")
    assert hub.runs == 1
    again = cli(*command)
    assert again.err == ""
    assert hub.runs == 1


def test_a_download_that_fails_is_the_reason(cli: Cli, vault: Path, hub: Hub) -> None:
    hub.failure = EmbeddingProblem("The model could not be downloaded", hint="Check the network.")
    done = cli("sync")
    assert done.code == 0
    assert done.out.splitlines()[-1] == (
        "  vectors   none: The model could not be downloaded. Check the network"
    )


@pytest.mark.parametrize("command", [("status",), ("search", "heap"), ("project", "info")])
def test_who_only_looks_downloads_nothing(
    cli: Cli, vault: Path, hub: Hub, home: Path, command: tuple[str, ...]
) -> None:
    done = cli(*command)
    assert done.code == 0
    said = "its files are not here yet; a server or `memoranda sync` downloads them"
    assert said in " ".join(done.out.split())
    assert hub.runs == 0
    assert not list(home.rglob(".models"))


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


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C means something also where the tests run in the background, as of a shell's `&`."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
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

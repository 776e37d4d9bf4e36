"""By default meaning search touches no network and no note, does nothing twice, and forgets what is deleted."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
from sqlalchemy import text

from memoranda.config import load_settings
from memoranda.container import Container
from memoranda.embeddings.choice import Sources
from memoranda.embeddings.static import StaticProvider
from memoranda.model.search import SearchQuery, SearchType
from memoranda.workspace import Workspace

Start = Callable[..., AbstractAsyncContextManager[Workspace]]

NOTES = {
    "boats.md": "# Boats\n\nA ship lies in the harbour.\n\n- [fact] It is old\n",
    "bread/rye.md": "# Rye\n\nFlour, water and salt.\n",
    "old/rye.md": "# Rye\n\nFlour, water and salt.\n",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project, as a fresh installation has it; no variable or cache of the machine is seen."""
    for name in [name for name in os.environ if name.startswith(("BASIC_MEMORY", "OPENAI", "HF_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "config").mkdir()
    root = tmp_path / "notes"
    for path, content in NOTES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    settings = {"projects": {"main": {"path": str(root)}}}
    (tmp_path / "config" / "config.json").write_text(json.dumps(settings))
    return root


@pytest.fixture
def start(root: Path) -> Start:
    """A process over the project, synced and embedded."""

    @asynccontextmanager
    async def run(sources: Sources | None = None) -> AsyncIterator[Workspace]:
        container = await Container.open(load_settings(), sources=sources)
        try:
            workspace = await container.workspace(container.find_project(None))
            await workspace.coordinator.sync_now()
            assert await container.choice.ready() is not None
            await workspace.backfill.run_once()
            yield workspace
        finally:
            await container.aclose()

    return run


@pytest.fixture
def no_network() -> Iterator[list[object]]:
    """Nobody may speak to another machine, or ask for its address; what was tried."""
    tried: list[object] = []

    def refuse(*args: object, **_: object) -> NoReturn:
        tried.append(args)
        raise OSError("no network in this test")

    with pytest.MonkeyPatch.context() as patch:  # of its own: the database is deleted after it
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, refuse)
        for name in ("getaddrinfo", "gethostbyname", "create_connection"):
            patch.setattr(socket, name, refuse)
        yield tried


def look(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything in a folder, with bytes, modes and times."""
    return {
        str(place.relative_to(root)): (
            place.lstat().st_mode,
            place.lstat().st_mtime_ns,
            place.read_bytes() if place.is_file() else b"",
        )
        for place in (root, *root.rglob("*"))
    }


def rows(workspace: Workspace, sql: str, **values: object) -> list[tuple[Any, ...]]:
    return workspace.store.read_now(
        lambda tx: [tuple(row) for row in tx.conn.execute(text(sql), values)]
    )


async def found(workspace: Workspace, asked: str, mode: SearchType) -> list[str]:
    results = await workspace.search.search(SearchQuery(asked, mode))
    assert results.degraded is None
    return [hit.ref.file_path for hit in results.hits]


async def test_start_backfill_and_search_need_no_network(
    start: Start, no_network: list[object]
) -> None:
    async with start() as workspace:
        for mode in SearchType:
            assert (await found(workspace, "ship", mode))[0] == "boats.md"
        assert (await found(workspace, "vessel in port", SearchType.VECTOR))[0] == "boats.md"
        progress = await workspace.coordinator.embedding()
        assert progress is not None
        assert progress.is_complete
    assert no_network == []


async def test_nothing_is_written_beside_the_notes(start: Start, root: Path) -> None:
    before = look(root)
    async with start() as workspace:
        for mode in SearchType:
            await found(workspace, "ship", mode)
    assert look(root) == before


class Counting(StaticProvider):
    """The bundled model, with the texts of notes it was asked for."""

    def __init__(self) -> None:
        self.given: list[str] = []

    async def embed_documents(self, texts: Any, /) -> Any:
        self.given += texts
        return await super().embed_documents(texts)


async def test_a_second_start_embeds_no_note(start: Start) -> None:
    given = []
    for _ in range(2):
        model = Counting()
        sources = Sources(is_installed=lambda: False, bundled=lambda model=model: model)
        async with start(sources) as workspace:
            [(vectors,)] = rows(workspace, "SELECT count(*) FROM search_vector_embeddings")
            assert (await found(workspace, "ship", SearchType.VECTOR))[0] == "boats.md"
            said = {
                one for (one,) in rows(workspace, "SELECT chunk_text FROM search_vector_chunks")
            }
            given.append([one for one in model.given if one in said])
    assert 0 < len(given[0]) < vectors  # the copy has its vectors of the other
    assert given[1] == []


async def test_a_note_that_is_deleted_loses_its_vectors_and_its_copy_does_not(
    start: Start, root: Path
) -> None:
    async with start() as workspace:
        [(gone,)] = rows(workspace, "SELECT id FROM entity WHERE file_path = 'bread/rye.md'")
        assert "bread/rye.md" in await found(workspace, "dough", SearchType.VECTOR)
        (root / "bread/rye.md").unlink()
        await workspace.coordinator.sync_now()
        for table in ("search_vector_chunks", "search_vector_notes"):
            assert rows(workspace, f"SELECT * FROM {table} WHERE entity_id = :id", id=gone) == []
        orphans = """SELECT * FROM search_vector_embeddings
            WHERE chunk_id NOT IN (SELECT id FROM search_vector_chunks)"""
        assert rows(workspace, orphans) == []
        assert await found(workspace, "dough", SearchType.VECTOR) == ["old/rye.md"]

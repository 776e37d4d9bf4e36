"""A real folder and a real SQLite index, joined as the container joins them."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from tests.conftest import BACKEND, migrated_postgres

from memoranda.files.clock import SystemClock
from memoranda.files.file_service import FileService
from memoranda.history.store import HistoryStore
from memoranda.model.project import Project
from memoranda.model.sync import SyncReport
from memoranda.places.opened import OpenIndex
from memoranda.places.sqlite import open_at
from memoranda.ports import Clock, FullTextIndex, VectorIndex
from memoranda.repositories.search_postgres import PostgresFullTextIndex
from memoranda.repositories.search_sqlite import SqliteFullTextIndex
from memoranda.repositories.store import Store
from memoranda.repositories.vectors import BlobVectorIndex
from memoranda.repositories.vectors_pgvector import PostgresVectorIndex
from memoranda.services.browse import BrowseService
from memoranda.services.context import ContextService
from memoranda.services.entity import EntityService
from memoranda.services.link_resolver import LinkResolver
from memoranda.services.meaning import NO_PROVIDER, ProviderSource
from memoranda.services.notes import NoteService
from memoranda.services.reading import read_note
from memoranda.services.search import USUAL_LIMITS, MeaningLimits, SearchService
from memoranda.sync.embed_backfill import EmbedBackfill
from memoranda.sync.reading import ReadOne
from memoranda.sync.sync_service import SyncService
from memoranda.text.analysis import ENGLISH, Languages
from memoranda.workspace import Workspace, assemble


@dataclass
class Index:
    """One project, opened by hand."""

    root: Path
    store: Store
    files: FileService
    search: SearchService
    entities: EntityService
    notes: NoteService
    context: ContextService
    browse: BrowseService
    links: LinkResolver
    sync: SyncService
    history: HistoryStore
    backfill: EmbedBackfill

    def write(self, path: str, content: str | bytes) -> Path:
        """The user saves a file by hand."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def rows(self, sql: str, **values: object) -> list[tuple[object, ...]]:
        """What the database holds, asked in SQL."""
        return self.store.read_now(
            lambda tx: [tuple(r) for r in tx.conn.execute(text(sql), values)]
        )

    def run_sync(self) -> SyncReport:
        """A full sync from a test that has no event loop."""
        return asyncio.run(self.sync.full_sync())

    def snapshot(self) -> dict[str, list[tuple[object, ...]]]:
        """Everything the index says, without ids, times of indexing and failure counts."""
        return {name: self.rows(sql) for name, sql in SNAPSHOT.items()}


SNAPSHOT = {
    "entity": """SELECT file_path, title, note_type, permalink, entity_metadata, content, size, checksum,
        note_created, note_modified, tags, aliases, encoding, problems, links_dirty, mtime_ns, missing_since
        FROM entity ORDER BY file_path""",
    "observation": """SELECT e.file_path, o.ordinal, o.category, o.content, o.context, o.tags, o.permalink,
        o.line, o.end_line, o.block_id, o.attributes, o.heading_path
        FROM observation o JOIN entity e ON e.id = o.entity_id ORDER BY 1, 2""",
    "relation": """SELECT s.file_path, r.relation_type, r.to_name, t.file_path, r.context, r.permalink,
        r.target, r.line FROM relation r JOIN entity s ON s.id = r.from_id
        LEFT JOIN entity t ON t.id = r.to_id ORDER BY 1, 2, 3, 4""",
    "link": """SELECT s.file_path, l.ordinal, t.file_path, l.key, l.root_key, l.slug_key, l.form, l.target,
        l.anchor, l.label, l.relation_type, l.line, l.start, l."end"
        FROM link l JOIN entity s ON s.id = l.entity_id LEFT JOIN entity t ON t.id = l.to_id ORDER BY 1, 2""",
    "name": """SELECT e.file_path, n.key, n.kind FROM note_name n JOIN entity e ON e.id = n.entity_id
        ORDER BY 1, 2, 3""",
    "fulltext": """SELECT e.file_path, s.rowid & 16777215, s.title, s.content, s.tags, s.content_stems,
        s.headings, s.heading_path, s.start_line, s.end_line, s.entity_type
        FROM search_index s LEFT JOIN entity e ON e.id = s.rowid >> 24 ORDER BY 1, 2""",
}


Opener = Callable[[Path, Project, Clock, Languages], OpenIndex]
"""Opens the index of a project whose configuration is in a folder; each folder is a database of its own."""


@contextmanager
def opener(backend: str) -> Iterator[Opener]:
    """Opens indexes on "sqlite" or "postgres"; those are deleted in the end."""
    if backend == "sqlite":
        yield lambda home, *how: open_at(home / "memory.db", *how)
        return
    from tools.postgres_server import databases

    from memoranda.db.postgres import PostgresDatabase, address_of
    from memoranda.places.postgres import open_in

    homes: dict[Path, tuple[str, list[PostgresDatabase]]] = {}

    def forget(home: Path) -> None:
        url, connected = homes.pop(home)
        for database in connected:
            database.dispose()
        databases().drop(url)

    def opened(home: Path, project: Project, clock: Clock, languages: Languages) -> OpenIndex:
        sign = home / "on-postgres"  # goes with the folder, as a file of SQLite does
        if home in homes and not sign.exists():
            forget(home)
        if home not in homes:
            sign.touch()
            homes[home] = databases().create(migrated_postgres()), []
        url, connected = homes[home]
        connected.append(PostgresDatabase(address_of(url)))
        return open_in(connected[-1], project, clock, languages)

    yield opened
    for home in list(homes):
        forget(home)


@pytest.fixture
def make_index(tmp_path: Path) -> Iterator[Callable[..., Index]]:
    """Open an index of a folder; every call with another `name` is a database of its own."""
    with indexes(tmp_path, BACKEND) as make:
        yield make


@contextmanager
def indexes(tmp_path: Path, backend: str) -> Iterator[Callable[..., Index]]:
    """`make_index` on one of the back ends."""
    opened: list[Workspace] = []

    def make(
        root: Path | None = None,
        name: str = "main",
        read: ReadOne = read_note,
        skips: tuple[str, ...] = (),
        clock: Clock | None = None,
        languages: Languages = ENGLISH,
        source: ProviderSource = NO_PROVIDER,
        limits_of_meaning: MeaningLimits = USUAL_LIMITS,
    ) -> Index:
        root = root or tmp_path / "notes"
        root.mkdir(exist_ok=True)
        home = tmp_path / "config" / name
        home.mkdir(parents=True, exist_ok=True)
        clock = clock or SystemClock()
        project = Project(name, name, root, skips=skips)
        parts = assemble(
            project,
            open_index(home, project, clock, languages),
            home,
            clock,
            read=read,
            languages=languages,
            source=source,
            limits_of_meaning=limits_of_meaning,
        )
        opened.append(parts)
        return Index(
            root=root,
            store=parts.store,
            files=parts.files,
            search=parts.search,
            entities=parts.entities,
            notes=parts.notes,
            context=parts.context,
            browse=parts.browse,
            links=parts.links,
            sync=parts.sync,
            history=parts.history,
            backfill=parts.backfill,
        )

    with opener(backend) as open_index:
        yield make
        for parts in opened:
            parts.store.close()
            parts.history.close()


def fulltext_of(store: Store) -> FullTextIndex:
    """The full text of the project, for parts that a test joins by hand."""
    make = PostgresFullTextIndex if BACKEND == "postgres" else SqliteFullTextIndex
    return make(store.project_id)


def lose_words(workspace: Workspace) -> None:
    """Damage that no statement notices: the words of the index are gone."""
    if BACKEND == "postgres":
        from tools.postgres_server import databases

        url = os.environ["BASIC_MEMORY_DATABASE_URL"]
        databases().execute("DELETE FROM memoranda.search_terms", url)
        return
    with closing(sqlite3.connect(workspace.folder / "memory.db")) as db:
        db.execute("UPDATE search_index_data SET block = zeroblob(40) WHERE id > 1")
        db.commit()


def vectors_of(store: Store) -> VectorIndex:
    """The vectors of the project, for parts that a test joins by hand."""
    make = PostgresVectorIndex if BACKEND == "postgres" else BlobVectorIndex
    return make(store.project_id)


async def until(condition: Callable[[], object], *, within_s: float = 20) -> None:
    """Wait for a condition, at most so long."""
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110 - many conditions have no event
            await asyncio.sleep(0.01)


class DrivenClock(SystemClock):
    """The clock of the machine, put forward by hand."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on, no note may be opened."""
    real = os.open

    def refuse(path: object, *args: Any, **how: Any) -> int:
        assert not str(path).endswith(".md"), f"{path} was opened"
        return real(path, *args, **how)  # type: ignore[arg-type]

    return lambda: monkeypatch.setattr(os, "open", refuse)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are trusted at once: as if each had been written long before it is read."""
    monkeypatch.setattr("memoranda.files.state._FINE_NS", 0)
    monkeypatch.setattr("memoranda.files.state._COARSE_NS", 0)


@pytest.fixture
def index(make_index: Callable[..., Index]) -> Index:
    """An index of an empty folder."""
    return make_index()


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder of shared evaluation data; tests that use it are skipped where it is missing."""
    place = os.environ.get("MEMORANDA_SHARED") or Path(__file__).parents[3] / "shared"
    folder = Path(place)
    if not (folder / "vaults").is_dir():
        pytest.skip("the shared vaults are not here")
    return folder

"""A folder of notes in which things are moved, for the tests of moving."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sqlalchemy import text
from tests.integration.conftest import fulltext_of

from memoranda.files.file_service import FileService
from memoranda.history.store import HistoryStore
from memoranda.model.history import NOBODY, Author
from memoranda.model.moves import MoveResult
from memoranda.model.sync import SyncReport
from memoranda.repositories.store import Store
from memoranda.services.file_changes import FileChanges
from memoranda.services.moving import MoveService
from memoranda.sync.sync_service import SyncService

_MEANINGS = """SELECT s.external_id, l.ordinal, t.external_id
    FROM link l JOIN entity s ON s.id = l.entity_id JOIN entity t ON t.id = l.to_id"""

Tree = dict[str, bytes | None]
"""Every file with its bytes, and every folder with None, by path."""


class World:
    """A project's parts, with what moves notes in it."""

    def __init__(
        self, root: Path, store: Store, files: FileService, history: HistoryStore, sync: SyncService
    ) -> None:
        self.root = root
        self.store = store
        self.files = files
        self.history = history
        self.sync = sync
        self.changes = FileChanges(files, history)
        fulltext = fulltext_of(store)
        self.service = MoveService(store, files, fulltext, self.changes, ThreadPoolExecutor(2))

    def write(self, files: dict[str, str | bytes], *, is_indexed: bool = True) -> None:
        """Save files by path, and index them."""
        for path, content in files.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        if is_indexed:
            self.run_sync()

    def run_sync(self) -> SyncReport:
        """A full sync from a test that has no event loop."""
        return asyncio.run(self.sync.full_sync())

    def move(
        self, source: str, destination: str, *, dry_run: bool = False, by: Author = NOBODY
    ) -> MoveResult:
        """Move from a test that has no event loop."""
        return asyncio.run(self.service.move(source, destination, dry_run=dry_run, by=by))

    def text(self, path: str) -> str:
        """What a file holds."""
        return (self.root / path).read_bytes().decode()

    def tree(self) -> Tree:
        """All that is in the folder."""
        return {
            path.relative_to(self.root).as_posix(): None if path.is_dir() else path.read_bytes()
            for path in sorted(self.root.rglob("*"))
        }

    def rows(self, sql: str, **values: object) -> list[tuple[object, ...]]:
        """What the database holds, asked in SQL."""
        return self.store.read_now(
            lambda tx: [tuple(row) for row in tx.conn.execute(text(sql), values)]
        )

    def meanings(self) -> dict[tuple[object, object], object]:
        """(source, ordinal) -> target of each link that means a note, by the notes' external ids."""
        return {(source, nth): target for source, nth, target in self.rows(_MEANINGS)}

    def identities(self) -> dict[object, object]:
        """Path -> external id of every note."""
        return dict(self.rows("SELECT file_path, external_id FROM entity"))  # type: ignore[arg-type]

"""A project with everything that changes notes and takes changes back, called as the tools call it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.integration.conftest import Index, fulltext_of

from memoranda.model.edit import Append, FindReplace
from memoranda.model.history import Author, RecordedChange
from memoranda.model.undoing import UndoResult
from memoranda.services.file_changes import FileChanges
from memoranda.services.moving import MoveService
from memoranda.services.note_history import NoteHistoryService
from memoranda.services.undo import UndoService

CLAUDE, CURSOR = Author("claude", "1", "edit_note"), Author("cursor", "2", "edit_note")


@dataclass
class UndoWorld:
    """The services of one project."""

    index: Index

    def __post_init__(self) -> None:
        index = self.index
        fulltext = fulltext_of(index.store)
        self.changes = FileChanges(index.files, index.history)
        self.moves = MoveService(
            index.store, index.files, fulltext, self.changes, index.notes.threads
        )
        self.service = UndoService(
            index.store, index.files, fulltext, index.history, index.notes.threads
        )
        self.history = NoteHistoryService(index.store, index.files, index.history)

    @property
    def root(self) -> Path:
        return self.index.root

    def files(self) -> dict[str, bytes]:
        """Every file of the folder with its bytes."""
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file()
        }

    def file(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    async def put(self, path: str, text: str, by: Author = CLAUDE) -> int:
        """Write a note whole; the id of the change."""
        folder, _, name = path.rpartition("/")
        title = name.removesuffix(".md")
        await self.index.notes.write(
            title=title, content=text, directory=folder, overwrite=True, by=by
        )
        return self.last.change_id

    async def append(self, path: str, text: str, by: Author = CLAUDE) -> int:
        await self.index.notes.edit(path, Append(text), by=by)
        return self.last.change_id

    async def replace(self, path: str, old: str, new: str, by: Author = CLAUDE) -> int:
        await self.index.notes.edit(path, FindReplace(old, new), by=by)
        return self.last.change_id

    async def delete(self, path: str, by: Author = CLAUDE) -> int:
        await self.index.notes.delete(path, by=by)
        return self.last.change_id

    async def move(self, source: str, destination: str, by: Author = CLAUDE) -> int:
        result = await self.moves.move(source, destination, by=by)
        assert result.change_id is not None
        return result.change_id

    async def undo(self, change_id: int, *, dry_run: bool = False) -> UndoResult:
        return await self.service.undo(change_id=change_id, dry_run=dry_run, by=CLAUDE)

    @property
    def last(self) -> RecordedChange:
        """The newest change."""
        return self.index.history.changes(limit=1)[0]

    def identity(self, path: str) -> object:
        """The external id of the note at a path."""
        (row,) = self.index.rows("SELECT external_id FROM entity WHERE file_path = :p", p=path)
        return row[0]

"""Bringing the file of one note into the index, never older bytes after newer ones.

Writers get a file one after the other, under its lock; the order in which they get the index may be
another. So the file is asked in the transaction, which nobody else can be in at that time: what is not as
it was read is read again. A stat is all that waits there.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from memoranda.errors import NoteNotFound
from memoranda.files.file_service import FileService
from memoranda.model.address import NotePath
from memoranda.model.note import NoteRef
from memoranda.ports import FullTextIndex
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Store, Tx
from memoranda.services.entity import apply
from memoranda.services.note_input import Gone
from memoranda.services.reading import ReadNote, read_note

T = TypeVar("T")

_TRIES = 3


class NoteIndexing:
    """Indexes single notes of one project as their files stand."""

    def __init__(self, store: Store, files: FileService, fulltext: FullTextIndex) -> None:
        self._store = store
        self._files = files
        self._fulltext = fulltext

    def load(self, path: NotePath) -> ReadNote:
        """Read and parse a file. Raises as `FileService.read`."""
        data, state = self._files.read(path)
        return read_note(data, state)

    async def bring_in(self, note: ReadNote, then: Callable[[Tx, NoteRef, ReadNote], T]) -> T:
        """Index a note, or what has become of its file since it was read.

        Args:
            note: as it was read or written.
            then: called in the same transaction with the note's row and what was indexed; called again
                when the transaction is. A file that is gone is indexed for this call alone.

        Returns:
            What `then` said.

        Raises:
            DatabaseProblem: or a subclass.
            FileProblem, NotReady: newer bytes are there and cannot be read.
        """
        path = note.state.path
        for _ in range(_TRIES):
            found = await self._store.write(partial(self._in_order, note=note, then=then))
            if found is not None:
                return found[0]
            with contextlib.suppress(NoteNotFound):  # seen in the transaction
                note = await asyncio.to_thread(self.load, path)
        return await asyncio.to_thread(self._while_nobody_writes, note, then)

    def forget(self, tx: Tx, gone: Gone) -> None:
        """Remove the row of a file that was deleted, unless somebody has made it again."""
        if self._files.state(gone.path) is None:
            apply(tx, self._fulltext, [], deleted=[gone])

    def _in_order(
        self, tx: Tx, note: ReadNote, then: Callable[[Tx, NoteRef, ReadNote], T]
    ) -> tuple[T] | None:
        """None: the file is another one by now."""
        now = self._files.state(note.state.path)
        if now is not None and now != note.state:
            return None
        said = self._index(tx, note, then)
        if now is None:
            gone = Gone(said[1].entity_id, note.state.path, note.checksum)
            apply(tx, self._fulltext, [], deleted=[gone])
        return (said[0],)

    def _while_nobody_writes(self, note: ReadNote, then: Callable[[Tx, NoteRef, ReadNote], T]) -> T:
        """The last resort, for a file that many write: its lock is held meanwhile. Blocks."""
        path = note.state.path
        with self._files.locked(path):
            with contextlib.suppress(NoteNotFound):
                note = self.load(path)
            found = self._store.write_now(partial(self._in_order, note=note, then=then))
            if found is not None:
                return found[0]
            # A program that takes no lock saved just now: its event tells the watcher.
            return self._store.write_now(partial(self._index, note=note, then=then))[0]

    def _index(
        self, tx: Tx, note: ReadNote, then: Callable[[Tx, NoteRef, ReadNote], T]
    ) -> tuple[T, NoteRef]:
        apply(tx, self._fulltext, [note.as_input()])
        ref = NoteRefRepository(tx).at(note.state.path)
        if ref is None:
            raise NoteNotFound(note.state.path)
        return then(tx, ref, note), ref

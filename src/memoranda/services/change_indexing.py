"""Bringing the index in line with files that were changed together, in one transaction.

Moved notes keep their rows, and with them their identity, also when a sync was faster and took one for a
new note. What somebody else has done to one of the files since is seen in the transaction: such a file is
left to `NoteIndexing`, which reads it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from loguru import logger

from memoranda.errors import MemorandaError, NoteNotFound, NotIndexed
from memoranda.files.file_service import FileService
from memoranda.model.address import NotePath
from memoranda.model.file_change import NoteChange, PlannedChange
from memoranda.model.sync import KnownFile
from memoranda.ports import FullTextIndex
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.store import Store, Tx
from memoranda.repositories.vector_renewal import VectorRenewal
from memoranda.services.entity import apply
from memoranda.services.indexing import NoteIndexing
from memoranda.services.note_input import Gone, NoteInput
from memoranda.services.reading import ReadNote, read_note


@dataclass(frozen=True, slots=True)
class _Moved:
    """A note as its file stands, and where it was before."""

    note: ReadNote
    moved_from: NotePath | None


async def index_changes(
    store: Store, files: FileService, fulltext: FullTextIndex, planned: Sequence[PlannedChange]
) -> None:
    """Index what `FileChanges.apply` has just done.

    Raises:
        NotIndexed: the files are as they were to be, the index will follow.
    """
    changes = [change for change in planned if isinstance(change, NoteChange)]
    if not changes:
        return
    try:
        notes = await asyncio.to_thread(_read, files, changes)
        gone = {change.moved_from or change.path for change in changes}
        gone -= {each.note.state.path for each in notes}
        late = await store.write(
            partial(_index, files=files, fulltext=fulltext, notes=notes, gone=gone)
        )
        indexing = NoteIndexing(store, files, fulltext)
        for note in late:
            await indexing.bring_in(note, lambda _tx, _ref, _note: None)
        await store.write(partial(_renew_vectors, paths={each.note.state.path for each in notes}))
    except MemorandaError as error:
        raise NotIndexed(_named(changes), error.message) from error
    except Exception as error:
        logger.exception("{} was changed, but not indexed", _named(changes))
        raise NotIndexed(_named(changes), "an unexpected error, which is in the log") from error


def _read(files: FileService, changes: Sequence[NoteChange]) -> list[_Moved]:
    """The notes that are there now."""
    notes = []
    for change in changes:
        if change.after is None:
            continue
        try:
            data, state = files.read(change.path)
        except NoteNotFound:  # gone again
            continue
        notes.append(_Moved(read_note(data, state), change.moved_from))
    return notes


def _index(
    tx: Tx,
    files: FileService,
    fulltext: FullTextIndex,
    notes: Sequence[_Moved],
    gone: set[NotePath],
) -> list[ReadNote]:
    """Returns the notes whose files are others by now; of those only the ones that moved were indexed."""
    came_from = {each.moved_from for each in notes if each.moved_from is not None}
    rows = {row.path: row for row in EntityRepository(tx).known_at({*gone, *came_from})}
    inputs: list[NoteInput] = []
    late: list[ReadNote] = []
    for each in notes:
        is_late = files.state(each.note.state.path) != each.note.state
        if not is_late or each.moved_from in rows:
            inputs.append(_input(each, rows))
        if is_late:
            late.append(each.note)
    taken = {one.moved_from.path for one in inputs if one.moved_from is not None}
    kept = {rows[path].entity_id for path in taken}
    new_places = [one.state.path for one in inputs if one.moved_from is not None]
    deleted = [
        Gone(row.entity_id, row.path, row.checksum)
        for path, row in rows.items()
        if path in gone and path not in taken and files.state(path) is None
    ]
    deleted += [
        Gone(row.entity_id, row.path, row.checksum)
        for row in EntityRepository(tx).known_at(new_places)
        if row.entity_id not in kept
    ]
    apply(tx, fulltext, inputs, deleted=deleted)
    return late


def _renew_vectors(tx: Tx, *, paths: set[NotePath]) -> None:
    """Most texts are what they were: the notes are found by their meaning without being embedded again."""
    VectorRenewal(tx).renew({row.entity_id for row in EntityRepository(tx).known_at(paths)})


def _input(moved: _Moved, rows: Mapping[NotePath, KnownFile]) -> NoteInput:
    row = rows.get(moved.moved_from) if moved.moved_from is not None else None
    return replace(moved.note.as_input(), seen=row)


def _named(changes: Sequence[NoteChange]) -> str:
    first = changes[0].path
    return first if len(changes) == 1 else f"{first} (and {len(changes) - 1} more)"

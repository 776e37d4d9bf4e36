"""Reading, writing, editing and deleting one note.

A writing tool writes the file first (under the file's lock, atomically), then indexes exactly those
bytes before it answers: a note is found by the next call. When the index cannot follow, the file is
safe and the caller is told (`NotIndexed`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import ParamSpec, TypeVar

from loguru import logger

from memoranda.errors import (
    MemorandaError,
    NameOfFolder,
    NoteNotFound,
    NotIndexed,
)
from memoranda.files.file_service import FileService
from memoranda.history.store import HistoryStore
from memoranda.markdown.diff import diff
from memoranda.markdown.writer import new_note
from memoranda.model.address import NotePath, name_and_section
from memoranda.model.edit import Edit
from memoranda.model.history import NOBODY, Author
from memoranda.model.note import IncomingRelation, NoteRef, ObservationItem
from memoranda.model.views import DeleteResult, NoteView, WriteAction, WriteResult
from memoranda.ports import FullTextIndex
from memoranda.repositories.neighbours import NeighbourRepository
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.relation import RelationRepository
from memoranda.repositories.store import Store, Tx
from memoranda.services.changes import Changed, NoteChanges
from memoranda.services.indexing import NoteIndexing
from memoranda.services.lookup import find_note, near_names, path_on_disk, similar_notes
from memoranda.services.note_input import Gone
from memoranda.services.note_target import target_named
from memoranda.services.observations import observation_permalinks
from memoranda.services.preview import outgoing_of, reference_to
from memoranda.services.reading import ReadNote, read_note
from memoranda.services.related import related_notes
from memoranda.services.window import Window, shown

P = ParamSpec("P")
T = TypeVar("T")

_CHANGERS = 8
_SIMILAR = 3
_BACKLINKS = 50
_RELATED = 10
READER_PATIENCE_S = 2.0
"""How long a reader waits for the index to take a file that is newer than its row."""


class NoteService:
    """The use cases on single notes of one project."""

    def __init__(
        self, store: Store, files: FileService, fulltext: FullTextIndex, history: HistoryStore
    ) -> None:
        self._store = store
        self._files = files
        self._fulltext = fulltext
        self._indexing = NoteIndexing(store, files, fulltext)
        self._changes = NoteChanges(files, history)
        self._catching_up: dict[tuple[NotePath, str], asyncio.Task[NoteRef | None]] = {}
        # Their own threads: a write waits for a file's lock for up to 30 seconds, and reads and syncs must not.
        self._changers = ThreadPoolExecutor(_CHANGERS, "memoranda-change")

    @property
    def threads(self) -> Executor:
        """Where files are changed, also by others."""
        return self._changers

    async def aclose(self) -> None:
        """Give up what goes on in the background; the next sync does it. Before the store is closed."""
        tasks = list(self._catching_up.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._changers.shutdown(wait=False, cancel_futures=True)

    async def write(
        self,
        *,
        title: str,
        content: str,
        directory: str = "",
        note_type: str | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        overwrite: bool = False,
        expected_checksum: str | None = None,
        by: Author = NOBODY,
    ) -> WriteResult:
        """Create a note, or replace the whole note at that place (spec 6.2.1).

        The place is that of `services.note_target`; what the caller may not expect of it is a warning.
        `by` is who the history says it was.

        Raises:
            NoteExists: a file is there and neither `overwrite` nor `expected_checksum` is given.
            Conflict: the file there does not have `expected_checksum`.
            InvalidArgument, OutsideProject, ReadOnly, DiskFull, FileProblem: nothing was written.
            NotIndexed: the file is written, the index will follow.
        """
        target = await asyncio.to_thread(target_named, self._files, title, directory)
        text = new_note(
            title=target.title,
            content=content,
            note_type=note_type,
            tags=tags,
            metadata=metadata or {},
        )
        changed = await self._changed(
            self._changes.put,
            target.path,
            text,
            expected_checksum,
            replace=overwrite or expected_checksum is not None,
            by=by,
        )
        return await self._index(replace(changed, warnings=(*target.warnings, *changed.warnings)))

    async def _changed(self, change: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(
            self._changers, partial(change, *args, **kwargs)
        )

    async def read(
        self,
        name: str,
        *,
        section: str | None = None,
        start_line: int | None = None,
        end_line: int | None = None,
        max_chars: int = 20_000,
        with_related: bool = True,
        is_literal: bool = False,
    ) -> NoteView:
        """The note as its file stands now, with what the index knows around it (spec 6.2.2).

        Args:
            name: permalink, path, title, file name, alias or memory:// address.
            section: a heading, heading path or slug; only lines of that section are wanted.
            start_line: first line wanted, 1-based line of the file; default the first.
            end_line: last line wanted, inclusive; default the last.
            max_chars: at least 1; the text is cut at a line end (a longer single line inside it).
            with_related: whether the neighbours in the graph are wanted too.
            is_literal: a `#` is part of the name; else, when no note has that name, what follows it is the
                section, unless one is given.

        Raises:
            NoteNotFound, AmbiguousName, SectionNotFound, AmbiguousSection, InvalidArgument,
            FileProblem.
        """

        async def found(name: str, section: str | None) -> NoteView:
            window = Window(start_line, end_line, max_chars, section)
            return await self._looked_at(
                name,
                lambda tx, entity_id, note: self._view(
                    tx, entity_id, note, window, with_related=with_related
                ),
            )

        try:
            return await found(name, section)
        except NoteNotFound:
            parts = None if is_literal or section is not None else name_and_section(name)
            if parts is None:
                raise
            with contextlib.suppress(NoteNotFound):
                return await found(*parts)
            raise

    async def read_with(self, name: str, beside: Callable[[Tx, NoteRef], T]) -> tuple[NoteView, T]:
        """As `read` without neighbours, and what else the same transaction finds about the note."""
        window = Window()

        def both(tx: Tx, entity_id: int, note: ReadNote) -> tuple[NoteView, T]:
            view = self._view(tx, entity_id, note, window, with_related=False)
            return view, beside(tx, view.ref)

        return await self._looked_at(name, both)

    async def _looked_at(self, name: str, look: Callable[[Tx, int, ReadNote], T]) -> T:
        """What is found about a note, by its id and its file; the index is brought in line when it is older."""
        found = await asyncio.to_thread(self._looked_at_once, name, look)
        if found is not None:
            return found
        ref, note = await self._open(name)
        return await self._store.read(lambda tx: look(tx, ref.entity_id, note))

    def _looked_at_once(self, name: str, look: Callable[[Tx, int, ReadNote], T]) -> T | None:
        """The usual look, in one thread; None when file and index differ, or one of them knows no such note."""
        try:
            ref = self._store.read_now(lambda tx: find_note(tx, name))
            note = self._indexing.load(ref.file_path)
            if note.checksum != ref.checksum:
                return None
            return self._store.read_now(lambda tx: look(tx, ref.entity_id, note))
        except NoteNotFound:
            return None

    async def _open(self, name: str, *, exact: bool = False) -> tuple[NoteRef, ReadNote]:
        """Find a note and read its file; the index is brought in line when the file is newer."""
        ref, note = await self._found(name, exact=exact)
        if note is not None:
            return ref, note
        try:
            note = await asyncio.to_thread(self._indexing.load, ref.file_path)
        except NoteNotFound:
            raise await self._lost(name, ref) from None
        if note.checksum != ref.checksum:
            ref = await self._catch_up(note) or ref
        return ref, note

    async def _found(self, name: str, *, exact: bool = False) -> tuple[NoteRef, ReadNote | None]:
        """Find a note; its file is read only if the index did not know it."""
        try:
            return await self._store.read(lambda tx: find_note(tx, name, exact=exact)), None
        except NoteNotFound:
            if (found := await self._unknown(name)) is None:
                raise
            return found

    async def _lost(self, name: str, ref: NoteRef) -> NoteNotFound:
        """The file of a note is gone, or moved: the next sync tells which, and keeps its identity."""
        near = await self._store.read(lambda tx: near_names(tx, name))
        others = [one for one in near if one != ref.permalink]
        return NoteNotFound(name, others, lost=ref.file_path)

    async def _catch_up(self, note: ReadNote) -> NoteRef | None:
        """Index a file that is newer than its row; None if that fails, or takes longer than a reader waits.

        The file can be read all the same. It goes on in the background, once a version of a file.
        """
        version = (note.state.path, note.checksum)
        task = self._catching_up.get(version)
        if task is None:
            task = self._catching_up[version] = asyncio.create_task(self._brought_in(note))
            task.add_done_callback(lambda _: self._catching_up.pop(version, None))
        done, _ = await asyncio.wait({task}, timeout=READER_PATIENCE_S)
        if not done or task.cancelled():
            logger.info("{} is read before it is indexed: the index is busy", note.state.path)
            return None
        return task.result()

    async def _brought_in(self, note: ReadNote) -> NoteRef | None:
        path = note.state.path
        try:
            return (await self._indexing.bring_in(note, _both))[0]
        except MemorandaError as error:
            logger.warning("{} was read, but not indexed: {}", path, error.message)
        except Exception:  # noqa: BLE001  (the boundary of a background task: logged)
            logger.exception("{} was read, but not indexed", path)
        return None

    async def _unknown(self, name: str) -> tuple[NoteRef, ReadNote] | None:
        """A note that the index does not know yet, named by its path."""
        if (path := await asyncio.to_thread(path_on_disk, self._files, name)) is None:
            return None
        note = await asyncio.to_thread(self._indexing.load, path)
        return await self._indexing.bring_in(note, _both)

    def _view(
        self,
        tx: Tx,
        entity_id: int,
        note: ReadNote,
        window: Window,
        *,
        with_related: bool,
    ) -> NoteView:
        ref = NoteRefRepository(tx).by_id(entity_id)
        if ref is None:
            raise NoteNotFound(note.state.path)
        if ref.checksum != note.checksum:  # the row is older than what is shown
            ref = replace(ref, checksum=note.checksum, size_bytes=note.state.size)
        relations = RelationRepository(tx)
        backlinks = relations.incoming(entity_id, _BACKLINKS)
        has_more = len(backlinks) == _BACKLINKS
        lines = shown(note.source.text, note.parsed, window)
        return NoteView(
            ref=ref,
            parsed=note.parsed,
            text=lines.text,
            start_line=lines.first,
            end_line=lines.last,
            total_lines=lines.total,
            next_line=lines.next_line,
            observations=_items(ref, note),
            relations=tuple(relations.outgoing(entity_id)),
            backlinks=tuple(backlinks),
            related=related_notes(
                tx, start=ref, depth=1, limit=_RELATED if with_related else 0
            ).notes,
            backlink_total=(
                NeighbourRepository(tx).backlinks(entity_id) if has_more else len(backlinks)
            ),
        )

    async def edit(
        self,
        name: str,
        *edits: Edit,
        expected_checksum: str | None = None,
        dry_run: bool = False,
        by: Author = NOBODY,
    ) -> WriteResult:
        """Change what was asked, byte for byte nothing else (spec 6.2.3).

        The edits are applied one after the other to the file as it stands under its lock, so two
        appends at once both land, and written together: all of them or none. A dry run writes nothing;
        its result is that of the edit, but for the reference, which is to the note as it stands.

        Raises:
            NoteNotFound, AmbiguousName, EditMismatch, SectionNotFound, AmbiguousSection,
            InvalidArgument: nothing was changed.
            Conflict: the file does not have `expected_checksum`.
            NotIndexed: the file is changed, the index will follow.
        """
        try:
            ref, _ = await (self._open(name) if dry_run else self._found(name))
        except NameOfFolder:
            raise
        except NoteNotFound as error:
            error.hint += " write_note (`memoranda write`) makes a new one."
            raise
        try:
            changed = await self._changed(
                self._changes.edit, ref.file_path, edits, expected_checksum, dry_run=dry_run, by=by
            )
        except NoteNotFound:
            raise await self._lost(name, ref) from None
        if not dry_run:
            return await self._index(changed)
        note = read_note(changed.data, changed.state)
        result = WriteResult(
            ref,
            _action(changed),
            (),
            (),
            (*note.parsed.problems, *changed.warnings),
            diff=_diff(changed),
        )
        return await self._store.read(lambda tx: _preview(tx, result, note))

    async def delete(self, name: str, *, by: Author = NOBODY) -> DeleteResult:
        """Delete the file and its rows (spec 6.2.4). Only a permalink, a path or an id will do.

        Raises:
            NoteNotFound, AmbiguousName, FileProblem, ReadOnly: nothing was deleted.
            NotIndexed: the file is gone, the index will follow.
        """
        try:
            ref = await self._store.read(lambda tx: find_note(tx, name, exact=True))
        except NoteNotFound:
            if (found := await self._unknown(name)) is None:
                raise
            ref, _ = found
        await self._changed(self._changes.delete, ref.file_path, by=by)

        def forget(tx: Tx) -> list[IncomingRelation]:
            backlinks = RelationRepository(tx).incoming(ref.entity_id)
            gone = Gone(ref.entity_id, ref.file_path, ref.checksum)
            self._indexing.forget(tx, gone)
            return backlinks

        with _safe(ref.file_path):
            return DeleteResult(ref, tuple(await self._store.write(forget)))

    async def _index(self, changed: Changed) -> WriteResult:
        """Index the bytes that were written, and say what became of the note."""
        action = _action(changed)

        def result(tx: Tx, ref: NoteRef, note: ReadNote) -> WriteResult:
            similar = similar_notes(tx, ref, _SIMILAR) if action is WriteAction.CREATED else []
            return WriteResult(
                ref=ref,
                action=action,
                observations=_items(ref, note),
                relations=tuple(RelationRepository(tx).outgoing(ref.entity_id)),
                warnings=(*note.parsed.problems, *changed.warnings),
                similar=tuple(similar),
                diff=_diff(changed),
            )

        with _safe(changed.state.path):
            note = read_note(changed.data, changed.state)
            return await self._indexing.bring_in(note, result)


@contextlib.contextmanager
def _safe(path: NotePath) -> Iterator[None]:
    """Whatever goes wrong in here, the file is as the caller wanted it: the error says so."""
    try:
        yield
    except MemorandaError as error:
        raise NotIndexed(path, error.message) from error
    except Exception as error:
        logger.exception("{} was changed, but not indexed", path)
        raise NotIndexed(path, "an unexpected error, which is in the log") from error


def _both(_tx: Tx, ref: NoteRef, note: ReadNote) -> tuple[NoteRef, ReadNote]:
    return ref, note


def _action(changed: Changed) -> WriteAction:
    if changed.before is None:
        return WriteAction.CREATED
    return WriteAction.UPDATED if changed.is_changed else WriteAction.UNCHANGED


def _diff(changed: Changed) -> str:
    if changed.before is None:
        return ""
    return diff(changed.before, changed.after, changed.state.path)


def _preview(tx: Tx, result: WriteResult, note: ReadNote) -> WriteResult:
    """The result with what this text of the note would hold."""
    ref = reference_to(tx, result.ref, note.parsed)
    relations = outgoing_of(tx, ref, note.parsed)
    return replace(result, observations=_items(ref, note), relations=relations)


def _items(ref: NoteRef, note: ReadNote) -> tuple[ObservationItem, ...]:
    observations = note.parsed.observations
    permalinks = observation_permalinks(ref.permalink, observations)
    return tuple(map(ObservationItem, observations, permalinks))

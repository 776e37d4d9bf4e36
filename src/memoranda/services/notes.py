"""Reading, writing, editing and deleting one note.

A writing tool writes the file first (under the file's lock, atomically), then indexes exactly those
bytes before it answers: a note is found by the next call. When the index cannot follow, the file is
safe and the caller is told (`NotIndexed`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from loguru import logger

from memoranda.errors import (
    INDEX_TROUBLE,
    Conflict,
    InvalidArgument,
    NoteNotFound,
    NotIndexed,
)
from memoranda.files.file_service import FileService, checksum
from memoranda.files.names import safe_file_name
from memoranda.files.scan import is_note_path
from memoranda.markdown.diff import diff
from memoranda.markdown.edit_warnings import edit_warnings
from memoranda.markdown.edits import apply_edit
from memoranda.markdown.source import decode, encode
from memoranda.markdown.writer import new_note
from memoranda.model.address import ByName, NotePath, parse_address
from memoranda.model.edit import Edit
from memoranda.model.note import (
    IncomingRelation,
    NoteRef,
    ObservationItem,
    SourceText,
)
from memoranda.model.sync import FileState
from memoranda.model.views import DeleteResult, NoteView, WriteAction, WriteResult
from memoranda.ports import FullTextIndex
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.relation import RelationRepository
from memoranda.repositories.store import Store, Tx
from memoranda.services.entity import apply
from memoranda.services.lookup import find_note, near_names, similar_notes
from memoranda.services.note_input import Gone
from memoranda.services.observations import observation_permalinks
from memoranda.services.preview import outgoing_of, reference_to
from memoranda.services.reading import ReadNote, read_note
from memoranda.services.related import related_notes
from memoranda.services.window import Window, shown

_SIMILAR = 3
_BACKLINKS = 50
_RELATED = 10
_CATCHING_UP = 3


class NoteService:
    """The use cases on single notes of one project."""

    def __init__(self, store: Store, files: FileService, fulltext: FullTextIndex) -> None:
        self._store = store
        self._files = files
        self._fulltext = fulltext

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
    ) -> WriteResult:
        """Create a note, or replace the whole note at that place (spec 6.2.1).

        Raises:
            NoteExists: a file is there and neither `overwrite` nor `expected_checksum` is given.
            Conflict: the file there does not have `expected_checksum`.
            InvalidArgument, OutsideProject, ReadOnly, DiskFull, FileProblem: nothing was written.
            NotIndexed: the file is written, the index will follow.
        """
        path = self._target(title, directory)
        text = new_note(
            title=title, content=content, note_type=note_type, tags=tags, metadata=metadata or {}
        )
        replace = overwrite or expected_checksum is not None
        data, old, state = await asyncio.to_thread(
            self._put, path, text, expected_checksum, replace=replace
        )
        if old is None:
            action = WriteAction.CREATED
        else:
            action = WriteAction.UNCHANGED if old == data else WriteAction.UPDATED
        before = "" if old is None else old.decode("utf-8", "replace")
        return await self._index(
            read_note(data, state), action, diff(before, text, path) if old is not None else ""
        )

    def _target(self, title: str, directory: str) -> NotePath:
        name = safe_file_name(title)
        folder = "/".join(part.strip() for part in directory.strip().rstrip("/").split("/"))
        if "\\" in folder or any(ord(letter) < 32 for letter in folder):
            raise InvalidArgument(
                "directory",
                f"{directory!r} has a character that no folder should have",
                hint="Separate folders with '/'.",
            )
        path = self._files.note_path(f"{folder}/{name}" if folder else name)
        if not is_note_path(path):
            raise InvalidArgument(
                "directory",
                f"{directory!r} is a folder that holds no notes",
                hint="Choose one that is not hidden and not node_modules.",
            )
        return self._files.canonical(path)

    def _put(
        self, path: NotePath, text: str, expected: str | None, *, replace: bool
    ) -> tuple[bytes, bytes | None, FileState]:
        """Write under the file's lock; returns the bytes written, the bytes before, the new state."""
        with self._files.locked(path):
            if not replace:
                data = encode(SourceText(text))
                return data, None, self._files.create(path, data)
            if not self._files.exists(path):
                if expected is not None:
                    raise NoteNotFound(path)
                data = encode(SourceText(text))
                return data, None, self._files.create(path, data)
            old, state = self._files.read(path)
            if expected is not None and checksum(old) != expected:
                raise Conflict(path, checksum(old))
            data = encode(SourceText(text))
            if data == old:
                return data, old, state
            return data, old, self._files.replace(path, data, expected_checksum=checksum(old))

    async def read(
        self,
        name: str,
        *,
        section: str | None = None,
        start_line: int | None = None,
        end_line: int | None = None,
        max_chars: int = 20_000,
        with_related: bool = True,
    ) -> NoteView:
        """The note as its file stands now, with what the index knows around it (spec 6.2.2).

        Args:
            name: permalink, path, title, file name, alias or memory:// address.
            section: a heading, heading path or slug; only lines of that section are wanted.
            start_line: first line wanted, 1-based line of the file; default the first.
            end_line: last line wanted, inclusive; default the last.
            max_chars: at least 1; the text is cut at a line end (a longer single line inside it).
            with_related: whether the neighbours in the graph are wanted too.

        Raises:
            NoteNotFound, AmbiguousName, SectionNotFound, AmbiguousSection, InvalidArgument,
            FileProblem.
        """
        ref, note = await self._open(name)
        window = Window(start_line, end_line, max_chars, section)
        return await self._store.read(
            lambda tx: self._view(tx, ref.entity_id, note, window, with_related=with_related)
        )

    async def _open(self, name: str, *, exact: bool = False) -> tuple[NoteRef, ReadNote]:
        """Find a note and read its file; the index is brought in line when the file is newer."""
        try:
            ref = await self._store.read(lambda tx: find_note(tx, name, exact=exact))
        except NoteNotFound:
            if (path := await asyncio.to_thread(self._path_on_disk, name)) is None:
                raise
            note = await asyncio.to_thread(self._load, path)
            return await self._store.write(lambda tx: self._reindex(tx, note)), note
        try:
            note = await asyncio.to_thread(self._load, ref.file_path)
        except NoteNotFound:  # gone, or moved: the next sync tells which, and keeps its identity
            near = await self._store.read(lambda tx: near_names(tx, name))
            others = [one for one in near if one != ref.permalink]
            raise NoteNotFound(name, others, lost=ref.file_path) from None
        if note.checksum != ref.checksum:
            try:
                ref = await self._store.write(lambda tx: self._reindex(tx, note))
            except INDEX_TROUBLE as error:  # the file can be read all the same
                logger.warning("{} was read, but not indexed: {}", ref.file_path, error.message)
        return ref, note

    def _path_on_disk(self, name: str) -> NotePath | None:
        """The path of a file that the index does not know yet, when the name is literally its path."""
        address = parse_address(name)
        if not isinstance(address, ByName):
            return None
        for candidate in (address.name, f"{address.name}.md"):
            if candidate.lower().endswith(".md") and "\x00" not in candidate:
                path = self._files.note_path(candidate)
                if is_note_path(path) and self._files.exists(path):
                    return self._files.canonical(path)
        return None

    def _load(self, path: NotePath) -> ReadNote:
        data, state = self._files.read(path)
        return read_note(data, state)

    def _reindex(self, tx: Tx, note: ReadNote) -> NoteRef:
        apply(tx, self._fulltext, [note.as_input()])
        ref = NoteRefRepository(tx).at(note.state.path)
        if ref is None:
            raise NoteNotFound(note.state.path)
        return ref

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
        relations = RelationRepository(tx)
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
            backlinks=tuple(relations.incoming(entity_id, _BACKLINKS)),
            related=tuple(
                related_notes(tx, start=ref, depth=1, limit=_RELATED if with_related else 0)
            ),
        )

    async def edit(
        self,
        name: str,
        *edits: Edit,
        expected_checksum: str | None = None,
        dry_run: bool = False,
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
        ref, _ = await self._open(name)
        path = ref.file_path
        before, after, state, warnings = await asyncio.to_thread(
            self._change, path, edits, expected_checksum, dry_run=dry_run
        )
        change = diff(before.text, after.text, path)
        action = WriteAction.UNCHANGED if before == after else WriteAction.UPDATED
        note = read_note(encode(after), state)
        if dry_run:
            warnings = (*note.parsed.problems, *warnings)
            return await self._store.read(
                lambda tx: _preview(
                    tx, WriteResult(ref, action, (), (), warnings, diff=change), note
                )
            )
        return await self._index(note, action, change, warnings)

    def _change(
        self, path: NotePath, edits: Sequence[Edit], expected: str | None, *, dry_run: bool
    ) -> tuple[SourceText, SourceText, FileState, tuple[str, ...]]:
        with self._files.locked(path):
            data, state = self._files.read(path)
            note = read_note(data, state)
            if expected is not None and note.checksum != expected:
                raise Conflict(path, note.checksum)
            text = note.source.text
            warnings: list[str] = []
            for edit in edits:
                before, text = text, apply_edit(text, edit, path)
                warnings += edit_warnings(before, text, edit, path)
            after = SourceText(text, note.source.encoding, note.source.bom)
            new = encode(after)
            if new != data and decode(new).text != text:
                raise InvalidArgument(
                    "content_updates",
                    f"{path} is not UTF-8, and with this edit it would no longer be read as "
                    f"{note.source.encoding}",
                    hint="Save the file as UTF-8 first, then edit it.",
                )
            if not dry_run and new != data:
                state = self._files.replace(path, new, expected_checksum=note.checksum)
            return note.source, after, state, tuple(warnings)

    async def delete(self, name: str) -> DeleteResult:
        """Delete the file and its rows (spec 6.2.4). Only a permalink, a path or an id will do.

        Raises:
            NoteNotFound, AmbiguousName, FileProblem, ReadOnly.
        """
        ref = await self._store.read(lambda tx: find_note(tx, name, exact=True))
        await asyncio.to_thread(self._delete, ref.file_path)

        def forget(tx: Tx) -> list[IncomingRelation]:
            backlinks = RelationRepository(tx).incoming(ref.entity_id)
            gone = Gone(ref.entity_id, ref.file_path, ref.checksum)
            apply(tx, self._fulltext, [], deleted=[gone])
            return backlinks

        try:
            return DeleteResult(ref, tuple(await self._store.write(forget)))
        except INDEX_TROUBLE as error:
            raise NotIndexed(ref.file_path, error.message) from error

    def _delete(self, path: NotePath) -> None:
        with self._files.locked(path):
            self._files.delete(path)

    async def _index(
        self, note: ReadNote, action: WriteAction, change: str, warnings: tuple[str, ...] = ()
    ) -> WriteResult:
        def index(tx: Tx) -> WriteResult:
            ref = self._reindex(tx, note)
            similar = similar_notes(tx, ref, _SIMILAR) if action is WriteAction.CREATED else []
            return WriteResult(
                ref=ref,
                action=action,
                observations=_items(ref, note),
                relations=tuple(RelationRepository(tx).outgoing(ref.entity_id)),
                warnings=(*note.parsed.problems, *warnings),
                similar=tuple(similar),
                diff=change,
            )

        try:
            result, now = await self._store.write_then(
                index, lambda: self._files.state(note.state.path)
            )
            await self._catch_up(note.state, now)
        except INDEX_TROUBLE as error:
            raise NotIndexed(note.state.path, error.message) from error
        return result

    async def _catch_up(self, indexed: FileState, now: FileState | None) -> None:
        """Index the file again while it is not what was indexed: another writer's bytes came after.

        The order in which two writers get the index need not be that in which they got the file.
        """
        for _ in range(_CATCHING_UP):
            if now is None or now == indexed:
                return
            newer = await asyncio.to_thread(self._load, indexed.path)
            _, now = await self._store.write_then(
                partial(self._reindex, note=newer), partial(self._files.state, indexed.path)
            )
            indexed = newer.state


def _preview(tx: Tx, result: WriteResult, note: ReadNote) -> WriteResult:
    """The result with what this text of the note would hold."""
    ref = reference_to(tx, result.ref, note.parsed)
    relations = outgoing_of(tx, ref, note.parsed)
    return replace(result, observations=_items(ref, note), relations=relations)


def _items(ref: NoteRef, note: ReadNote) -> tuple[ObservationItem, ...]:
    observations = note.parsed.observations
    permalinks = observation_permalinks(ref.permalink, observations)
    return tuple(map(ObservationItem, observations, permalinks))

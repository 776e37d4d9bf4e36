"""Everything that a move is going to change, worked out before a file is touched."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memoranda.errors import (
    AmbiguousName,
    FileProblem,
    FolderNotFound,
    InvalidArgument,
    MemorandaError,
    NoteNotFound,
    RootMissing,
)
from memoranda.files.file_service import FileService, checksum
from memoranda.files.ignore_files import ignoring_rule
from memoranda.history.store import HistoryStore
from memoranda.markdown.file_links import file_links, named_files
from memoranda.markdown.html_links import html_links
from memoranda.markdown.relations import is_attachment
from memoranda.model.address import NotePath, Permalink, lookup_key
from memoranda.model.file_change import NoteChange, OtherFileMove, PlannedChange
from memoranda.model.moves import LinkLeft, MovedNote, RewrittenLink
from memoranda.model.note import Link, NoteRef
from memoranda.model.sync import FORGOTTEN_NS, KnownFile
from memoranda.ports import FullTextIndex
from memoranda.repositories.directory import DirectoryRepository
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.store import Store, Tx
from memoranda.repositories.texts import TextRepository
from memoranda.services.indexing import NoteIndexing
from memoranda.services.listing import folders_of, near_folders
from memoranda.services.lookup import find_note, path_on_disk
from memoranda.services.move_departed import departure_text
from memoranda.services.move_files import Files, leads_out, new_file_target
from memoranda.services.move_names import destination_named, folder_named
from memoranda.services.move_plan import Moves, folder_moves, note_moves, require_note_place
from memoranda.services.move_rewriting import Rewriting, Wish, rewrite
from memoranda.services.move_simulation import Simulation, simulate
from memoranda.services.move_targets import Place
from memoranda.services.note_input import NoteInput
from memoranda.services.reading import ReadNote, read_note

_PATTERN = frozenset("*?")
_OUT = "it leads out of the project"
_READ_ONLY = "the note is read-only"
_HTML = "it is written as HTML"


@dataclass(frozen=True, slots=True)
class Draft:
    """What a move will do.

    Attributes:
        moves: of files.
        changes: of files, all of them.
        moved: the notes, by their old paths.
        links, left: by path and line.
        warnings: what else the caller should know.
    """

    moves: Moves
    changes: tuple[PlannedChange, ...]
    moved: tuple[MovedNote, ...]
    links: tuple[RewrittenLink, ...]
    left: tuple[LinkLeft, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Concerned:
    """A note that moves, or has links to what moves: as the index knows it, and its file, read where it will be."""

    known: KnownFile
    data: bytes
    note: ReadNote


class _BehindError(Exception):
    """The index does not know these files as they are."""

    def __init__(self, notes: Sequence[ReadNote] = ()) -> None:
        super().__init__()
        self.notes = notes


class MoveDrafting:
    """Works out moves in one project."""

    def __init__(
        self, store: Store, files: FileService, fulltext: FullTextIndex, history: HistoryStore
    ) -> None:
        self._store = store
        self._files = files
        self._history = history
        self._fulltext = fulltext
        self._indexing = NoteIndexing(store, files, fulltext)

    async def draft(self, source: str, destination: str) -> Draft | None:
        """Work out a move. None: the index was behind the files, and is not any more; ask again.

        Raises: as `MoveService.move`; nothing was changed.
        """
        try:
            return await self._draft(await self._moves(source, destination))
        except _BehindError as behind:
            for note in behind.notes:
                await self._indexing.bring_in(note, lambda *_: None)
            return None

    async def _draft(self, moves: Moves) -> Draft:
        moves, moving = await self._moving(moves)
        simulation = await simulate(
            self._store,
            self._fulltext,
            [_input(one) for one in moving],
            {lookup_key(path) for path in moves.others},
        )
        if simulation is None:
            raise _BehindError
        naming = await self._naming(moves)
        staying, left = await asyncio.to_thread(self._staying, simulation, naming)
        return await asyncio.to_thread(self._drafted, moves, [*moving, *staying], simulation, left)

    async def _moves(self, source: str, destination: str) -> Moves:
        """What moves where, as the caller asked for it."""
        to = await asyncio.to_thread(destination_named, self._files, destination)
        note: NoteRef | None = None
        unknown: NoteNotFound | None = None
        if not source.rstrip().endswith("/"):
            try:
                note = await self._note(source)
            except NoteNotFound as error:
                unknown = error
        folder = await asyncio.to_thread(folder_named, self._files, source)
        if note is not None:
            if folder is not None and note.file_path not in (folder, f"{folder}.md"):
                raise AmbiguousName(source, [note.file_path, f"{folder}/"])
            return await asyncio.to_thread(note_moves, self._files, note.file_path, to)
        if folder is None:
            raise await self._nothing_named(source, unknown)
        try:
            return await asyncio.to_thread(folder_moves, self._files, folder, to)
        except InvalidArgument as error:
            if not error.hint:  # nothing is in it
                error.hint = await asyncio.to_thread(departure_text, self._history, folder)
            raise

    async def _nothing_named(self, source: str, unknown: NoteNotFound | None) -> MemorandaError:
        """Why neither a note nor a folder was named, and which folders may be meant."""
        name = source.strip().rstrip("/")
        if not _PATTERN.isdisjoint(name):
            return InvalidArgument(
                "path",
                f"{source!r} is a pattern, and one note or one folder is moved at a time",
                hint="Name the folder: it is moved with everything in it.",
            )
        if departed := await asyncio.to_thread(departure_text, self._history, name):
            return NoteNotFound(name, departed=departed)
        near = await self._store.read(lambda tx: _near_folders(tx, name))
        if unknown is None:
            return FolderNotFound(name, near)
        if near:
            unknown.hint += f" Folders there are: {', '.join(near)}."
        return unknown

    async def _note(self, name: str) -> NoteRef:
        """The note by its exact name; one that the index does not know yet by its path."""
        try:
            return await self._store.read(lambda tx: find_note(tx, name, exact=True))
        except NoteNotFound:
            path = await asyncio.to_thread(path_on_disk, self._files, name)
            if path is None:
                raise
        note = await asyncio.to_thread(self._indexing.load, path)
        return await self._indexing.bring_in(note, lambda _, ref, __: ref)

    async def _moving(self, moves: Moves) -> tuple[Moves, list[_Concerned]]:
        """The notes that move, and the moves without files that only look like notes."""
        rows = await self._store.read(lambda tx: EntityRepository(tx).known_at(moves.notes))
        known = {row.path: row for row in rows}
        return await asyncio.to_thread(self._read_moving, moves, known)

    def _read_moving(
        self, moves: Moves, known: dict[NotePath, KnownFile]
    ) -> tuple[Moves, list[_Concerned]]:
        moving: list[_Concerned] = []
        behind: list[ReadNote] = []
        others = dict(moves.others)
        root = os.path.realpath(self._files.root)
        for path, new in moves.notes.items():
            row = known.get(path)
            if row is None and ignoring_rule(root, path) is not None:
                others[path] = new
                continue
            try:
                data, state = self._files.read(path)
            except NoteNotFound:
                raise _BehindError from None  # it went this very moment
            except FileProblem:
                if row is not None:
                    raise
                others[path] = new  # no note for the index either
                continue
            require_note_place(self._files, new)
            if row is None or not _is_known(row, data):
                behind.append(read_note(data, state))
            else:
                moving.append(_Concerned(row, data, read_note(data, replace(state, path=new))))
        if behind:
            raise _BehindError(behind)
        notes = {path: new for path, new in moves.notes.items() if path not in others}
        return replace(moves, notes=notes, others=others), moving

    async def _naming(self, moves: Moves) -> list[KnownFile]:
        """The notes that stay, with something like a link to a file of a kind that the index has no links to."""
        names = {path.rpartition("/")[2] for path in moves.others if not is_attachment(path)}
        if not names:
            return []

        def look(tx: Tx) -> list[KnownFile]:
            texts = TextRepository(tx).with_links()
            found = [path for path, text in texts if not names.isdisjoint(named_files(text))]
            return EntityRepository(tx).known_at([one for one in found if one not in moves.notes])

        return await self._store.read(look)

    def _staying(
        self, simulation: Simulation, naming: Sequence[KnownFile]
    ) -> tuple[list[_Concerned], list[LinkLeft]]:
        """The notes that stay where they are, and the broken links of those that cannot be read.

        Those that are gone have no links.
        """
        staying: list[_Concerned] = []
        behind: list[ReadNote] = []
        left: list[LinkLeft] = []
        for row in {one.path: one for one in (*naming, *simulation.sources)}.values():
            try:
                data, state = self._files.read(row.path)
            except NoteNotFound:
                continue
            except RootMissing:
                raise
            except FileProblem as error:
                broken = simulation.broken.get(row.entity_id, ())
                left += [LinkLeft(row.path, one.line, one.target, error.message) for one in broken]
                continue
            note = read_note(data, state)
            if _is_known(row, data):
                staying.append(_Concerned(row, data, note))
            else:
                behind.append(note)
        if behind:
            raise _BehindError(behind)
        return staying, left

    def _drafted(
        self,
        moves: Moves,
        concerned: Sequence[_Concerned],
        simulation: Simulation,
        unreadable: Sequence[LinkLeft],
    ) -> Draft:
        goes: dict[str, str] = dict((*moves.others.items(), *moves.notes.items()))
        files = Files(self._is_file, goes, frozenset(goes.values()))
        changes: list[PlannedChange] = []
        links: list[RewrittenLink] = []
        left = list(unreadable)
        for one in concerned:
            done = self._rewritten(one, simulation, files)
            links += done.links
            left += done.left
            old, path = one.known.path, one.note.parsed.path
            if path != old:
                changes.append(NoteChange(path, one.data, done.data, moved_from=old))
            elif done.data != one.data:
                changes.append(NoteChange(path, one.data, done.data))
        changes += [OtherFileMove(new, old) for old, new in moves.others.items()]
        return Draft(
            moves,
            tuple(changes),
            simulation.moved,
            tuple(sorted(links, key=lambda link: (link.path, link.line))),
            tuple(sorted(left, key=lambda link: (link.path, link.line))),
            (*moves.warnings, *map(_readdressed, simulation.readdressed)),
        )

    def _rewritten(self, one: _Concerned, simulation: Simulation, files: Files) -> Rewriting:
        note, entity_id = one.note, one.known.entity_id
        source = Place(one.known.path, note.parsed.path)
        broken = {link.ordinal: link.names for link in simulation.broken.get(entity_id, ())}
        wishes: list[Wish] = []
        others: list[Link] = []
        out: list[LinkLeft] = []
        for ordinal, link in enumerate(note.parsed.links):
            if ordinal in broken:
                wishes.append(Wish(link, broken[ordinal]))
            elif (entity_id, ordinal) not in simulation.to_notes:
                others.append(link)
        with contextlib.suppress(InvalidArgument):  # the Markdown reader fails on it
            others += file_links(note.source.text, note.parsed, note.parsed.path)
            out += [
                LinkLeft(note.parsed.path, link.line, link.target, _HTML)
                for link in html_links(note.parsed, note.parsed.path)
                if new_file_target(link, source, files) is not None
            ]
        for link in others:
            if (name := new_file_target(link, source, files)) is not None:
                wishes.append(Wish(link, (name,)))
            elif leads_out(link, source):
                out.append(LinkLeft(note.parsed.path, link.line, link.target, _OUT))
        if wishes and not self._may_write(source):
            path = note.parsed.path
            out += [LinkLeft(path, wish.link.line, wish.link.target, _READ_ONLY) for wish in wishes]
            return Rewriting(one.data, left=tuple(out))
        done = rewrite(one.data, note, wishes) if wishes else Rewriting(one.data)
        return replace(done, left=(*done.left, *out))

    def _may_write(self, note: Place) -> bool:
        place = self._files.place(note.before)
        is_staying = note.before == note.after
        return os.access(place, os.W_OK) and not (
            is_staying and not os.access(place.parent, os.W_OK)
        )

    def _is_file(self, path: str) -> bool:
        try:
            return self._files.resolve(path).is_file()
        except (MemorandaError, OSError):
            return False


def _is_known(row: KnownFile, data: bytes) -> bool:
    return row.ctime_ns != FORGOTTEN_NS and row.checksum == checksum(data)


def _readdressed(one: tuple[NotePath, Permalink, Permalink]) -> str:
    path, old, new = one
    return f"The permalink of {path} is {new} by this, and was {old}; links to it are kept."


def _input(one: _Concerned) -> NoteInput:
    return replace(one.note.as_input(), seen=one.known)


def _near_folders(tx: Tx, name: str) -> list[str]:
    return near_folders(name, folders_of(DirectoryRepository(tx).paths_below("")))

"""Looking around: folders, recent notes, counts. All from the index."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from memoranda.errors import AmbiguousName, FolderNotFound, InvalidArgument, MemorandaError
from memoranda.files.file_service import FileService
from memoranda.model.note import NoteRef
from memoranda.model.project import Counts
from memoranda.model.views import Activity, DirectoryEntry, DirectoryListing
from memoranda.repositories.directory import DirectoryRepository, ListedNote
from memoranda.repositories.project import ProjectRepository
from memoranda.repositories.recent import RecentRepository
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Store, Tx
from memoranda.services.listing import (
    MAX_DEPTH,
    Choice,
    Entries,
    choice,
    entries,
    folder_meant,
    folders_of,
    in_order,
    near_folders,
)
from memoranda.services.lookup import find_note

_MAX_PAGE = 1000
_NEAR = 10


class BrowseService:
    """The use cases that list notes without a query."""

    def __init__(self, store: Store, files: FileService) -> None:
        self._store = store
        self._files = files

    async def list_directory(
        self,
        path: str = "",
        *,
        depth: int = 1,
        glob: str | None = None,
        page: int = 1,
        page_size: int = 100,
    ) -> DirectoryListing:
        """Folders and notes below a folder (spec 6.2.7).

        Args:
            path: folder relative to the project's folder; "", "/" and "." are the root. One that is not there
                by this name may be meant by another case, by its slugs or by its last names.
            depth: how many levels are listed, 1 to 10.
            glob: a pattern for the names of notes, such as `plan*`; folders without a match are left out,
                the others have the number of matches. With a slash it is for the paths below the
                folder (`sub/*.md`, `**/*.md`), as deep as it can match, and only notes are listed.
            page: from 1.
            page_size: 1 to 1,000 entries.

        Returns:
            A listing without entries for a folder that is there and holds no notes.

        Raises:
            FolderNotFound: no such folder; with near names.
            InvalidArgument, OutsideProject.
        """
        folder = path.strip().strip("/")
        folder = "" if folder in ("", ".") else self._files.note_path(folder)
        _check_range("depth", depth, MAX_DEPTH)
        _check_range("page_size", page_size, _MAX_PAGE)
        _check_range("page", page, None)
        wanted = choice(depth, glob)
        asked = _Asked(wanted, glob, page, page_size)
        found = await self._store.read(partial(_listing, folder=folder, asked=asked))
        if found is None and not await asyncio.to_thread(self._is_folder, folder):
            folder = await self._store.read(partial(_folder_meant, name=folder))
            found = await self._store.read(partial(_listing, folder=folder, asked=asked))
        return found or DirectoryListing(folder, (), page, page_size, 0, glob=glob)

    def _is_folder(self, path: str) -> bool:
        try:
            return self._files.resolve(path).is_dir()
        except OSError:  # a name that no file can have
            return False

    async def recent_activity(
        self,
        since: datetime,
        *,
        note_types: Sequence[str] = (),
        page: int = 1,
        page_size: int = 20,
    ) -> Activity:
        """Notes whose file changed at or after `since`, newest first (spec 6.2.8).

        Where there is none the answer says which note was the last, or which types there are.
        """
        _check_range("page_size", page_size, _MAX_PAGE)
        _check_range("page", page, None)
        since_ns = int(since.timestamp() * 1e9)

        def activity(tx: Tx) -> Activity:
            recent = RecentRepository(tx)
            found, total = recent.changed_since(
                since_ns, note_types, page_size, (page - 1) * page_size
            )
            newest = recent.newest(note_types) if total == 0 else None
            is_unknown = total == 0 and newest is None and bool(note_types)
            return Activity(
                since,
                tuple(one.ref for one in found),
                page,
                page_size,
                total,
                changed_at=tuple(one.at for one in found),
                note_types=tuple(note_types),
                newest=newest.ref if newest else None,
                newest_at=newest.at if newest else None,
                known_types=tuple(recent.note_types(_NEAR)) if is_unknown else (),
            )

        return await self._store.read(activity)

    async def counts(self) -> Counts:
        """Row counts of the project."""
        return await self._store.read(lambda tx: ProjectRepository(tx).counts())

    async def notes_with_problems(self) -> list[NoteRef]:
        """Notes with a fault in their frontmatter, by path."""
        return await self._store.read(lambda tx: NoteRefRepository(tx).with_problems())


def _check_range(parameter: str, value: int, most: int | None) -> None:
    if value < 1 or (most is not None and value > most):
        bounds = f"1 to {most:,}" if most is not None else "at least 1"
        raise InvalidArgument(parameter, f"{parameter} must be {bounds}, not {value}")


@dataclass(frozen=True, slots=True)
class _Asked:
    wanted: Choice
    glob: str | None
    page: int
    page_size: int


def _listing(tx: Tx, *, folder: str, asked: _Asked) -> DirectoryListing | None:
    """A page of a folder; None if no note is below it."""
    directory = DirectoryRepository(tx)
    found = _entries(directory, folder, asked.wanted)
    if not (found.folders or found.notes) and folder and not any(directory.level(folder)):
        return None
    names = [*found.folders, *found.notes]
    shown = names[(asked.page - 1) * asked.page_size : asked.page * asked.page_size]
    listed = directory.notes_at([one for one in shown if one not in found.folders])
    return DirectoryListing(
        folder,
        tuple(
            _note_entry(listed[one], folder)
            if one in listed
            else DirectoryEntry(
                _relative(one, folder), one, is_directory=True, count=found.folders[one]
            )
            for one in shown
            if one in listed or one in found.folders
        ),
        asked.page,
        asked.page_size,
        len(names),
        folder_total=len(found.folders),
        glob=asked.glob,
    )


def _entries(directory: DirectoryRepository, folder: str, wanted: Choice) -> Entries:
    """Only what is deeper than one level, or chosen by a pattern, needs all paths below the folder."""
    if wanted.depth == 1 and wanted.glob is None:
        return in_order(*directory.level(folder))
    return entries(directory.paths_below(folder), folder, wanted)


def _folder_meant(tx: Tx, *, name: str) -> str:
    """The folder that is meant by a name that none has. Raises FolderNotFound."""
    directory = DirectoryRepository(tx)
    folders = folders_of(directory.paths_below(""))
    if (meant := folder_meant(name, folders)) is not None:
        return meant
    top = in_order(directory.level("")[0], ()).folders
    near = dict.fromkeys((*near_folders(name, folders), *top))
    raise FolderNotFound(name, list(near)[:_NEAR], is_note=_is_note(tx, name))


def _is_note(tx: Tx, name: str) -> bool:
    try:
        find_note(tx, name)
    except AmbiguousName:
        return True
    except MemorandaError:
        return False
    return True


def _relative(path: str, folder: str) -> str:
    return path[len(folder) + 1 :] if folder else path


def _note_entry(note: ListedNote, folder: str) -> DirectoryEntry:
    return DirectoryEntry(
        _relative(note.path, folder),
        note.path,
        is_directory=False,
        title=note.title,
        permalink=note.permalink,
        updated_at=note.updated_at,
        size_bytes=note.size_bytes,
    )

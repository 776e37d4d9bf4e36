"""Looking around: folders, recent notes, counts. All from the index."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from memoranda.errors import FolderNotFound, InvalidArgument
from memoranda.files.file_service import FileService
from memoranda.model.note import NoteRef
from memoranda.model.project import Counts
from memoranda.model.views import Activity, DirectoryEntry, DirectoryListing
from memoranda.repositories.project import ProjectRepository
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Store, Tx

_MAX_DEPTH = 10
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
            path: folder relative to the project's folder; "", "/" and "." are the root.
            depth: how many levels are listed, 1 to 10.
            glob: shell pattern for the names of notes; folders without a match are left out.
            page: from 1.
            page_size: 1 to 1,000 entries.

        Raises:
            FolderNotFound: no such folder holds notes.
            InvalidArgument, OutsideProject.
        """
        folder = path.strip().rstrip("/")
        folder = "" if folder in ("", ".") else self._files.note_path(folder)
        _check_range("depth", depth, _MAX_DEPTH)
        _check_range("page_size", page_size, _MAX_PAGE)
        _check_range("page", page, None)

        def listing(tx: Tx) -> DirectoryListing:
            notes_of = NoteRefRepository(tx)
            paths = notes_of.paths_below(folder)
            if not paths and folder:
                is_note = notes_of.at(folder) is not None
                folders, _ = _level(notes_of.paths_below(""), "", 1, None)
                raise FolderNotFound(folder, list(folders)[:_NEAR], is_note=is_note)
            folders, notes = _level(paths, folder, depth, glob)
            names = [*folders, *notes]
            shown = names[(page - 1) * page_size : page * page_size]
            ids = notes_of.ids_at([one for one in shown if one in notes])
            refs = notes_of.by_ids(ids.values())
            by_path: dict[str, NoteRef] = {ref.file_path: ref for ref in refs.values()}
            return DirectoryListing(
                folder,
                tuple(
                    _note_entry(by_path[one], folder)
                    if one in by_path
                    else DirectoryEntry(
                        _relative(one, folder), one, is_directory=True, count=folders[one]
                    )
                    for one in shown
                    if one in by_path or one in folders
                ),
                page,
                page_size,
                len(names),
            )

        return await self._store.read(listing)

    async def recent_activity(
        self,
        since: datetime,
        *,
        note_types: Sequence[str] = (),
        page: int = 1,
        page_size: int = 20,
    ) -> Activity:
        """Notes whose file changed at or after `since`, newest first (spec 6.2.8)."""
        _check_range("page_size", page_size, _MAX_PAGE)
        _check_range("page", page, None)
        since_ns = int(since.timestamp() * 1e9)
        refs, total = await self._store.read(
            lambda tx: NoteRefRepository(tx).modified_since(
                since_ns, note_types, page_size, (page - 1) * page_size
            )
        )
        return Activity(since, tuple(refs), page, page_size, total)

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


def _level(
    paths: Sequence[str], folder: str, depth: int, glob: str | None
) -> tuple[dict[str, int], dict[str, None]]:
    """Folders with their number of notes, and notes, at most `depth` levels down, by name."""
    folders: Counter[str] = Counter()
    notes: list[str] = []
    start = folder.count("/") + 1 if folder else 0
    for path in paths:
        parts = path.split("/")
        if glob is not None and not fnmatch.fnmatchcase(parts[-1].casefold(), glob.casefold()):
            continue
        if len(parts) <= start + depth:
            notes.append(path)
        for level in range(start + 1, min(len(parts), start + depth + 1)):
            folders["/".join(parts[:level])] += 1
    in_order = sorted(folders.items(), key=lambda item: (item[0].casefold(), item[0]))
    return dict(in_order), dict.fromkeys(sorted(notes, key=lambda one: (one.casefold(), one)))


def _relative(path: str, folder: str) -> str:
    return path[len(folder) + 1 :] if folder else path


def _note_entry(ref: NoteRef, folder: str) -> DirectoryEntry:
    return DirectoryEntry(
        _relative(ref.file_path, folder),
        ref.file_path,
        is_directory=False,
        title=ref.title,
        permalink=ref.permalink,
        updated_at=ref.updated_at,
        size_bytes=ref.size_bytes,
    )

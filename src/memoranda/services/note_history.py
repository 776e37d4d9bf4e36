"""What was done to a note, a folder or the project, and by whom.

A name means what it means to the tools that write. What the index does not know (any more) the history may
know: by the path that it had, or by the permalink that follows from it. Only then, and only for those who
read, a title, a file name or an alias will do.
"""

from __future__ import annotations

import asyncio
from datetime import datetime

from memoranda.errors import MemorandaError, NoteNotFound
from memoranda.files.file_service import FileService
from memoranda.history.store import HistoryStore
from memoranda.model.address import ById, NotePath, parse_address
from memoranda.model.undoing import HistoryPage, ShownChange
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.store import Store, Tx
from memoranda.services.lookup import find_note
from memoranda.services.recorded import (
    find_change,
    history_page,
    recorded_paths,
    shown_change,
    version,
)


class NoteHistoryService:
    """The use cases that only read the history of one project."""

    def __init__(self, store: Store, files: FileService, history: HistoryStore) -> None:
        self._store = store
        self._files = files
        self._history = history

    async def page(
        self,
        name: str | None = None,
        *,
        client: str | None = None,
        since: datetime | None = None,
        limit: int = 20,
        before_id: int | None = None,
    ) -> HistoryPage:
        """Changes, newest first; of a note also those under the paths it had before it was moved.

        Args:
            name: of a note (permalink, path, id, memory:// address, title, alias), also of one that is gone;
                or of a folder. None, or `/`: of the whole project.
            client: only by the client of this name, in any case of letters.
            since: only those begun then or later; aware.
            limit: at most so many, at least 1.
            before_id: only older ones than this, to go on where a page ended.

        Raises:
            NoteNotFound: neither the index nor the history knows the name.
            AmbiguousName, InvalidUri, InvalidArgument, OutsideProject: of the name.
            FileProblem: the history cannot be used.
        """
        path, paths = await named_paths(
            self._store, self._files, self._history, name, is_exact=False
        )
        changes, more = await asyncio.to_thread(
            history_page,
            self._history,
            paths,
            client=client,
            since=since,
            limit=limit,
            before_id=before_id,
        )
        return HistoryPage(changes, path, more)

    async def show(self, change_id: int) -> ShownChange:
        """One change with its difference.

        Raises:
            ChangeNotFound: there is none of that number.
            FileProblem: the history cannot be used.
        """

        def show() -> ShownChange:
            change = find_change(self._history, change_id)
            current = None
            if change.root == self._history.root:
                try:
                    current = self._files.current(change.path)
                except MemorandaError:  # no note, or not readable: nothing is said about it
                    current = None
            return shown_change(self._history, change, current)

        return await asyncio.to_thread(show)

    async def version(self, change_id: int, *, is_before: bool) -> bytes:
        """The bytes of the note before or after a change.

        Raises:
            ChangeNotFound: there is none of that number.
            InvalidArgument: there was no file then.
            FileProblem: the bytes are lost.
        """

        def read() -> bytes:
            change = find_change(self._history, change_id)
            return version(self._history, change, is_before=is_before)

        return await asyncio.to_thread(read)


async def named_paths(
    store: Store,
    files: FileService,
    history: HistoryStore,
    name: str | None,
    *,
    is_exact: bool = True,
) -> tuple[NotePath | None, tuple[NotePath, ...] | None]:
    """What a name means: the note or folder, and the paths whose changes are its own.

    Both are None for the whole project, which is also called `/` or `.`. With `is_exact` a title, a file name
    or an alias is not enough.

    Raises: as `NoteHistoryService.page`.
    """
    if name is None or not name.strip(" ./"):
        return None, None
    address = parse_address(name)
    try:
        ref = await store.read(lambda tx: find_note(tx, address, exact=True))
    except NoteNotFound as unknown:
        if isinstance(address, ById):
            raise
        wanted = files.note_path(address.name)
        paths = await asyncio.to_thread(recorded_paths, history, wanted)
        if not paths and not await store.read(lambda tx: _has_notes(tx, wanted)):
            if is_exact:
                raise unknown
            ref = await store.read(lambda tx: find_note(tx, address))
            return ref.file_path, (ref.file_path,)
        is_note = len(paths) == 1 and not paths[0].startswith(f"{wanted}/")
        return (paths[0] if is_note else wanted), paths
    return ref.file_path, (ref.file_path,)


def _has_notes(tx: Tx, folder: NotePath) -> bool:
    return EntityRepository(tx).has_below(folder)

"""Moving a note or a folder: every link keeps its meaning, and all of it happens or nothing.

The files are asked what moves (`move_plan`), the index what that does to links (`move_simulation`), and the
texts are written anew where links would break (`move_rewriting`). Then the files change in one piece, and
the index follows in one transaction in which every note keeps its identity. The file is the truth: one that
the index does not know as it is, is brought in first, and the plan is made again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from concurrent.futures import Executor

from memoranda.errors import Conflict, MemorandaError, NoteExists, NoteNotFound
from memoranda.files.file_service import FileService
from memoranda.files.folders import is_one_file
from memoranda.model.address import folder
from memoranda.model.history import NOBODY, Author
from memoranda.model.moves import MoveResult
from memoranda.ports import FullTextIndex
from memoranda.repositories.store import Store
from memoranda.services.change_indexing import index_changes
from memoranda.services.file_changes import FileChanges
from memoranda.services.move_draft import Draft, MoveDrafting
from memoranda.services.move_plan import Moves

_TRIES = 5
_SHOWN = 5


class MoveService:
    """Moves notes and folders of one project.

    Args:
        store: its index.
        files: its files.
        fulltext: its full-text index.
        changes: changes its files.
        threads: where files are changed; a change may wait long for a lock.
    """

    def __init__(
        self,
        store: Store,
        files: FileService,
        fulltext: FullTextIndex,
        changes: FileChanges,
        threads: Executor,
    ) -> None:
        self._store = store
        self._files = files
        self._fulltext = fulltext
        self._changes = changes
        self._threads = threads
        self._drafting = MoveDrafting(store, files, fulltext, changes.history)
        self._turn = asyncio.Lock()  # two at once would only disturb each other

    async def move(
        self, source: str, destination: str, *, dry_run: bool = False, by: Author = NOBODY
    ) -> MoveResult:
        """Move a note or a folder with everything in it, and rewrite the links that would break.

        A link breaks when it would mean another note, or none; or, if it leads to a file that is no note,
        when the file would not be there. Others are left alone, byte for byte. One that breaks and cannot
        be rewritten is in the result.

        Args:
            source: a permalink, path or id of a note, or the path of a folder (with `/` at its end: surely
                a folder).
            destination: the new path (`.md` may be left out). A note goes into a folder that is there,
                or that is named with `/` at its end; a folder goes into one that is there and is named so.
            dry_run: change nothing; the result is that of the move, but has no change id.
            by: who the history says it was.

        Raises:
            NoteNotFound, FolderNotFound, AmbiguousName: what to move is not known for certain.
            NoteExists: something is there already.
            InvalidArgument, OutsideProject: it cannot be there.
            NotReady: the index is not complete yet.
            Conflict: files changed again and again meanwhile.
            ReadOnly, DiskFull, FileProblem: also then nothing was changed.
            NotIndexed: all is moved, the index will follow.
        """
        trouble: MemorandaError = Conflict(source, "")
        async with self._turn:
            for _ in range(_TRIES):
                draft = await self._drafting.draft(source, destination)
                if draft is None:
                    continue
                if dry_run:
                    return _result(draft, None)
                try:
                    applied = await asyncio.get_running_loop().run_in_executor(
                        self._threads, self._changes.apply, draft.changes, by
                    )
                except (Conflict, NoteExists, NoteNotFound) as error:
                    trouble = error  # a file changed since it was looked at: look again
                    continue
                await asyncio.to_thread(self._finish_folders, draft.moves)
                await index_changes(self._store, self._files, self._fulltext, draft.changes)
                rest = await asyncio.to_thread(self._left_behind, draft.moves)
                return _result(draft, applied.change_id, *rest)
        raise trouble

    def _finish_folders(self, moves: Moves) -> None:
        """What files alone do not bring about: folders with nothing in them, another case of letters."""
        if moves.is_folder:
            source, destination = map(self._files.place, (moves.source, moves.destination))
            with contextlib.suppress(OSError):
                if source.samefile(destination):  # to this file system, which has the old name
                    source.rename(destination)
                    return
        for new in moves.empty.values():
            with contextlib.suppress(OSError):
                self._files.place(new).mkdir(parents=True, exist_ok=True)
        for old in moves.empty:
            left = old
            with contextlib.suppress(OSError):  # not empty any more, or not yet
                while left:
                    self._files.place(left).rmdir()
                    left = folder(left)

    def _left_behind(self, moves: Moves) -> list[str]:
        """Says what came into a folder while it moved."""
        if not moves.is_folder or is_one_file(
            *map(self._files.place, (moves.source, moves.destination))
        ):
            return []
        root = self._files.place(moves.source)
        there = [
            os.path.relpath(f"{folder}/{name}", root)
            for folder, _, names in os.walk(root)
            for name in sorted(names)
        ]
        if not there:
            return []
        more = f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
        names = ", ".join(f"{moves.source}/{one}" for one in there[:_SHOWN])
        return [f"Still in the old folder, since it came while the move went on: {names}{more}."]


def _result(draft: Draft, change_id: int | None, *warnings: str) -> MoveResult:
    return MoveResult(
        source=draft.moves.source,
        destination=draft.moves.destination,
        is_folder=draft.moves.is_folder,
        notes=draft.moved,
        other_files=len(draft.moves.others),
        links=draft.links,
        left=draft.left,
        is_dry_run=change_id is None,
        change_id=change_id,
        warnings=(*draft.warnings, *warnings),
    )

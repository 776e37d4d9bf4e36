"""Taking back what tools changed: one change, or all of a client, as one change more.

A call of a tool that changed several files is taken back as a whole. What comes out is computed first
(`services.reversal`) and then done in one piece (`services.file_changes`): all of it, or nothing. It is
recorded like any other change, so an undo can be taken back too.
"""

from __future__ import annotations

import asyncio
import os
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import TypeVar

from memoranda.errors import Conflict, InvalidArgument, NoteExists, NoteNotFound, NotReady
from memoranda.files.file_service import FileService
from memoranda.history.settle import settle
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.file_change import PlannedChange
from memoranda.model.history import NOBODY, Author, ChangeKind, ChangeState, RecordedChange
from memoranda.model.undoing import UndoResult
from memoranda.ports import FullTextIndex
from memoranda.repositories.store import Store
from memoranda.services.change_indexing import index_changes
from memoranda.services.file_changes import FileChanges
from memoranda.services.note_history import named_paths
from memoranda.services.recorded import (
    all_changes,
    changes_of,
    content,
    find_change,
    is_arrival,
)
from memoranda.services.reversal import Reversal
from memoranda.services.torn_batches import put_back_before, put_back_torn

T = TypeVar("T")

_TRIES = 4


class UndoService:
    """Takes back changes of one project.

    Args:
        store: its index.
        files: its files.
        fulltext: its full-text index.
        history: what tools changed.
        threads: where files are changed; a change may wait long for a lock.
    """

    def __init__(
        self,
        store: Store,
        files: FileService,
        fulltext: FullTextIndex,
        history: HistoryStore,
        threads: Executor,
    ) -> None:
        self._store = store
        self._files = files
        self._fulltext = fulltext
        self._history = history
        self._threads = threads
        self._changes = FileChanges(
            files, history, prepare=partial(put_back_before, history, files), is_tidy=True
        )

    async def undo(
        self,
        *,
        change_id: int | None = None,
        client: str | None = None,
        since: datetime | None = None,
        path: str | None = None,
        dry_run: bool = False,
        by: Author = NOBODY,
    ) -> UndoResult:
        """Take back one change, or all that fit; whatever belongs to the same calls goes with it.

        What was changed since by others is kept where it can be (a merge of lines); where it cannot,
        nothing is changed. What had been taken back before is left as it is.

        Args:
            change_id: of one change; then nothing else is given.
            client: all changes by the client of this name, in any case of letters.
            since: all changes begun then or later; aware.
            path: of `client` and `since` only what concerns this note, or the notes in this folder; named as
                for `NoteHistoryService.page`.
            dry_run: say what would be done, and change nothing.
            by: who the history says it was.

        Raises:
            UndoConflict: what was done since is in the way.
            ChangeNotFound: there is no change of that number.
            InvalidArgument: nothing fits, or too little is given.
            NotReady: one of the changes is still under way.
            NoteNotFound, AmbiguousName, InvalidUri, OutsideProject: of the path.
            Conflict, FileProblem, ReadOnly, DiskFull: nothing was changed.
            NotIndexed: the files are as they were to be, the index will follow.
        """
        client = client.strip() if client is not None else None
        _require_sense(change_id, client, since, path)
        _, paths = await named_paths(self._store, self._files, self._history, path)

        def choose() -> list[RecordedChange]:
            if change_id is not None:
                return self._one(change_id)
            return self._all(client, since, paths)

        result, planned = await self._threaded(lambda: self._undo(choose, by, is_dry_run=dry_run))
        if planned:
            await index_changes(self._store, self._files, self._fulltext, planned)
        return result

    async def _threaded(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _one(self, change_id: int) -> list[RecordedChange]:
        change = find_change(self._history, change_id)
        if change.root != self._history.root:
            raise InvalidArgument(
                "change_id",
                f"Change {change_id} was made in {change.root}, where the project was at that time",
                hint="Its content before and after can still be shown.",
            )
        return self._history.batch(change.batch)[::-1] or [change]

    def _all(
        self, client: str | None, since: datetime | None, paths: Sequence[NotePath] | None
    ) -> list[RecordedChange]:
        is_there = (
            paths is not None and len(paths) == 1 and os.path.lexists(self._files.place(paths[0]))
        )
        found = [
            change
            for change in changes_of(
                self._history, paths, client=client, since=since, is_there=is_there
            )
            if change.root == self._history.root
        ]
        if paths is not None:  # a call is taken back as a whole
            whole = {
                change.change_id: change
                for batch in {change.batch for change in found}
                for change in self._history.batch(batch)
            }
            found = [whole[change_id] for change_id in sorted(whole, reverse=True)]
        if not found:
            who = f" by {client!r}" if client else ""
            when = f" since {since:%Y-%m-%d %H:%M:%S} UTC" if since else ""
            where = " of these notes" if paths is not None else ""
            raise InvalidArgument(
                "client" if client else "since",
                f"No change{where}{who}{when} is recorded",
                hint="note_history (`memoranda history list`) shows which clients changed what.",
            )
        return found

    def _undo(
        self, choose: Callable[[], list[RecordedChange]], by: Author, *, is_dry_run: bool
    ) -> tuple[UndoResult, list[PlannedChange]]:
        """What was, or would be, done, and what is to be indexed. Blocks."""
        chosen = choose()
        if _pending(chosen):
            settle(self._history, self._files)
            put_back_torn(self._history, self._files)
            chosen = choose()
        if (pending := _pending(chosen)) is not None:
            raise NotReady(
                f"Change {pending.change_id} of {pending.path} is still under way",
                hint="Repeat the call in a moment.",
            )
        for last in (*[False] * (_TRIES - 1), True):
            reversal = Reversal(_Looks(self._files), _Records(self._history, chosen))
            for _, call in groupby(chosen, key=lambda change: change.batch):
                reversal.take_back(list(call))
            reversal.require_complete()
            planned = reversal.planned()
            result = UndoResult(tuple(chosen), reversal.files(), is_dry_run, None)
            if is_dry_run or not planned:
                return result, []
            try:
                applied = self._changes.apply(planned, by)
            except (Conflict, NoteExists, NoteNotFound):
                if last:  # else somebody saved just now: again, on the newer bytes
                    raise
                continue
            return replace(result, change_id=applied.change_id), planned
        raise AssertionError("unreachable")


def _require_sense(
    change_id: int | None, client: str | None, since: datetime | None, path: str | None
) -> None:
    if change_id is not None and (client is not None or since is not None or path is not None):
        raise InvalidArgument(
            "change_id",
            "change_id names one change: client, since and path do not go with it",
            hint="Give change_id alone, or client and since without it.",
        )
    if client == "":
        raise InvalidArgument(
            "client", "The name of the client is empty", hint="note_history shows the names."
        )
    if change_id is None and client is None and since is None:
        raise InvalidArgument(
            "change_id",
            "Say what to take back: one change (change_id), or all of a client or since a time",
            hint="note_history shows the changes with their ids, clients and times.",
        )


def _pending(changes: Sequence[RecordedChange]) -> RecordedChange | None:
    return next((one for one in changes if one.state is ChangeState.PENDING), None)


class _Looks:
    """The folder as `Reversal` sees it."""

    def __init__(self, files: FileService) -> None:
        self._files = files
        self.current = files.current

    def has(self, path: str) -> bool:
        return self._files.exists(NotePath(path))

    def is_one_file(self, one: str, other: str) -> bool:
        try:
            return self._files.place(one).samefile(self._files.place(other))
        except OSError:
            return False


class _Records:
    """The history as `Reversal` asks it: a path is looked up once."""

    def __init__(self, history: HistoryStore, chosen: Sequence[RecordedChange]) -> None:
        self._history = history
        self._chosen = {change.change_id for change in chosen}
        self._oldest = min(self._chosen)
        self._all: dict[str, list[RecordedChange]] = {}

    def content(self, change: RecordedChange, digest: str) -> bytes:
        return content(self._history, change, digest)

    def later(self, path: str, change_id: int) -> Sequence[RecordedChange]:
        found: dict[int, RecordedChange] = {}
        followed: set[int] = set()
        waiting = [(path, change_id)]
        while waiting:
            place, after = waiting.pop()
            self._look_up(place)
            for each in self._all[place]:
                if each.change_id <= after:
                    continue
                if self._stays(each):
                    found[each.change_id] = each
                if each.moved_from == place and each.change_id not in followed:
                    followed.add(each.change_id)
                    waiting.append((str(each.path), each.change_id))
        return [found[number] for number in sorted(found)]

    def was_older(self, change: RecordedChange, digest: str) -> bool:
        older = changes_of(
            self._history, (change.path,), before_id=change.change_id + 1, is_there=True
        )
        return any(digest == each.before for each in older)

    def departure(self, path: str, change: RecordedChange) -> RecordedChange | None:
        self._look_up(path)
        gone: RecordedChange | None = None  # since this deletion
        for each in _after(self._all[path], change.change_id):
            if each.batch == change.batch:
                continue
            if gone is not None:
                if each.kind is not ChangeKind.CREATED or each.after != gone.before:
                    break
                gone = None  # it came back
            elif each.kind is ChangeKind.DELETED:
                gone = each
            elif self._stays(each) and (is_arrival(each, path) or each.moved_from == path):
                return each
            elif each.moved_from == path:
                back = self._return(each, path)
                return None if back is None else self.departure(path, back)
        return gone if gone is not None and self._stays(gone) else None

    def _stays(self, change: RecordedChange) -> bool:
        return change.change_id not in self._chosen

    def _return(self, move: RecordedChange, path: str) -> RecordedChange | None:
        """The later move, one that stays, which brought a file back that a move took away from there."""
        place, last = str(move.path), move
        while place != path:
            left = self.departure(place, last)
            if left is None or left.moved_from != place:
                return None
            place, last = str(left.path), left
        return last

    def _look_up(self, path: str) -> None:
        if path in self._all:
            return
        found: list[RecordedChange] = []
        for change in all_changes(self._history, paths=(NotePath(path),)):
            if change.change_id < self._oldest:
                break
            if change.root == self._history.root:
                found.append(change)
        # of one call what leaves the place comes first
        self._all[path] = sorted(found, key=lambda one: (one.batch, is_arrival(one, path)))


def _after(changes: Sequence[RecordedChange], change_id: int) -> Sequence[RecordedChange]:
    return changes[bisect_right(changes, change_id, key=lambda change: change.change_id) :]

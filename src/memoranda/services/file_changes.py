"""Changing several files in one piece: all of it or nothing, and never without a way back.

The history holds everything before the first file changes. When something goes wrong in the middle, what
was done is put back, the last first; what a killed process leaves is put back by the next tidy, which finds
the batch pending. All methods are synchronous and touch the disk.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from loguru import logger

from memoranda.errors import (
    Conflict,
    FileProblem,
    InvalidArgument,
    MemorandaError,
    NoteExists,
    NoteNotFound,
)
from memoranda.files.atomic import (
    give_free_name,
    make_folders,
    remove_folders,
    sync_folder,
    temporary_name,
)
from memoranda.files.file_service import FileService, checksum
from memoranda.files.locks import lock_key
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.file_change import NoteChange, OtherFileMove, PlannedChange
from memoranda.model.history import Author
from memoranda.model.sync import FileState


@dataclass(frozen=True, slots=True)
class AppliedChanges:
    """What became of the files.

    Attributes:
        change_id: the batch in the history.
        states: of the notes that are there now, by path.
    """

    change_id: int
    states: Mapping[NotePath, FileState]


class FileChanges:
    """Changes the files of one project, and remembers what it did.

    Args:
        files: its files.
        history: where it is remembered.
        prepare: called with all places of a change before their locks are taken.
        is_tidy: remove the folders too that deletions leave empty.
    """

    def __init__(
        self,
        files: FileService,
        history: HistoryStore,
        *,
        prepare: Callable[[Collection[str]], None] = lambda _: None,
        is_tidy: bool = False,
    ) -> None:
        self._files = files
        self._history = history
        self._prepare = prepare
        self._is_tidy = is_tidy

    @property
    def history(self) -> HistoryStore:
        """Where it is remembered."""
        return self._history

    def apply(self, changes: Sequence[PlannedChange], by: Author) -> AppliedChanges:
        """Carry out changes: first deletions, then moves, then new bytes.

        A place that one change leaves may be taken by another, so that files can swap places. Folders
        are made where they are missing, and those that a move leaves empty are removed.

        Args:
            changes: at least one; no path is the new or the old place of two of them, and each changes
                something.
            by: who asks for them.

        Raises:
            Conflict: a file has other bytes than expected.
            NoteExists: a place is taken.
            NoteNotFound: a file is not there.
            InvalidArgument, OutsideProject, ReadOnly, DiskFull, FileProblem, NotReady: also then nothing
                is changed, or all was put back.
        """
        _check_plan(changes)
        places = _places(changes)
        self._prepare(places)
        with self._files.locked_all(places):
            self._require_as_expected(changes)
            with self._history.recording_all(changes, by=by) as batch:
                work = _Work(self._files, is_tidy=self._is_tidy)
                try:
                    work.carry_out(list(zip(changes, batch.tokens, strict=True)))
                except BaseException:
                    batch.is_torn = not work.put_back()
                    raise
                work.finish()
            return AppliedChanges(batch.change_id, self._states(changes))

    def _require_as_expected(self, changes: Sequence[PlannedChange]) -> None:
        left = {change.moved_from for change in changes if change.moved_from is not None}
        left |= {
            change.path
            for change in changes
            if isinstance(change, NoteChange) and change.after is None
        }
        for change in changes:
            if isinstance(change, NoteChange):
                self._require_bytes(change)
            elif not os.path.lexists(self._files.place(change.moved_from)):
                raise NoteNotFound(change.moved_from)
            if _is_new_place(change) and change.path not in left:
                self._require_free(change)

    def _require_bytes(self, change: NoteChange) -> None:
        if change.before is None:
            return
        path = change.moved_from or change.path
        now, _ = self._files.read(path)
        if now != change.before:
            raise Conflict(path, checksum(now))

    def _require_free(self, change: PlannedChange) -> None:
        place = _place(self._files, change)
        if not os.path.lexists(place):
            return
        old = None if change.moved_from is None else self._files.place(change.moved_from)
        if old is None or not is_respelling(old, place):
            raise NoteExists(change.path)

    def _states(self, changes: Sequence[PlannedChange]) -> dict[NotePath, FileState]:
        states: dict[NotePath, FileState] = {}
        for change in changes:
            if isinstance(change, NoteChange) and change.after is not None:
                with contextlib.suppress(MemorandaError):  # gone again: the index finds that out
                    if (state := self._files.state(change.path)) is not None:
                        states[change.path] = state
        return states


class _Work:
    """What was done so far, with how to put each step back."""

    def __init__(self, files: FileService, *, is_tidy: bool) -> None:
        self._files = files
        self._is_tidy = is_tidy
        self._undo: list[Callable[[], object]] = []
        self._made: list[Path] = []
        self._parted: list[Path] = []
        self._left: set[Path] = set()
        self._renamed_in: set[Path] = set()

    def carry_out(self, changes: Sequence[tuple[PlannedChange, str]]) -> None:
        """Do it all. What it raises leaves everything done so far to `put_back`."""
        for change, token in changes:
            if isinstance(change, NoteChange) and change.after is None:
                self._part(change.path, token)
        self._move([(change, token) for change, token in changes if change.moved_from is not None])
        for change, token in changes:
            if isinstance(change, NoteChange) and change.after is not None:
                self._write(change, change.after, token)
        for folder in self._renamed_in:
            sync_folder(folder)

    def put_back(self) -> bool:
        """Undo every step, the last first; returns whether all of them could be."""
        is_whole = True
        for step in reversed(self._undo):
            try:
                step()
            except (MemorandaError, OSError) as error:
                is_whole = False
                logger.error("A change that failed in its middle is not wholly put back: {}", error)
        remove_folders(self._made)
        return is_whole

    def finish(self) -> None:
        """Remove what was set aside, and the folders that are left empty."""
        for temp in self._parted:
            with contextlib.suppress(OSError):
                temp.unlink()
        for folder in sorted(self._left, key=lambda one: len(one.parts), reverse=True):
            self._remove_empty(folder)

    def _part(self, path: NotePath, token: str) -> None:
        """Take a file away, to be removed when all else is done."""
        place = self._files.note_place(path)
        temp = place.with_name(temporary_name(token))
        self._rename(path, place, temp)
        self._parted.append(temp)
        if self._is_tidy:
            self._left.add(place.parent)

    def _move(self, moves: Sequence[tuple[PlannedChange, str]]) -> None:
        """Move files; where places change hands in a circle, one of them steps aside first."""
        waiting = [(change, self._old_place(change), token) for change, token in moves]
        while waiting:
            held = {old for _, old, _ in waiting}
            free = [
                one
                for one in waiting
                if (new := _place(self._files, one[0])) == one[1] or new not in held
            ]
            for change, old, _ in free:
                self._make_room(change)
                self._rename(change.path, old, _place(self._files, change))
                if change.moved_from is not None:
                    self._left.add(self._old_place(change).parent)
            if free:
                done = set(map(id, free))
                waiting = [one for one in waiting if id(one) not in done]
                continue
            change, old, token = waiting[0]
            aside = old.with_name(temporary_name(token))
            self._rename(change.path, old, aside)
            waiting[0] = (change, aside, token)

    def _old_place(self, change: PlannedChange) -> Path:
        return self._files.place(change.moved_from or change.path)

    def _make_room(self, change: PlannedChange) -> None:
        try:
            make_folders(_place(self._files, change).parent, self._made)
        except OSError as error:
            raise self._files.translated(change.path, error) from error

    def _rename(self, path: str, old: Path, new: Path) -> None:
        """Give a file another name that is free."""
        try:
            renamed(old, new)
        except FileExistsError as error:
            raise NoteExists(path) from error
        except OSError as error:
            raise self._files.translated(path, error) from error
        self._undo.append(partial(_rename_back, new, old))
        self._renamed_in |= {old.parent, new.parent}

    def _write(self, change: NoteChange, after: bytes, token: str) -> None:
        path = change.path
        if change.before is None:
            self._make_room(change)
            self._files.create(path, after, token=token)
            self._undo.append(partial(self._files.delete, path, expected_checksum=checksum(after)))
        elif after != change.before:
            self._files.replace(path, after, expected_checksum=checksum(change.before), token=token)
            self._undo.append(
                partial(self._files.replace, path, change.before, expected_checksum=checksum(after))
            )

    def _remove_empty(self, folder: Path) -> None:
        """Remove a folder and those above it that are empty, up to the project's own."""
        root = Path(os.path.realpath(self._files.root))
        while folder != root and root in folder.parents:
            try:
                folder.rmdir()
            except OSError:  # not empty, or not ours to remove
                return
            folder = folder.parent


def _check_plan(changes: Sequence[PlannedChange]) -> None:
    if not changes:
        raise ValueError("nothing is to be changed")
    places = [change.path for change in changes]
    left = [change.moved_from for change in changes if change.moved_from is not None]
    if len(set(places)) < len(places) or len(set(left)) < len(left):
        raise ValueError("two changes of one plan have one place")
    for change in changes:
        if isinstance(change, NoteChange):
            is_move = change.moved_from is not None
            if is_move and (change.before is None or change.after is None):
                raise ValueError("a note that moves has bytes before and after")
            if not is_move and change.before == change.after:
                raise ValueError("a change that changes nothing is not recorded")
        if change.moved_from == change.path:
            raise InvalidArgument("destination", f"{change.path} is there already")


def _places(changes: Sequence[PlannedChange]) -> set[str]:
    places: set[str] = {change.path for change in changes}
    return places | {change.moved_from for change in changes if change.moved_from is not None}


def _place(files: FileService, change: PlannedChange) -> Path:
    return (
        files.place(change.path)
        if isinstance(change, OtherFileMove)
        else files.note_place(change.path)
    )


def _is_new_place(change: PlannedChange) -> bool:
    return change.moved_from is not None or change.before is None


def is_respelling(old: Path, new: Path) -> bool:
    """Whether both are one file, on a file system that does not tell these spellings apart."""
    try:
        return old.parent == new.parent and (
            lock_key(old.name) == lock_key(new.name) and old.samefile(new)
        )
    except OSError:
        return False


def renamed(old: Path, new: Path) -> None:
    """Rename that never replaces. Raises OSError, and FileExistsError when the name is taken."""
    if is_respelling(old, new):
        old.rename(new)
    elif old.is_symlink() or not old.is_file():  # no hard links of these
        if os.path.lexists(new):
            raise FileExistsError(new)
        old.rename(new)
    else:
        try:
            give_free_name(old, new)
        except FileExistsError:
            raise
        except OSError:
            with contextlib.suppress(
                OSError
            ):  # it has both names when the old one could not be removed
                if old.samefile(new):
                    new.unlink()
            raise


def _rename_back(now: Path, old: Path) -> None:
    if not old.parent.is_dir():
        old.parent.mkdir(parents=True, exist_ok=True)
    try:
        renamed(now, old)
    except FileExistsError as error:
        raise FileProblem(old.name, f"{old.name} is there again") from error

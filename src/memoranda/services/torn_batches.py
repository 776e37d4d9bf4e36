"""Putting back what a process left half done that died in the middle of changing several files.

A call that changes several files happens as a whole or not at all. Its changes are in the history before
the first file is touched, with all bytes, and stay pending until the last one is done. So whoever finds
them pending, with nobody holding their files, can tell by the files which of them happened. If all did, or
none, the history is brought in line. Else those that did are taken back, as one change more that the history
shows; only then are they marked, so that a second death in the middle is repaired the same way.

A file that somebody has changed since is left as it is, and its change is marked as unsure; but one that was
moved goes back with what it has now.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass, replace
from enum import Enum, auto
from importlib.metadata import version
from pathlib import Path
from typing import assert_never

from loguru import logger

from memoranda.errors import Conflict, MemorandaError, NoteExists, NoteNotFound, NotReady
from memoranda.files.atomic import temporary_name
from memoranda.files.file_service import FileService, checksum
from memoranda.history.changes import PendingChange
from memoranda.history.settle import is_there
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.file_change import NoteChange, OtherFileMove, PlannedChange
from memoranda.model.history import Author, ChangeKind, ChangeState, RecordedChange
from memoranda.services.file_changes import FileChanges, is_respelling, renamed
from memoranda.services.recorded import content

_TRIES = 3


class _Fate(Enum):
    """What became of one change."""

    DONE = auto()
    HALF_DONE = auto()
    """Its file was moved, and does not have the bytes it was to get."""
    NOT_DONE = auto()
    ASIDE = auto()
    """Its file has the name of a temporary file: on its way out, or making room in a circle of moves."""
    OTHER = auto()
    """The file is another one by now, and nobody can tell."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A change of a batch as the files show it. `now`: the bytes at its path, None of a file that is no note."""

    change: RecordedChange
    token: str
    fate: _Fate
    now: bytes | None = None


def put_back_before(history: HistoryStore, files: FileService, paths: Collection[str]) -> None:
    """Settle the pending calls that concern files which are about to change, and that nobody works on.

    One query when there are none. Afterwards the bytes and places of these files may be others.

    Raises: as `put_back_torn`.
    """
    if calls := history.cut_off(paths):
        put_back_torn(history, files, calls)


def put_back_torn(
    history: HistoryStore, files: FileService, calls: Collection[int] | None = None
) -> int:
    """Settle every pending call that changed several files, or moved one. Touches disk and history.

    With `calls` only these (`RecordedChange.batch`). A call whose files somebody holds is left to the next time, since it may still be under way; so are all
    of them while the project's folder is missing or empty.

    Returns:
        How many calls were settled.

    Raises:
        FileProblem: the history cannot be used.
    """
    batches: dict[int, list[PendingChange]] = {}
    for each in history.pending():
        is_call = each.is_in_batch or each.change.kind is ChangeKind.MOVED
        if is_call and (calls is None or each.change.batch in calls):
            batches.setdefault(each.change.batch, []).append(each)
    if not batches or not is_there(history.folder):
        return 0
    settled = 0
    for batch in sorted(batches, reverse=True):  # a repair that was cut off itself comes first
        try:
            _Torn(history, files, batches[batch]).settle()
            settled += 1
        except NotReady as error:
            logger.debug("Changes {} and on cannot be settled yet: {}", batch, error)
        except (MemorandaError, OSError) as error:
            logger.warning("Changes {} and on, cut off in their middle, stay so: {}", batch, error)
    return settled


class _Torn:
    """One call, whose changes are pending."""

    def __init__(
        self, history: HistoryStore, files: FileService, pending: Sequence[PendingChange]
    ) -> None:
        self._history = history
        self._files = files
        self._pending = pending
        self._changes = FileChanges(files, history)
        changes = [each.change for each in pending]
        moved = {change.moved_from for change in changes if change.moved_from is not None}
        self._places = {change.path for change in changes} | moved
        self._taken = {change.path for change in changes if change.kind in _ARRIVALS}
        self._left = moved | {one.path for one in changes if one.kind is ChangeKind.DELETED}

    def settle(self) -> None:
        for last in (*[False] * (_TRIES - 1), True):
            with self._files.locked_all(self._places, timeout_s=0):
                found = [self._look(each) for each in self._pending]
                if self._is_over(found):
                    return
            try:  # takes the locks itself; nobody goes on with a call whose process has died
                if plan := [self._reverse(one) for one in found if one.fate in _HAPPENED]:
                    self._changes.apply(plan, Author("memoranda", version("memoranda"), "tidy"))
                trouble = None
            except (Conflict, NoteExists, NoteNotFound) as error:
                if not last:
                    continue
                trouble = error
            with self._files.locked_all(self._places, timeout_s=0):
                self._close([self._brought_back(one) for one in found])
            _log(found, trouble)
            return

    def _is_over(self, found: Sequence[_Found]) -> bool:
        """Whether all happened or none, which only needs to be written down."""
        is_going = [
            one.fate is _Fate.ASIDE and one.change.kind is ChangeKind.DELETED for one in found
        ]
        if all(one.fate is _Fate.DONE or going for one, going in zip(found, is_going, strict=True)):
            self._close([replace(one, fate=_Fate.DONE) for one in found])
            return True
        if all(one.fate is _Fate.NOT_DONE for one in found):
            self._close(found)
            return True
        return False

    def _close(self, found: Sequence[_Found]) -> None:
        """Write down what became of each change, and remove what is left of its temporary file."""
        for one in found:
            if one.fate is not _Fate.ASIDE:
                self._remove_leftovers(one)
        states = {
            _Fate.DONE: ChangeState.DONE,
            _Fate.HALF_DONE: ChangeState.DONE,
            _Fate.NOT_DONE: None,
            _Fate.ASIDE: ChangeState.UNSURE,
            _Fate.OTHER: ChangeState.UNSURE,
        }
        for fate, state in states.items():
            ids = [one.change.change_id for one in found if one.fate is fate]
            if ids:
                self._history.end_changes(ids, state)

    def _remove_leftovers(self, one: _Found) -> None:
        """Bytes that were to be written or were deleted are in the history; another file's are not."""
        if one.change.before is not None or one.change.after is not None:
            for path in {one.change.path, one.change.moved_from or one.change.path}:
                self._files.remove_leftover(path, one.token)

    def _brought_back(self, one: _Found) -> _Found:
        """A file that had stepped aside gets its name back, if nobody has taken it."""
        if one.fate is not _Fate.ASIDE:
            return one
        old = self._files.place(one.change.moved_from or one.change.path)
        if os.path.lexists(old):
            is_deleted = one.change.kind is ChangeKind.DELETED
            return replace(one, fate=_Fate.DONE if is_deleted else _Fate.ASIDE)
        old.parent.mkdir(parents=True, exist_ok=True)
        try:
            renamed(self._aside(one.change, one.token), old)
        except FileExistsError:  # taken just now
            return one
        return replace(one, fate=_Fate.NOT_DONE)

    def _look(self, pending: PendingChange) -> _Found:
        change, token = pending.change, pending.token
        is_note = change.before is not None or change.after is not None
        now = self._files.current(change.path) if is_note else None
        digest = None if now is None else checksum(now)
        match change.kind:
            case ChangeKind.CREATED:
                fate = self._fate_of_new(change, digest)
            case ChangeKind.UPDATED:
                fate = {change.after: _Fate.DONE, change.before: _Fate.NOT_DONE}.get(
                    digest, _Fate.OTHER
                )
            case ChangeKind.DELETED:
                fate = self._fate_of_deleted(change, token, digest)
            case ChangeKind.MOVED:
                fate = self._fate_of_moved(change, token, digest)
            case unknown:
                assert_never(unknown)
        return _Found(change, token, fate, now)

    def _fate_of_new(self, change: RecordedChange, digest: str | None) -> _Fate:
        if digest == change.after:
            return _Fate.DONE
        return _Fate.NOT_DONE if digest is None or change.path in self._left else _Fate.OTHER

    def _fate_of_deleted(self, change: RecordedChange, token: str, digest: str | None) -> _Fate:
        place, aside = self._files.place(change.path), self._aside(change, token)
        if os.path.lexists(aside):
            return _Fate.NOT_DONE if _is_one_file(place, aside) else _Fate.ASIDE
        if digest == change.before:
            return _Fate.NOT_DONE
        return _Fate.DONE if digest is None or change.path in self._taken else _Fate.OTHER

    def _fate_of_moved(self, change: RecordedChange, token: str, digest: str | None) -> _Fate:
        old = change.moved_from or change.path
        here, there = self._files.place(change.path), self._files.place(old)
        if _are_two_names(here, there):  # the second was given, and the first was still to go
            here.unlink()
            return _Fate.NOT_DONE
        if is_respelling(there, here):  # one name, however it is spelled
            if not _is_listed(here):
                return _Fate.NOT_DONE
            return _Fate.DONE if digest == change.after else _Fate.HALF_DONE
        if change.before is None:
            is_here, was_there = os.path.lexists(here), os.path.lexists(there)
            if is_here and was_there:  # one of them belongs to another move of this call
                is_here, was_there = old in self._taken, change.path in self._left
        else:
            before = self._files.current(NotePath(old))
            is_here = digest in (change.before, change.after)
            was_there = before is not None and checksum(before) == change.before
            if not is_here and not was_there:  # moved, and changed since
                is_here = digest is not None and change.path not in self._left
                is_here = is_here and (old in self._taken or not os.path.lexists(there))
        if is_here and not was_there:
            return _Fate.DONE if digest == change.after else _Fate.HALF_DONE
        if was_there and not is_here:
            return _Fate.NOT_DONE
        is_aside = not is_here and os.path.lexists(self._aside(change, token))
        return _Fate.ASIDE if is_aside else _Fate.OTHER

    def _aside(self, change: RecordedChange, token: str) -> Path:
        place = self._files.place(change.moved_from or change.path)
        return place.with_name(temporary_name(token))

    def _reverse(self, one: _Found) -> PlannedChange:
        change = one.change
        if change.moved_from is not None and one.now is None:
            return OtherFileMove(change.moved_from, change.path)
        before = None if change.before is None else content(self._history, change, change.before)
        if change.moved_from is not None:
            is_theirs = checksum(one.now or b"") not in (change.before, change.after)
            return NoteChange(
                change.moved_from, one.now, one.now if is_theirs else before, change.path
            )
        return NoteChange(change.path, one.now, before)


_HAPPENED: Set[_Fate] = frozenset({_Fate.DONE, _Fate.HALF_DONE})
_ARRIVALS: Set[ChangeKind] = frozenset({ChangeKind.CREATED, ChangeKind.MOVED})


def _log(found: Sequence[_Found], trouble: MemorandaError | None) -> None:
    happened = sum(one.fate in _HAPPENED for one in found)
    client, batch = found[0].change.author.client or "a tool", found[0].change.batch
    said = (
        f"A call of {client} was cut off in its middle: from change {batch} on {happened} of its "
        f"{len(found)} changes had happened"
    )
    if trouble is None:
        logger.warning("{} and were put back", said)
    else:
        logger.error("{} and stay, since they cannot be put back: {}", said, trouble)


def _are_two_names(one: Path, other: Path) -> bool:
    """Whether one file has both names. Two spellings of the only name that it has are not two."""
    try:
        if not os.path.samestat(one.lstat(), other.lstat()):
            return False
        if one.name == other.name:
            return not one.parent.samefile(other.parent)
        return _is_listed(one) and _is_listed(other)
    except OSError:
        return False


def _is_listed(place: Path) -> bool:
    """Whether its folder has a file that is spelled exactly so."""
    with os.scandir(place.parent) as entries:
        return any(entry.name == place.name for entry in entries)


def _is_one_file(one: Path, other: Path) -> bool:
    try:
        return one != other and one.samefile(other)
    except OSError:
        return False

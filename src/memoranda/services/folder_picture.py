"""Files as they are and as they would be, and what leads from the one to the other.

A picture is changed in the mind: a file is taken from a place and put to another, with other bytes. What it
was like on the disk is remembered when a place is first looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from memoranda.errors import MemorandaError, UndoConflict
from memoranda.files.file_service import checksum
from memoranda.model.address import NotePath
from memoranda.model.file_change import NoteChange, OtherFileMove, PlannedChange
from memoranda.model.undoing import UndoAction, UndoneFile
from memoranda.services.recorded import bytes_diff


class Folder(Protocol):
    """The files of a project, as far as they are looked at."""

    def current(self, path: NotePath) -> bytes | None:
        """The bytes of a note, None when there is none."""
        ...

    def has(self, path: str) -> bool:
        """Whether there is a file, of any kind."""
        ...

    def is_one_file(self, one: str, other: str) -> bool:
        """Whether two spellings of a path that differ in case or Unicode form are one file here."""
        ...


@dataclass(slots=True)
class PicturedFile:
    """A file of the picture.

    Attributes:
        origin: where it is on the disk, None for one that is made again.
        data: its bytes, None of a file that is no note.
        is_merged: later changes were kept.
    """

    origin: str | None
    data: bytes | None
    is_merged: bool = False
    digest: str | None = field(init=False)

    def __post_init__(self) -> None:
        self.digest = None if self.data is None else checksum(self.data)


class FolderPicture:
    """The files of some places. Not thread-safe.

    Attributes:
        to_name: places that are named in `files` even if there is no file, and was none.
    """

    def __init__(self, folder: Folder) -> None:
        self.to_name: set[str] = set()
        self._folder = folder
        self._first: dict[str, PicturedFile | None] = {}
        self._now: dict[str, PicturedFile | None] = {}

    def at(self, path: str, *, is_note: bool) -> PicturedFile | None:
        """The file at a place, as it would be; looked at on the disk the first time.

        Raises:
            UndoConflict: it was looked at as a file that is no note, and its bytes cannot be read.
        """
        if path not in self._now:
            self._first[path] = self._now[path] = self._seen(path, is_note=is_note)
        elif is_note:
            self._read(path)
        return self._now[path]

    def _read(self, path: str) -> None:
        """Look at the bytes of a file that was moved as one that is no note, and is a note now."""
        file = self._now[path]
        if file is None or file.data is not None or file.origin is None:
            return
        try:
            data = self._folder.current(NotePath(file.origin))
        except MemorandaError as error:
            raise UndoConflict(path, f"its bytes cannot be read: {error.message}") from error
        if data is None:
            raise UndoConflict(path, "it is gone")
        self._first[file.origin] = PicturedFile(file.origin, data)
        self._now[path] = PicturedFile(file.origin, data, file.is_merged)

    def _seen(self, path: str, *, is_note: bool) -> PicturedFile | None:
        if not is_note:
            return PicturedFile(path, None) if self._folder.has(path) else None
        data = self._folder.current(NotePath(path))
        return None if data is None else PicturedFile(path, data)

    def put(self, path: str, file: PicturedFile | None) -> None:
        """Let that file be at a place that was looked at, or none."""
        self._now[path] = file

    def tell_apart(self, path: str, respelled: str) -> None:
        """Let there be no file at a place that is another spelling of `path`, if the disk sees only one file."""
        if path.casefold() == respelled.casefold() and self._folder.is_one_file(path, respelled):
            self._now[respelled] = self._first[respelled] = None

    def planned(self) -> list[PlannedChange]:
        """What leads from the files as they are to the picture.

        Raises:
            UndoConflict: a file that is no note would have to take the place of another.
        """
        moves = self._moves()
        left = set(moves.values())
        plan: list[PlannedChange] = [self._move(path, old) for path, old in moves.items()]
        for path, first, now in self._places(moves):
            before = None if first is None or path in left else first.data
            after = None if now is None else now.data
            if before != after:
                plan.append(NoteChange(NotePath(path), before, after))
        return plan

    def _move(self, path: str, old: str) -> PlannedChange:
        first, now = self._first[old], self._now[path]
        if first is None or now is None or first.data is None or now.data is None:
            return OtherFileMove(path, old)
        return NoteChange(NotePath(path), first.data, now.data, NotePath(old))

    def _moves(self) -> dict[str, str]:
        """Old places by new ones: of the files that can move, the others are written and deleted.

        A file moves where its new place is free, or left by another one that moves.
        """
        moves = {
            path: now.origin
            for path, now in self._now.items()
            if now is not None and now.origin is not None and now.origin != path
        }
        while True:
            left = set(moves.values())
            stuck = [
                path for path in moves if self._first.get(path) is not None and path not in left
            ]
            if not stuck:
                return moves
            for path in stuck:
                now = self._now[path]
                if now is not None and now.data is None:
                    raise UndoConflict(path, "another file is there now")
                del moves[path]

    def _places(
        self, moves: dict[str, str]
    ) -> Iterable[tuple[str, PicturedFile | None, PicturedFile | None]]:
        """Path, file on the disk and file of the picture, of all places where no file moves to or from.

        A place that a file leaves and another, which does not move, takes is one of them.
        """
        left = set(moves.values())
        for path, now in self._now.items():
            if path in moves or (path in left and now is None):
                continue
            yield path, self._first[path], now

    def files(self) -> tuple[UndoneFile, ...]:
        """What becomes of every file concerned, by path."""
        moves = self._moves()
        left = set(moves.values())
        done = [self._moved(path, old) for path, old in moves.items()]
        for path, first, now in self._places(moves):
            before = None if path in left else first
            if before is None and now is None and path not in self.to_name:
                continue
            done.append(_undone(path, before, now))
        return tuple(sorted(done, key=lambda one: one.path))

    def _moved(self, path: str, old: str) -> UndoneFile:
        first, now = self._first[old], self._now[path]
        data = None if now is None else now.data
        return UndoneFile(
            path,
            UndoAction.MOVED,
            old,
            is_merged=now is not None and now.is_merged,
            diff=bytes_diff(first.data if first else None, data, path),
        )


def _undone(path: str, first: PicturedFile | None, now: PicturedFile | None) -> UndoneFile:
    before, after = (None if one is None else one.data for one in (first, now))
    if before == after:
        return UndoneFile(path, UndoAction.UNCHANGED)
    action = UndoAction.REWRITTEN
    if before is None or after is None:
        action = UndoAction.CREATED if before is None else UndoAction.DELETED
    is_merged = now is not None and now.is_merged
    return UndoneFile(path, action, is_merged=is_merged, diff=bytes_diff(before, after, path))

"""What taking changes back did, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memoranda.model.address import NotePath
from memoranda.model.history import RecordedChange


class UndoAction(StrEnum):
    """What became of a file."""

    REWRITTEN = "rewritten"
    CREATED = "created"
    DELETED = "deleted"
    MOVED = "moved"
    UNCHANGED = "unchanged"
    """It is as it was before the change already."""


@dataclass(frozen=True, slots=True)
class UndoneFile:
    """One file after the undo; of a dry run, as it would be.

    Attributes:
        path: where it is; of a deletion, where it was.
        moved_from: where it was before the undo, when that is another place.
        is_merged: later changes of the note were kept.
        diff: unified, not bounded; "" when no text differs or the file is no note.
    """

    path: str
    action: UndoAction
    moved_from: str | None = None
    is_merged: bool = False
    diff: str = ""


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What was taken back.

    Attributes:
        changes: newest first.
        files: by path.
        change_id: the batch in the history that holds the undo, which can itself be undone; None when
            no file differed, and of a dry run.
    """

    changes: tuple[RecordedChange, ...]
    files: tuple[UndoneFile, ...]
    is_dry_run: bool
    change_id: int | None


@dataclass(frozen=True, slots=True)
class ShownChange:
    """One change with its difference.

    Attributes:
        diff: unified, not bounded; "" when no text differs or a content is lost.
        notice: what stands in the way of a difference, "" for nothing.
        is_changed_since: whether the note has other bytes now than after the change.
        first: what to do before this change can be taken back, "" when nothing is in the way of that.
    """

    change: RecordedChange
    diff: str
    notice: str
    is_changed_since: bool
    first: str = ""


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Changes, newest first.

    Attributes:
        next_before_id: to go on with `before_id`; None at the end.
    """

    changes: tuple[RecordedChange, ...]
    path: NotePath | None
    next_before_id: int | None

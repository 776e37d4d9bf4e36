"""What tools changed, as values (architecture row 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memoranda.model.address import NotePath


@dataclass(frozen=True, slots=True)
class Author:
    """Who asks for a change.

    Attributes:
        client: the client's name as it says itself in MCP `initialize`; "memoranda" for the command line.
        version: of the client.
        tool: the tool or command, for example "edit_note".
    """

    client: str = ""
    version: str = ""
    tool: str = ""


NOBODY = Author()


class ChangeKind(StrEnum):
    """What a change did to a file."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"
    MOVED = "moved"
    """It was given another place, and perhaps other bytes."""


class ChangeState(StrEnum):
    """Whether a change happened."""

    DONE = "done"
    PENDING = "pending"
    """It was begun: its process works on it, or died in its middle."""
    UNSURE = "unsure"
    """Its process died in its middle, and what the file was then nobody can tell any more."""


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """One change of one file by a tool.

    Attributes:
        change_id: ascending in time; never used again.
        at: when it began, aware UTC.
        root: the project's folder at that time.
        path: of the file, after the change.
        before: checksum of the bytes before, None when there was no file.
        after: checksum of the bytes after, None when there is no file any more.
        before_bytes, after_bytes: their sizes.
        batch: the id of the first change of the same call; several changes of one call happened all or
            not at all.
        moved_from: of a MOVED file, the path it had. A file that is no note has no checksums.
    """

    change_id: int
    at: datetime
    author: Author
    root: str
    path: NotePath
    kind: ChangeKind
    state: ChangeState
    before: str | None
    after: str | None
    before_bytes: int
    after_bytes: int
    batch: int = 0
    moved_from: NotePath | None = None


@dataclass(frozen=True, slots=True)
class HistoryLimits:
    """How much is kept; 0 means no limit."""

    days: int = 365
    megabytes: int = 500


@dataclass(frozen=True, slots=True)
class HistorySummary:
    """How much there is.

    Attributes:
        changes: how many.
        size_bytes: on disk.
        oldest: when the oldest began, aware UTC; None if there is none.
        newest: when the newest began, aware UTC.
        set_aside: absolute paths of history files that could not be used; they are kept until the user
            deletes them.
    """

    changes: int = 0
    size_bytes: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    set_aside: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge did.

    Attributes:
        changes: how many are gone.
        freed_bytes: how much smaller the file is.
        left: what there is now.
    """

    changes: int
    freed_bytes: int
    left: HistorySummary


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of the changes in whose middle a process died.

    Attributes:
        done: they happened.
        dropped: they did not happen, and are not in the history any more.
        unsure: the file has other bytes by now.
        waiting: they stay PENDING: their file is in use, cannot be read, or the folder is not there.
    """

    done: int = 0
    dropped: int = 0
    unsure: int = 0
    waiting: int = 0

"""What a scan sees and what a sync does, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memoranda.model.address import NotePath

UNSURE_NS = -1
"""A remembered `ctime_ns` that equals none of a scan: the file is read again."""

FORGOTTEN_NS = -2
"""The same, and the file is parsed again even if its bytes are as before."""


@dataclass(frozen=True, slots=True)
class FileState:
    """One file as the folder shows it. Times in nanoseconds since the epoch.

    Attributes:
        is_fresh: the file had changed so shortly before it was read that a later change could bear the
            same times; the index then remembers `UNSURE_NS`.
    """

    path: NotePath
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    is_fresh: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class KnownFile:
    """One file as the index remembers it.

    Attributes:
        missing_since: the first scan that did not find it, while its deletion is held; naive UTC.
    """

    entity_id: int
    path: NotePath
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    checksum: str
    missing_since: datetime | None = None

    def is_as_in(self, state: FileState) -> bool:
        """Whether a file in this state need not be read: it has the size, times and inode it had."""
        return (
            self.mtime_ns == state.mtime_ns
            and self.size == state.size
            and self.ctime_ns == state.ctime_ns
            and self.inode == state.inode
        )


class SkipCause(StrEnum):
    """Why something in the folder is not indexed."""

    IGNORED = "ignored"
    """A rule of an ignore file says so: what the index knows there leaves it at once."""
    UNREADABLE = "unreadable"
    """Nobody knows what is there: what the index knows there is kept."""
    RULE = "rule"
    """An ignore file that is not used, or not all of it."""
    NOTHING = "nothing"
    """A link to nothing, at this moment: what the index knows there is missing."""
    HIDDEN = "hidden"
    LINK = "link"
    NAME = "name"
    PROJECT = "project"
    KIND = "kind"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that is not indexed, and why, as a phrase ("ignored by .gitignore, line 3")."""

    path: str
    reason: str
    cause: SkipCause

    @property
    def holds_notes(self) -> bool:
        """Whether notes may hide behind it, so that those the index knows there are kept."""
        return self.cause is SkipCause.UNREADABLE

    @property
    def leaves_out(self) -> bool:
        """Whether it is a rule, so that what the index knows there leaves it at once."""
        return self.cause not in (SkipCause.UNREADABLE, SkipCause.NOTHING)


@dataclass(frozen=True, slots=True)
class RootIdentity:
    """Which folder a project's root is: another one of that name is not the same.

    Attributes:
        is_empty: nothing visible is in it (a mount point without its drive, a folder not yet synced).
    """

    device: int
    inode: int
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class Scan:
    """A folder at one moment, files sorted by path.

    Attributes:
        folders: those that were looked into, relative POSIX, "" for the root; in no order.
    """

    files: tuple[FileState, ...]
    skipped: tuple[Skipped, ...] = ()
    root: RootIdentity = RootIdentity(0, 0)
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class New:
    """A file the index does not know."""

    state: FileState


@dataclass(frozen=True, slots=True)
class Modified:
    """A known file whose bytes may have changed."""

    known: KnownFile
    state: FileState


@dataclass(frozen=True, slots=True)
class Moved:
    """A known file under a new path: the same bytes, or for certain the same note."""

    known: KnownFile
    state: FileState


@dataclass(frozen=True, slots=True)
class Deleted:
    """A known file that is gone; `is_left_out`: it is there, and a rule leaves it out from now on."""

    known: KnownFile
    is_left_out: bool = False


@dataclass(frozen=True, slots=True)
class Hidden:
    """A known file below something that cannot be read: nobody knows whether it is there."""

    known: KnownFile


@dataclass(frozen=True, slots=True)
class Returned:
    """A known file that was missing and is there again, unchanged."""

    known: KnownFile


Change = New | Modified | Moved | Deleted | Hidden | Returned


class FailureKind(StrEnum):
    """Whether a failure counts as a strike of the circuit breaker (fault) or is retried (io)."""

    FAULT = "fault"
    IO = "io"


@dataclass(frozen=True, slots=True)
class FileFailure:
    """A file that could not be indexed; data, not an exception.

    Attributes:
        checksum: of the bytes that failed, "" when they could not be read.
        count: consecutive failures of these bytes, 1 for the first.
        tripped: the circuit breaker leaves the file alone until its bytes change.
    """

    path: NotePath
    reason: str
    kind: FailureKind
    checksum: str = ""
    count: int = 1
    tripped: bool = False
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What one sync did (spec 4.2). Paths sorted.

    Attributes:
        deleted_files: notes whose files are gone.
        left_out_files: notes that left the index although their files are there: a rule says so.
        held: notes whose files are missing and that are kept for now, with `held_reason`.
        touched: files that were read and have the bytes they had.
        late_files: another writer changed their rows meanwhile, perhaps with older bytes: look again.
        folders: those that were looked into, see `Scan`.
    """

    new_files: tuple[NotePath, ...] = ()
    modified_files: tuple[NotePath, ...] = ()
    deleted_files: tuple[NotePath, ...] = ()
    left_out_files: tuple[NotePath, ...] = ()
    moved_files: tuple[tuple[NotePath, NotePath], ...] = ()
    failures: tuple[FileFailure, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    held: tuple[NotePath, ...] = ()
    held_reason: str = ""
    total_files: int = 0
    touched: int = 0
    late_files: tuple[NotePath, ...] = ()
    links_resolved: int = 0
    folders: tuple[str, ...] = ()
    duration_s: float = 0.0

    @property
    def changes(self) -> int:
        """How many files made the index change."""
        return (
            len(self.new_files)
            + len(self.modified_files)
            + len(self.deleted_files)
            + len(self.left_out_files)
            + len(self.moved_files)
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sync is: files done of files to do, after so many seconds of work on them."""

    done: int
    total: int
    elapsed_s: float = 0.0

    @property
    def files_per_s(self) -> float | None:
        """The rate so far; None before anything is done."""
        return self.done / self.elapsed_s if self.done and self.elapsed_s > 0 else None

    @property
    def left_s(self) -> float | None:
        """Seconds to the end at that rate."""
        rate = self.files_per_s
        return (self.total - self.done) / rate if rate else None


class SyncPhase(StrEnum):
    """Where the index of a project stands."""

    STARTING = "starting"
    INDEXING = "indexing"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SyncState:
    """The index of a project at one moment, for answers and for `status`.

    Attributes:
        phase: READY once a full sync ended, also while later ones run; FAILED when the last one raised.
        progress: of the running sync, None when none runs.
        last_scan: end of the last full sync of this process.
        last_error: message of the error that ended the last sync, None after a good one.
        report: of the last full sync of this process.
        held: how many notes are kept although their files are missing, with `held_reason`.
    """

    phase: SyncPhase = SyncPhase.STARTING
    progress: Progress | None = None
    last_scan: datetime | None = None
    last_error: str | None = None
    report: SyncReport | None = None
    held: int = 0
    held_reason: str = ""

    @property
    def done(self) -> int:
        """Files done in the running sync."""
        return self.progress.done if self.progress else 0

    @property
    def total(self) -> int:
        """Files to do in the running sync."""
        return self.progress.total if self.progress else 0

    @property
    def failures(self) -> tuple[FileFailure, ...]:
        """Files that could not be indexed at the last full sync."""
        return self.report.failures if self.report else ()

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What the last full sync left out, with reasons."""
        return self.report.skipped if self.report else ()

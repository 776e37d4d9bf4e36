"""What a scan sees and what a sync does, as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memoranda.model.address import NotePath


@dataclass(frozen=True, slots=True)
class FileState:
    """One file as the folder shows it, without reading it. Times in nanoseconds since the epoch."""

    path: NotePath
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class KnownFile:
    """One file as the index remembers it."""

    entity_id: int
    path: NotePath
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in the folder that is not indexed, and why ("unreadable", "outside the project", ...).

    `holds_notes` marks what may hide notes from the scan (an unreadable folder or file): the notes the
    index knows below `path` are kept, not deleted.
    """

    path: str
    reason: str
    holds_notes: bool = False


@dataclass(frozen=True, slots=True)
class Scan:
    """A whole folder at one moment, files sorted by path."""

    files: tuple[FileState, ...]
    skipped: tuple[Skipped, ...] = ()


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
    """A known file under a new path, same bytes."""

    known: KnownFile
    state: FileState


@dataclass(frozen=True, slots=True)
class Deleted:
    """A known file that is gone."""

    known: KnownFile


Change = New | Modified | Moved | Deleted


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
    """What one sync did (spec 4.2). Paths sorted; `touched` counts files whose mtime alone changed."""

    new_files: tuple[NotePath, ...] = ()
    modified_files: tuple[NotePath, ...] = ()
    deleted_files: tuple[NotePath, ...] = ()
    moved_files: tuple[tuple[NotePath, NotePath], ...] = ()
    failures: tuple[FileFailure, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    total_files: int = 0
    touched: int = 0
    links_resolved: int = 0
    duration_s: float = 0.0

    @property
    def changes(self) -> int:
        """How many files made the index change."""
        return (
            len(self.new_files)
            + len(self.modified_files)
            + len(self.deleted_files)
            + len(self.moved_files)
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sync is: files done of files to do."""

    done: int
    total: int


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
    """

    phase: SyncPhase = SyncPhase.STARTING
    progress: Progress | None = None
    last_scan: datetime | None = None
    last_error: str | None = None
    report: SyncReport | None = None

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

"""How a project is kept up to date while servers run, as values: who does it, and what it sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memoranda.model.sync import SyncState


class WatchMode(StrEnum):
    """How changes in the folder are noticed; AUTO and OFF are settings alone."""

    AUTO = "auto"
    """Events, but polling where the file system tells none (a network drive)."""
    EVENTS = "events"
    """The system says what changed."""
    POLLING = "polling"
    """The folder is scanned again and again."""
    OFF = "off"
    """Nothing is watched; a tool looks itself before it answers."""


class EventKind(StrEnum):
    """What the system says happened to a path (spec 4.1). A hint: the disk is asked."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class FileEvent:
    """One event. `path` is relative to the project's folder, POSIX, "" for the folder itself."""

    at: datetime
    kind: EventKind
    path: str


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """How a project is to be watched.

    Attributes:
        mode: as configured.
        delay_s: seconds without a change before a changed file is indexed.
        reconcile_s: seconds between two looks at the whole folder while it is watched.
    """

    mode: WatchMode = WatchMode.AUTO
    delay_s: float = 1.0
    reconcile_s: float = 300.0


@dataclass(frozen=True, slots=True)
class WatchState:
    """The watcher of a project (spec 4.1). Times are aware UTC.

    Attributes:
        mode: EVENTS, POLLING or OFF.
        reason: why it is not EVENTS, or what is not watched; "" if all is well.
        running: whether it works now.
        folders: how many folders are watched.
        error_count: how often watching or a sync that it asked for failed.
        last_error: the message of the last failure, with its time; None if none ever was.
        synced_files: files whose changes were indexed since it started.
        recent_events: the last events, at most 100, oldest first.
    """

    mode: WatchMode = WatchMode.OFF
    reason: str = ""
    running: bool = False
    start_time: datetime | None = None
    folders: int = 0
    error_count: int = 0
    last_error: str | None = None
    last_error_at: datetime | None = None
    synced_files: int = 0
    recent_events: Sequence[FileEvent] = ()


@dataclass(frozen=True, slots=True)
class LeaderState:
    """The process that watches and syncs a project, as it says of itself to the others.

    Attributes:
        pid: of the process.
        version: of Memoranda.
        index_version: what its index is made with.
        since: when it began to lead, aware UTC.
        heartbeat: its last sign of life, aware UTC.
        is_alive: whether that is recent: a process that hangs or sleeps still leads.
        is_me: whether it is this process.
        sync: where the index stands, without the report.
        watch: its watcher.
        serves: the folder and the database that it leads.
        embedding_error: why it embeds no notes, "" when it does.
        embedding_space: name of the space that it embeds notes in; "": in none, or not yet.
        host: its machine, "" when it can only be this one.
    """

    pid: int
    version: str
    index_version: int
    since: datetime
    heartbeat: datetime
    is_alive: bool
    is_me: bool
    sync: SyncState
    watch: WatchState
    serves: str = ""
    embedding_error: str = ""
    embedding_space: str = ""
    host: str = ""

    def embedding_trouble(self, space: str) -> str:
        """Why it makes no vectors in this space, "" when it does."""
        if self.embedding_error or self.embedding_space == space:
            return self.embedding_error
        how = "with another model" if self.embedding_space else "nothing so far"
        where = f" on {self.host}" if self.host else ""
        return f"process {self.pid}{where} leads the project and embeds {how}"

    @property
    def is_watching(self) -> bool:
        """Whether it is told what changes in the folder."""
        return self.watch.running and self.watch.mode is WatchMode.EVENTS

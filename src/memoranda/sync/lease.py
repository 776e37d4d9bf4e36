"""One process leads a project: it watches, syncs and checks for all of them (architecture row 12).

The lock is the system's, on a file of the project's configuration folder, held as long as the process
leads: it ends with the process, also by kill -9. What the leader says of itself to the others lies beside
it as JSON, rewritten when it changes; the file's time is the heartbeat. A leader that holds the lock and
gives no sign of life (it hangs, it is stopped) is not followed, and not replaced.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from memoranda.files.locks import give_back, take
from memoranda.model.live import EventKind, FileEvent, LeaderState, WatchMode, WatchState
from memoranda.model.sync import Progress, SyncPhase, SyncState

LOCK_FILE = "leader.lock"
STATE_FILE = "leader.json"
ALIVE_S = 20.0
"""A heartbeat that is older is no sign of life."""

_EVENTS_TOLD = 20
NOT_UNDERSTOOD = (OSError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError)


@dataclass(frozen=True, slots=True)
class Itself:
    """What the leader says of itself that does not change."""

    pid: int
    version: str
    index_version: int
    since: datetime
    serves: str
    host: str = ""


class ProjectLease(Protocol):
    """The leadership of one project, as this process sees it. For the event loop, which it never blocks.

    Production: `Lease`, among the processes of one configuration folder, and `shared_lease.SharedLease`, among
    those of one database.

    Attributes:
        serves: which folder and which database, so that nobody follows who leads another one.
    """

    serves: str

    @property
    def is_held(self) -> bool:
        """Whether this process leads."""
        ...

    def acquire(self) -> bool:
        """Lead, if nobody does; does not wait. True also when this process leads already.

        Raises:
            OSError, MemorandaError: nobody can lead.
        """
        ...

    async def answered(self, timeout_s: float, /) -> bool:
        """Wait at most so long until it is known whether `acquire` got it; whether this process leads."""
        ...

    def is_lost(self) -> bool:
        """Whether a leader has lost the leadership: another process may have it."""
        ...

    def say(
        self,
        sync: SyncState,
        watch: WatchState,
        embedding_error: str = "",
        embedding_space: str = "",
        /,
    ) -> None:
        """Tell the others how things stand, and that this process lives; for the leader alone.

        Raises:
            OSError: it cannot be told.
        """
        ...

    def hush(self) -> None:
        """Take back what was said last, which is not true any more."""
        ...

    def release(self) -> None:
        """Lead no more; idempotent."""
        ...

    def leader(self) -> LeaderState | None:
        """Who leads, as it said last; None when nobody does, or nobody understands what it says."""
        ...


class Lease:
    """The leadership of one project among the processes that share a configuration folder.

    Args:
        folder: the project's configuration folder.
        version: of Memoranda.
        index_version: what this process makes an index with.
        serves: which folder and which database, so that nobody follows who leads another one.
    """

    def __init__(self, folder: Path, version: str, index_version: int, *, serves: str = "") -> None:
        self.serves = serves
        self._folder = folder
        self._version = version
        self._index_version = index_version
        self._held: int | None = None
        self._itself: Itself | None = None
        self._said = b""
        self._written: tuple[int, int] | None = None
        self._read_at: tuple[int, int] | None = None
        self._other: LeaderState | None = None

    @property
    def is_held(self) -> bool:
        """Whether this process leads."""
        return self._held is not None

    def acquire(self) -> bool:
        """Lead, if nobody does; does not wait. True also when this process leads already.

        Raises:
            OSError: the lock file cannot be made.
            ConfigProblem: its folder cannot be made.
        """
        if self._held is not None:
            return True
        try:
            self._held = take(self._folder / LOCK_FILE, 0)
        except TimeoutError:
            return False
        now = datetime.now(UTC)  # noqa: TID251 - compared with a file's time, which is the system's
        self._itself = Itself(os.getpid(), self._version, self._index_version, now, self.serves)
        with contextlib.suppress(OSError):  # a leader that cannot speak now leads all the same
            self.say(SyncState(), WatchState())  # at once: whoever comes now need not sync as well
        return True

    async def answered(self, timeout_s: float, /) -> bool:
        """Whether this process leads: the system answers at once."""
        return self.is_held

    def is_lost(self) -> bool:
        """Whether the lock file was taken away under a leader, or another is in its place."""
        if self._held is None:
            return False
        mine = os.fstat(self._held)
        try:
            return not os.path.samestat(mine, (self._folder / LOCK_FILE).stat())
        except FileNotFoundError:
            return True
        except OSError:  # nobody can know, and nobody else can lead
            return not mine.st_nlink

    def say(
        self,
        sync: SyncState,
        watch: WatchState,
        embedding_error: str = "",
        embedding_space: str = "",
    ) -> None:
        """Tell the others how things stand, and that this process lives; for the leader alone.

        Raises:
            OSError: it cannot be written.
        """
        assert self._itself is not None  # noqa: S101  (for the leader alone)
        said = told(self._itself, sync, watch, embedding_error, embedding_space).encode()
        place = self._folder / STATE_FILE
        if said == self._said and self._is_mine():
            os.utime(place)
            return
        temp = place.with_name(f"{STATE_FILE}.{os.getpid()}.tmp")
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            with open(fd, "wb") as file:  # noqa: PTH123 - a short write is none: it raises
                file.write(said)
            temp.replace(place)
        except OSError:
            temp.unlink(missing_ok=True)  # nobody else would use its name again
            raise
        self._said, self._written = said, _which(place)

    def hush(self) -> None:
        """Take back what was said last, which is not true any more; needs no space on the disk."""
        self._written = None
        with contextlib.suppress(OSError):
            (self._folder / STATE_FILE).unlink()

    def _is_mine(self) -> bool:
        """Whether what was said last is there still, as it was written."""
        try:
            return self._written is not None and self._written == _which(self._folder / STATE_FILE)
        except OSError:
            return False

    def release(self) -> None:
        """Lead no more; idempotent."""
        if self._held is None:
            return
        if self._is_mine() or not self.is_lost():
            self.hush()
        held, self._held = self._held, None
        self._said, self._written = b"", None
        give_back(held)

    def leader(self) -> LeaderState | None:
        """Who leads, as it said last; None when nobody does, or nobody understands what it says."""
        place = self._folder / STATE_FILE
        try:
            status = place.stat()
        except OSError:
            self._other = self._read_at = None
            return None
        stamp = status.st_mtime_ns, status.st_ino
        if stamp != self._read_at:
            self._read_at = stamp
            try:
                self._other = heard(place.read_bytes(), status.st_mtime)
            except NOT_UNDERSTOOD:  # cut, or of another version
                self._other = None
        if self._other is None:
            return None
        is_me = self._held is not None
        is_recent = abs(time.time() - status.st_mtime) < ALIVE_S  # the clock may be set back
        is_alive = is_me or (is_recent and _is_there(self._other.pid))
        return replace(self._other, is_alive=is_alive, is_me=is_me)


def told(
    itself: Itself,
    sync: SyncState,
    watch: WatchState,
    embedding_error: str,
    embedding_space: str,
) -> str:
    """What a leader says, as JSON."""
    progress = sync.progress
    words = {
        "pid": itself.pid,
        "version": itself.version,
        "index_version": itself.index_version,
        "since": itself.since.isoformat(),
        "serves": itself.serves,
        "host": itself.host,
        "embedding_error": embedding_error,
        "embedding_space": embedding_space,
        "sync": {
            "phase": sync.phase.value,
            "progress": progress and [progress.done, progress.total, round(progress.elapsed_s, 1)],
            "last_scan": _text(sync.last_scan),
            "last_error": sync.last_error,
            "held": sync.held,
            "held_reason": sync.held_reason,
        },
        "watch": {
            "mode": watch.mode.value,
            "reason": watch.reason,
            "running": watch.running,
            "start_time": _text(watch.start_time),
            "folders": watch.folders,
            "error_count": watch.error_count,
            "last_error": watch.last_error,
            "last_error_at": _text(watch.last_error_at),
            "synced_files": watch.synced_files,
            "recent_events": [
                [event.at.isoformat(), event.kind.value, event.path]
                for event in list(watch.recent_events)[-_EVENTS_TOLD:]
            ],
        },
    }
    return json.dumps(words, ensure_ascii=False)


def heard(words: str | bytes, heartbeat: float) -> LeaderState:
    """Who says so, not alive. Raises one of `NOT_UNDERSTOOD` for what no leader of this version says."""
    said: dict[str, Any] = json.loads(words)
    sync, watch = said["sync"], said["watch"]
    return LeaderState(
        pid=int(said["pid"]),
        version=str(said["version"]),
        index_version=int(said["index_version"]),
        since=datetime.fromisoformat(said["since"]),
        serves=str(said["serves"]),
        host=str(said.get("host", "")),
        embedding_error=str(said.get("embedding_error", "")),
        embedding_space=str(said.get("embedding_space", "")),
        heartbeat=datetime.fromtimestamp(heartbeat, UTC),
        is_alive=False,
        is_me=False,
        sync=SyncState(
            phase=SyncPhase(sync["phase"]),
            progress=Progress(*sync["progress"]) if sync["progress"] else None,
            last_scan=_time(sync["last_scan"]),
            last_error=sync["last_error"],
            held=int(sync["held"]),
            held_reason=str(sync["held_reason"]),
        ),
        watch=WatchState(
            mode=WatchMode(watch["mode"]),
            reason=str(watch["reason"]),
            running=bool(watch["running"]),
            start_time=_time(watch["start_time"]),
            folders=int(watch["folders"]),
            error_count=int(watch["error_count"]),
            last_error=watch["last_error"],
            last_error_at=_time(watch["last_error_at"]),
            synced_files=int(watch["synced_files"]),
            recent_events=tuple(
                FileEvent(datetime.fromisoformat(at), EventKind(kind), str(path))
                for at, kind, path in watch["recent_events"]
            ),
        ),
    )


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _time(said: object) -> datetime | None:
    return datetime.fromisoformat(said) if isinstance(said, str) else None


def _is_there(pid: int) -> bool:
    """Whether a process of that number lives on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    except OverflowError:  # no system counts so far
        return False
    return True


def _which(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_ino, status.st_size

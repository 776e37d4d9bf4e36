"""What was searched in a project, on this machine: one JSON document a line, in two files.

Each record is one append, so that several processes write at once and no line is torn. When the newest
file is full it takes the place of the older one, under a lock: between half and all of the bound is kept.
A line that a full disk has cut costs itself alone: the next record begins on a line of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

from loguru import logger

from memoranda.config_file import ensure_private_folder
from memoranda.errors import ConfigProblem, FileProblem
from memoranda.files.locks import give_back, take
from memoranda.model.search import SearchType
from memoranda.model.search_log import RecordedSearches, SearchRecord

MOST_BYTES = 1_000_000
_ATTEMPTS = 5
_CLEARING_S = 5.0
_NOT_UNDERSTOOD = (ValueError, LookupError, TypeError, ArithmeticError, RecursionError)


class SearchLogFile:
    """The search log of one project (`ports.SearchLog`). Thread-safe, shared by several processes.

    Args:
        path: of the newest file; nothing is touched before something is recorded. The older one is
            `<stem>.1<suffix>` beside it, the lock `<stem>.lock`.
        most_bytes: of both files.
    """

    def __init__(self, path: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self.path = path
        self.older = path.with_name(f"{path.stem}.1{path.suffix}")
        self._lock = path.with_name(f"{path.stem}.lock")
        self._most_bytes = most_bytes // 2
        self._saying = threading.Lock()
        self._has_failed = False

    def record(self, record: SearchRecord) -> None:
        """Append a record; a failure is logged once, without the query, and never raised."""
        try:
            self._append(line_of(record))
        except (OSError, ConfigProblem) as error:
            with self._saying:
                is_first, self._has_failed = not self._has_failed, True
            if is_first:
                reason = error.strerror if isinstance(error, OSError) else error.message
                logger.warning("Searches are not recorded in {}: {}", self.path, reason)

    def read(self) -> RecordedSearches:
        """All that is recorded; damaged lines are left out and counted. Writes nothing.

        Raises:
            FileProblem: a file is there and cannot be read.
        """
        records: list[SearchRecord] = []
        damaged = size = 0
        for file in (self.older, self.path):
            try:
                data = file.read_bytes()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise FileProblem(
                    str(file),
                    f"{file} cannot be read: {error.strerror}",
                    hint="Check its owner and its permissions.",
                ) from error
            size += len(data)
            *lines, rest = data.split(b"\n")
            for line in lines:
                try:
                    records += [record_of(line)] if line else []
                except _NOT_UNDERSTOOD:
                    damaged += 1
            with contextlib.suppress(*_NOT_UNDERSTOOD):  # perhaps in the middle of being written
                records += [record_of(rest)] if rest else []
        return RecordedSearches(tuple(records), damaged, size)

    def clear(self) -> None:
        """Delete all that is recorded.

        Raises:
            FileProblem: it cannot be deleted.
        """
        try:
            if not self.path.exists() and not self.older.exists():
                return
            held = take(self._lock, _CLEARING_S)
            try:
                for file in (self.path, self.older):
                    file.unlink(missing_ok=True)
            finally:
                give_back(held)
        except OSError as error:  # a timeout as well
            raise FileProblem(
                str(self.path),
                f"{self.path} cannot be deleted: {error.strerror or 'it is in use'}",
                hint="Check the permissions of its folder, or repeat the command in a moment.",
            ) from error

    def _append(self, line: bytes) -> None:
        for attempt in range(_ATTEMPTS):
            fd = self._opened()
            try:
                size = os.fstat(fd).st_size
                is_full = size > 0 and size + len(line) > self._most_bytes
                if (
                    not is_full or attempt > 0
                ):  # then another process makes room, or has just done so
                    is_cut = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
                    os.write(fd, b"\n" + line if is_cut else line)
                    if os.fstat(fd).st_nlink:
                        return
                    continue  # others have filled two files since it was opened
            finally:
                os.close(fd)
            self._rotate(len(line))

    def _opened(self) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            ensure_private_folder(self.path.parent)
            return os.open(self.path, flags, 0o600)

    def _rotate(self, coming_bytes: int) -> None:
        """Make room, unless another process has just done so or is doing it."""
        try:
            held = take(self._lock, 0)
        except TimeoutError:
            return
        try:
            with contextlib.suppress(FileNotFoundError):  # it was cleared
                if self.path.stat().st_size + coming_bytes > self._most_bytes:
                    self.path.replace(self.older)
        finally:
            give_back(held)


def line_of(record: SearchRecord) -> bytes:
    """A record as a line, its end included. Flags are there when they are set."""
    said: dict[str, object] = {
        "at": record.at.astimezone(UTC).isoformat(timespec="milliseconds"),
        "ms": round(record.latency_ms, 2),
        "mode": record.mode.value,
        "total": record.total,
        "client": record.client,
        "query": record.query,
    }
    flags = {
        "relaxed": record.is_relaxed,
        "weak": record.is_weak,
        "degraded": record.is_degraded,
        "filtered": record.is_filtered,
        "first": record.is_first,
    }
    said |= {name: True for name, is_set in flags.items() if is_set}
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"  # of a lone surrogate JSON's own escape


def record_of(line: bytes) -> SearchRecord:
    """The record of a line. Raises ValueError, LookupError or TypeError for what is none."""
    said = json.loads(line)
    at = datetime.fromisoformat(said["at"])
    if at.tzinfo is None:
        raise ValueError("a time without a zone")
    query, client = said["query"], said["client"]
    if not isinstance(query, str) or not isinstance(client, str):
        raise TypeError("not a text")
    return SearchRecord(
        at=at,
        query=query,
        mode=SearchType(said["mode"]),
        total=int(said["total"]),
        latency_ms=float(said["ms"]),
        client=client,
        is_relaxed=bool(said.get("relaxed")),
        is_weak=bool(said.get("weak")),
        is_degraded=bool(said.get("degraded")),
        is_filtered=bool(said.get("filtered")),
        is_first=bool(said.get("first")),
    )

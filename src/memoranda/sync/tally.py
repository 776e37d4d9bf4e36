"""What a running sync has done so far, and what it says of files that fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from loguru import logger

from memoranda.model.address import NotePath
from memoranda.model.sync import (
    FailureKind,
    FileFailure,
    FileState,
    KnownFile,
    Scan,
    Skipped,
    SyncReport,
)
from memoranda.sync.brakes import Verdict
from memoranda.sync.breaker import strike
from memoranda.sync.reading_pool import ReadingProcessLost
from memoranda.sync.work import Work


@dataclass(slots=True)
class Tally:
    """The counts of one sync; `struck` are the failures that were known when it began."""

    struck: Mapping[NotePath, FileFailure]
    new: list[NotePath] = field(default_factory=list)
    modified: list[NotePath] = field(default_factory=list)
    moved: list[tuple[NotePath, NotePath]] = field(default_factory=list)
    restated: list[tuple[KnownFile, FileState]] = field(default_factory=list)
    failures: list[FileFailure] = field(default_factory=list)
    good: set[NotePath] = field(default_factory=set)
    late: list[NotePath] = field(default_factory=list)
    touched: int = 0
    resolved: int = 0

    def indexed(self, work: Work, checksum: str) -> None:
        """A file was read and written into the index."""
        path = work.state.path
        self.good.add(path)
        if work.known is None:
            self.new.append(path)
        elif work.is_move:
            self.moved.append((work.known.path, path))
        elif work.known.checksum != checksum:
            self.modified.append(path)
        else:
            self.touched += 1

    def same(self, work: Work, state: FileState) -> None:
        """A file was read and is as the index remembers it."""
        known = work.known
        assert known is not None  # noqa: S101  (a task without a known file is never the same)
        self.good.add(work.state.path)
        if state.is_fresh or (known.ctime_ns, known.inode) != (state.ctime_ns, state.inode):
            self.restated.append((known, state))
        self.touched += 1

    def unreadable(self, path: NotePath, reason: str) -> FileFailure:
        """The system refuses a file: tried again at every sync."""
        before = self.struck.get(path)
        failure = strike(before, path, reason, FailureKind.IO)
        if before is not None and (before.kind, before.reason) == (failure.kind, reason):
            failure = before  # nothing new to remember
        self.failures.append(failure)
        return failure

    def faulty(self, path: NotePath, checksum: str, error: str) -> FileFailure:
        """A file made the program fail: a strike of the circuit breaker, or all when a process died."""
        reason = f"{error} while indexing"
        failure = strike(
            self.struck.get(path),
            path,
            reason,
            FailureKind.FAULT,
            checksum,
            is_fatal=error == ReadingProcessLost.__name__,
        )
        self.failures.append(failure)
        return failure

    def tripped(self, path: NotePath) -> FileFailure:
        """The circuit breaker left a file alone."""
        failure = replace(self.struck[path], tripped=True)
        self.failures.append(failure)
        return failure

    def to_remember(self) -> list[FileFailure]:
        """The failures that the index does not know yet."""
        return [
            failure
            for failure in self.failures
            if (before := self.struck.get(failure.path)) is None
            or replace(failure, at=None, tripped=False) != replace(before, at=None, tripped=False)
        ]

    def cleared(self, there: Set[NotePath]) -> list[NotePath]:
        """The failures that are over: the file was indexed, or is gone."""
        return [path for path in self.struck if path in self.good or path not in there]

    def report(
        self, scan: Scan, left_out: Sequence[KnownFile], verdict: Verdict, duration_s: float
    ) -> SyncReport:
        """The whole sync."""
        return SyncReport(
            new_files=tuple(sorted(self.new)),
            modified_files=tuple(sorted(self.modified)),
            deleted_files=tuple(sorted(one.path for one in verdict.delete)),
            left_out_files=tuple(sorted(one.path for one in left_out)),
            moved_files=tuple(sorted(self.moved)),
            failures=tuple(sorted(self.failures, key=lambda failure: failure.path)),
            skipped=scan.skipped,
            held=tuple(sorted(one.path for one in verdict.hold)),
            held_reason=verdict.standing.reason if verdict.standing else "",
            total_files=len(scan.files),
            touched=self.touched,
            late_files=tuple(sorted(self.late)),
            links_resolved=self.resolved,
            folders=scan.folders,
            duration_s=duration_s,
        )


class Warnings:
    """What the log says of files that fail: once per file, content and verdict, not at every sync."""

    def __init__(self) -> None:
        self._said: set[tuple[NotePath, str]] = set()
        self._hidden: set[str] = set()

    def hidden(self, skipped: Iterable[Skipped]) -> None:
        """Warn of what cannot be looked into, once while that lasts."""
        now = {one.path: one.reason for one in skipped if one.holds_notes}
        for path in sorted(now.keys() - self._hidden):
            logger.warning(
                "{} cannot be looked into: {}; the notes known there are kept", path, now[path]
            )
        self._hidden = set(now)

    def say(self, failure: FileFailure) -> None:
        """Warn of a failure."""
        said = (failure.path, f"{failure.checksum}{failure.tripped}")
        if said in self._said:
            return
        self._said.add(said)
        if failure.tripped:
            logger.warning(
                "{} is skipped until it changes: it failed {} times ({})",
                failure.path,
                failure.count,
                failure.reason,
            )
        else:
            logger.warning("{} is not indexed: {}", failure.path, failure.reason)

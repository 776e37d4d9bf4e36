"""What tools changed in the notes of a project, with the bytes before and after (architecture row 9, ADR 18).

It is the only data that cannot be derived from the notes. It lies outside their folder, in a file of its
own, which neither a lost index nor the removal of the project concerns.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from loguru import logger

from memoranda.errors import FileProblem, MemorandaError
from memoranda.history import changes, contents, trim
from memoranda.history.changes import NewChange, PendingChange, Side
from memoranda.history.contents import digest, unpacked
from memoranda.history.database import HistoryFile
from memoranda.history.place import kept_aside, size_bytes
from memoranda.history.recording import begin, end, end_failed, settle
from memoranda.model.address import NotePath
from memoranda.model.file_change import OtherFileMove, PlannedChange
from memoranda.model.history import (
    Author,
    ChangeState,
    HistoryLimits,
    HistorySummary,
    Purged,
    RecordedChange,
)
from memoranda.ports import Clock

_MEGABYTE = 1_000_000
_GROWTH_SHARE = 32
_TOLERANCE = 1.125


def _nothing(_token: str) -> None: ...


def _side(data: bytes | None) -> Side | None:
    return None if data is None else Side(digest(data), data)


@dataclass(slots=True)
class RecordedBatch:
    """Changes that were begun together.

    Attributes:
        change_id: of the batch.
        tokens: one a change, in the order given; they name the temporary files.
        is_torn: set by who carries it out, when it failed and something could not be put back.
    """

    change_id: int
    tokens: tuple[str, ...]
    is_torn: bool = False


class HistoryStore:
    """The history of one project. Synchronous, thread-safe, shared by several processes.

    Every method raises `FileProblem` when the file cannot be used, which says why: no access, a newer
    version wrote it, another process keeps it for too long.

    Args:
        folder: where its file is; nothing is touched before it is used.
        root: the project's folder, as its owner spells it; `root` is what changes are recorded with.
        clock: for the times of changes.
        limits: how much is kept.
    """

    def __init__(self, folder: Path, root: Path, clock: Clock, limits: HistoryLimits) -> None:
        self.folder = root
        self.root = changes.storable(str(root))
        self.limits = limits
        self._clock = clock
        self._file = HistoryFile(folder, clock)
        self._grown_bytes = 0

    @contextmanager
    def recording(
        self,
        path: NotePath,
        *,
        before: bytes | None,
        after: bytes | None,
        by: Author,
        current: Callable[[], bytes | None],
        leftover: Callable[[str], None] = _nothing,
    ) -> Iterator[str]:
        """Remember a change around the moment in which the file changes; the caller holds the file's lock.

        Entering makes the change durable as PENDING, with both contents. Leaving makes it DONE; with an
        exception it is removed, unless the file has the new bytes all the same. If the process dies in
        between, the change stays PENDING until the next change of the file, or `settle`, tells what became
        of it.

        Args:
            path: of the file.
            before: its bytes, None when there is no file.
            after: the bytes it is to have, None when it is to be deleted; other than `before`.
            by: who asks for it.
            current: the bytes of the file in that moment, None when there is none. Called only to settle.
            leftover: removes the temporary file of a dead process, named by its token.

        Yields:
            A token of 16 hexadecimal digits. The temporary file is `.<token>.tmp` beside the target.

        Raises:
            DiskFull, FileProblem: it cannot be recorded; nothing happened.
        """
        if before == after:
            raise ValueError("a change that changes nothing is not recorded")
        token = os.urandom(8).hex()
        new = NewChange(by, self.root, path, token, _side(before), _side(after))

        def settle_older(conn: sqlite3.Connection) -> None:
            settle(conn, self.root, path, current, leftover)

        (change_id,), added = begin(self._file, [new], self._clock, settle_older)
        try:
            yield token
        except BaseException:
            end_failed(self._file, change_id, current, after)
            raise
        end(self._file, [change_id], ChangeState.DONE)
        self._grown_bytes += added
        self._trim_when_grown()

    @contextmanager
    def recording_all(
        self, planned: Sequence[PlannedChange], *, by: Author
    ) -> Iterator[RecordedBatch]:
        """Remember changes that happen all or not at all; the caller holds the locks of all files.

        As `recording`, but the caller puts everything back when it fails in the middle: then the batch is
        removed, unless `RecordedBatch.is_torn` says that something could not be put back. Torn, or with a
        process that died in between, it stays PENDING until it is settled as a whole.

        Args:
            planned: at least one.
            by: who asks for them.

        Raises:
            DiskFull, FileProblem: they cannot be recorded; nothing happened.
        """
        tokens = tuple(os.urandom(8).hex() for _ in planned)
        new = [self._new(each, by, token) for each, token in zip(planned, tokens, strict=True)]
        ids, added = begin(self._file, new, self._clock, lambda _: None)
        batch = RecordedBatch(ids[0], tokens)
        try:
            yield batch
        except BaseException:
            if not batch.is_torn:
                end(self._file, ids, None)
            raise
        end(self._file, ids, ChangeState.DONE)
        self._grown_bytes += added
        self._trim_when_grown()

    def _new(self, planned: PlannedChange, by: Author, token: str) -> NewChange:
        if isinstance(planned, OtherFileMove):
            path = NotePath(planned.path)
            return NewChange(by, self.root, path, token, None, None, planned.moved_from)
        before, after = _side(planned.before), _side(planned.after)
        return NewChange(by, self.root, planned.path, token, before, after, planned.moved_from)

    def changes(
        self,
        *,
        paths: Collection[NotePath] | None = None,
        client: str | None = None,
        since: datetime | None = None,
        before_id: int | None = None,
        limit: int = 50,
    ) -> list[RecordedChange]:
        """The changes that fit, newest first.

        Args:
            paths: of these files, also when they were moved there or away.
            client: by the client of this name, in any case of letters.
            since: begun then or later; aware.
            before_id: older than this one, to go on where a list ended.
            limit: at most so many.
        """
        return self._file.read(
            lambda conn: changes.newest(
                conn, paths=paths, client=client, since=since, before_id=before_id, limit=limit
            ),
            [],
        )

    def paths(self) -> list[NotePath]:
        """The files that have changes here, sorted."""
        return self._file.read(changes.paths, [])

    def batch(self, batch: int) -> list[RecordedChange]:
        """The changes of the batch of that id (`RecordedChange.batch`), oldest first; none when it is gone."""
        return self._file.read(lambda conn: changes.of_batch(conn, batch), [])

    def cut_off(self, paths: Collection[str]) -> Collection[int]:
        """The batches, and the moves that stand alone, that were begun with these files and not ended."""
        return self._file.read(lambda conn: changes.begun_with(conn, self.root, paths), ())

    def end_changes(self, ids: Sequence[int], state: ChangeState | None) -> None:
        """Give changes that state, or remove them, after they were settled."""
        end(self._file, ids, state)

    def change(self, change_id: int) -> RecordedChange | None:
        """The change of that id, None when there is none (any more)."""
        return self._file.read(lambda conn: changes.find(conn, change_id), None)

    def content(self, checksum: str) -> bytes | None:
        """The bytes of that checksum (`RecordedChange.before` or `after`), None when they are not kept.

        Raises:
            FileProblem: they are damaged.
        """
        key = bytes.fromhex(checksum)
        found = self._file.read(lambda conn: contents.get(conn, key), None)
        if found is None:
            return None
        try:
            return unpacked(found)
        except contents.Unreadable as error:
            raise FileProblem(
                str(self._file.path),
                f"The content {checksum[:12]} in {self._file.path} is damaged: {error}",
                hint="Other changes are not concerned.",
            ) from error

    def pending(self) -> list[PendingChange]:
        """The changes in this folder that were begun and not ended, oldest first."""
        return self._file.read(lambda conn: changes.pending(conn, self.root), [])

    def resolve(
        self,
        path: NotePath,
        current: Callable[[], bytes | None],
        leftover: Callable[[str], None] = _nothing,
    ) -> list[ChangeState | None]:
        """Settle the pending changes of a file whose lock the caller holds, so none of them still runs.

        A change is DONE when the file has its new bytes, removed when it has the old ones, else UNSURE.

        Args:
            path: of the file.
            current: its bytes now, None when there is no file; what it raises passes through.
            leftover: removes a temporary file, see `recording`.

        Returns:
            What became of each, None for removed.
        """
        if not self._file.exists():
            return []
        return self._file.write(lambda conn: settle(conn, self.root, path, current, leftover))

    def trim(self) -> int:
        """Delete what is beyond the limits, the oldest first; returns how many changes that were.

        Cheap when there is nothing to do. The newest change stays, however large it is.
        """
        gone = 0
        if self.limits.days:
            gone += trim.forget_older(
                self._file, self._clock.now() - timedelta(days=self.limits.days)
            )
        if self.limits.megabytes:
            gone += trim.forget_beyond(self._file, self.limits.megabytes * _MEGABYTE)
        if gone:
            trim.give_back(self._file)
            logger.debug("{}: {} changes beyond the limits are gone", self._file.path, gone)
        return gone

    def purge(self, *, older_than: datetime | None = None) -> Purged:
        """Delete everything, or what began before that time, from the disk as well; not what is under way."""
        size = size_bytes(self._file.path)
        if older_than is None:
            gone = trim.forget_all(self._file)
        else:
            gone = trim.forget_older(self._file, older_than)
        trim.give_back(self._file, at_once=True)
        return Purged(gone, max(0, size - size_bytes(self._file.path)), self.summary())

    def summary(self) -> HistorySummary:
        """How much there is."""

        def look(conn: sqlite3.Connection) -> tuple[int, int | None, int | None]:
            row = conn.execute("SELECT count(*), min(at), max(at) FROM change").fetchone()
            return row[0], row[1], row[2]

        nothing: tuple[int, int | None, int | None] = (0, None, None)
        number, oldest, newest = self._file.read(look, nothing)
        return HistorySummary(
            changes=number,
            size_bytes=size_bytes(self._file.path),
            oldest=None if oldest is None else changes.moment(oldest),
            newest=None if newest is None else changes.moment(newest),
            set_aside=tuple(str(file) for file in kept_aside(self._file.path)),
        )

    def close(self) -> None:
        """Close the file; the next use opens it again. Idempotent."""
        self._file.close()

    def _trim_when_grown(self) -> None:
        """Trim where nobody else does it: a server does now and then, and not while a note is locked."""
        bound = self.limits.megabytes * _MEGABYTE
        if not bound or self._grown_bytes * _GROWTH_SHARE <= bound:
            return
        self._grown_bytes = 0
        try:
            if trim.is_beyond(self._file, int(bound * _TOLERANCE)):
                self.trim()
        except MemorandaError as error:
            logger.warning("{} cannot be trimmed: {}", self._file.path, error)

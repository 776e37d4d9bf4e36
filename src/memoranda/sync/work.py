"""What a sync has to read, in batches that fit into memory. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memoranda.model.address import NotePath
from memoranda.model.sync import (
    FORGOTTEN_NS,
    Change,
    FileFailure,
    FileState,
    KnownFile,
    Modified,
    Moved,
    New,
    Scan,
)
from memoranda.sync.breaker import is_tripped
from memoranda.sync.reading import ReadTask

BATCH_FILES = 1000
SMALL_BATCH_FILES = 200
"""Of an index that is in use: a tool that writes waits for the transaction of a batch."""

BATCH_BYTES = 8 * 1024 * 1024
_MOST_IN_A_RING = 4 * BATCH_FILES


@dataclass(frozen=True, slots=True)
class Work:
    """One file to read: its state, and the row it has or keeps (a move)."""

    state: FileState
    known: KnownFile | None = None

    @property
    def is_move(self) -> bool:
        """Whether the row comes from another path."""
        return self.known is not None and self.known.path != self.state.path

    @property
    def is_changed(self) -> bool:
        """Whether something speaks for other bytes than those in the index."""
        return self.known is None or self.is_move or not self.known.is_as_in(self.state)

    def task(self, failure: FileFailure | None) -> ReadTask:
        """How to read it."""
        known = self.known
        same = None
        if known is not None and not self.is_move and known.ctime_ns != FORGOTTEN_NS:
            same = known.checksum, known.mtime_ns
        tripped = failure.checksum if failure and is_tripped(failure, failure.checksum) else ""
        return ReadTask(self.state.path, same, tripped)


def work_of(changes: Iterable[Change]) -> list[Work]:
    """The files to read, in the order of the changes."""
    work: list[Work] = []
    for change in changes:
        match change:
            case New(state):
                work.append(Work(state))
            case Modified(known, state) | Moved(known, state):
                work.append(Work(state, known))
            case _:
                pass
    return work


def unquestioned(
    scan: Scan, known: Mapping[NotePath, KnownFile], work: Iterable[Work]
) -> list[Work]:
    """The known files that nothing speaks against, for who wants to be sure."""
    asked = {one.state.path for one in work}
    return [
        Work(state, known[state.path])
        for state in scan.files
        if state.path in known and state.path not in asked
    ]


def most_files(*, is_in_use: bool) -> int:
    """How many files a batch has at most; `is_in_use`: the index has notes already."""
    return SMALL_BATCH_FILES if is_in_use else BATCH_FILES


def batches(work: Iterable[Work], most_files: int) -> Iterator[list[Work]]:
    """Bounded by files and by bytes; at least one file each. A ring of moves stays together."""
    batch: list[Work] = []
    size = 0
    for one in work:
        is_full = len(batch) >= most_files or size + one.state.size > BATCH_BYTES
        if batch and is_full and not (_follows(batch[-1], one) and len(batch) < _MOST_IN_A_RING):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += one.state.size
    if batch:
        yield batch


def _follows(one: Work, following: Work) -> bool:
    """Whether the second file takes the path that the first one left."""
    return one.known is not None and one.is_move and one.known.path == following.state.path

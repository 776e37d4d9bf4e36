"""A change from its beginning to its end: pending, done, or settled when its process died in between."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from loguru import logger

from memoranda.errors import MemorandaError
from memoranda.history import changes, contents
from memoranda.history.changes import NewChange, Side
from memoranda.history.contents import Packed, digest, packed
from memoranda.history.database import HistoryFile
from memoranda.model.address import NotePath
from memoranda.model.history import ChangeState, RecordedChange
from memoranda.ports import Clock


def begin(
    file: HistoryFile,
    new: Sequence[NewChange],
    clock: Clock,
    settle_older: Callable[[sqlite3.Connection], None],
) -> tuple[list[int], int]:
    """Make changes durable as PENDING, with their contents; several are one batch.

    Args:
        file: the history.
        new: the changes, at least one.
        clock: for the time at which they begin.
        settle_older: settles what is pending for this path, in the same transaction. What cannot be told
            stays pending.

    Returns:
        Their ids, and by how many bytes the contents have grown.

    Raises:
        DiskFull, FileProblem: nothing was recorded.
    """
    sides = (side for each in new for side in (each.before, each.after) if side is not None)
    given = list({side.checksum: side for side in sides}.values())
    missing = file.read(
        lambda conn: [side for side in given if not contents.has(conn, side.checksum)], given
    )
    ready = [packed(side.checksum, side.data) for side in missing]  # takes long: no transaction

    def store(conn: sqlite3.Connection) -> tuple[list[int], int]:
        with suppress(MemorandaError, OSError):
            settle_older(conn)
        added = sum(contents.put(conn, content) for content in _completed(conn, given, ready))
        now = clock.now()
        ids = [changes.add(conn, each, now) for each in new]
        if len(ids) > 1:
            changes.join(conn, ids)
        return ids, added

    return file.write(store)


def end(file: HistoryFile, ids: Sequence[int], state: ChangeState | None) -> None:
    """Give them that state, or remove them. What goes wrong here concerns no file: it is settled later."""

    def mark(conn: sqlite3.Connection) -> None:
        for change_id in ids:
            _mark(conn, change_id, state)

    try:
        if file.exists():
            file.write(mark, durable=False)
    except MemorandaError as error:
        logger.warning("Change {} stays pending: {}", ids[0], error)


def end_failed(
    file: HistoryFile, change_id: int, current: Callable[[], bytes | None], after: bytes | None
) -> None:
    """Remove it, unless the file has the new bytes: an exception may have come after the change."""
    try:
        happened = current() == after
    except (MemorandaError, OSError) as error:
        logger.warning("Change {} stays pending, its file cannot be read: {}", change_id, error)
        return
    end(file, [change_id], ChangeState.DONE if happened else None)


def settle(
    conn: sqlite3.Connection,
    root: str,
    path: NotePath,
    current: Callable[[], bytes | None],
    leftover: Callable[[str], None],
) -> list[ChangeState | None]:
    """Settle the pending changes of a file, see `HistoryStore.resolve`. In the caller's transaction."""
    if not (pending := changes.pending(conn, root, path)):
        return []
    data = current()
    now = None if data is None else digest(data).hex()
    settled = []
    for each in pending:
        leftover(each.token)
        settled.append(state := _outcome(each.change, now))
        _mark(conn, each.change.change_id, state)
    return settled


def _mark(conn: sqlite3.Connection, change_id: int, state: ChangeState | None) -> None:
    if state is None:
        contents.drop_unused(conn, changes.remove(conn, [change_id]))
    else:
        changes.set_state(conn, change_id, state)


def _completed(
    conn: sqlite3.Connection, given: Sequence[Side], ready: Sequence[Packed]
) -> Iterator[Packed]:
    """What is to be stored: also what was there when it was looked for and is gone since."""
    yield from ready
    for side in given:
        if not contents.has(conn, side.checksum):
            yield packed(side.checksum, side.data)


def _outcome(change: RecordedChange, now: str | None) -> ChangeState | None:
    """What became of a change whose process died, by the checksum of the file now; None: nothing."""
    if now == change.after:
        return ChangeState.DONE
    return None if now == change.before else ChangeState.UNSURE

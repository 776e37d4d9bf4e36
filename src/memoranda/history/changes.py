"""Rows of changes as values. All functions work in the caller's transaction."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from loguru import logger

from memoranda.model.address import NotePath
from memoranda.model.history import Author, ChangeKind, ChangeState, RecordedChange

COLUMNS = (
    "id, at, client, version, tool, root, path, kind, state, token, before, after, "
    "before_bytes, after_bytes, batch, moved_from"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class PendingChange:
    """A change that was begun. The temporary file of its write is `.<token>.tmp` beside its file.

    Attributes:
        is_in_batch: it is one of several, which are settled together.
    """

    change: RecordedChange
    token: str
    is_in_batch: bool = False


@dataclass(frozen=True, slots=True)
class Side:
    """The bytes of a file at one side of a change, with their SHA-256 (32 bytes)."""

    checksum: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class NewChange:
    """A change that is about to happen; a side is None where there is no file.

    Attributes:
        moved_from: the path that a moved file has now; without sides it is a file that is no note.
    """

    author: Author
    root: str
    path: NotePath
    token: str
    before: Side | None
    after: Side | None
    moved_from: str | None = None

    @property
    def kind(self) -> ChangeKind:
        """What it does to the file."""
        if self.moved_from is not None:
            return ChangeKind.MOVED
        if self.before is None:
            return ChangeKind.CREATED
        return ChangeKind.DELETED if self.after is None else ChangeKind.UPDATED


def microseconds(at: datetime) -> int:
    """An aware time as it is stored."""
    return (at - _EPOCH) // _MICROSECOND


def moment(stored: int) -> datetime:
    """A stored time, aware UTC."""
    return _EPOCH + stored * _MICROSECOND


def storable(text: str) -> str:
    """The text without what no database takes: half a character, which a client or a folder may have."""
    return text.encode("utf-8", "replace").decode()


def spelled(name: str) -> str:
    """A name as it is compared: in any case of letters, and in one Unicode form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def change_of(row: Sequence[Any]) -> RecordedChange:
    """The change in a row of `COLUMNS`.

    Raises:
        ValueError, TypeError, OverflowError: a value is not what it can be; the row is damaged.
    """
    return RecordedChange(
        change_id=row[0],
        at=moment(row[1]),
        author=Author(row[2], row[3], row[4]),
        root=row[5],
        path=NotePath(row[6]),
        kind=ChangeKind(row[7]),
        state=ChangeState(row[8]),
        before=None if row[10] is None else row[10].hex(),
        after=None if row[11] is None else row[11].hex(),
        before_bytes=row[12],
        after_bytes=row[13],
        batch=row[0] if row[14] is None else int(row[14]),
        moved_from=None if row[15] is None else NotePath(row[15]),
    )


def add(conn: sqlite3.Connection, change: NewChange, at: datetime) -> int:
    """Add it as PENDING, begun at that aware time; returns its id."""
    (change_id,) = conn.execute(
        "INSERT INTO change (at, client, version, tool, root, path, kind, state, token, before, after, "
        "before_bytes, after_bytes, moved_from) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "RETURNING id",
        (
            microseconds(at),
            storable(change.author.client),
            storable(change.author.version),
            storable(change.author.tool),
            storable(change.root),
            change.path,
            change.kind.value,
            ChangeState.PENDING.value,
            change.token,
            change.before and change.before.checksum,
            change.after and change.after.checksum,
            len(change.before.data) if change.before else 0,
            len(change.after.data) if change.after else 0,
            change.moved_from,
        ),
    ).fetchone()
    return int(change_id)


def join(conn: sqlite3.Connection, ids: Sequence[int]) -> None:
    """Make these changes, the first of which has the lowest id, one batch."""
    conn.execute(
        "UPDATE change SET batch = ? WHERE id IN (SELECT value FROM json_each(?))",
        (ids[0], json.dumps(list(ids))),
    )


def of_batch(conn: sqlite3.Connection, batch: int) -> list[RecordedChange]:
    """The changes of a batch, or the change alone that has this id; oldest first."""
    rows = conn.execute(
        f"SELECT {COLUMNS} FROM change WHERE batch = :batch OR (id = :batch AND batch IS NULL) "  # noqa: S608  (columns)
        "ORDER BY id",
        {"batch": batch},
    )
    return [change for change, _ in _readable(rows)]


def set_state(conn: sqlite3.Connection, change_id: int, state: ChangeState) -> None:
    """Give a change another state; one that is not there any more stays so."""
    conn.execute("UPDATE change SET state = ? WHERE id = ?", (state.value, change_id))


def pending(
    conn: sqlite3.Connection, root: str, path: NotePath | None = None
) -> list[PendingChange]:
    """The changes in this folder that were begun and not ended, oldest first.

    With a path those of this one file that stand alone: what is in a batch is settled with it, and a move
    concerns another file too.
    """
    of_path = "" if path is None else " AND path = :path AND batch IS NULL AND kind <> 'moved'"
    rows = conn.execute(
        f"SELECT {COLUMNS} FROM change WHERE state = 'pending' AND root = :root{of_path} ORDER BY id",  # noqa: S608  (columns)
        {"root": storable(root), "path": path},
    )
    return [PendingChange(change, row[9], row[14] is not None) for change, row in _readable(rows)]


def begun_with(conn: sqlite3.Connection, root: str, paths: Collection[str]) -> list[int]:
    """The batches, and moves that stand alone, in this folder that are pending and concern these files."""
    rows = conn.execute(
        "SELECT DISTINCT coalesce(batch, id) FROM change "
        "WHERE state = 'pending' AND root = :root AND (batch IS NOT NULL OR kind = 'moved') "
        "AND (path IN (SELECT value FROM json_each(:paths)) "
        "OR moved_from IN (SELECT value FROM json_each(:paths)))",
        {"root": root, "paths": json.dumps(list(paths))},
    )
    return [batch for (batch,) in rows]


def find(conn: sqlite3.Connection, change_id: int) -> RecordedChange | None:
    """The change of that id."""
    row = conn.execute(f"SELECT {COLUMNS} FROM change WHERE id = ?", (change_id,)).fetchone()  # noqa: S608  (columns)
    return None if row is None else change_of(row)


def newest(
    conn: sqlite3.Connection,
    *,
    paths: Collection[NotePath] | None,
    client: str | None,
    since: datetime | None,
    before_id: int | None,
    limit: int,
) -> list[RecordedChange]:
    """The changes that fit, newest first."""
    wanted = {
        "(path IN (SELECT value FROM json_each(:paths)) "
        "OR moved_from IN (SELECT value FROM json_each(:paths)))": paths,
        "spelled(client) = spelled(:client)": client,
        "at >= :since": None if since is None else microseconds(since),
        "id < :before_id": before_id,
    }
    where = " AND ".join(clause for clause, value in wanted.items() if value is not None)
    rows = conn.execute(
        f"SELECT {COLUMNS} FROM change WHERE {where or '1'} ORDER BY id DESC LIMIT :limit",  # noqa: S608  (clauses)
        {
            "paths": None if paths is None else json.dumps(list(paths)),
            "client": None if client is None else storable(client),
            "since": None if since is None else microseconds(since),
            "before_id": before_id,
            "limit": limit,
        },
    )
    return [change for change, _ in _readable(rows)]


def paths(conn: sqlite3.Connection) -> list[NotePath]:
    """The paths of all files that have changes, sorted."""
    rows = conn.execute(
        "SELECT path FROM change UNION SELECT moved_from FROM change WHERE moved_from IS NOT NULL "
        "ORDER BY 1"
    )
    return [NotePath(path) for (path,) in rows if isinstance(path, str)]


def _readable(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[RecordedChange, Sequence[Any]]]:
    """The changes of these rows; one that is damaged costs only itself."""
    for row in rows:
        try:
            yield change_of(row), row
        except (ValueError, TypeError, OverflowError, AttributeError) as error:
            logger.warning("Change {} in the history is damaged and left out: {}", row[0], error)


def remove(conn: sqlite3.Connection, ids: Sequence[int]) -> list[bytes | None]:
    """Delete changes; returns the checksums they had, for `contents.drop_unused`."""
    checksums: list[bytes | None] = []
    for change_id in ids:
        row = conn.execute(
            "DELETE FROM change WHERE id = ? RETURNING before, after", (change_id,)
        ).fetchone()
        checksums += row or ()
    return checksums

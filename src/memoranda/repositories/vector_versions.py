"""Which notes have the vectors of their present text: the rows of `search_vector_notes` against the notes.

A note is fresh if checksum, title and time of indexing are those its vectors were made of. A title may come
from the path, and another version of the index may make other items of the same bytes. The notes are asked
through an index of their own: their rows hold the texts, which lie before the checksum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy.engine import Connection

from memoranda.db.engine import is_writing
from memoranda.repositories.changes import mark_of
from memoranda.repositories.stored_items import as_list

_NOTES: Final = "entity AS e INDEXED BY ix_entity_version"
_IS_FRESH: Final = """
    n.entity_id = e.id AND n.space = ? AND n.checksum = coalesce(e.checksum, '')
    AND n.title = e.title AND n.indexed_at = e.updated_at
"""
_VERSION: Final = "e.id, coalesce(e.checksum, ''), e.title, e.updated_at"
_PENDING: Final = f"""
    SELECT {_VERSION} FROM {_NOTES} LEFT JOIN search_vector_notes AS n ON {_IS_FRESH}
    WHERE e.project_id = ? AND n.entity_id IS NULL ORDER BY e.mtime_ns DESC, e.id DESC LIMIT ?
"""  # noqa: S608 - texts of ours
_COUNTS: Final = f"""
    SELECT count(*), count(n.entity_id), coalesce(sum(n.vectors), 0)
    FROM {_NOTES} LEFT JOIN search_vector_notes AS n ON {_IS_FRESH} WHERE e.project_id = ?
"""  # noqa: S608 - texts of ours
_FRESH: Final = f"""
    SELECT n.entity_id, n.vectors FROM search_vector_notes AS n CROSS JOIN {_NOTES} ON {_IS_FRESH}
    WHERE e.project_id = ? ORDER BY n.entity_id
"""  # noqa: S608 - texts of ours
_FRESH_AMONG: Final = f"""
    SELECT n.entity_id FROM json_each(?) AS wanted
    CROSS JOIN search_vector_notes AS n ON n.entity_id = wanted.value
    CROSS JOIN {_NOTES} ON {_IS_FRESH}
    WHERE e.project_id = ?
"""  # noqa: S608 - texts of ours
_VERSIONS: Final = f"""
    SELECT {_VERSION} FROM {_NOTES}
    WHERE e.id IN (SELECT value FROM json_each(?)) AND e.project_id = ?
"""  # noqa: S608 - texts of ours
_COUNTED: Final = "vectors counted"
_SET: Final = """
    INSERT OR REPLACE INTO search_vector_notes (
        entity_id, checksum, title, indexed_at, project_id, space, vectors
    ) VALUES (?, ?, ?, ?, ?, ?, ?)
"""


class Version(NamedTuple):
    """What the items of a note depend on."""

    entity_id: int
    checksum: str
    title: str
    indexed_at: str

    @property
    def text(self) -> str:
        """The version as one opaque text, without the note."""
        return f"{self.checksum} {self.indexed_at} {self.title}"


class Counts(NamedTuple):
    """How many notes there are, how many of them are fresh, and how many vectors those have."""

    notes: int
    fresh: int
    vectors: int


def pending_versions(conn: Connection, project_id: int, space: str, limit: int) -> list[Version]:
    """Notes that are not fresh, the last modified first."""
    return [Version(*row) for row in _rows(conn, _PENDING, space, project_id, limit)]


def versions(conn: Connection, project_id: int, entity_ids: Sequence[int]) -> list[Version]:
    """What these notes are now; those that are gone are left out."""
    return [Version(*row) for row in _rows(conn, _VERSIONS, as_list(entity_ids), project_id)]


def counts(conn: Connection, project_id: int, space: str) -> Counts:
    """All counts, in one pass over two narrow tables; a connection remembers them until something changes.

    Every search asks; a transaction that writes may be rolled back, and remembers nothing.
    """
    asked = mark_of(conn), project_id, space
    known = conn.info.get(_COUNTED)
    if known is not None and known[0] == asked:
        found: Counts = known[1]
        return found
    [row] = _rows(conn, _COUNTS, space, project_id)
    found = Counts(*row)
    if not is_writing(conn):
        conn.info[_COUNTED] = asked, found
    return found


def fresh_notes(conn: Connection, project_id: int, space: str) -> list[tuple[int, int]]:
    """Ids of all fresh notes, ascending, each with its number of vectors."""
    return _rows(conn, _FRESH, space, project_id)


def fresh_among(
    conn: Connection, project_id: int, space: str, entity_ids: Sequence[int]
) -> list[int]:
    """Which of these notes are fresh, in no order."""
    rows = _rows(conn, _FRESH_AMONG, as_list(entity_ids), space, project_id)
    return [entity_id for (entity_id,) in rows]


def set_fresh(
    conn: Connection, project_id: int, space: str, notes: Sequence[tuple[Version, int]]
) -> None:
    """These notes have so many vectors of these versions in the space."""
    if notes:
        rows = [(*version, project_id, space, vectors) for version, vectors in notes]
        conn.exec_driver_sql(_SET, rows)


def _rows(conn: Connection, sql: str, *parameters: object) -> list[Any]:
    return list(conn.exec_driver_sql(sql, parameters).cursor.fetchall())

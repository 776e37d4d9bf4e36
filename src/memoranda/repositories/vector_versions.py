"""Which notes have the vectors of their present text: the rows of `search_vector_notes` against the notes.

A note is fresh if checksum, title and time of indexing are those its vectors were made of. A title may come
from the path, and another version of the index may make other items of the same bytes. The notes are asked
through an index of their own: their rows hold the texts, which lie before the checksum.

On PostgreSQL titles may be too long for such an index. There triggers keep, for each row, whether its note is
fresh, and for each 256 ids of notes how many are (`search_vector_sums`, migration 0006).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlalchemy.engine import Connection

from memoranda.db.dialects import Statement, both, is_postgresql, numbered
from memoranda.db.engine import is_writing
from memoranda.repositories.changes import mark_of
from memoranda.repositories.driver import rows, run_many
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
_STALE: Final = """
    e.project_id = $2 AND NOT coalesce((
        SELECT n.is_fresh AND n.space = $1 FROM search_vector_notes AS n WHERE n.entity_id = e.id
    ), false)
"""
_MANY_PENDING: Final = f"""
    SELECT {_VERSION} FROM entity AS e WHERE {_STALE} ORDER BY e.mtime_ns DESC, e.id DESC LIMIT $3
"""  # noqa: S608 - texts of ours
_FEW_PENDING: Final = f"""
    SELECT found.id, found.checksum, found.title, found.updated_at
    FROM search_vector_sums AS every
    LEFT JOIN search_vector_sums AS fresh
        ON fresh.project_id = every.project_id AND fresh.space = $1 AND fresh.block = every.block
    CROSS JOIN LATERAL (
        SELECT e.id, coalesce(e.checksum, '') AS checksum, e.title, e.updated_at, e.mtime_ns
        FROM entity AS e
        WHERE e.id BETWEEN every.block << 8 AND (every.block << 8) + 255 AND {_STALE}
        OFFSET 0
    ) AS found
    WHERE every.project_id = $2 AND every.space = '' AND every.notes > coalesce(fresh.notes, 0)
    ORDER BY found.mtime_ns DESC, found.id DESC LIMIT $3
"""  # noqa: S608 - texts of ours
_COUNTS: Final = Statement(
    f"""
        SELECT count(*), count(n.entity_id), coalesce(sum(n.vectors), 0)
        FROM {_NOTES} LEFT JOIN search_vector_notes AS n ON {_IS_FRESH} WHERE e.project_id = ?
    """,  # noqa: S608 - texts of ours
    """
        SELECT coalesce(sum(notes) FILTER (WHERE space = ''), 0),
            coalesce(sum(notes) FILTER (WHERE space <> ''), 0), coalesce(sum(vectors), 0)
        FROM search_vector_sums WHERE space IN ('', $1) AND project_id = $2
    """,
)
_FRESH: Final = Statement(
    f"""
        SELECT n.entity_id, n.vectors FROM search_vector_notes AS n CROSS JOIN {_NOTES} ON {_IS_FRESH}
        WHERE e.project_id = ? ORDER BY n.entity_id
    """,  # noqa: S608 - texts of ours
    """
        SELECT entity_id, vectors FROM search_vector_notes
        WHERE space = $1 AND project_id = $2 AND is_fresh ORDER BY entity_id
    """,
)
_FRESH_AMONG: Final = Statement(
    f"""
        SELECT n.entity_id FROM json_each(?) AS wanted
        CROSS JOIN search_vector_notes AS n ON n.entity_id = wanted.value
        CROSS JOIN {_NOTES} ON {_IS_FRESH}
        WHERE e.project_id = ?
    """,  # noqa: S608 - texts of ours
    both("""
        SELECT n.entity_id FROM ({numbers}) AS wanted
        JOIN search_vector_notes AS n ON n.entity_id = wanted.value
        WHERE n.space = ? AND n.project_id = ? AND n.is_fresh
    """).postgresql,
)
_VERSIONS: Final = Statement(
    f"""
        SELECT {_VERSION} FROM {_NOTES}
        WHERE e.id IN (SELECT value FROM json_each(?)) AND e.project_id = ?
    """,  # noqa: S608 - texts of ours
    both(f"""
        SELECT {_VERSION} FROM entity AS e WHERE e.id IN ({{numbers}}) AND e.project_id = ?
    """).postgresql,  # noqa: S608 - texts of ours
)
_COUNTED: Final = "vectors counted"
_SET_TO: Final = """
    INSERT INTO search_vector_notes (
        entity_id, checksum, title, indexed_at, project_id, space, vectors
    ) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (entity_id) DO UPDATE SET
        checksum = excluded.checksum, title = excluded.title, indexed_at = excluded.indexed_at,
        project_id = excluded.project_id, space = excluded.space, vectors = excluded.vectors
"""
_SET: Final = Statement(_SET_TO, numbered(f"{_SET_TO}, is_fresh = true"))


class Version(NamedTuple):
    """What the items of a note depend on."""

    entity_id: int
    checksum: str
    title: str
    indexed_at: object

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
    if is_postgresql(conn):
        known = counts(conn, project_id, space)
        pending = known.notes - known.fresh
        if not pending:
            return []
        is_seldom = 256 * pending**2 < known.notes * limit
        sql = _FEW_PENDING if is_seldom else _MANY_PENDING
    else:
        sql = _PENDING
    return [Version(*row) for row in rows(conn, sql, space, project_id, limit)]


def versions(conn: Connection, project_id: int, entity_ids: Sequence[int]) -> list[Version]:
    """What these notes are now; those that are gone are left out."""
    return [Version(*row) for row in rows(conn, _VERSIONS, as_list(entity_ids), project_id)]


def counts(conn: Connection, project_id: int, space: str) -> Counts:
    """All counts; every search asks.

    On SQLite that is one pass over two narrow tables, and a connection remembers them until something changes;
    a transaction that writes may be rolled back, and remembers nothing. PostgreSQL keeps them (`search_vector_sums`).
    """
    if is_postgresql(conn):
        [kept] = rows(conn, _COUNTS, space, project_id)
        return Counts(*map(int, kept))
    asked = mark_of(conn), project_id, space
    known = conn.info.get(_COUNTED)
    if known is not None and known[0] == asked:
        found: Counts = known[1]
        return found
    [row] = rows(conn, _COUNTS, space, project_id)
    found = Counts(*row)
    if not is_writing(conn):
        conn.info[_COUNTED] = asked, found
    return found


def fresh_notes(conn: Connection, project_id: int, space: str) -> list[tuple[int, int]]:
    """Ids of all fresh notes, ascending, each with its number of vectors."""
    return rows(conn, _FRESH, space, project_id)


def fresh_among(
    conn: Connection, project_id: int, space: str, entity_ids: Sequence[int]
) -> list[int]:
    """Which of these notes are fresh, in no order."""
    found = rows(conn, _FRESH_AMONG, as_list(entity_ids), space, project_id)
    return [entity_id for (entity_id,) in found]


def set_fresh(
    conn: Connection, project_id: int, space: str, notes: Sequence[tuple[Version, int]]
) -> None:
    """These notes have so many vectors of these versions in the space."""
    run_many(conn, _SET, [(*version, project_id, space, vectors) for version, vectors in notes])

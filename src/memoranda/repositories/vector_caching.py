"""Keeps the bits of a project's vectors in step with the tables, for all threads of a process.

One cache is kept, of the space that was asked for last. New vectors have higher ids than all before, so they
are added; those that are gone are dropped when a search misses them. The centre is chosen anew, and all is
read again, when there are twice as many vectors as it is of.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy.engine import Connection

from memoranda.db.engine import is_writing
from memoranda.repositories.driver import rows
from memoranda.repositories.stored_items import as_list

if TYPE_CHECKING:
    from memoranda.ports import Keys, Vectors
    from memoranda.repositories.vector_scan import VectorCache

_BLOCK: Final = 4096
_SAMPLE: Final = 4096
_LAST: Final = "SELECT seq FROM sqlite_sequence WHERE name = 'search_vector_embeddings'"
_MINE: Final = """
    FROM search_vector_embeddings AS v CROSS JOIN search_vector_chunks AS c ON c.id = v.chunk_id
    WHERE v.model = ? AND v.dimensions = ? AND length(v.embedding) = 4 * v.dimensions
    AND typeof(v.embedding) = 'blob' AND c.project_id = ?
"""
"""What is damaged is not found, and takes nothing else with it."""
_SINCE: Final = f"SELECT v.id, c.item_key, v.embedding {_MINE} AND v.id > ? ORDER BY v.id"
_BY_ID: Final = f"""
    SELECT v.id, c.item_key, v.embedding {_MINE} AND v.id IN (SELECT value FROM json_each(?))
"""  # noqa: S608 - texts of ours
_VECTORS: Final = """
    SELECT v.id, v.chunk_id, v.embedding FROM search_vector_embeddings AS v
    WHERE v.model = ? AND v.dimensions = ? AND length(v.embedding) = 4 * v.dimensions
    AND typeof(v.embedding) = 'blob' AND v.id IN (SELECT value FROM json_each(?))
"""
_KEYS: Final = """
    SELECT id, item_key FROM search_vector_chunks
    WHERE id IN (SELECT value FROM json_each(?)) AND +project_id = ? ORDER BY id
"""
_THERE: Final = """
    SELECT count(*) FROM search_vector_embeddings WHERE id IN (SELECT value FROM json_each(?))
"""
_IDS: Final = """
    SELECT group_concat(id)
    FROM search_vector_embeddings INDEXED BY ix_search_vector_embeddings_chunk_id
"""


class CacheKeeper:
    """The cache of one project."""

    def __init__(self, project_id: int) -> None:
        self._project_id = project_id
        self._cache: VectorCache | None = None
        self._lock = threading.Lock()

    def current(self, conn: Connection, space: str, dimensions: int) -> VectorCache:
        """A cache that knows every vector the transaction sees, and maybe others."""
        last = conn.exec_driver_sql(_LAST).scalar() or 0
        with self._lock:
            cache = self._cache
            if cache is None or (cache.space, cache.dimensions) != (space, dimensions):
                cache = self._built(conn, space, dimensions, last)
            elif cache.last_id < last:
                cache = self._extended(conn, cache, last)
            else:
                return cache
            if not is_writing(conn):  # what is rolled back frees its ids
                self._cache = cache
            return cache

    def forget(self, conn: Connection, ids: Keys) -> None:
        """These vectors were not found in the transaction: they are gone, unless it is an old one."""
        from memoranda.repositories.vector_scan import without

        last = conn.exec_driver_sql(_LAST).scalar() or 0
        with self._lock:
            cache = self._cache
            if cache is not None and cache.last_id <= last and not is_writing(conn):
                self._cache = without(cache, ids)

    def sweep(self, conn: Connection, suspects: Keys) -> None:
        """Drop all vectors that are gone, if most of the suspects are: their notes were deleted."""
        import numpy as np

        there = conn.exec_driver_sql(_THERE, (as_list(suspects.tolist()),)).scalar_one()
        if 2 * there < len(suspects) and (cache := self._cache) is not None:
            self.forget(conn, np.setdiff1d(cache.ids, _ids(conn)))

    def _extended(self, conn: Connection, cache: VectorCache, last: int) -> VectorCache:
        from memoranda.repositories.vector_scan import extended

        blocks = self._since(conn, cache.space, cache.dimensions, cache.last_id)
        longer = extended(cache, last, blocks)
        if len(longer) > 2 * cache.centred:
            return self._built(conn, cache.space, cache.dimensions, last)
        return longer

    def _built(self, conn: Connection, space: str, dimensions: int, last: int) -> VectorCache:
        from memoranda.repositories.vector_scan import built

        _, _, some = read_vectors(conn, self._project_id, space, dimensions, _spread_ids(conn))
        return built(space, some, last, self._since(conn, space, dimensions, 0))

    def _since(
        self, conn: Connection, space: str, dimensions: int, last_id: int
    ) -> Iterator[tuple[Keys, Keys, Vectors]]:
        """Vectors with higher ids, ascending; bounded numbers are held at a time."""
        parameters = (space, dimensions, self._project_id, last_id)
        with conn.exec_driver_sql(_SINCE, parameters) as result:
            while rows := result.cursor.fetchmany(_BLOCK):
                yield _arrays(rows, dimensions)


def read_vectors(
    conn: Connection, project_id: int, space: str, dimensions: int, ids: Keys
) -> tuple[Keys, Keys, Vectors]:
    """Those of these vectors that are there: their ids, the keys of their items, and themselves."""
    parameters = (space, dimensions, project_id, as_list(ids.tolist()))
    rows = conn.exec_driver_sql(_BY_ID, parameters).cursor.fetchall()
    return _arrays(rows, dimensions)


def vectors_alone(
    conn: Connection, space: str, dimensions: int, ids: Keys
) -> tuple[Keys, Keys, Vectors]:
    """Those of these vectors that are there: their ids, their chunks, and themselves, ascending by id.

    Whose they are is not looked up, which costs as much again (`item_keys`).
    """
    import numpy as np

    from memoranda.repositories.vector_scan import stacked

    stored = rows(conn, _VECTORS, space, dimensions, as_list(ids.tolist()))
    found = np.array([id_ for id_, _, _ in stored], np.int64)
    chunks = np.array([chunk for _, chunk, _ in stored], np.int64)
    return found, chunks, stacked([blob for _, _, blob in stored], dimensions)


def item_keys(conn: Connection, project_id: int, chunks: Keys) -> tuple[Keys, Keys]:
    """Those of these chunks that are of the project, ascending, and the keys that their items have now."""
    import numpy as np

    found = rows(conn, _KEYS, as_list(chunks.tolist()), project_id)
    pairs = np.array(found, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _ids(conn: Connection) -> Keys:
    """Ids of all vectors, whatever their space, in no order."""
    import numpy as np

    return np.fromstring(conn.exec_driver_sql(_IDS).scalar() or "", np.int64, sep=",")


def _spread_ids(conn: Connection) -> Keys:
    """Ids of some vectors, spread over all."""
    import numpy as np

    ids = _ids(conn)
    chosen = np.linspace(0, len(ids), min(_SAMPLE, len(ids)), endpoint=False)
    return ids[chosen.astype(np.int64)]


def _arrays(rows: Sequence[Any], dimensions: int) -> tuple[Keys, Keys, Vectors]:
    import numpy as np

    from memoranda.repositories.vector_scan import stacked

    return (
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.int64),
        stacked([row[2] for row in rows], dimensions),
    )

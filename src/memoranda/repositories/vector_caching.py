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

from memoranda.db.dialects import Statement, both, is_postgresql
from memoranda.db.engine import is_writing
from memoranda.repositories.driver import rows
from memoranda.repositories.stored_items import as_list
from memoranda.repositories.vector_words import vector_statement

if TYPE_CHECKING:
    from memoranda.ports import Keys, Vectors
    from memoranda.repositories.vector_scan import VectorCache

_BLOCK: Final = 4096
_SAMPLE: Final = 4096
_LAST: Final = Statement(
    "SELECT seq FROM sqlite_sequence WHERE name = 'search_vector_embeddings'",
    "SELECT last_id FROM search_vector_spaces WHERE project_id = $1 AND space = $2",
)
"""The highest id that was ever given to a vector that the transaction could see."""
_MINE: Final = """
    FROM search_vector_embeddings AS v {then} search_vector_chunks AS c ON c.id = v.chunk_id
    WHERE v.model = ? AND v.dimensions = ? AND {sound} AND {mine}
"""
"""What is damaged is not found, and takes nothing else with it."""
_SINCE: Final = vector_statement(
    f"SELECT v.id, c.item_key, v.embedding {_MINE} AND v.id > ? ORDER BY v.id LIMIT {_BLOCK}"
)
_BY_ID: Final = vector_statement(
    f"SELECT v.id, c.item_key, v.embedding {_MINE} AND v.id IN ({{numbers}})"
)
_VECTORS: Final = vector_statement("""
    SELECT v.id, v.chunk_id, v.embedding FROM search_vector_embeddings AS v
    WHERE v.model = ? AND v.dimensions = ? AND {sound} AND v.id IN ({numbers}) ORDER BY v.id
""")
_KEYS: Final = both("""
    SELECT id, item_key FROM search_vector_chunks
    WHERE id IN ({numbers}) AND +project_id = ? ORDER BY id
""")
_THERE: Final = both("SELECT count(*) FROM search_vector_embeddings WHERE id IN ({numbers})")
_IDS: Final = Statement(
    """
        SELECT group_concat(id)
        FROM search_vector_embeddings INDEXED BY ix_search_vector_embeddings_chunk_id
    """,
    "SELECT string_agg(CAST(id AS text), ',') FROM search_vector_embeddings WHERE project_id = $1",
)


class CacheKeeper:
    """The cache of one project."""

    def __init__(self, project_id: int) -> None:
        self._project_id = project_id
        self._cache: VectorCache | None = None
        self._lock = threading.Lock()

    def current(self, conn: Connection, space: str, dimensions: int) -> VectorCache:
        """A cache that knows every vector the transaction sees, and maybe others."""
        last = self._last(conn, space)
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

    def forget(self, conn: Connection, space: str, ids: Keys) -> None:
        """These vectors were not found in the transaction: they are gone, unless it is an old one."""
        from memoranda.repositories.vector_scan import without

        last = self._last(conn, space)
        with self._lock:
            cache = self._cache
            is_old = cache is None or cache.space != space or cache.last_id > last
            if cache is not None and not is_old and not is_writing(conn):
                self._cache = without(cache, ids)

    def sweep(self, conn: Connection, space: str, suspects: Keys) -> None:
        """Drop all vectors that are gone, if most of the suspects are: their notes were deleted."""
        import numpy as np

        [(there,)] = rows(conn, _THERE, as_list(suspects.tolist()))
        if 2 * there < len(suspects) and (cache := self._cache) is not None:
            self.forget(conn, space, np.setdiff1d(cache.ids, self._ids(conn)))

    def _extended(self, conn: Connection, cache: VectorCache, last: int) -> VectorCache:
        from memoranda.repositories.vector_scan import extended

        blocks = self._since(conn, cache.space, cache.dimensions, cache.last_id)
        longer = extended(cache, last, blocks)
        if len(longer) > 2 * cache.centred:
            return self._built(conn, cache.space, cache.dimensions, last)
        return longer

    def _built(self, conn: Connection, space: str, dimensions: int, last: int) -> VectorCache:
        from memoranda.repositories.vector_scan import built

        some = self._some(conn, space, dimensions)
        return built(space, some, last, self._since(conn, space, dimensions, 0))

    def _some(self, conn: Connection, space: str, dimensions: int) -> Vectors:
        """Vectors that are spread over all."""
        import numpy as np

        ids = self._ids(conn)
        chosen = np.linspace(0, len(ids), min(_SAMPLE, len(ids)), endpoint=False)
        wanted = as_list(ids[chosen.astype(np.int64)].tolist())
        found = rows(conn, _BY_ID, space, dimensions, self._project_id, wanted)
        return _arrays(found, dimensions)[2]

    def _since(
        self, conn: Connection, space: str, dimensions: int, last_id: int
    ) -> Iterator[tuple[Keys, Keys, Vectors]]:
        """Vectors with higher ids, ascending; bounded numbers are held at a time."""
        while found := rows(conn, _SINCE, space, dimensions, self._project_id, last_id):
            yield _arrays(found, dimensions)
            last_id = found[-1][0]

    def _last(self, conn: Connection, space: str) -> int:
        known = (self._project_id, space) if is_postgresql(conn) else ()
        found = rows(conn, _LAST, *known)
        return int(found[0][0]) if found else 0

    def _ids(self, conn: Connection) -> Keys:
        """Ids of all vectors of the project, maybe with others, whatever their space, in no order."""
        import numpy as np

        known = (self._project_id,) if is_postgresql(conn) else ()
        [(listed,)] = rows(conn, _IDS, *known)
        return np.fromstring(listed or "", np.int64, sep=",")


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


def _arrays(found: Sequence[Any], dimensions: int) -> tuple[Keys, Keys, Vectors]:
    import numpy as np

    from memoranda.repositories.vector_scan import stacked

    return (
        np.array([row[0] for row in found], np.int64),
        np.array([row[1] for row in found], np.int64),
        stacked([row[2] for row in found], dimensions),
    )

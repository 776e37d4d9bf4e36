"""Vectors on PostgreSQL: as everywhere, and by an index of pgvector where a space has one (`vector_near`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sqlalchemy.engine import Connection

from memoranda.ports import NearItems
from memoranda.repositories.vector_near import candidates, has_index
from memoranda.repositories.vector_versions import counts
from memoranda.repositories.vectors import BlobVectorIndex

if TYPE_CHECKING:
    from memoranda.ports import Keys, Vectors

_CANDIDATES: Final = 200
_MANY: Final = 4
"""So many candidates are taken for each item wanted, at least `_CANDIDATES`."""
_FEW: Final = 20_000
"""So many vectors of the notes allowed are compared, all of them."""


class PostgresVectorIndex(BlobVectorIndex):
    """`ports.VectorIndex` on PostgreSQL, with or without pgvector."""

    def nearest(
        self,
        conn: Connection,
        space: str,
        query: Vectors,
        most: int,
        *,
        least: float = -1.0,
        among: Keys | None = None,
        kinds: Sequence[int] | None = None,
    ) -> NearItems:
        """The items nearest to a vector: candidates by the index, similarities by their vectors."""
        import numpy as np

        from memoranda.repositories.vector_scan import by_item, similarities_of, stacked

        if not has_index(conn, self._project_id, space):
            return super().nearest(conn, space, query, most, least=least, among=among, kinds=kinds)
        keys, similarities = np.empty(0, np.int64), np.empty(0, np.float32)
        if most < 1 or not query.any():
            return NearItems(keys, similarities)
        wanted = max(_CANDIDATES, _MANY * most)
        is_exact = self._are_few(conn, space, among)
        while True:
            found = candidates(
                conn, self._project_id, space, query, wanted,
                among=among, kinds=kinds, is_exact=is_exact,
            )  # fmt: skip
            is_all = len(found) < wanted
            if is_all and not is_exact:  # the index gives up where few are allowed
                is_exact = True
                continue
            vectors = stacked([blob for _, blob in found], len(query))
            keys, similarities = by_item(
                np.array([key for key, _ in found], np.int64), similarities_of(vectors, query)
            )
            if is_all or len(keys) >= most:
                break
            wanted *= _MANY
        near = int(np.count_nonzero(similarities[:most] >= least))
        return NearItems(keys[:near], similarities[:near])

    def _are_few(self, conn: Connection, space: str, among: Keys | None) -> bool:
        """Whether the notes allowed have about so few vectors that all can be compared."""
        if among is None:
            return False
        found = counts(conn, self._project_id, space)
        return len(among) * found.vectors <= _FEW * max(1, found.fresh)

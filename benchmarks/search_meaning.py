"""Search by meaning in a process that has asked by words: CPU, memory, and what the scan and filters lose.

What is near is found by bits first and by the vectors themselves then (`repositories.vector_scan`); here
all vectors are compared, and the answers put side by side.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import status_mb
from memoranda.container import Container
from memoranda.model.item_key import NOTE_BITS
from memoranda.model.search import SearchFilters, SearchQuery, SearchResults, SearchType
from memoranda.ports import EmbeddingProvider, NearItems, VectorIndex
from memoranda.repositories.store import Tx
from memoranda.repositories.vectors import BlobVectorIndex
from memoranda.workspace import Workspace

if TYPE_CHECKING:
    from memoranda.ports import Keys, Vectors

Timed = Callable[[SearchQuery], Awaitable[tuple[float, SearchResults]]]

NEAREST = 10
_COMPARED = 60
_ROWS = """
    SELECT c.item_key, v.embedding FROM search_vector_embeddings AS v
    JOIN search_vector_chunks AS c ON c.id = v.chunk_id WHERE v.model = ?
"""


@dataclass(slots=True)
class AskedByMeaning:
    """What was measured.

    Attributes:
        space: whose vectors.
        ms: "kind, way" -> CPU of each query.
        first_ms: CPU of the first query that needs vectors: the model and the cache of bits are loaded.
        filtered: filter -> CPU pairs (without, with) of the same query by meaning alone.
        recall: of the nearest ten, in the mean of the queries compared, and of the worst one.
        unequal: filtered queries whose nearest ten are not those of the comparison of all vectors.
        outside: hits of filtered searches in notes that the filter excludes.
    """

    space: str
    vectors: int
    ms: dict[str, list[float]] = field(default_factory=dict)
    first_ms: float = 0.0
    filtered: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    compared: int = 0
    recall: float = 1.0
    recall_least: float = 1.0
    unequal: int = 0
    outside: int = 0
    rss_before_mb: float = 0.0
    rss_mb: float = 0.0


async def ask_by_meaning(
    container: Container,
    workspace: Workspace,
    kinds: Mapping[str, Sequence[str]],
    filters: Mapping[str, SearchFilters],
    marked: frozenset[str],
    timed: Timed,
    page: int,
) -> AskedByMeaning:
    """Ask the same queries by words, by both and by meaning alone.

    Args:
        container: opened.
        workspace: of the project that is asked.
        kinds: kind of query -> queries.
        filters: filters by name, which the marked notes pass.
        marked: paths of those notes.
        timed: runs a query as a tool call does; returns CPU milliseconds and the results.
        page: hits to ask for.

    Raises:
        RuntimeError: there are no vectors, or not of all notes.
    """
    rss_before = status_mb("VmRSS")
    provider = await container.choice.ready()
    progress = await workspace.backfill.progress()
    if provider is None or progress is None or not progress.is_complete:
        raise RuntimeError(f"not embedded: {container.choice.state.reason}, {progress}")
    asked = AskedByMeaning(provider.space.name, progress.vectors, rss_before_mb=rss_before)
    await _queries(asked, kinds, timed, page)
    queries = [text for some in kinds.values() for text in some[: _COMPARED // 2]]
    await _filters(asked, queries, filters, marked, timed, page)
    asked.rss_mb = status_mb("VmRSS")
    await _compare(asked, workspace, provider, queries, marked)
    return asked


async def _queries(
    asked: AskedByMeaning, kinds: Mapping[str, Sequence[str]], timed: Timed, page: int
) -> None:
    """The ways by turns, each as often the first to ask a query."""
    asked.first_ms, _ = await timed(SearchQuery("first of all", SearchType.VECTOR, limit=page))
    ways = list(SearchType)
    for kind, queries in kinds.items():
        for number, text in enumerate(queries):
            turn = number % len(ways)
            for way in (*ways[turn:], *ways[:turn]):
                cpu_ms, results = await timed(SearchQuery(text, way, limit=page))
                if results.search_type is not way:
                    raise RuntimeError(f"{text} was not asked by {way}: {results.degraded}")
                asked.ms.setdefault(f"{kind}, {way}", []).append(cpu_ms)


async def _filters(
    asked: AskedByMeaning,
    queries: Sequence[str],
    filters: Mapping[str, SearchFilters],
    marked: frozenset[str],
    timed: Timed,
    page: int,
) -> None:
    for name, one in filters.items():
        pairs = asked.filtered.setdefault(name, [])
        for text in queries:
            without_ms, _ = await timed(SearchQuery(text, SearchType.VECTOR, limit=page))
            with_ms, results = await timed(SearchQuery(text, SearchType.VECTOR, one, limit=page))
            pairs.append((without_ms, with_ms))
            asked.outside += sum(hit.ref.file_path not in marked for hit in results.hits)


async def _compare(
    asked: AskedByMeaning,
    workspace: Workspace,
    provider: EmbeddingProvider,
    queries: Sequence[str],
    marked: frozenset[str],
) -> None:
    """The nearest items by the index and by all vectors, among all notes and among the marked ones."""
    space = provider.space
    index = BlobVectorIndex(workspace.store.project_id)
    keys, vectors = await workspace.store.read(lambda tx: _all(tx, space.name))
    among = await workspace.store.read(lambda tx: _ids(tx, marked))
    is_marked = np.isin(keys >> NOTE_BITS, among)
    shares = []
    for text in queries:
        query = await provider.embed_query(text)
        exact = _nearest(keys, vectors @ query)
        look = partial(_by_index, index, space.name, query, among)
        found, of_marked = await workspace.store.read(look)
        shares.append(_shared(exact, found.similarities))
        exact_marked = _nearest(keys[is_marked], vectors[is_marked] @ query)
        asked.unequal += not np.allclose(exact_marked, of_marked.similarities, atol=1e-5)
    asked.compared = len(shares)
    asked.recall, asked.recall_least = float(np.mean(shares)), float(min(shares))


def _by_index(
    index: VectorIndex, space: str, query: Vectors, among: Keys, tx: Tx
) -> tuple[NearItems, NearItems]:
    """The nearest of all and the nearest of the marked."""
    everywhere = index.nearest(tx.conn, space, query, NEAREST)
    return everywhere, index.nearest(tx.conn, space, query, NEAREST, among=among)


def _nearest(keys: Keys, similarities: Vectors) -> Vectors:
    """Similarities of the nearest items, each as near as its nearest part."""
    order = np.argsort(-similarities, kind="stable")
    _, first = np.unique(keys[order], return_index=True)
    return similarities[order[np.sort(first)[:NEAREST]]]


def _shared(exact: Vectors, found: Vectors) -> float:
    """The share of the nearest that were found; equally near ones stand for each other."""
    return float(np.mean([bool(np.isclose(found, one, atol=1e-5).any()) for one in exact]))


def _all(tx: Tx, space: str) -> tuple[Keys, Vectors]:
    rows = tx.conn.exec_driver_sql(_ROWS, (space,)).all()
    keys = np.array([key for key, _ in rows], np.int64)
    return keys, np.stack([np.frombuffer(value, "<f4") for _, value in rows])


def _ids(tx: Tx, paths: frozenset[str]) -> NDArray[np.int64]:
    rows = tx.conn.exec_driver_sql("SELECT id, file_path FROM entity ORDER BY id").all()
    return np.array([number for number, path in rows if path in paths], np.int64)

"""One project opened in this process and asked many queries; started by `benchmarks.search`.

    python -m benchmarks.search_process COUNT BRUTE MARKED

Prints one JSON value: CPU milliseconds of every query by kind, what filters lost, memory. A query is what
a tool call costs without its transport: the search with its snippets, and the answer as text.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

from loguru import logger

from benchmarks.measure import status_mb
from benchmarks.queries import MARK, Mix, query_mix
from benchmarks.search_meaning import AskedByMeaning, ask_by_meaning
from memoranda.config import load_settings
from memoranda.container import Container
from memoranda.model.search import (
    MetadataCondition,
    MetadataOperator,
    SearchFilters,
    SearchQuery,
    SearchResults,
    SearchType,
)
from memoranda.render.search import results_text
from memoranda.services.search import MAX_LIMIT, SearchService

PAGE = 10

_WARM_UP = 20
_BY_MARK: Mapping[str, SearchFilters] = {
    "tag": SearchFilters(tags=(MARK,)),
    "metadata": SearchFilters(
        metadata=(MetadataCondition("cohort", MetadataOperator.EQ, (MARK,)),)
    ),
}


@dataclass(slots=True)
class Asked:
    """What was measured.

    Attributes:
        ms: kind of query -> CPU of each query; `raw` ones are those of SQLite alone.
        filtered: filter -> CPU pairs (without, with) of the same query.
        compared, lost, added: hits of filtered queries against all hits without a filter.
        first_ms: CPU of the first query of the process.
        weak: how many answers say that nothing relevant was found.
    """

    items: int
    ms: dict[str, list[float]] = field(default_factory=dict)
    filtered: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    compared: int = 0
    lost: int = 0
    added: int = 0
    first_ms: float = 0.0
    weak: int = 0
    meaning: AskedByMeaning | None = None
    rss_opened_mb: float = 0.0
    rss_mb: float = 0.0
    peak_mb: float = 0.0


async def ask(count: int, brute: int, marked: frozenset[str]) -> Asked:
    """Open the project that the environment configures and ask it.

    Args:
        count: how many queries of one to three words, and how many sentences.
        brute: how many of them are compared with brute force, each under every filter.
        marked: paths of the notes that carry `MARK`.
    """
    container = await Container.open(load_settings())
    try:
        workspace = await container.workspace(container.find_project(None))
        mix = query_mix((workspace.folder / "memory.db"), count)
        asked = Asked(_items(workspace.folder / "memory.db"), rss_opened_mb=status_mb("VmRSS"))
        run = _Run(workspace.search, asked)
        await run.queries(mix)
        await run.filters((*mix.words[: count // 2], *mix.sentences[: count // 2]))
        asked.rss_mb, asked.peak_mb = status_mb("VmRSS"), status_mb("VmHWM")
        _raw((workspace.folder / "memory.db"), mix, asked)
        kinds = {kind: mix.kinds()[kind] for kind in ("1-3 words", "question sentences")}
        asked.meaning = await ask_by_meaning(
            container, workspace, kinds, _BY_MARK, marked, run.timed, PAGE
        )
        await run.compare((*mix.words[: brute // 2], *mix.sentences[: brute // 2]), marked)
    finally:
        await container.aclose()
    return asked


class _Run:
    """Asks one service."""

    def __init__(self, service: SearchService, asked: Asked) -> None:
        self._service = service
        self._asked = asked

    async def queries(self, mix: Mix) -> None:
        """All kinds by turns, so that a change of the machine's load meets each alike."""
        kinds = mix.kinds()
        first = SearchQuery("first of all", SearchType.FTS, limit=PAGE)
        self._asked.first_ms, _ = await self.timed(first)
        for number in range(_WARM_UP):
            text = mix.words[-1 - number % len(mix.words)]
            await self.timed(SearchQuery(text, SearchType.FTS, limit=PAGE))
        for number in range(max(map(len, kinds.values()))):
            for kind, queries in kinds.items():
                if number < len(queries):
                    query = SearchQuery(queries[number], SearchType.FTS, limit=PAGE)
                    cpu_ms, results = await self.timed(query)
                    self._asked.ms.setdefault(kind, []).append(cpu_ms)
                    self._asked.weak += results.is_weak

    async def filters(self, queries: Sequence[str]) -> None:
        """The same queries without and with each filter; every second time the filtered one first."""
        for name, filters in _BY_MARK.items():
            pairs = self._asked.filtered.setdefault(name, [])
            for number, text in enumerate(queries):
                plain = SearchQuery(text, SearchType.FTS, limit=PAGE)
                narrow = SearchQuery(text, SearchType.FTS, filters, limit=PAGE)
                if number % 2:
                    with_ms, _ = await self.timed(narrow)
                    without_ms, _ = await self.timed(plain)
                else:
                    without_ms, _ = await self.timed(plain)
                    with_ms, _ = await self.timed(narrow)
                pairs.append((without_ms, with_ms))

    async def compare(self, queries: Sequence[str], marked: frozenset[str]) -> None:
        """Every hit of a filtered query is one without the filter that carries the mark, and back.

        An answer that says that nothing fits shows at most three hits: its total is compared alone.
        """
        for text in queries:
            everything, is_cut = await self._all(SearchQuery(text, SearchType.FTS, limit=MAX_LIMIT))
            if is_cut:
                continue
            expected = everything & marked
            for filters in _BY_MARK.values():
                query = SearchQuery(text, SearchType.FTS, filters, limit=MAX_LIMIT)
                found, is_cut = await self._all(query)
                if is_cut:
                    total = (await self._service.search(query)).total
                    self._asked.lost += max(0, len(expected) - total)
                    self._asked.added += max(0, total - len(expected)) + len(found - expected)
                else:
                    self._asked.lost += len(expected - found)
                    self._asked.added += len(found - expected)
                self._asked.compared += 1

    async def _all(self, query: SearchQuery) -> tuple[set[str], bool]:
        """Paths of all hits on all pages, and whether the answer is cut to the nearest."""
        paths: set[str] = set()
        offset = 0
        while True:
            results = await self._service.search(
                SearchQuery(query.text, query.search_type, query.filters, query.limit, offset)
            )
            paths.update(hit.ref.file_path for hit in results.hits)
            offset += query.limit
            if results.is_weak or not results.has_more:
                return paths, results.is_weak

    async def timed(self, query: SearchQuery) -> tuple[float, SearchResults]:
        """CPU milliseconds of a query with its answer as text, and its results."""
        started = time.process_time()
        results = await self._service.search(query)
        results_text(results)
        return (time.process_time() - started) * 1000, results


def _raw(database: Path, mix: Mix, asked: Asked) -> None:
    """The yardstick: any of the same words, by the index's own bm25, on the same file."""
    statement = (
        "SELECT rowid, bm25(search_index) FROM search_index WHERE search_index MATCH ?"
        f" ORDER BY 2 LIMIT {PAGE}"
    )
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        for kind in ("1-3 words", "question sentences"):
            times = asked.ms.setdefault(f"raw FTS5 OR, {kind}", [])
            for text in mix.kinds()[kind]:
                words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
                started = time.process_time()
                connection.execute(statement, (words,)).fetchall()
                times.append((time.process_time() - started) * 1000)


def _items(database: Path) -> int:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        [count] = connection.execute("SELECT count(*) FROM search_index_docsize").fetchone()
        return int(count)


def main() -> None:
    """Arguments: how many queries, how many to compare, and the JSON file of marked paths."""
    logger.remove()
    count, brute = int(sys.argv[1]), int(sys.argv[2])
    marked = frozenset(json.loads(Path(sys.argv[3]).read_text(encoding="utf-8")))
    print(json.dumps(asdict(asyncio.run(ask(count, brute, marked)))))


if __name__ == "__main__":
    main()

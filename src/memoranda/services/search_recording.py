"""Searches are recorded after their answers, in a thread: an answer never waits for the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from datetime import datetime

from memoranda.model.history import Author
from memoranda.model.search import SearchFilters, SearchQuery, SearchResults
from memoranda.model.search_log import MOST_CHARS, SearchRecord
from memoranda.ports import Clock, SearchLog


class SearchRecorder:
    """Records the searches of one project. For one event loop; close it with `aclose`."""

    def __init__(self, log: SearchLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._writing: set[asyncio.Future[None]] = set()
        self._is_first = True

    async def recorded(
        self, query: SearchQuery, by: Author, answering: Awaitable[SearchResults]
    ) -> SearchResults:
        """Await an answer and record the search; one that raises is no search.

        Args:
            query: what was asked.
            by: who asked.
            answering: the whole work on the answer, not begun yet.
        """
        is_first, self._is_first = self._is_first, False
        at, began = self._clock.now(), self._clock.monotonic()
        results = await answering
        latency_ms = (self._clock.monotonic() - began) * 1000
        record = record_of(query, results, by, at, latency_ms, is_first=is_first)
        writing = asyncio.get_running_loop().run_in_executor(None, self._log.record, record)
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        return results

    async def aclose(self) -> None:
        """Wait until all is written."""
        if self._writing:
            await asyncio.wait(self._writing)


def record_of(
    query: SearchQuery,
    results: SearchResults,
    by: Author,
    at: datetime,
    latency_ms: float,
    *,
    is_first: bool = False,
) -> SearchRecord:
    """What is remembered of a search."""
    return SearchRecord(
        at=at,
        query=query.text[:MOST_CHARS],
        mode=results.search_type,
        total=results.total,
        latency_ms=latency_ms,
        client=by.client,
        is_relaxed=results.relaxed,
        is_weak=results.is_weak,
        is_degraded=results.degraded is not None,
        is_filtered=bool(_narrowing(query.filters) or results.read_filters),
        is_first=is_first,
    )


def _narrowing(filters: SearchFilters) -> bool:
    """Whether they hide notes; how near meaning must be hides none."""
    return replace(filters, min_similarity=None) != SearchFilters()

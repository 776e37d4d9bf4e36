"""What must hold for every answer of a search, whatever was asked. Shared by property tests and soak."""

from __future__ import annotations

import re
import time
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Final

from tests.fuzz.budget import TooSlow

from memoranda.model.project import Project
from memoranda.model.search import Hit, ItemType, SearchQuery, SearchResults, SearchType
from memoranda.render.bounds import ANSWER_CHARS, compact
from memoranda.render.search import results_data, results_text
from memoranda.services.search import MAX_LIMIT, SearchService

MOST_S: Final = 2.0
MOST_PASSAGES: Final = 3
MOST_WEAK: Final = 3
PROJECT: Final = Project("main", "main", Path("/notes"))

_LEAKS: Final = re.compile(
    r"fts5|sqlite|sqlalchemy|syntax error|no such |malformed|unterminated|traceback"
    r"|\bselect\b.*\bfrom\b|\bmatch \?|search_index|content_stems|memoranda_\w+\(|numpy",
    re.IGNORECASE | re.DOTALL,
)


async def checked(service: SearchService, query: SearchQuery) -> SearchResults:
    """Ask, and look at everything that holds for one answer.

    Raises:
        AssertionError: something does not hold.
        TooSlow: it takes over two CPU seconds, twice.
    """
    results, cpu_s = await _timed(service, query)
    if cpu_s > MOST_S and (again := (await _timed(service, query))[1]) > MOST_S:
        raise TooSlow(f"{again:.1f} s of CPU for {query!r:.500}")
    check_results(query, results)
    check_rendered(query, results)
    return results


async def check_paging(service: SearchService, query: SearchQuery, size: int) -> SearchResults:
    """Pages joined are the one big page; every page says the same total. Returns the big page.

    The index must not have more hits than the biggest page takes.
    """
    big = await checked(service, _page(query, MAX_LIMIT, 0))
    assert big.total <= MAX_LIMIT
    if big.is_weak:  # the nearest few, no list to page through
        first = await checked(service, _page(query, 1, 0))
        assert first.hits == big.hits[:1]
        return big
    assert len(big.hits) == big.total or not big.total_is_exact
    joined: list[Hit] = []
    has_more = True
    while has_more:
        page = await checked(service, _page(query, size, len(joined)))
        assert page.total == big.total
        assert page.full_matches == big.full_matches
        assert page.relaxed == big.relaxed
        has_more = page.has_more
        assert len(page.hits) == size or not has_more
        joined += page.hits
    assert tuple(joined) == big.hits
    beyond = await checked(service, _page(query, size, big.total))
    assert not beyond.hits
    assert beyond.total == big.total
    return big


def check_results(query: SearchQuery, results: SearchResults) -> None:
    """Limits, order, totals, places."""
    assert results.query == query.text
    assert (results.limit, results.offset) == (query.limit, query.offset)
    assert len(results.hits) <= query.limit
    scores = [hit.score for hit in results.hits]
    assert all(isfinite(score) and score > 0 for score in scores), scores
    assert all(first >= second for first, second in pairwise(scores)), scores
    if results.search_type is not SearchType.FTS:  # parts of both searches
        assert all(score <= 1 + 1e-6 for score in scores), scores
    assert results.total >= 0
    assert results.full_matches is None or 0 <= results.full_matches <= results.total
    if results.is_weak:
        assert len(results.hits) <= MOST_WEAK
        assert not results.has_more
    else:
        assert len(results.hits) == min(query.limit, max(0, results.total - query.offset))
        assert results.has_more == (query.offset + len(results.hits) < results.total)
    items = {ItemType.NOTE, *query.filters.item_types} == {ItemType.NOTE}
    if items:
        assert len({hit.ref.entity_id for hit in results.hits}) == len(results.hits)
    for hit in results.hits:
        _check_hit(hit, query, has_words=results.full_matches is not None)


def check_rendered(query: SearchQuery, results: SearchResults) -> None:
    """The answer as text and as JSON: bounded, and nothing in it of how the index is asked."""
    text = results_text(results)
    data = compact(results_data(results, PROJECT))
    assert len(text) <= ANSWER_CHARS
    assert len(data) <= ANSWER_CHARS
    for said in (results.suggestion, results.degraded, *results.read_filters):
        check_no_leak(said or "", query.text)


def check_no_leak(said: str, asked: str) -> None:
    """No word of SQL or of the index that the query did not bring itself."""
    for leak in _LEAKS.finditer(said):
        assert leak[0].casefold() in asked.casefold(), f"{leak[0]!r} in {said!r}"


def _check_hit(hit: Hit, query: SearchQuery, *, has_words: bool) -> None:
    wanted = query.filters.item_types
    if has_words:  # else notes are listed
        assert hit.item_type in (wanted or (ItemType.NOTE,))
        assert hit.confidence is not None
    assert len(hit.passages) <= MOST_PASSAGES
    for passage in hit.passages:
        assert passage.text.strip()
        assert 1 <= passage.start_line <= passage.end_line
        assert isfinite(passage.score)
        assert passage.score >= 0  # 0 of what is shown for its note alone


async def _timed(service: SearchService, query: SearchQuery) -> tuple[SearchResults, float]:
    started = time.process_time()
    results = await service.search(query)
    return results, time.process_time() - started


def _page(query: SearchQuery, limit: int, offset: int) -> SearchQuery:
    return SearchQuery(query.text, query.search_type, query.filters, limit, offset, query.explain)

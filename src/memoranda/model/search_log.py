"""What was searched, as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memoranda.model.search import SearchType

MOST_CHARS = 500
"""So much of a query is remembered."""


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """One search by a person or an assistant, after its answer.

    Attributes:
        at: when it began, aware UTC.
        query: the beginning of its words, at most `MOST_CHARS` characters.
        mode: what really ran.
        total: how many notes or items matched.
        latency_ms: from the question to the answer, inside this process.
        client: who asked, as it says itself; "memoranda" for the command line, "" for nobody known.
        is_relaxed, is_weak, is_degraded: see `SearchResults`.
        is_filtered: there were filters, beside the words or read from them; which ones is not remembered.
        is_first: the first search of its process in the project, which has to load code and data.
    """

    at: datetime
    query: str
    mode: SearchType
    total: int
    latency_ms: float
    client: str = ""
    is_relaxed: bool = False
    is_weak: bool = False
    is_degraded: bool = False
    is_filtered: bool = False
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class RecordedSearches:
    """What a search log holds.

    Attributes:
        records: in the order of their answers, the oldest first.
        damaged: lines that could not be read.
        size_bytes: on disk.
    """

    records: tuple[SearchRecord, ...] = ()
    damaged: int = 0
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class SearchSummary:
    """What a search log says in numbers.

    Attributes:
        total: recorded searches.
        since: when the first of them began, None without any.
        clients: who asked, by name.
        warm: how many were not the first of their process.
        p50_ms, p95_ms: so long took half, and 95 of 100, of the warm ones at most; 0.0 without any.
        slowest: the slowest of the warm ones, the slowest first, each query once.
        first_p50_ms: so long took half of the first ones at most, 0.0 without any.
        empty: how many found nothing; `empty_queries` the most frequent words of those without filters.
        weak: how many found nothing relevant; `weak_queries` likewise.
        relaxed: how many found nothing that fulfils all that was demanded.
        degraded: how many could not be searched as they were asked; see `doctor.searches`.
    """

    total: int = 0
    since: datetime | None = None
    clients: tuple[str, ...] = ()
    warm: int = 0
    p50_ms: float = 0.0
    p95_ms: float = 0.0
    slowest: tuple[SearchRecord, ...] = ()
    first_p50_ms: float = 0.0
    empty: int = 0
    empty_queries: tuple[str, ...] = ()
    weak: int = 0
    weak_queries: tuple[str, ...] = ()
    relaxed: int = 0
    degraded: int = 0

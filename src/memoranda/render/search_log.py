"""Recorded searches as JSON values and in words."""

from __future__ import annotations

from typing import Any

from memoranda.model.search_log import SearchRecord, SearchSummary
from memoranda.render.notes import moment


def searches_count(number: int) -> str:
    """`1 recorded search`, `2 recorded searches`."""
    return f"{number:,} recorded search{'' if number == 1 else 'es'}"


def search_data(record: SearchRecord) -> dict[str, Any]:
    """One search as JSON values."""
    return {
        "at": moment(record.at),
        "query": record.query,
        "search_type": record.mode.value,
        "total": record.total,
        "latency_ms": record.latency_ms,
        "client": record.client,
        "filtered": record.is_filtered,
        "first": record.is_first,
        "relaxed": record.is_relaxed,
        "weak": record.is_weak,
        "degraded": record.is_degraded,
    }


def summary_data(summary: SearchSummary) -> dict[str, Any]:
    """What a search log says in numbers, as JSON values."""
    return {
        "total": summary.total,
        "since": moment(summary.since),
        "clients": list(summary.clients),
        "warm": summary.warm,
        "p50_ms": summary.p50_ms,
        "p95_ms": summary.p95_ms,
        "slowest": [search_data(record) for record in summary.slowest],
        "first_p50_ms": summary.first_p50_ms,
        "empty": summary.empty,
        "empty_queries": list(summary.empty_queries),
        "weak": summary.weak,
        "weak_queries": list(summary.weak_queries),
        "relaxed": summary.relaxed,
        "degraded": summary.degraded,
    }

"""What is recorded of a search, and that no answer waits for it."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memoranda.model.history import Author
from memoranda.model.search import SearchFilters, SearchQuery, SearchResults, SearchType
from memoranda.model.search_log import MOST_CHARS, SearchRecord
from memoranda.services.search_recording import SearchRecorder, record_of

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
CLIENT = Author("claude-code", "2.0", "search_notes")


class StepClock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.passed_s = 0.0

    def now(self) -> datetime:
        return AT + timedelta(seconds=self.passed_s)

    def monotonic(self) -> float:
        return 1000.0 + self.passed_s


class MemoryLog:
    """A search log that may be slow: it waits until it is let go."""

    def __init__(self) -> None:
        self.records: list[SearchRecord] = []
        self.may_write = threading.Event()
        self.may_write.set()

    def record(self, record: SearchRecord) -> None:
        assert self.may_write.wait(20)
        self.records.append(record)


def results(**how: Any) -> SearchResults:
    return SearchResults("heap", SearchType.FTS, (), total=3, limit=10, offset=0, **how)


async def test_the_record_has_who_asked_and_how_long_the_answer_took() -> None:
    clock, log = StepClock(), MemoryLog()
    recorder = SearchRecorder(log, clock)

    async def answer() -> SearchResults:
        clock.passed_s += 0.25
        return results()

    assert await recorder.recorded(SearchQuery("heap"), CLIENT, answer()) == results()
    await recorder.aclose()
    expected = SearchRecord(AT, "heap", SearchType.FTS, 3, 250.0, "claude-code", is_first=True)
    assert log.records == [expected]


async def test_the_first_search_of_a_process_is_marked() -> None:
    log = MemoryLog()
    recorder = SearchRecorder(log, StepClock())

    async def answer() -> SearchResults:
        return results()

    for _ in range(3):
        await recorder.recorded(SearchQuery("heap"), CLIENT, answer())
        await recorder.aclose()
    assert [record.is_first for record in log.records] == [True, False, False]


async def test_no_answer_waits_for_the_log_and_closing_does() -> None:
    log = MemoryLog()
    recorder = SearchRecorder(log, StepClock())
    log.may_write.clear()

    async def answer() -> SearchResults:
        return results()

    await recorder.recorded(SearchQuery("heap"), CLIENT, answer())
    assert log.records == []
    log.may_write.set()
    await recorder.aclose()
    assert len(log.records) == 1


async def test_a_search_that_fails_is_not_recorded() -> None:
    log = MemoryLog()
    recorder = SearchRecorder(log, StepClock())

    async def fail() -> SearchResults:
        raise LookupError("no index")

    with pytest.raises(LookupError):
        await recorder.recorded(SearchQuery("heap"), CLIENT, fail())
    await recorder.aclose()
    assert log.records == []


def test_a_long_query_is_cut() -> None:
    record = record_of(SearchQuery("x" * 10_000), results(), CLIENT, AT, 1.0)
    assert record.query == "x" * MOST_CHARS


@pytest.mark.parametrize(
    ("how", "flag"),
    [
        ({"relaxed": True}, "is_relaxed"),
        ({"is_weak": True}, "is_weak"),
        ({"degraded": "no vectors"}, "is_degraded"),
    ],
)
def test_what_the_answer_lacked_is_recorded(how: dict[str, Any], flag: str) -> None:
    plain = record_of(SearchQuery("heap"), results(), CLIENT, AT, 1.0)
    marked = record_of(SearchQuery("heap"), results(**how), CLIENT, AT, 1.0)
    assert not getattr(plain, flag)
    assert getattr(marked, flag)


def test_that_there_were_filters_is_recorded_and_not_which() -> None:
    query = SearchQuery("heap", filters=SearchFilters(tags=("private",)))
    record = record_of(query, results(), CLIENT, AT, 1.0)
    assert record.is_filtered
    assert "private" not in repr(record)
    near = SearchQuery("heap", filters=SearchFilters(min_similarity=0.5))
    assert not record_of(near, results(), CLIENT, AT, 1.0).is_filtered
    both = SearchQuery("heap", filters=SearchFilters(min_similarity=0.5, tags=("a",)))
    assert record_of(both, results(), CLIENT, AT, 1.0).is_filtered
    assert not record_of(SearchQuery("heap"), results(), CLIENT, AT, 1.0).is_filtered
    in_words = results(read_filters=("tag: soil",))
    assert record_of(SearchQuery("tag:soil"), in_words, CLIENT, AT, 1.0).is_filtered

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.doctor.searches import SLOW_MS, SearchFacts, judge, summary
from memoranda.model.health import Check, Verdict
from memoranda.model.search import SearchType
from memoranda.model.search_log import RecordedSearches, SearchRecord, SearchSummary

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ONE = SearchRecord(AT, "heap", SearchType.FTS, 3, 12.0, "memoranda")


def facts(*records: SearchRecord, damaged: int = 0, is_recording: bool = True) -> SearchFacts:
    return SearchFacts("notes", is_recording, RecordedSearches(records, damaged, 1200))


def judged(found: SearchFacts) -> dict[str, Check]:
    checks = judge(found, summary(found.found.records))
    return {check.name: check for check in checks}


def taking(*latencies_ms: float) -> list[SearchRecord]:
    return [replace(ONE, latency_ms=latency) for latency in latencies_ms]


def test_no_records_are_no_numbers() -> None:
    assert summary([]) == SearchSummary()


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_percentiles_are_latencies_that_so_many_searches_do_not_exceed(
    latencies: list[float],
) -> None:
    found = summary(taking(*latencies))
    for share, value in ((0.5, found.p50_ms), (0.95, found.p95_ms)):
        assert value in latencies
        assert sum(latency <= value for latency in latencies) >= share * len(latencies)
        assert sum(latency < value for latency in latencies) < share * len(latencies)


def test_the_slowest_come_first() -> None:
    records = [replace(one, query=f"q{one.latency_ms}") for one in taking(5, 900, 7, 30, 1)]
    found = summary(records)
    assert [record.latency_ms for record in found.slowest] == [900, 30, 7]
    assert (found.p50_ms, found.p95_ms) == (7, 900)


def test_each_of_the_slowest_is_named_once() -> None:
    listings = [replace(one, query=" ") for one in taking(50, 60, 70)]
    records = [*taking(3, 90, 4), *listings, *[replace(ONE, query="a\nb", latency_ms=5.0)] * 2]
    assert judged(facts(*records))["latency"].message.endswith(
        '; the slowest: "heap" 90 ms; (no words) 70 ms; "a b" 5.0 ms'
    )


def test_queries_with_filters_are_counted_and_not_named() -> None:
    empty, weak = replace(ONE, total=0, query="a"), replace(ONE, is_weak=True, query="b")
    filtered = [replace(one, is_filtered=True, query="c") for one in (empty, weak)] * 2
    found = summary([empty, weak, *filtered])
    assert (found.empty, found.weak) == (3, 3)
    assert (found.empty_queries, found.weak_queries) == (("a",), ("b",))


def test_the_first_searches_of_processes_are_told_apart() -> None:
    first = [replace(ONE, latency_ms=latency, is_first=True) for latency in (800, 700, 900)]
    found = summary([*taking(5, 7), *first])
    assert (found.total, found.warm, found.p95_ms, found.first_p50_ms) == (5, 2, 7, 800)
    assert [record.latency_ms for record in found.slowest] == [7]
    message = judged(facts(*taking(5), *first))["latency"].message
    assert message == (
        'half in 5.0 ms, 95 % in 5.0 ms; the slowest: "heap" 5.0 ms; '
        "the first search of a process takes 800 ms (median), since code is loaded"
    )
    assert judged(facts(*first))["latency"].message == (
        "the first search of a process takes 800 ms (median), since code is loaded"
    )
    slow = [replace(record, latency_ms=SLOW_MS + 1) for record in first * 10]
    assert judged(facts(*slow))["latency"].verdict is Verdict.OK


def test_empty_weak_and_relaxed_searches_are_counted_with_their_words() -> None:
    empty, weak = replace(ONE, total=0), replace(ONE, is_weak=True)
    records = [
        replace(empty, query="one"),
        replace(empty, query="often  said"),
        replace(empty, query="two"),
        replace(empty, query="often said"),
        replace(empty, query="three"),
        replace(weak, query="strange"),
        replace(weak, query="nothing at all", total=0),
        replace(ONE, is_relaxed=True),
        replace(ONE, at=AT - timedelta(days=2), client="claude-code"),
    ]
    found = summary(records)
    assert (found.total, found.empty, found.weak, found.relaxed) == (9, 6, 1, 1)
    assert found.empty_queries == ("often said", "nothing at all", "three")
    assert found.weak_queries == ("strange",)
    assert found.since == AT - timedelta(days=2)
    assert found.clients == ("claude-code", "memoranda")


def test_without_searches_it_says_so_and_whether_they_are_recorded() -> None:
    assert judged(facts())["searches"].message == "none is recorded yet"
    off = judged(facts(is_recording=False))["searches"]
    assert off.verdict is Verdict.OK
    assert "search_log is off" in off.message
    assert "search_log is off" in judged(facts(ONE, is_recording=False))["searches"].message


def test_what_was_searched_is_told() -> None:
    empty = replace(ONE, total=0, query="slugs\nand snails")
    checks = judged(facts(ONE, ONE, ONE, empty))
    assert {check.verdict for check in checks.values()} == {Verdict.OK}
    assert checks["searches"].message == (
        "4 searches since 2026-03-04 05:06:07 UTC by memoranda, 1.2 kB"
    )
    assert checks["latency"].message == (
        'half in 12 ms, 95 % in 12 ms; the slowest: "slugs and snails" 12 ms; "heap" 12 ms'
    )
    assert checks["answers"].message.startswith(
        "of these searches 25 % found nothing, 0 % found nothing relevant"
    )
    assert checks["found nothing"].message == '"slugs and snails"'
    assert "nothing relevant" not in checks


@pytest.mark.parametrize(("number", "verdict"), [(20, Verdict.WARNING), (19, Verdict.OK)])
def test_many_slow_searches_are_a_warning(number: int, verdict: Verdict) -> None:
    check = judged(facts(*taking(*[SLOW_MS + 1] * number)))["latency"]
    assert check.verdict is verdict
    assert bool(check.hint) == (verdict is Verdict.WARNING)


def test_few_slow_ones_are_not() -> None:
    found = taking(*[SLOW_MS + 1, *[3.0] * 19])
    assert judged(facts(*found))["latency"].verdict is Verdict.OK


@pytest.mark.parametrize("change", [{"total": 0}, {"is_weak": True}])
def test_many_searches_without_an_answer_are_a_warning(change: dict[str, object]) -> None:
    poor = [replace(ONE, **change)] * 9  # type: ignore[arg-type]
    check = judged(facts(*poor, *[ONE] * 11))["answers"]
    assert check.verdict is Verdict.WARNING
    assert "`memoranda searches --project notes`" in check.hint
    assert judged(facts(*poor, *[ONE] * 40))["answers"].verdict is Verdict.OK


def test_a_damaged_log_is_a_warning_that_says_how_to_begin_anew() -> None:
    for found in (facts(damaged=2), facts(ONE, damaged=2)):
        check = judged(found)["search log"]
        assert check.verdict is Verdict.WARNING
        assert check.message.startswith("2 lines")
        assert "`memoranda searches --clear --project notes`" in check.hint


def test_a_log_that_cannot_be_read_is_a_warning() -> None:
    found = SearchFacts("notes", True, trouble="searches.jsonl cannot be read: Permission denied")
    (check,) = judge(found, SearchSummary())
    assert (check.verdict, check.message) == (Verdict.WARNING, found.trouble)


def test_what_could_not_run_as_asked_counts_since_a_search_by_meaning_ran() -> None:
    by_words = replace(ONE, is_degraded=True)
    assert summary([by_words] * 5).degraded == 0  # there was nothing else that could run
    by_both = replace(ONE, mode=SearchType.HYBRID)
    found = [by_words, by_words, by_both, by_words]
    assert summary(found).degraded == 1
    assert judged(facts(*found))["answers"].message.endswith("25 % ran in a simpler way than asked")
    assert summary([replace(by_both, mode=SearchType.VECTOR, is_degraded=True)]).degraded == 1

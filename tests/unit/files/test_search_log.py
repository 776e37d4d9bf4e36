"""A search as a line of its log, and back."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.files.search_log import line_of, record_of
from memoranda.model.search import SearchType
from memoranda.model.search_log import SearchRecord

AT = datetime(2026, 3, 4, 5, 6, 7, 123000, tzinfo=UTC)
PLAIN = SearchRecord(AT, "heap of compost", SearchType.FTS, 7, 12.34, "claude-code")
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)


@example(query="lone \ud800 half", client="\x00\x85\u2028\n")
@given(query=ANY_TEXT, client=ANY_TEXT)
def test_any_text_comes_back_as_it_was_on_one_line(query: str, client: str) -> None:
    record = replace(PLAIN, query=query, client=client)
    line = line_of(record)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert record_of(line) == record


@pytest.mark.parametrize(
    "flag", ["is_relaxed", "is_weak", "is_degraded", "is_filtered", "is_first"]
)
def test_each_flag_comes_back(flag: str) -> None:
    flags: dict[str, Any] = {flag: True}
    record = replace(PLAIN, **flags)
    assert record_of(line_of(record)) == record


def test_a_line_says_what_it_must_and_no_more() -> None:
    assert json.loads(line_of(PLAIN)) == {
        "at": "2026-03-04T05:06:07.123+00:00",
        "ms": 12.34,
        "mode": "fts",
        "total": 7,
        "client": "claude-code",
        "query": "heap of compost",
    }


def test_times_are_written_in_utc() -> None:
    elsewhere = AT.astimezone(timezone(timedelta(hours=9)))
    assert b'"2026-03-04T05:06:07.123+00:00"' in line_of(replace(PLAIN, at=elsewhere))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"7",
        b"not JSON",
        b"\xff\xfe",
        line_of(PLAIN)[:-20],
        line_of(PLAIN).replace(b'"fts"', b'"telepathy"'),
        line_of(PLAIN).replace(b"+00:00", b""),
        line_of(PLAIN).replace(b"12.34", b'"fast"'),
        line_of(PLAIN).replace(b'"heap of compost"', b"[]"),
        line_of(PLAIN).replace(b'"claude-code"', b"null"),
        line_of(PLAIN).replace(b'"total":7,', b""),
    ],
)
def test_what_is_no_record_is_refused(line: bytes) -> None:
    with pytest.raises((ValueError, LookupError, TypeError)):
        record_of(line)

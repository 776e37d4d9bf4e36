"""`memoranda searches`: what is recorded, and how to be rid of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from memoranda.files.search_log import SearchLogFile
from memoranda.model.search import SearchType
from memoranda.model.search_log import SearchRecord

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.fixture
def log(ready: Cli, home: Path) -> SearchLogFile:
    """Three searches in `my notes`."""
    log = SearchLogFile(home / "my-notes" / "searches.jsonl")
    log.clear()
    for number, query in enumerate(("first", "second\nline", "third")):
        at = AT + timedelta(minutes=number)
        log.record(SearchRecord(at, query, SearchType.FTS, number, 2.4, "claude-code"))
    return log


def test_the_newest_come_first(ready: Cli, log: SearchLogFile) -> None:
    outcome = ready("searches", "--limit", 2)
    assert outcome.code == 0
    assert outcome.out.splitlines() == [
        "WHEN (UTC)           MS  FOUND  CLIENT       QUERY",
        "2026-03-04 05:08:07   2      2  claude-code  third",
        "2026-03-04 05:07:07   2      1  claude-code  second line",
    ]
    assert outcome.err.startswith("note: my notes: 3 recorded searches, ")
    assert outcome.err.endswith(f" in {log.path}\n")


def test_what_an_answer_lacked_stands_behind_the_words(ready: Cli, log: SearchLogFile) -> None:
    record = SearchRecord(
        AT,
        "x",
        SearchType.FTS,
        0,
        1.0,
        is_relaxed=True,
        is_weak=True,
        is_filtered=True,
        is_degraded=True,
    )
    log.record(record)
    line = ready("searches").out.splitlines()[1]
    assert line.endswith("-            x (filtered, relaxed, weak, degraded)")


def test_help_says_what_the_marks_mean(ready: Cli) -> None:
    said = " ".join(ready("searches", "--help").out.split())
    assert 'The client "memoranda" is this command line.' in said
    for mark in (
        "(filtered): with filters",
        "(relaxed): not all",
        "(weak): nothing relevant",
        "(degraded): it ran in a simpler way than asked",
    ):
        assert mark in said


def test_the_json_has_all_of_it(ready: Cli, log: SearchLogFile) -> None:
    data = ready("searches", "--json", "-n", 2).json
    assert (data["project"], data["file"]) == ("my notes", str(log.path))
    assert (data["total"], data["has_more"], data["is_recording"]) == (3, True, True)
    assert data["searches"][1] == {
        "at": "2026-03-04T05:07:07+00:00",
        "query": "second\nline",
        "search_type": "fts",
        "total": 1,
        "latency_ms": 2.4,
        "client": "claude-code",
        "filtered": False,
        "first": False,
        "relaxed": False,
        "weak": False,
        "degraded": False,
    }
    assert not ready("searches", "--json").json["has_more"]


def test_clearing_deletes_them(ready: Cli, log: SearchLogFile) -> None:
    assert ready("searches", "--clear").out == "my notes: 3 recorded searches deleted\n"
    assert not log.path.exists()
    assert ready("searches").out == "my notes: no search is recorded yet\n"
    assert ready("searches", "--clear", "--json").json == {"project": "my notes", "cleared": 0}


def test_that_none_is_recorded_any_more_is_said(
    ready: Cli, log: SearchLogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_SEARCH_LOG", "false")
    assert "third" in ready("searches").out
    assert "new ones are not recorded (search_log is off)" in ready("searches").err
    assert not ready("searches", "--json").json["is_recording"]
    ready("searches", "--clear")
    assert ready("searches").out == (
        "my notes: no search is recorded (the setting search_log is off)\n"
    )


def test_those_of_a_project_that_was_removed_can_be_cleared(ready: Cli, log: SearchLogFile) -> None:
    ready("project", "remove", "my notes")
    assert ready("searches").code == 1
    assert ready("searches", "--project", "my notes", "--clear").code == 0
    assert not log.path.exists()
    outcome = ready("searches", "--project", "my notes", "--json")
    assert outcome.json["error"]["code"] == "PROJECT_NOT_FOUND"

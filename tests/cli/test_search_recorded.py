"""A search at the command line is recorded, unless that is switched off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli


def recorded(cli: Cli) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli("searches", "--json").json["searches"]
    return found


def test_a_search_is_recorded_with_what_it_found(ready: Cli) -> None:
    assert recorded(ready) == []  # `up` has tried a search of its own
    total = ready("search", "heap", "--tag", "garden", "--mode", "fts", "--json").json["total"]
    (one,) = recorded(ready)
    assert (one["query"], one["client"], one["search_type"]) == ("heap", "memoranda", "fts")
    assert (one["total"], one["filtered"], one["degraded"]) == (total, True, False)
    assert one["latency_ms"] > 0
    assert one["first"]


def test_it_is_recorded_beside_the_index_and_not_in_the_notes(
    ready: Cli, home: Path, notes: Path
) -> None:
    before = sorted(notes.rglob("*"))
    ready("search", "heap")
    assert sorted(notes.rglob("*")) == before
    assert (home / "my-notes" / "searches.jsonl").read_text("utf-8").count("\n") == 1
    assert "heap" not in (home / "memoranda.log").read_text("utf-8")


def test_it_can_be_switched_off(ready: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready("search", "heap")
    monkeypatch.setenv("BASIC_MEMORY_SEARCH_LOG", "false")
    assert ready("search", "beds").code == 0
    assert [one["query"] for one in recorded(ready)] == ["heap"]  # and nothing is deleted


def test_a_log_that_cannot_be_written_costs_no_answer(ready: Cli, home: Path) -> None:
    (home / "my-notes" / "searches.jsonl").mkdir()
    outcome = ready("search", "snowdrop heap")
    assert outcome.code == 0
    assert "Compost" in outcome.out
    log = (home / "memoranda.log").read_text("utf-8")
    assert log.count("Searches are not recorded in ") == 1
    assert "snowdrop" not in log

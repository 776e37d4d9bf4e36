from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memoranda.doctor.history import HistoryFacts, judge
from memoranda.model.health import Verdict
from memoranda.model.history import HistoryLimits

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
NONE = HistoryFacts("notes", "/c/notes/history/history.db", HistoryLimits(365, 10))
WELL = replace(NONE, is_there=True, changes=2, oldest=AT, size_bytes=12_000_000)


def test_all_is_well() -> None:
    (check,) = judge(WELL)
    assert check.verdict is Verdict.OK
    assert check.message == "2 changes since 2026-03-04 05:06:07 UTC in 12.0 MB"
    (check,) = judge(replace(WELL, pending=1))
    assert check.message.endswith(", 1 begun and not ended")


def test_no_history_is_no_trouble() -> None:
    (check,) = judge(NONE)
    assert (check.verdict, check.message) == (Verdict.OK, "no tool has changed a note yet")


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (replace(WELL, is_newer=True), "a newer version"),
        (replace(WELL, trouble="file is not a database"), "not a database"),
        (replace(WELL, findings=("row 1 missing",)), "row 1 missing"),
    ],
)
def test_a_history_that_cannot_be_used_is_a_problem(facts: HistoryFacts, said: str) -> None:
    (check,) = judge(facts)
    assert check.verdict is Verdict.PROBLEM
    assert said in check.message
    assert check.hint


def test_much_more_than_its_limit_is_a_warning() -> None:
    _, check = judge(replace(WELL, size_bytes=13_000_000))
    assert (check.name, check.verdict) == ("history size", Verdict.WARNING)
    unlimited = replace(WELL, size_bytes=13_000_000, limits=HistoryLimits(365, 0))
    assert len(judge(unlimited)) == 1


def test_histories_that_were_set_aside_are_a_warning() -> None:
    _, check = judge(replace(WELL, aside=("history.damaged-1.db",)))
    assert (check.name, check.verdict) == ("old histories", Verdict.WARNING)
    assert "history.damaged-1.db" in check.message

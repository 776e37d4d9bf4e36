from __future__ import annotations

from dataclasses import replace

import pytest

from memoranda.doctor.system import Disk, SystemFacts, judge
from memoranda.model.health import Check, Verdict

WELL = SystemFacts(
    version="1.2.0",
    python="CPython 3.12.1",
    system="Linux x86_64",
    sqlite=(3, 45, 1),
    has_fts5=True,
    disks=(Disk("the index", "/c", 40_000_000_000), Disk("the notes of a", "/n", None)),
    folders=100,
    max_watches=65_536,
)


def judged(facts: SystemFacts) -> dict[str, Check]:
    return {check.name: check for check in judge(facts)}


def test_all_is_well() -> None:
    checks = judged(WELL)
    assert {check.verdict for check in checks.values()} == {Verdict.OK}
    assert [check.message for check in checks.values()] == [
        "Memoranda 1.2.0, CPython 3.12.1, Linux x86_64",
        "3.45.1 with FTS5",
        "40.0 GB or more are free",
        "100 folders of notes, and the system lets 65,536 be watched",
    ]


@pytest.mark.parametrize("change", [{"sqlite": (3, 36, 0)}, {"has_fts5": False}])
def test_a_sqlite_that_cannot_keep_the_index_is_a_problem(change: dict[str, object]) -> None:
    check = judged(replace(WELL, **change))["SQLite"]  # type: ignore[arg-type]
    assert check.verdict is Verdict.PROBLEM
    assert "3.37 or later" in check.hint
    assert ("without FTS5" in check.message) == ("has_fts5" in change)


@pytest.mark.parametrize(
    ("free", "verdict"),
    [(600_000_000, Verdict.OK), (400_000_000, Verdict.WARNING), (4_000_000, Verdict.PROBLEM)],
)
def test_little_space_is_told_in_time(free: int, verdict: Verdict) -> None:
    disks = (*WELL.disks, Disk("the notes of b", "/b", free))
    check = judged(replace(WELL, disks=disks))["disk"]
    assert check.verdict is verdict
    assert ("/b" in check.message) == (verdict is not Verdict.OK)


def test_more_folders_than_the_system_lets_be_watched_are_a_warning() -> None:
    check = judged(replace(WELL, folders=60_000))["watch limit"]
    assert check.verdict is Verdict.WARNING
    assert "fs.inotify.max_user_watches" in check.hint


@pytest.mark.parametrize("change", [{"max_watches": None}, {"is_watching": False}, {"folders": 0}])
def test_the_limit_is_not_told_where_it_does_not_matter(change: dict[str, object]) -> None:
    assert "watch limit" not in judged(replace(WELL, **change))  # type: ignore[arg-type]

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memoranda.doctor.live import LiveFacts, judge
from memoranda.model.health import Check, Verdict
from memoranda.model.live import LeaderState, WatchMode, WatchState
from memoranda.model.sync import Progress, SyncPhase, SyncState
from memoranda.render.live import Onlooker

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
WATCH = WatchState(WatchMode.EVENTS, running=True, start_time=AT, folders=12)
LEADER = LeaderState(
    pid=4711,
    version="1.2.0",
    index_version=7,
    since=AT,
    heartbeat=AT + timedelta(seconds=50),
    is_alive=True,
    is_me=False,
    sync=SyncState(SyncPhase.READY),
    watch=WATCH,
    serves="/notes\n(1, 2)",
)
ME = Onlooker(AT + timedelta(seconds=60), "1.2.0", 7)
WELL = LiveFacts(LEADER, True, LEADER.serves, ME, WatchMode.AUTO)


def judged(facts: LiveFacts) -> dict[str, Check]:
    checks = judge(facts)
    assert all(bool(check.hint) == (check.verdict is not Verdict.OK) for check in checks)
    return {check.name: check for check in checks}


def led(**changes: object) -> LiveFacts:
    return replace(WELL, leader=replace(LEADER, **changes))  # type: ignore[arg-type]


def watched(**changes: object) -> LiveFacts:
    return led(watch=replace(WATCH, **changes))  # type: ignore[arg-type]


def test_a_server_that_works_is_named() -> None:
    checks = judged(WELL)
    assert {check.verdict for check in checks.values()} == {Verdict.OK}
    assert checks["server"].message.startswith("process 4711 (version 1.2.0) keeps the index up")
    assert checks["watching"].message == "12 folders, by events"
    assert WELL.keeps_up


@pytest.mark.parametrize("leader", [None, LEADER])
def test_no_server_is_no_trouble(leader: LeaderState | None) -> None:
    facts = replace(WELL, leader=leader, is_led=False)
    checks = judged(facts)
    assert set(checks) == {"server"}
    assert checks["server"].verdict is Verdict.OK
    assert "no server runs" in checks["server"].message
    assert ("(process 4711 was killed)" in checks["server"].message) == (leader is not None)
    assert not facts.keeps_up


def test_a_server_that_hangs_is_a_problem_with_its_number() -> None:
    facts = led(is_alive=False)
    check = judged(facts)["server"]
    assert check.verdict is Verdict.PROBLEM
    assert "no sign of life for 10 seconds" in check.message
    assert check.hint.endswith("kill 4711")
    assert not facts.keeps_up


def test_a_lock_that_cannot_be_used_is_a_problem() -> None:
    facts = replace(WELL, is_led=False, trouble="leader.lock cannot be locked: Is a directory")
    check = judged(facts)["server"]
    assert (check.verdict, check.message) == (Verdict.PROBLEM, facts.trouble)


def test_a_leader_that_nobody_understands_is_a_warning() -> None:
    assert judged(replace(WELL, leader=None))["server"].verdict is Verdict.WARNING


def test_a_server_over_another_folder_is_a_warning() -> None:
    facts = replace(WELL, serves="/other\n(1, 2)")
    assert judged(facts)["server"].verdict is Verdict.WARNING
    assert not facts.keeps_up


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": "1.1.9"}, "older than this command"),
        ({"index_version": 8}, "newer than this command"),
    ],
)
def test_another_version_is_a_warning(changes: dict[str, object], said: str) -> None:
    check = judged(led(**changes))["versions"]
    assert check.verdict is Verdict.WARNING
    assert said in check.message


def test_a_sync_that_fails_is_a_problem() -> None:
    facts = led(sync=SyncState(SyncPhase.FAILED, last_error="The disk is full"))
    check = judged(facts)["syncing"]
    assert check.verdict is Verdict.PROBLEM
    assert "The disk is full" in check.message
    assert not facts.keeps_up


def test_progress_is_told() -> None:
    facts = led(sync=SyncState(SyncPhase.INDEXING, Progress(10, 2000)))
    assert judged(facts)["syncing"].message == "10 of 2,000 files are done"


@pytest.mark.parametrize(
    ("changes", "wanted", "verdict", "said"),
    [
        ({"reason": "not watched: a"}, WatchMode.AUTO, Verdict.WARNING, "not everything: not w"),
        ({"running": False}, WatchMode.AUTO, Verdict.WARNING, "does not run"),
        (
            {"mode": WatchMode.POLLING, "reason": "a network drive"},
            WatchMode.AUTO,
            Verdict.WARNING,
            "by polling: a network drive",
        ),
        (
            {"mode": WatchMode.POLLING, "reason": "set so"},
            WatchMode.POLLING,
            Verdict.OK,
            "by polling, as configured",
        ),
        ({"mode": WatchMode.OFF}, WatchMode.OFF, Verdict.OK, "off, as configured"),
        ({"mode": WatchMode.OFF}, WatchMode.AUTO, Verdict.OK, "not begun yet"),
    ],
)
def test_how_changes_are_noticed_is_judged_by_what_is_configured(
    changes: dict[str, object], wanted: WatchMode, verdict: Verdict, said: str
) -> None:
    check = judged(replace(watched(**changes), wanted=wanted))["watching"]
    assert check.verdict is verdict
    assert said in check.message


def test_errors_of_the_watcher_are_a_warning_once() -> None:
    check = judged(watched(error_count=2, last_error="gone", last_error_at=AT))["watch errors"]
    assert check.verdict is Verdict.WARNING
    assert check.message == "2 errors, the last at 2026-03-04 05:06:07 UTC: gone"
    said_elsewhere = watched(error_count=2, last_error="a limit", reason="a limit")
    assert "watch errors" not in judged(said_elsewhere)

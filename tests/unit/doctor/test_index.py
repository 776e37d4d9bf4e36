from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memoranda.db.migrate import State
from memoranda.doctor.index import IndexFacts, judge
from memoranda.model.health import Check, Verdict
from memoranda.model.project import Counts

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
EMPTY = IndexFacts("my notes", "/c/my-notes/memory.db", 7)
WELL = replace(
    EMPTY,
    state=State.CURRENT,
    size_bytes=1_500_000,
    counts=Counts(notes=3, observations=5, relations=1),
    version=7,
    languages=("english", "german"),
    wanted_languages=("english", "german"),
    last_full_sync=AT,
    last_check=AT,
    new=(),
    findings=(),
)
SYNC = "`memoranda sync --project 'my notes'`"


def judged(facts: IndexFacts, *, is_kept_up: bool = False) -> dict[str, Check]:
    checks = judge(facts, is_kept_up=is_kept_up)
    assert all(bool(check.hint) == (check.verdict is not Verdict.OK) for check in checks)
    return {check.name: check for check in checks}


def test_all_is_well() -> None:
    checks = judged(WELL)
    assert {check.verdict for check in checks.values()} == {Verdict.OK}
    assert checks["index"].message == "3 notes, 5 facts, 1 relation in 1.5 MB"
    assert checks["up to date"].message == "the last whole look was at 2026-03-04 05:06:07 UTC"


@pytest.mark.parametrize(
    ("state", "verdict", "said"),
    [
        (State.ABSENT, Verdict.WARNING, "nothing is indexed yet"),
        (State.OLDER, Verdict.OK, "upgraded at its next use"),
        (State.NEWER, Verdict.PROBLEM, "a newer version"),
        (State.FOREIGN, Verdict.PROBLEM, "cannot be used: the reason"),
        (State.DAMAGED, Verdict.PROBLEM, "cannot be used: the reason"),
        (State.UNSEARCHABLE, Verdict.PROBLEM, "full-text index cannot be used: the reason"),
    ],
)
def test_what_lies_at_its_place_is_judged(state: State, verdict: Verdict, said: str) -> None:
    checks = judged(replace(EMPTY, state=state, reason="the reason"))
    assert set(checks) == {"index"}
    assert checks["index"].verdict is verdict
    assert said in checks["index"].message


def test_an_index_that_cannot_be_looked_at_is_a_problem_with_its_own_words() -> None:
    checks = judged(replace(EMPTY, trouble="permission denied", way_on="Check it."))
    assert checks["index"] == Check("index", Verdict.PROBLEM, "permission denied", "Check it.")


def test_damage_is_a_problem() -> None:
    check = judged(replace(WELL, findings=("a", "b", "c", "d")))["soundness"]
    assert check.verdict is Verdict.PROBLEM
    assert check.message == "the index is damaged: a; b; c"
    assert "`memoranda reindex --project 'my notes'`" in check.hint


def test_what_was_not_checked_is_said_with_the_last_check() -> None:
    facts = replace(WELL, findings=None, unchecked="another process is writing to it")
    check = judged(facts)["soundness"]
    assert check.verdict is Verdict.OK
    assert "not checked (another process is writing to it)" in check.message
    assert "last found sound at 2026-03-04 05:06:07 UTC" in check.message
    message = judged(replace(facts, last_check=None))["soundness"].message
    assert "no server has checked it yet" in message


def test_what_the_index_has_not_is_a_warning_unless_a_server_is_at_it() -> None:
    facts = replace(WELL, new=("a.md", "b.md"), changed=("c.md",))
    check = judged(facts)["up to date"]
    assert check.verdict is Verdict.WARNING
    assert "2 new (a.md, b.md), 1 changed (c.md); " in check.message
    assert SYNC in check.hint
    check = judged(facts, is_kept_up=True)["up to date"]
    assert check.verdict is Verdict.OK
    assert "in a moment" in check.message
    gone = judged(replace(WELL, gone=("d.md",)))["up to date"]
    assert "1 gone (d.md)" in gone.message


def test_without_a_look_at_the_folder_nothing_is_said_of_it() -> None:
    assert "up to date" not in judged(replace(WELL, new=None))


def test_an_index_that_was_never_made_whole_is_a_warning() -> None:
    check = judged(replace(WELL, last_full_sync=None))["up to date"]
    assert (check.verdict, SYNC in check.hint) == (Verdict.WARNING, True)


@pytest.mark.parametrize(("version", "said"), [(6, "an older version"), (8, "a newer version")])
def test_an_index_of_another_version_is_a_warning(version: int, said: str) -> None:
    check = judged(replace(WELL, version=version))["version"]
    assert check.verdict is Verdict.WARNING
    assert said in check.message


def test_an_index_for_other_languages_is_a_warning() -> None:
    check = judged(replace(WELL, wanted_languages=()))["languages"]
    assert check.verdict is Verdict.WARNING
    assert "(english, german) than search_languages says (none)" in check.message


@pytest.mark.parametrize(
    ("facts", "name", "said"),
    [
        (replace(WELL, failed=("a.md",)), "failures", "1 file could not be indexed: a.md"),
        (replace(WELL, counts=Counts(notes=9, problems=2)), "headers", "2 notes not read whole"),
        (
            replace(WELL, missing=4, missing_reason="the folder is empty"),
            "kept",
            "4 notes without a file stay in the index: the folder is empty",
        ),
        (
            replace(WELL, aside=("memory.damaged-1.db",), aside_bytes=2_000_000),
            "set aside",
            "1 database that could not be used: memory.damaged-1.db (2.0 MB)",
        ),
    ],
)
def test_what_should_be_known_is_a_warning(facts: IndexFacts, name: str, said: str) -> None:
    checks = judged(facts)
    assert checks[name].verdict is Verdict.WARNING
    assert said in checks[name].message
    assert {check.verdict for key, check in checks.items() if key != name} == {Verdict.OK}

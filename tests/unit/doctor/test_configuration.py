from __future__ import annotations

from dataclasses import replace

import pytest

from memoranda.doctor.configuration import ConfigurationFacts, judge
from memoranda.model.health import Check, Verdict

WELL = ConfigurationFacts("/home/me/.basic-memory", projects=2)


def named(checks: list[Check], name: str) -> Check:
    (found,) = [check for check in checks if check.name == name]
    return found


def test_all_is_well() -> None:
    checks = judge(WELL)
    assert {check.verdict for check in checks} == {Verdict.OK}
    assert [(check.name, check.message) for check in checks] == [
        ("settings", "can be used: 2 projects in /home/me/.basic-memory"),
        ("access", "for this user alone"),
    ]


def test_a_configuration_that_cannot_be_read_is_a_problem_with_its_own_words() -> None:
    facts = replace(WELL, trouble="config.json is not JSON", way_on="Correct it.", projects=0)
    check = judge(facts)[0]
    assert check == Check("settings", Verdict.PROBLEM, "config.json is not JSON", "Correct it.")
    assert "projects" not in [check.name for check in judge(facts)]


def test_no_project_is_a_warning_that_says_how_to_begin() -> None:
    checks = judge(ConfigurationFacts("/c", has_folder=False))
    assert named(checks, "settings").message == "/c is not there yet: the defaults hold"
    check = named(checks, "projects")
    assert check.verdict is Verdict.WARNING
    assert "`memoranda up PATH`" in check.hint
    assert "access" not in [check.name for check in checks]


def test_a_default_that_does_not_exist_is_a_problem() -> None:
    check = named(judge(replace(WELL, missing_default="work")), "default")
    assert check.verdict is Verdict.PROBLEM
    assert "'work'" in check.message


def test_a_misspelled_setting_is_a_warning_and_another_unknown_one_is_not() -> None:
    facts = replace(WELL, misspelled=(("sync_dely", "sync_delay"),), unknown=("theme",))
    checks = judge(facts)
    check = named(checks, "spelling")
    assert (check.verdict, check.hint) == (Verdict.WARNING, "Perhaps sync_delay is meant.")
    assert named(checks, "other keys").verdict is Verdict.OK
    assert "theme" in named(checks, "other keys").message


@pytest.mark.parametrize(
    ("changes", "name", "verdict"),
    [
        ({"refused": ("/c/a", "/c/b")}, "access", Verdict.PROBLEM),
        ({"exposed": ("/c", "/c/config.json")}, "privacy", Verdict.WARNING),
        ({"network": "nfs4, mounted at /home"}, "drive", Verdict.WARNING),
    ],
)
def test_what_others_may_and_this_user_may_not(
    changes: dict[str, object], name: str, verdict: Verdict
) -> None:
    checks = judge(replace(WELL, **changes))  # type: ignore[arg-type]
    check = named(checks, name)
    assert check.verdict is verdict
    assert check.hint
    for value in changes.values():
        for path in value if isinstance(value, tuple) else (value,):
            assert path in check.message
    assert {check.verdict for check in checks if check.name != name} == {Verdict.OK}

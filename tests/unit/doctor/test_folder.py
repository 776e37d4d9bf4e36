from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memoranda.doctor.folder import FolderFacts, judge
from memoranda.model.health import Verdict
from memoranda.model.project import Project

NOTES = Project("my notes", "my-notes", Path("/notes"))
WELL = FolderFacts(NOTES, notes=1200, folders=3)


def test_all_is_well() -> None:
    (check,) = judge(WELL)
    assert (check.verdict, check.message) == (Verdict.OK, "/notes has 1,200 notes")


def test_folders_of_other_projects_in_it_are_named() -> None:
    (check,) = judge(replace(WELL, project=replace(NOTES, skips=("work", "a/b"))))
    assert check.verdict is Verdict.OK
    assert "left out as projects of their own: work, a/b" in check.message


def test_a_project_that_is_switched_off_is_no_trouble() -> None:
    off = replace(NOTES, disabled="it is switched off (is_active is false)")
    assert [check.verdict for check in judge(FolderFacts(off, True))] == [Verdict.OK]


def test_a_second_project_on_one_folder_is_a_warning() -> None:
    twin = replace(NOTES, disabled="the project 'main' has the same folder")
    (check,) = judge(FolderFacts(twin))
    assert check.verdict is Verdict.WARNING
    assert "'main' has the same folder" in check.message
    assert "`memoranda project remove 'my notes'`" in check.hint


def test_a_folder_that_is_not_there_is_a_problem() -> None:
    (check,) = judge(FolderFacts(NOTES, trouble="it is not there", way_on="Mount it."))
    assert (check.verdict, check.hint) == (Verdict.PROBLEM, "Mount it.")


@pytest.mark.parametrize(
    ("facts", "name", "said"),
    [
        (replace(WELL, unreadable=("a", "b", "c", "d", "e")), "unreadable", "a, b, c and 2 more"),
        (replace(WELL, bad_rules=(".gitignore",)), "ignore files", ".gitignore"),
        (replace(WELL, is_writable=False), "writing", "/notes"),
    ],
)
def test_what_is_in_the_way_is_a_warning(facts: FolderFacts, name: str, said: str) -> None:
    first, second = judge(facts)
    assert first.verdict is Verdict.OK
    assert (second.name, second.verdict) == (name, Verdict.WARNING)
    assert said in second.message
    assert second.hint

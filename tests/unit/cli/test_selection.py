from __future__ import annotations

from pathlib import Path

import pytest
import typer

from memoranda.cli.selection import only_name, unique_name
from memoranda.model.project import Project

TAKEN = [Project("Notes", "notes", Path("/n")), Project("Work log", "work-log", Path("/w"))]


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("garden", "garden"), ("notes", "notes-2"), ("work-log", "work-log-2"), ("---", "notes-2")],
)
def test_name_of_a_new_project_is_taken_by_no_other(wanted: str, name: str) -> None:
    assert unique_name(wanted, TAKEN) == name


def test_argument_and_option_may_not_differ() -> None:
    assert only_name("a", None) == only_name(None, "a") == only_name("a", "a") == "a"
    assert only_name(None, None) is None
    with pytest.raises(typer.BadParameter):
        only_name("a", "b")

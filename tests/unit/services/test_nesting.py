"""What is said of projects whose folders lie in each other."""

from __future__ import annotations

from pathlib import Path

from memoranda.model.project import Project
from memoranda.services.projects import nesting


def test_nested_folders_are_told_from_both_sides() -> None:
    outer, inner = Project("outer", "outer", Path("/n")), Project("inner", "inner", Path("/n/a/b"))
    beside = Project("beside", "beside", Path("/nn"))
    off = Project("off", "off", Path("/n/a"), disabled="it is switched off")
    everything = [outer, inner, beside, off]
    assert nesting(inner, everything) == [
        "/n/a/b lies inside the project outer, which leaves it out from now on"
    ]
    assert nesting(outer, everything) == [
        "/n/a/b is the project inner, so outer leaves that folder out"
    ]
    assert nesting(beside, everything) == []

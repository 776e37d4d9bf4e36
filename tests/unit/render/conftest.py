"""Values for the render tests, as the fixture `samples`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memoranda.model.address import NotePath, Permalink
from memoranda.model.note import (
    IncomingRelation,
    NoteRef,
    Observation,
    ObservationItem,
    OutgoingRelation,
    ParsedNote,
)
from memoranda.model.project import Project
from memoranda.model.views import NoteView


@pytest.fixture
def samples() -> ModuleType:
    """The builders and values of this module."""
    return sys.modules[__name__]


PROJECT = Project("Main", "main", Path("/notes"), is_default=True)
OTHER = Project("Other One", "other-one", Path("/other"))


def ref(name: str = "deep-work", **changes: Any) -> NoteRef:
    values: dict[str, Any] = {
        "entity_id": 1,
        "external_id": "4f5c0d4e-8d0e-4f0e-9a4b-2f1d3c5b6a79",
        "title": name.replace("-", " ").title(),
        "permalink": Permalink(f"research/{name}"),
        "file_path": NotePath(f"research/{name}.md"),
        "note_type": "concept",
        "tags": ("focus",),
        "created_at": datetime(2025, 1, 1, tzinfo=UTC),
        "updated_at": datetime(2025, 2, 3, 4, 5, 6, 789, tzinfo=UTC),
        "checksum": "c" * 64,
    }
    return NoteRef(**values | changes)


def observation(line: int, content: str = "Fact") -> ObservationItem:
    value = Observation("fact", content, line, line, 0, 1, tags=("t",), context="there")
    return ObservationItem(value, f"research/deep-work/observations/fact/{line}")


def relation(line: int, to: str | None = "Focus") -> OutgoingRelation:
    return OutgoingRelation(
        "requires", "focus", "Focus", to, Permalink("focus") if to else None, None, line
    )


def backlink(line: int = 3) -> IncomingRelation:
    return IncomingRelation(
        "links_to", "Daily", Permalink("daily"), NotePath("daily.md"), None, line
    )


def view(text: str, **changes: Any) -> NoteView:
    lines = text.count("\n")
    values: dict[str, Any] = {
        "ref": ref(),
        "parsed": ParsedNote(
            NotePath("research/deep-work.md"),
            "Deep Work",
            "concept",
            {"status": "x"},
            text,
            0,
            1,
            (),
            (),
            (),
            (),
        ),
        "text": text,
        "start_line": 1,
        "end_line": lines,
        "total_lines": lines,
        "next_line": None,
        "observations": (),
        "relations": (),
        "backlinks": (),
    }
    return NoteView(**values | changes)

"""Questions that a set of notes says nothing about: right is to say so."""

from __future__ import annotations

import tomllib
from pathlib import Path

from benchmarks.retrieval.tasks import Question

PART = "off topic"
_FILE = Path(__file__).with_name("data") / "off_topic.toml"


def off_topic(*kinds: str) -> list[Question]:
    """The questions of these kinds, and those that no set answers."""
    lists = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return [
        Question(text, frozenset(), PART) for kind in (*kinds, "anywhere") for text in lists[kind]
    ]

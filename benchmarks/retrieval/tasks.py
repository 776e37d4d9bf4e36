"""What is asked of which notes, as values.

A task is one grain of one vault: notes, their places that count as an answer, and the questions. Tasks of
one series (set, grain, haystack) are measured together, even when each has a vault of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memoranda.model.search import ItemType


class Series(NamedTuple):
    """What a figure is about: which set, which unit is found, among what."""

    set: str
    grain: str
    haystack: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the ids of its right answers.

    Attributes:
        gold: empty for a question that the notes say nothing about.
        part: the row that it is counted in, beside the row of all.
    """

    text: str
    gold: frozenset[str]
    part: str = ""


@dataclass(frozen=True, slots=True)
class Places:
    """The answers in one file: each goes from its first line to the next one's. `lines` ascend."""

    lines: tuple[int, ...]
    ids: tuple[str, ...]

    def at(self, line: int) -> str | None:
        """The id of the answer that holds a line, None before the first."""
        position = bisect_right(self.lines, line) - 1
        return self.ids[position] if position >= 0 else None


@dataclass(frozen=True, slots=True)
class Vault:
    """Notes to index.

    Attributes:
        files: path from the root (POSIX) -> text.
        languages: those that the search is configured for; empty: as it comes.
    """

    name: str
    files: Mapping[str, str]
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """Questions to one vault at one grain.

    Attributes:
        places: file path -> where its answers are.
        item_types: what the search is told to find; empty for notes.
        limit: hits to ask for; more than the depth of the measures when several hits are one answer.
        by_meaning: whether it is asked by meaning, too, and not by words alone.
    """

    series: Series
    vault: Vault
    places: Mapping[str, Places]
    questions: Sequence[Question]
    item_types: tuple[ItemType, ...] = ()
    limit: int = 10
    by_meaning: bool = False


def whole_notes(ids: Mapping[str, str]) -> dict[str, Places]:
    """Places of a task whose answers are notes: file path -> id."""
    return {path: Places((1,), (one,)) for path, one in ids.items()}

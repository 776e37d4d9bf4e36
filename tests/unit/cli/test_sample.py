from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoranda.cli.sample import sample_word
from memoranda.model.address import NotePath, Permalink
from memoranda.model.note import NoteRef

WHEN = datetime(2026, 1, 2, tzinfo=UTC)


def note(title: str, *tags: str) -> NoteRef:
    return NoteRef(1, "id", title, Permalink("p"), NotePath("p.md"), "note", tags, WHEN, WHEN, "c")


@pytest.mark.parametrize(
    ("notes", "word"),
    [
        ([note("Garden plan"), note("My garden"), note("Soil")], "garden"),
        ([note("Soil", "compost"), note("Water", "compost", "rain"), note("Bees")], "compost"),
        ([note("About this page"), note("Index"), note("Notes list")], None),
        ([note("Index page"), note("Rhododendron"), note("Soil")], "rhododendron"),
        ([note("機械学習 入門"), note("機械学習 応用")], "機械学習"),
        ([note("2026-01-02"), note("42")], None),
        ([], None),
    ],
)
def test_word_that_most_titles_share_then_tag_then_longest(
    notes: list[NoteRef], word: str | None
) -> None:
    assert sample_word(notes) == word


def test_equal_words_are_chosen_the_same_way_in_any_order() -> None:
    notes = [note("Water garden"), note("Garden water")]
    assert sample_word(notes) == sample_word(notes[::-1]) == "garden"

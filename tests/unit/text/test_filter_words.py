from __future__ import annotations

import pytest

from memoranda.model.search import MetadataCondition, MetadataOperator, SearchFilters
from memoranda.text.filter_words import filter_words, is_text

EQ = MetadataOperator.EQ


def where(key: str, value: str, operator: MetadataOperator = EQ) -> SearchFilters:
    return SearchFilters(metadata=(MetadataCondition(key, operator, (value,)),))


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        (SearchFilters(tags=("Work/API", "#c++")), {"work", "api", "c"}),
        (where("status", "In progress"), {"in", "progress"}),
        (where("author.name", "Kim"), {"kim"}),
        (SearchFilters(tags=("größe",)), set()),
        (SearchFilters(title="plan", note_types=("note",), path="a/b"), set()),
    ],
)
def test_words_that_a_note_must_have(filters: SearchFilters, words: set[str]) -> None:
    assert filter_words([filters]) == words


@pytest.mark.parametrize(
    "filters",
    [
        where("priority", "2"),
        where("done", "True"),
        where("done", "true"),
        where("due", "2026-01-05"),
        where("related", "[[Kim]]"),
        where("date", "last week"),
        where("status", "prog", MetadataOperator.CONTAINS),
        where("status", "progress", MetadataOperator.NE),
        where("status", "progress", MetadataOperator.IN),
        where("status", "true", MetadataOperator.EXISTS),
    ],
)
def test_what_may_stand_in_no_row_asks_for_no_word(filters: SearchFilters) -> None:
    assert filter_words([filters]) == frozenset()


def test_all_filters_are_joined() -> None:
    assert filter_words([SearchFilters(tags=("a",)), where("k", "word")]) == {"a", "word"}


def test_numbers_links_and_truths_are_no_text() -> None:
    assert not any(map(is_text, ("12", "a", "10:30", "[[Kim]]", "True", "False")))
    assert is_text("Kim")

"""What a search says of words that no note has."""

from __future__ import annotations

import asyncio

from tests.integration.conftest import Index

from memoranda.model.search import SearchFilters, SearchQuery, SearchType


def suggestion(index: Index, text: str, **filters: object) -> str | None:
    query = SearchQuery(text, SearchType.FTS, SearchFilters(**filters))  # type: ignore[arg-type]
    return asyncio.run(index.search.search(query)).suggestion


def test_a_misspelt_word_is_corrected(index: Index) -> None:
    for number in range(12):
        index.write(f"{number}.md", "- [fact] a warehouse\n" * 100)
    index.write("12.md", "- [fact] a warehouse\n" * 4)
    index.run_sync()
    expected = 'No note has "wharehouse". Did you mean "warehouse" (1,204)?'
    assert suggestion(index, "wharehouse") == expected
    assert suggestion(index, "Wharehouse", tags=("none",)) == expected.replace("wh", "Wh")
    assert suggestion(index, "warehouse") is None


def test_the_longest_unknown_words_are_corrected(index: Index) -> None:
    index.write("a.md", "Retrieval of a receive and relieve thing, configuration.\n")
    index.run_sync()
    assert suggestion(index, "confguration retreival cats reeive") == (
        'No note has "confguration". Did you mean "configuration" (1)? '
        'No note has "retreival". Did you mean "retrieval" (1)?'
    )
    assert suggestion(index, "releive") == (
        'No note has "releive". Did you mean "receive" (1) or "relieve" (1)?'
    )


def test_a_known_word_behind_a_filter_is_not_corrected(index: Index) -> None:
    index.write("a.md", "A receive and a relieve.\n")
    index.run_sync()
    assert "Drop a filter (tags)" in (suggestion(index, "relieve", tags=("none",)) or "")


def test_nothing_similar_is_said(index: Index) -> None:
    index.write("a.md", "A receive and a relieve.\n")
    index.run_sync()
    assert suggestion(index, "zzyzx") == (
        "No note has these words. Try fewer, other or more general ones."
    )

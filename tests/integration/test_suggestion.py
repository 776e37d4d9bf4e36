"""What a search says of words that no note has."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from tests.integration.conftest import Index

from memoranda.model.search import (
    ItemType,
    MetadataCondition,
    MetadataOperator,
    SearchFilters,
    SearchQuery,
    SearchType,
)


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
    assert "Drop a filter (tag)" in (suggestion(index, "relieve", tags=("none",)) or "")


def test_filters_are_named_as_a_person_calls_them(index: Index) -> None:
    index.write("a.md", "---\nstatus: done\n---\nA receive.\n")
    index.run_sync()
    condition = MetadataCondition("status", MetadataOperator.EQ, ("open",))
    found = suggestion(
        index,
        "receive tag:x title:y type:z path:w yesterday",
        permalink_match="p",
        after_date=datetime(2020, 1, 1, tzinfo=UTC),
        item_types=(ItemType.SECTION,),
        metadata=(condition,),
    )
    assert found is not None
    names = "permalink, dates, part of notes, frontmatter, tag, title, type, path"
    assert found == f"Drop a filter ({names}): without them 1 note matches."


def test_a_frontmatter_key_that_no_note_has_is_named(index: Index) -> None:
    def said(operator: MetadataOperator, value: str) -> str:
        other = MetadataCondition("status", MetadataOperator.EQ, ("open",))
        condition = MetadataCondition("STATE", operator, (value,))
        return suggestion(index, "receive", metadata=(other, condition)) or ""

    assert said(MetadataOperator.EQ, "open").startswith("The index has no notes")
    index.write("a.md", "---\nstatus: done\n---\nA receive.\n")
    index.run_sync()
    unknown = 'No note has the frontmatter key "STATE".'
    assert said(MetadataOperator.EQ, "open") == unknown
    assert said(MetadataOperator.EXISTS, "true") == unknown
    for operator, value in ((MetadataOperator.NE, "x"), (MetadataOperator.EXISTS, "false")):
        assert said(operator, value).startswith("Drop a filter (frontmatter)")


def test_a_query_of_exclusions_alone_says_that_it_is_read_as_words(index: Index) -> None:
    index.write("a.md", "A receive and a relieve.\n")
    index.run_sync()
    for text in ("-receive", "NOT receive -relieve"):
        assert (suggestion(index, text) or "").startswith("A query of exclusions alone is read as")
    for text in ("-other type:note", "relieve -other", "OR", ""):
        assert "exclusions" not in (suggestion(index, text) or "")


def test_nothing_similar_is_said(index: Index) -> None:
    index.write("a.md", "A receive and a relieve.\n")
    index.run_sync()
    assert suggestion(index, "zzyzx") == (
        "No note has these words. Try fewer, other or more general ones."
    )


def test_a_query_without_a_word_is_said_to_list_the_newest(index: Index) -> None:
    index.write("a.md", "---\ntags: [bird]\n---\nA receive ⏫ and a relieve.\n")
    index.run_sync()
    said = "The query has no word to look for; these are the newest notes."
    assert suggestion(index, "!!!") == said
    for text in ("", " ", "tag:bird", "⏫", "receive"):
        assert suggestion(index, text) is None

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
    assert "Drop the filter (tag): without it 1 note matches." in (
        suggestion(index, "relieve", tags=("none",)) or ""
    )


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
        assert said(operator, value).startswith("Drop the filter (frontmatter): without it")


def test_a_query_of_exclusions_alone_says_that_it_is_read_as_words(index: Index) -> None:
    index.write("a.md", "A receive and a relieve.\n")
    index.run_sync()
    for text in ("-receive", "NOT receive -relieve"):
        assert (suggestion(index, text) or "").startswith("A query of exclusions alone is read as")
    for text in ("-other type:note", "relieve -other", "OR", ""):
        assert "exclusions" not in (suggestion(index, text) or "")


def test_without_a_word_the_filters_alone_are_named(index: Index) -> None:
    index.write("a.md", "A receive.\n")
    index.run_sync()
    assert suggestion(index, "", tags=("x",)) == "The one note does not pass the filter (tag)."
    index.write("b.md", "A receive.\n")
    index.run_sync()
    both = suggestion(index, "", tags=("x",), title="y")
    assert both == "None of 2 notes passes the filters (title, tag)."


def test_how_near_it_must_be_is_no_filter_of_words(index: Index) -> None:
    index.write("a.md", "A receive and a relieve.\n")
    index.run_sync()
    said = "min_similarity was not used: fts searches by words alone."
    assert suggestion(index, "relieve", min_similarity=0.5) == said
    assert suggestion(index, "zzyzx", min_similarity=0.5) == (
        f"No note has these words. Try fewer, other or more general ones. {said}"
    )
    assert suggestion(index, "relieve", min_similarity=0.5, tags=("none",)) == (
        f"Drop the filter (tag): without it 1 note matches. {said}"
    )


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


def test_a_word_that_only_its_beginning_finds_is_said_to_be_missing(index: Index) -> None:
    index.write("a.md", "Unicode, and all of its planes.\n")
    index.run_sync()
    assert suggestion(index, "unicorn") == (
        'No note has "unicorn"; words that begin with "unico" were looked for.'
    )
    assert suggestion(index, "unicode") is None
    assert suggestion(index, "unico") is None  # an unfinished word


def test_a_misspelt_word_that_its_beginning_finds_is_corrected(index: Index) -> None:
    for number in range(12):
        index.write(f"{number}.md", "- [fact] a telescope\n" * 100)
    index.run_sync()
    expected = 'No note has "telescpe". Did you mean "telescope" (1,200)?'
    assert suggestion(index, "telescpe") == expected

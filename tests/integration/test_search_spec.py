"""The rules of the specification on text search (5.2, 12.3, 13.3, 14.3), on a real folder.

Every word counts, none is a condition: a note that has all of them comes first, and the answer says how
many have. So "no result, then OR" is the special case that no note has all of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest

from memoranda.model.search import SearchFilters, SearchQuery, SearchResults, SearchType
from memoranda.text.query import parse_query

Search = Callable[..., Awaitable[SearchResults]]

OTHERS = {
    "bread.md": "# Sourdough\n\nFlour, water and salt.\n",
    "trains.md": "# Night trains\n\nFrom Vienna to Rome.\n",
    "birds.md": "# Birds\n\nThe heron stands in the pond.\n",
}


@pytest.fixture
def search(index: Any) -> Search:
    """Index these files, then search."""

    async def run(
        text: str,
        files: dict[str, str] | None = None,
        mode: SearchType = SearchType.FTS,
        limit: int = 50,
        offset: int = 0,
        **filters: Any,
    ) -> SearchResults:
        for path, content in (files or {}).items():
            index.write(path, content)
        if files:
            await index.sync.full_sync()
        query = SearchQuery(text, mode, SearchFilters(**filters), limit, offset)
        results: SearchResults = await index.search.search(query)
        return results

    return run


def paths(results: SearchResults) -> list[str]:
    """Of the notes found, best first."""
    return [hit.ref.file_path for hit in results.hits]


def titled(title: str, text: str = "") -> str:
    """A note with a title in its header."""
    return f"---\ntitle: {title}\n---\n{text}\n"


@pytest.mark.spec("13.3")
async def test_words_of_a_title_find_the_note(search: Search) -> None:
    files = OTHERS | {
        "ml.md": titled("Machine Learning Basics", "What a model is."),
        "sewing.md": "How to thread a sewing machine.\n",
    }
    results = await search("machine learning", files)
    assert paths(results) == ["ml.md", "sewing.md"]
    assert results.hits[0].score > results.hits[1].score > 0
    assert (results.total, results.full_matches, results.relaxed) == (2, 1, False)
    assert [passage.text for passage in results.hits[0].passages] == ["What a model is."]


@pytest.mark.spec("5.2")
@pytest.mark.spec("13.3")
async def test_a_hyphenated_word_is_looked_for_as_one(search: Search) -> None:
    files = OTHERS | {
        "node.md": titled("node-js-tutorial"),
        "apart.md": "js here, a node there, and js on a node; the node again in js\n",
    }
    results = await search("node-js", files)
    assert paths(results)[0] == "node.md"
    assert results.full_matches == 1


@pytest.mark.spec("5.2")
@pytest.mark.spec("13.3")
async def test_without_a_full_match_a_note_with_some_words_is_found(search: Search) -> None:
    files = OTHERS | {"plan.md": "project management tips\n"}
    results = await search("project planning ideas", files)
    assert paths(results) == ["plan.md"]
    assert results.full_matches == 0


@pytest.mark.spec("5.2")
async def test_stop_words_find_nothing_beside_other_words(search: Search) -> None:
    files = OTHERS | {
        "plan.md": "project management tips\n",
        "stop.md": "the a an is are was were in on at to for of with by\n",
    }
    assert paths(await search("the ideas of a project", files)) == ["plan.md"]
    for word in files["stop.md"].split():
        assert paths(await search(f"{word} project")) == ["plan.md"]
        assert (await search(f"{word} project")).full_matches == 1
        assert "stop.md" in paths(await search(word))


@pytest.mark.spec("13.3")
async def test_more_of_the_words_come_first(search: Search) -> None:
    files = OTHERS | {
        "one.md": "an idea\n",
        "three.md": "ideas of planning a project\n",
        "two.md": "project ideas\n",
    }
    results = await search("project planning ideas", files)
    assert paths(results) == ["three.md", "two.md", "one.md"]
    assert all(better.score > worse.score > 0 for better, worse in pairwise(results.hits))
    assert (results.total, results.full_matches) == (3, 1)


@pytest.mark.spec("5.5")
@pytest.mark.spec("13.3")
async def test_only_notes_of_the_types_asked_for_are_returned(search: Search) -> None:
    files = {
        f"{kind}{number}.md": f"---\ntype: {kind}\n---\nshared {number}\n"
        for kind in ("concept", "person", "note")
        for number in range(4)
    }
    results = await search("shared", files, note_types=("concept",))
    assert {hit.ref.note_type for hit in results.hits} == {"concept"}
    assert (len(results.hits), results.total, results.full_matches) == (4, 4, 4)
    two = await search("shared", note_types=("concept", "person"), limit=3, offset=6)
    assert (len(two.hits), two.total, two.has_more) == (2, 8, False)


@pytest.mark.spec("13.3")
async def test_the_second_page_has_the_results_11_to_20(search: Search) -> None:
    part = "# Part\n\nIt says common words.\n\n"  # more items in all than are scored by their text
    files = {f"n{number:03}.md": part * 4 + f"{number}\n" for number in range(100)}
    names = list(files)
    for batch in (names[:60], names[90:], names[75:90], names[60:75]):
        await search("common", {name: files[name] for name in batch})
    everything = paths(await search("common", limit=200))
    assert sorted(everything) == names
    assert everything[80:] == sorted(everything[80:])  # equal scores: by path, whoever came first
    second = await search("common", limit=10, offset=10)
    assert paths(second) == everything[10:20]
    assert (second.total, second.has_more, second.total_is_exact) == (100, True, True)
    last = await search("common", limit=10, offset=90)
    assert (paths(last), last.has_more) == (everything[90:], False)
    scores = [hit.score for hit in (*second.hits, *last.hits)]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


@pytest.mark.spec("14.3")
def test_a_query_is_prepared_as_phrases_and_a_prefix() -> None:
    hyphenated, last = parse_query("machine-learning basics").terms
    assert (hyphenated.phrases[0], hyphenated.is_prefix) == ("machine learning", False)
    assert (last.phrases[0], last.is_prefix) == ("basics", True)
    assert [term.is_prefix for term in parse_query("basics machine-learning").terms] == [
        False,
        True,
    ]


@pytest.mark.spec("14.3")
async def test_the_last_word_may_go_on(search: Search) -> None:
    files = OTHERS | {
        "ml.md": titled("Machine-learning basics", "from the ground up"),
        "apart.md": "learning to repair a machine: the basics\n",
    }
    assert paths(await search("machine-learning basi", files))[0] == "ml.md"
    assert (await search("machine-learning basi")).full_matches == 1
    assert (await search("basi machine-learning")).full_matches == 0
    assert (await search("basics machine-lear")).full_matches == 1
    assert paths(await search("basi")) == ["ml.md", "apart.md"]


@pytest.mark.spec("5.2")
@pytest.mark.spec("14.3")
async def test_operators_are_capitals_between_words(search: Search) -> None:
    files = {
        "both.md": "herons and swans\n",
        "heron.md": "herons, herons\n",
        "swan.md": "swans, swans\n",
        "crane.md": "cranes\n",
        "like.md": "swanlike\n",
        **OTHERS,
    }
    assert paths(await search("herons AND swans", files)) == ["both.md"]
    assert paths(await search("herons swans"))[0] == "both.md"
    for plain in ("herons and swans", "herons swans"):
        assert set(paths(await search(plain))) == {"both.md", "heron.md", "swan.md", "birds.md"}
    assert set(paths(await search("swans OR cranes"))) == {"both.md", "swan.md", "crane.md"}
    assert set(paths(await search("herons AND swans OR cranes"))) == {"both.md", "crane.md"}
    assert set(paths(await search("cranes OR swans NOT herons"))) == {"swan.md", "crane.md"}
    assert paths(await search("swans NOT herons")) == ["swan.md"]
    assert paths(await search("swans -herons")) == ["swan.md"]
    assert paths(await search("swan* -swan")) == ["like.md"]
    nothing = await search("cranes AND swans")
    assert set(paths(nothing)) == {"both.md", "swan.md", "crane.md"}
    assert (nothing.relaxed, nothing.full_matches) == (True, 0)


@pytest.mark.spec("12.3")
@pytest.mark.parametrize(
    "query",
    ['heron "', '"heron', "heron AND", "AND heron", "NOT heron", "heron)", "(heron", "heron*", "*heron",
     "^heron", "heron NEAR(", "NEAR(heron, 2)", "title : heron", "heron; --", "heron' OR '1'='1", "heron:",
     "{a b}: heron", "heron OR", "heron AND NOT", "- heron", "+heron", "heron\0"],
)  # fmt: skip
async def test_what_is_no_expression_is_read_as_words(search: Search, query: str) -> None:
    assert paths(await search(query, OTHERS))[:1] == ["birds.md"]


@pytest.mark.spec("12.3")
@pytest.mark.parametrize("mode", [SearchType.VECTOR, SearchType.HYBRID])
async def test_without_vectors_full_text_answers_and_says_so(
    search: Search, mode: SearchType
) -> None:
    text = await search("heron", OTHERS)
    results = await search("heron", mode=mode)
    assert results.hits == text.hits
    assert results.search_type is SearchType.FTS
    assert results.degraded
    assert text.degraded is None


@pytest.mark.spec("12.3")
async def test_no_result_is_an_empty_list_and_a_suggestion(search: Search) -> None:
    results = await search("zeppelin", OTHERS)
    assert (results.hits, results.total, results.has_more) == ((), 0, False)
    assert results.suggestion
    narrowed = await search("heron", note_types=("place",))
    assert (narrowed.hits, narrowed.total) == ((), 0)
    assert narrowed.suggestion
    assert "(type)" in narrowed.suggestion
    assert (await search("heron")).suggestion is None

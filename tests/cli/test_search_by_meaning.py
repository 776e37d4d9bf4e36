"""`memoranda search` by meaning: what arrives at the search, and what is printed; the search is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.cli.conftest import Cli

from memoranda.model.history import Author
from memoranda.model.search import Confidence, SearchQuery, SearchResults, SearchType
from memoranda.services.search import SearchService

WHY = "1 of 4 notes has no vectors yet and is found by its words alone"


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> Sequence[SearchQuery]:
    """What was asked. Answers are those of words, by both in name, the last hit in doubt, with `WHY`."""
    queries: list[SearchQuery] = []

    async def search(
        self: SearchService, query: SearchQuery, *, by: Author | None = None
    ) -> SearchResults:
        queries.append(query)
        found = await self._results(replace(query, search_type=SearchType.FTS))
        hits = [replace(hit, confidence=Confidence.HIGH) for hit in found.hits]
        hits[-1] = replace(hits[-1], confidence=Confidence.LOW)
        return replace(
            found,
            search_type=SearchType.HYBRID,
            degraded=WHY,
            hits=tuple(
                hit
                if hit.explanation is None
                else replace(
                    hit,
                    explanation=replace(
                        hit.explanation,
                        text_score=2.5,
                        text_rank=1,
                        similarity=0.625,
                        similarity_rank=2,
                    ),
                )
                for hit in hits
            ),
        )

    monkeypatch.setattr(SearchService, "search", search)
    return queries


def test_it_searches_by_both_unless_told_otherwise(
    ready: Cli, queries: Sequence[SearchQuery], monkeypatch: pytest.MonkeyPatch
) -> None:
    ready("search", "heap")
    ready("search", "heap", "--mode", "vector")
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED", "true")
    ready("search", "heap")
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED", "false")
    ready("search", "heap")
    ready("search", "heap", "--mode", "hybrid")
    asked = [query.search_type.value for query in queries]
    assert asked == ["hybrid", "vector", "hybrid", "fts", "hybrid"]


def test_what_is_doubtful_and_what_was_not_done_is_said(
    ready: Cli, queries: Sequence[SearchQuery]
) -> None:
    outcome = ready("search", "beds heap")
    lines = outcome.out.splitlines()
    assert lines[0].startswith("3 notes for 'beds heap' (hybrid)")
    assert lines[1] == f"Note: {WHY}"
    hits = [line for line in lines if line[1:3] == ". "]
    assert ["unsure" in line for line in hits] == [False, False, True]
    data = ready("search", "beds heap", "--json").json
    assert [hit["confidence"] for hit in data["results"]] == ["high", "high", "low"]
    assert data["degraded"] == WHY


def test_explain_shows_both_searches(ready: Cli, queries: Sequence[SearchQuery]) -> None:
    lines = ready("search", "heap", "--explain").out.splitlines()
    line = "     by words: rank 1, score 2.5; by meaning: rank 2, similarity 0.625"
    place = lines.index(line)
    assert ", confidence " in lines[place - 1]
    explanation = ready("search", "heap", "--explain", "--json").json["results"][0]["explanation"]
    assert (explanation["text_rank"], explanation["similarity"]) == (1, 0.625)


def test_how_near_it_must_be_arrives(ready: Cli, queries: Sequence[SearchQuery]) -> None:
    for value in ("0", "0.4", "1"):
        assert ready("search", "heap", "--min-similarity", value).code == 0
    assert ready("search", "heap").code == 0
    assert [query.filters.min_similarity for query in queries] == [0.0, 0.4, 1.0, None]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("1.5", "1.5 is not between 0 and 1"),
        ("-1", "-1 is not between 0 and 1"),
        ("nan", "nan is not between 0 and 1"),
        ("near", "number"),
    ],
)
def test_a_similarity_that_is_none_is_wrong_usage(ready: Cli, value: str, why: str) -> None:
    outcome = ready("search", "heap", "--min-similarity", value)
    assert outcome.code == 2
    assert "Invalid value for '--min-similarity'" in outcome.err
    assert why in outcome.err.splitlines()[0]


def test_a_similarity_alone_is_nothing_to_find(ready: Cli) -> None:
    outcome = ready("search", "--min-similarity", "0.5")
    assert outcome.code == 2
    assert "give words to find, or a filter" in outcome.err


def test_help_says_what_the_modes_do(ready: Cli) -> None:
    said = " ".join(ready("search", "--help").out.split())
    assert "fts: by words; vector: by meaning; hybrid: by both, the default unless" in said

"""`search_notes` as an assistant meets it when it searches by meaning; the search itself is given."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.mcp.conftest import Caller

from memoranda.mcp.parameters import schema
from memoranda.mcp.tools.search import DECLARATIONS
from memoranda.model.history import Author
from memoranda.model.search import Confidence, SearchQuery, SearchResults, SearchType
from memoranda.services.search import SearchService


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[SearchQuery]]:
    """Makes searches answer with what words find and these changes; the queries are in what it returns."""

    def answering(*confidences: Confidence, **changes: Any) -> list[SearchQuery]:
        queries: list[SearchQuery] = []

        async def search(
            self: SearchService, query: SearchQuery, *, by: Author | None = None
        ) -> SearchResults:
            queries.append(query)
            found = await self._results(replace(query, search_type=SearchType.FTS))
            hits = tuple(
                replace(hit, confidence=confidence)
                for hit, confidence in zip(found.hits, confidences, strict=True)
            )
            return replace(found, hits=hits, search_type=SearchType.HYBRID, **changes)

        monkeypatch.setattr(SearchService, "search", search)
        return queries

    return answering


@pytest.fixture
async def garden(caller: Caller) -> Caller:
    """A project with two notes."""
    await caller.text("write_note", title="Heap", content="Turn the heap every week.")
    await caller.text(
        "write_note", title="Beds", content="Four beds, long and narrow ones, and a heap."
    )
    return caller


async def test_hits_say_how_sure_they_are(
    garden: Caller, asked: Callable[..., list[SearchQuery]]
) -> None:
    asked(Confidence.HIGH, Confidence.LOW)
    lines = (await garden.text("search_notes", query="heap")).splitlines()
    assert lines[0] == "2 notes for 'heap' (hybrid):"
    assert lines[1].startswith("1. Heap — heap · 2")
    assert lines[3].startswith("2. Beds — beds · unsure · 2")
    data = await garden.data("search_notes", query="heap")
    assert [hit["confidence"] for hit in data["results"]] == ["high", "low"]
    assert (data["search_type"], data["degraded"]) == ("hybrid", None)


@pytest.mark.parametrize("mode", [None, *SearchType])
async def test_why_less_was_done_than_asked_is_always_said(
    garden: Caller, asked: Callable[..., list[SearchQuery]], mode: SearchType | None
) -> None:
    why = "1 of 2 notes has no vectors yet and is found by its words alone"
    asked(Confidence.HIGH, Confidence.HIGH, degraded=why)
    arguments = {} if mode is None else {"search_type": mode.value}
    text = await garden.text("search_notes", query="heap", **arguments)
    assert f"\nNote: {why}\n" in text
    assert (await garden.data("search_notes", query="heap", **arguments))["degraded"] == why


async def test_what_is_asked_arrives(
    garden: Caller, asked: Callable[..., list[SearchQuery]]
) -> None:
    queries = asked(Confidence.HIGH, Confidence.HIGH)
    await garden.text("search_notes", query="heap")
    await garden.text("search_notes", query="heap", search_type="vector", min_similarity="0.4")
    first, second = queries
    assert (first.search_type, first.filters.min_similarity) == (SearchType.HYBRID, None)
    assert (second.search_type, second.filters.min_similarity) == (SearchType.VECTOR, 0.4)


@pytest.mark.parametrize("value", [1.5, -0.1, "nan", "near"])
async def test_a_similarity_that_is_none_is_refused(caller: Caller, value: object) -> None:
    error = await caller.error("search_notes", query="heap", min_similarity=value)
    assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", "min_similarity")


def test_the_parameters_say_what_they_do_in_few_words() -> None:
    said = json.dumps(schema(DECLARATIONS[0].params))
    assert "fts: by words; vector: by meaning; hybrid: by both." in said
    assert "Of what meaning finds; left out: as fits the model." in said

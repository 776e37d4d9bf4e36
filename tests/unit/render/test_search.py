from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from memoranda.model.search import Hit, ItemType, Passage, SearchResults, SearchType
from memoranda.render.bounds import compact
from memoranda.render.search import results_data, results_text


def results(samples: ModuleType, number: int = 2, **changes: Any) -> SearchResults:
    passage = Passage("Deep\nwork matters", ("Why", "Focus"), 12, 14, 0.5)
    hits = tuple(
        Hit(samples.ref(f"note-{n}"), 0.9, ItemType.OBSERVATION, (passage,))
        for n in range(1, number + 1)
    )
    values: dict[str, Any] = {
        "query": "deep work",
        "search_type": SearchType.FTS,
        "hits": hits,
        "total": number,
        "limit": 10,
        "offset": 0,
    }
    return SearchResults(**values | changes)


@pytest.mark.spec("13.4")
def test_text_is_numbered_hits_with_their_place(samples: ModuleType) -> None:
    text = results_text(results(samples, total=30, offset=10, degraded="No model is installed"))
    assert text.splitlines()[0] == "30 notes for 'deep work' (fts), 11-12:"
    assert "11. Note 1 — research/note-1 · 2025-02-03 · concept · #focus" in text
    assert "   L12-14 Why > Focus: Deep work matters" in text
    assert "No model is installed" in text
    assert text.endswith("More: page=3")


@pytest.mark.spec("13.4")
def test_data_is_the_results_of_the_contract(samples: ModuleType) -> None:
    data = results_data(results(samples), samples.PROJECT)
    assert data["search_type"] == "fts"
    assert data["results"][0]["permalink"] == "research/note-1"
    assert data["results"][0]["item_type"] == "observation"
    assert data["results"][0]["passages"] == [
        {
            "text": "Deep work matters",
            "heading_path": ["Why", "Focus"],
            "start_line": 12,
            "end_line": 14,
            "score": 0.5,
        }
    ]
    assert (data["page"], data["total"], data["has_more"], data["next_page"]) == (1, 2, False, None)


@pytest.mark.spec("12.3")
def test_nothing_found_says_what_to_try(samples: ModuleType) -> None:
    nothing = results(samples, 0, suggestion="Use fewer words.")
    assert results_text(nothing) == "Nothing found for 'deep work' (fts).\nUse fewer words."
    assert results_data(nothing, samples.PROJECT)["suggestion"] == "Use fewer words."


@pytest.mark.parametrize("offset", [0, 100, 300])
def test_a_page_too_long_is_made_smaller_and_the_next_one_follows_it(
    samples: ModuleType, offset: int
) -> None:
    page = results(samples, 100, limit=100, offset=offset, total=1000)
    data = results_data(page, samples.PROJECT, 20_000)
    assert len(compact(data)) <= 20_000
    assert 0 < len(data["results"]) < 100
    assert data["page_size"] == len(data["results"])
    assert (data["page"] - 1) * data["page_size"] == offset
    assert (data["next_page"] - 1) * data["page_size"] == offset + len(data["results"])
    text = results_text(page, 8_000)
    assert len(text) <= 8_000
    assert f"page_size={text.count('. Note ')}" in text


def test_a_tiny_score_stays_above_nothing(samples: ModuleType) -> None:
    hit = Hit(samples.ref(), 0.00000123456, ItemType.NOTE, ())
    data = results_data(results(samples, hits=(hit,), total=1), samples.PROJECT)
    assert data["results"][0]["score"] == 0.000001235

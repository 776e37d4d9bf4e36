"""Filters on frontmatter through the tool."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.spec("5.5")
async def test_metadata_filters_reach_the_index(caller: Any) -> None:
    headers = {
        "One": {"status": "done", "priority": 1, "ready": True},
        "Two": {"status": "open", "priority": 10, "ready": "yes"},
        "Three": {"status": ["open", "late"], "author": {"name": "Kim"}},
    }
    for title, metadata in headers.items():
        await caller.text("write_note", title=title, content="common word", metadata=metadata)

    async def found(filters: Any) -> set[str]:
        data = await caller.data("search_notes", query="common", metadata_filters=filters)
        return {hit["title"] for hit in data["results"]}

    assert await found({"status": "open"}) == {"Two", "Three"}
    assert await found({"status": ["done", "late"]}) == {"One", "Three"}
    assert await found({"priority": {"$gte": 2, "$lt": 20}}) == {"Two"}
    assert await found('{"priority": {"$lt": "2"}}') == {"One"}
    assert await found({"priority": '{"$lt": 2}'}) == {"One"}
    assert await found({"ready": True}) == {"One", "Two"}
    assert await found({"ready": {"$ne": True}}) == {"Three"}
    assert await found({"priority": None}) == {"Three"}
    assert await found({"author.name": {"$contains": "ki"}}) == {"Three"}
    assert await found({}) == {"One", "Two", "Three"}
    error = await caller.error("search_notes", query="x", metadata_filters={"status": {"gte": 1}})
    assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", "metadata_filters")
    assert "'$gte'" in error["hint"]

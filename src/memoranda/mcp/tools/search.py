"""The search tool."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Any

from memoranda.mcp.client import author
from memoranda.mcp.declarations import PROJECT, Answer, Declaration
from memoranda.mcp.metadata_filters import metadata_conditions
from memoranda.mcp.parameters import TEXT_CHARS, Kind, Param
from memoranda.mcp.session import Session
from memoranda.mcp.standing import standing
from memoranda.model.search import ItemType, SearchFilters, SearchQuery, SearchType
from memoranda.render.search import results_data, results_text
from memoranda.services.timeframe import parse_timeframe

_SEARCH_TYPES = (
    *((word, SearchType.VECTOR) for word in ("semantic", "similarity", "meaning", "embedding")),
    *((word, SearchType.FTS) for word in ("text", "keyword", "keywords", "fulltext", "words")),
)


async def search_notes(session: Session, values: dict[str, Any]) -> Answer:
    """Search a project's index; an empty query lists the newest notes."""
    workspace = await session.fresh_workspace(values["project"])
    project = workspace.project
    size = values["page_size"]
    query = SearchQuery(
        text=values["query"],
        search_type=SearchType(values["search_type"]),
        filters=await _filters(values, session.now()),
        limit=size,
        offset=(values["page"] - 1) * size,
    )
    results = await workspace.search.search(query, by=author())
    now = standing(workspace)
    if not now.is_complete:  # other words would find no more than these
        results = replace(results, suggestion=None)
    return Answer(
        lambda: now.below(results_text(results)),
        lambda: results_data(results, project, is_complete=now.is_complete) | now.data,
    )


async def _filters(values: dict[str, Any], now: datetime) -> SearchFilters:
    after = values["after_date"]
    return SearchFilters(
        permalink=values["permalink"] or None,
        permalink_match=values["permalink_match"] or None,
        title=values["title"] or None,
        note_types=values["note_types"],
        tags=tuple(tag.removeprefix("#") for tag in values["tags"]),
        after_date=(
            await asyncio.to_thread(parse_timeframe, after, now, parameter="after_date")
            if after and after.strip()
            else None
        ),
        item_types=tuple(ItemType(name) for name in values["search_item_types"]),
        metadata=metadata_conditions(values["metadata_filters"]),
        min_similarity=values["min_similarity"],
    )


DECLARATIONS = (
    Declaration(
        name="search_notes",
        title="Search notes",
        description=(
            "Find notes by words and meaning. Answers with title, permalink, dates and matching passages; "
            "read more with read_note."
        ),
        params=(
            Param(
                "query",
                description="Words or a question; may be empty: the newest notes.",
                required=True,
                aliases=("q", "search", "text"),
                most_chars=TEXT_CHARS,
                is_query=True,
            ),
            PROJECT,
            Param("page", Kind.INTEGER, default=1, minimum=1, maximum=1_000_000),
            Param(
                "page_size", Kind.INTEGER, default=10, minimum=1, maximum=100, aliases=("limit",)
            ),
            Param(
                "search_type",
                description="fts: by words; vector: by meaning; hybrid: by both.",
                default="hybrid",
                choices=tuple(SearchType),
                synonyms=_SEARCH_TYPES,
            ),
            Param("note_types", Kind.TEXTS, description="Any of these types.", default=()),
            Param(
                "after_date",
                description="ISO date or '7d'; file modified later than this.",
                aliases=("since",),
            ),
            Param("tags", Kind.TEXTS, description="All of these tags.", default=()),
            Param(
                "search_item_types",
                Kind.TEXTS,
                description="Hits are such parts of notes; entity: whole notes.",
                default=(),
                choices=tuple(ItemType),
            ),
            Param(
                "metadata_filters",
                Kind.MAPPING,
                description=(
                    "Frontmatter key to value, list (any of them), null (missing) or "
                    '{"$gte": 2}; also $ne $gt $lt $lte $in $contains $exists.'
                ),
                default={},
            ),
            Param("permalink", description="Exact."),
            Param("permalink_match", description="Prefix, or a pattern with *."),
            Param("title", description="Part of the title."),
            Param(
                "min_similarity",
                Kind.NUMBER,
                description="Of what meaning finds; left out: as fits the model.",
                minimum=0,
                maximum=1,
            ),
        ),
        run=search_notes,
        read_only=True,
        idempotent=True,
    ),
)

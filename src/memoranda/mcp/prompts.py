"""The prompts (spec 6.4): what the user picks from a menu, filled with what the project holds.

Nothing here knows FastMCP: `served_prompts` serves the table.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from memoranda.mcp.parameters import Param
from memoranda.mcp.prompt_texts import (
    USUAL_TIMEFRAME,
    ai_assistant_guide,
    continue_conversation,
    recent_activity,
    search,
)
from memoranda.mcp.session import Session


@dataclass(frozen=True, slots=True)
class PromptDeclaration:
    """A prompt.

    Attributes:
        run: gets the typed values by the parameters' names.
    """

    name: str
    title: str
    description: str
    params: tuple[Param, ...]
    run: Callable[[Session, dict[str, Any]], Awaitable[str]]


_TIMEFRAME = Param(
    "timeframe",
    description="How far back, such as '7d', 'today', 'last week' or an ISO date.",
    default="",
    aliases=("since", "lookback"),
)

PROMPTS = (
    PromptDeclaration(
        name="continue_conversation",
        title="Continue a conversation",
        description="Pick up a topic, or the latest work, with what the notes hold on it.",
        params=(
            Param(
                "topic",
                description="Words, a question or a memory:// address; left out: what changed last.",
                default="",
                is_query=True,
            ),
            _TIMEFRAME,
        ),
        run=continue_conversation,
    ),
    PromptDeclaration(
        name="recent_activity",
        title="Recent activity",
        description="Sum up what changed in a project lately.",
        params=(
            replace(
                _TIMEFRAME,
                description=f"{_TIMEFRAME.description} Left out: {USUAL_TIMEFRAME}.",
            ),
            Param("project", description="Project name; default project if left out."),
        ),
        run=recent_activity,
    ),
    PromptDeclaration(
        name="search",
        title="Search notes",
        description="Answer from what a search of the notes finds.",
        params=(
            Param(
                "query",
                description="Words or a question.",
                required=True,
                aliases=("q", "search", "text"),
                is_query=True,
            ),
        ),
        run=search,
    ),
    PromptDeclaration(
        name="ai_assistant_guide",
        title="AI assistant guide",
        description="How an assistant works with Memoranda.",
        params=(),
        run=ai_assistant_guide,
    ),
)

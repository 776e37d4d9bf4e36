"""The table of tools, in the order clients see them."""

from __future__ import annotations

from memoranda.mcp.declarations import Declaration
from memoranda.mcp.tools import (
    admin,
    browse,
    chatgpt,
    context,
    history,
    moves,
    notes,
    projects,
    search,
)

TOOLS: tuple[Declaration, ...] = (
    *notes.DECLARATIONS,
    *search.DECLARATIONS,
    *context.DECLARATIONS,
    *browse.DECLARATIONS,
    *projects.DECLARATIONS,
    *moves.DECLARATIONS,
    *history.DECLARATIONS,
    *admin.DECLARATIONS,
    *chatgpt.DECLARATIONS,
)

"""`search` and `fetch` in the shapes that connectors of ChatGPT require.

One text that is a JSON document, and each tool has one parameter only. Both work on the default project;
an id is a permalink, and an id with `?line=` the rest of a note that is too long for one answer.

Source: OpenAI, Building MCP servers for ChatGPT and API integrations.
"""

from __future__ import annotations

import re
from typing import Any

from memoranda.mcp.client import author
from memoranda.mcp.declarations import Answer, Declaration
from memoranda.mcp.parameters import TEXT_CHARS, Param
from memoranda.mcp.session import Session
from memoranda.mcp.standing import looking_up
from memoranda.model.search import SearchQuery
from memoranda.model.toolset import Toolset
from memoranda.render.chatgpt import document_data, found_data

_HITS = 20
_DOCUMENT_CHARS = 20_000
_REST = re.compile(r"(.+)\?line=([1-9][0-9]{0,8})")


async def search(session: Session, values: dict[str, Any]) -> Answer:
    """Notes for a query."""
    workspace = await session.fresh_workspace(None)
    project = workspace.project
    results = await workspace.search.search(SearchQuery(values["query"], limit=_HITS), by=author())
    return _json(found_data(results, project))


async def fetch(session: Session, values: dict[str, Any]) -> Answer:
    """The text of one note."""
    rest = _REST.fullmatch(values["id"])
    name, first = (rest[1], int(rest[2])) if rest else (values["id"], None)
    workspace = await session.fresh_workspace(None, name)
    with looking_up(workspace):
        view = await workspace.notes.read(
            name, start_line=first, max_chars=_DOCUMENT_CHARS, with_related=False
        )
    return _json(document_data(view, workspace.project, values["id"], _DOCUMENT_CHARS))


def _json(data: dict[str, Any]) -> Answer:
    return Answer(lambda: "", lambda: data)


DECLARATIONS = (
    Declaration(
        name="search",
        title="Search",
        description=(
            "Search the user's notes by words and meaning. Answers with ids; read a note with fetch."
        ),
        params=(
            Param(
                "query",
                description="Words or a question.",
                required=True,
                aliases=("q", "search", "text"),
                most_chars=TEXT_CHARS,
                is_query=True,
            ),
        ),
        run=search,
        toolset=Toolset.CHATGPT,
        read_only=True,
        idempotent=True,
        is_json_only=True,
    ),
    Declaration(
        name="fetch",
        title="Fetch",
        description=(
            "Read one note by the id that search gave. Of a long note metadata.next_id is the rest."
        ),
        params=(
            Param(
                "id",
                description="Id of a search result.",
                required=True,
                aliases=("path", "permalink", "identifier", "url", "uri"),
            ),
        ),
        run=fetch,
        toolset=Toolset.CHATGPT,
        read_only=True,
        idempotent=True,
        is_json_only=True,
    ),
)

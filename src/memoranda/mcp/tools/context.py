"""The context tool: a note and what is around it in the graph."""

from __future__ import annotations

from typing import Any

from memoranda.files.local_names import local_name
from memoranda.mcp.declarations import PROJECT, READ_ALIASES, Answer, Declaration
from memoranda.mcp.parameters import Kind, Param
from memoranda.mcp.session import Session
from memoranda.mcp.standing import looking_up, standing
from memoranda.render.context import context_data, context_text
from memoranda.services.timeframe import read_timeframe


async def build_context(session: Session, values: dict[str, Any]) -> Answer:
    """A note, its facts and links, and the notes around it."""
    path, timeframe = values["path"], values["timeframe"]
    workspace = await session.fresh_workspace(values["project"], path)
    project = workspace.project
    path = local_name(path, project.path)
    since = (
        await read_timeframe(timeframe, session.now()) if timeframe and timeframe.strip() else None
    )
    with looking_up(workspace):
        result = await workspace.context.build_context(
            path, depth=values["depth"], max_related=values["max_related"], since=since
        )
    now = standing(workspace)
    return Answer(
        lambda: now.below(context_text(result)), lambda: context_data(result, project) | now.data
    )


DECLARATIONS = (
    Declaration(
        name="build_context",
        title="Build context",
        description=(
            "Gather a note with its facts, links both ways and related notes. path is a memory:// "
            "address, permalink, file path or title; projects/* or projects/*/plan matches many."
        ),
        params=(
            Param("path", required=True, aliases=READ_ALIASES),
            PROJECT,
            Param("depth", Kind.INTEGER, description="Steps.", default=1, minimum=1, maximum=3),
            Param("max_related", Kind.INTEGER, default=10, minimum=0, maximum=100),
            Param(
                "timeframe",
                description="Related notes changed since, such as '7d'.",
                aliases=("since", "lookback"),
            ),
        ),
        run=build_context,
        read_only=True,
        idempotent=True,
    ),
)

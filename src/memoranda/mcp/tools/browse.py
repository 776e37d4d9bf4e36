"""Tools that look around: folders and recent changes."""

from __future__ import annotations

from typing import Any

from memoranda.files.local_names import local_name
from memoranda.mcp.declarations import FOLDER_ALIASES, PROJECT, Answer, Declaration
from memoranda.mcp.parameters import Kind, Param
from memoranda.mcp.session import Session
from memoranda.mcp.standing import looking_up, standing
from memoranda.render.browse import activity_data, activity_text, listing_data, listing_text
from memoranda.services.timeframe import read_timeframe

_PAGE = Param("page", Kind.INTEGER, default=1, minimum=1, maximum=1_000_000)


def _page_size(default: int) -> Param:
    return Param(
        "page_size", Kind.INTEGER, default=default, minimum=1, maximum=200, aliases=("limit",)
    )


async def list_directory(session: Session, values: dict[str, Any]) -> Answer:
    """Folders and notes below a folder."""
    workspace = await session.fresh_workspace(values.pop("project"))
    values["path"] = local_name(values["path"], workspace.project.path)
    with looking_up(workspace):
        listing = await workspace.browse.list_directory(**values)
    now = standing(workspace)
    return Answer(
        lambda: now.below(listing_text(listing)), lambda: listing_data(listing) | now.data
    )


async def recent_activity(session: Session, values: dict[str, Any]) -> Answer:
    """Notes whose files changed within a timeframe, newest first."""
    workspace = await session.fresh_workspace(values["project"])
    project = workspace.project
    since = await read_timeframe(values["timeframe"], session.now())
    activity = await workspace.browse.recent_activity(
        since, note_types=values["types"], page=values["page"], page_size=values["page_size"]
    )
    now = standing(workspace)
    return Answer(
        lambda: now.below(activity_text(activity)),
        lambda: activity_data(activity, project) | now.data,
    )


DECLARATIONS = (
    Declaration(
        name="list_directory",
        title="List directory",
        description="List folders (with note counts) and notes of a folder.",
        params=(
            PROJECT,
            Param(
                "path",
                description="Folder; the project's root if left out.",
                default="",
                aliases=("directory", *FOLDER_ALIASES),
            ),
            Param("depth", Kind.INTEGER, default=1, minimum=1, maximum=10),
            Param(
                "glob",
                description="For names (plan*) or paths (sub/**/*.md).",
                aliases=("pattern",),
                most_chars=1000,
            ),
            _PAGE,
            _page_size(100),
        ),
        run=list_directory,
        read_only=True,
        idempotent=True,
    ),
    Declaration(
        name="recent_activity",
        title="Recent activity",
        description="List notes changed within a timeframe, newest first.",
        params=(
            Param(
                "timeframe",
                description="'7d', 'since Monday', 'yesterday afternoon', ISO date, 'all time'.",
                default="1 day",
                aliases=("since", "lookback"),
            ),
            PROJECT,
            Param("types", Kind.TEXTS, description="Any of these note types.", default=()),
            _PAGE,
            _page_size(20),
        ),
        run=recent_activity,
        read_only=True,
        idempotent=True,
    ),
)

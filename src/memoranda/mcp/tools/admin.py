"""Tools that look after projects and their indexes. None of them touches a note."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from memoranda.errors import ProjectNotFound
from memoranda.mcp.declarations import PROJECT, Answer, Declaration
from memoranda.mcp.looking import look_at
from memoranda.mcp.parameters import Param
from memoranda.mcp.session import Session
from memoranda.model.toolset import Toolset
from memoranda.render.admin import (
    reindexed_data,
    reindexed_text,
    reindexing_data,
    reindexing_text,
    removed_data,
    removed_text,
    status_data,
    status_text,
)

if TYPE_CHECKING:
    from memoranda.model.sync import SyncReport

REINDEX_PATIENCE_S = 20.0
"""So long a call waits for a reindexing, which then goes on by itself: clients give up after a minute."""


async def memory_status(session: Session, values: dict[str, Any]) -> Answer:
    """How a project stands."""
    seen = await look_at(session, values["project"])
    return Answer(
        lambda: status_text(seen.info, seen.skipped, seen.trouble),
        lambda: status_data(seen.info, seen.onlooker, seen.skipped, seen.trouble),
    )


async def delete_memory_project(session: Session, values: dict[str, Any]) -> Answer:
    """Take a project out of the configuration."""
    container = await session.container()
    removed = await container.project_service.remove(values["name"], is_remote=session.is_remote)
    try:
        now = container.find_project(None)
    except ProjectNotFound:
        now = None
    return Answer(lambda: removed_text(removed, now), lambda: removed_data(removed, now))


async def reindex(session: Session, values: dict[str, Any]) -> Answer:
    """Read every file of a project again."""
    workspace = await session.workspace(values["project"])
    project = workspace.project
    task = session.begin(workspace.reindex())
    done, _ = await asyncio.wait({task}, timeout=REINDEX_PATIENCE_S)
    if not done:
        task.add_done_callback(partial(_log_failure, project.name))
        state = workspace.coordinator.state
        return Answer(
            lambda: reindexing_text(project, state), lambda: reindexing_data(project, state)
        )
    report = task.result()
    return Answer(lambda: reindexed_text(project, report), lambda: reindexed_data(project, report))


def _log_failure(project: str, task: asyncio.Task[SyncReport]) -> None:
    """Nobody waits for it any more: a failure is said in the log."""
    from loguru import logger

    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("Project {}: reindexing failed: {}", project, error)


DECLARATIONS = (
    Declaration(
        name="memory_status",
        title="Memory status",
        description=(
            "Say how a project stands: sizes, sync, search by meaning, and which files are not "
            "indexed and why."
        ),
        params=(PROJECT,),
        run=memory_status,
        toolset=Toolset.ADMIN,
        read_only=True,
        idempotent=True,
    ),
    Declaration(
        name="delete_memory_project",
        title="Remove project",
        description=(
            "Remove a project from the configuration. Its notes are never deleted; index and history "
            "are kept."
        ),
        params=(
            Param(
                "name",
                description="Name of the project.",
                required=True,
                aliases=("project", "project_name"),
            ),
        ),
        run=delete_memory_project,
        toolset=Toolset.ADMIN,
        destructive=True,
    ),
    Declaration(
        name="reindex",
        title="Reindex",
        description=(
            "Build the index of a project anew from its files; no note is changed. Only needed when "
            "answers do not fit the files."
        ),
        params=(PROJECT,),
        run=reindex,
        toolset=Toolset.ADMIN,
        idempotent=True,
    ),
)

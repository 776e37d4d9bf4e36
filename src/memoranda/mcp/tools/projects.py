"""Tools on projects."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from memoranda.mcp.declarations import FOLDER_ALIASES, Answer, Declaration
from memoranda.mcp.parameters import Kind, Param
from memoranda.mcp.session import Session
from memoranda.model.project import ProjectSummary
from memoranda.render.projects import project_data, project_text, projects_data, projects_text


async def list_memory_projects(session: Session, values: dict[str, Any]) -> Answer:
    """All configured projects."""
    container = await session.container()
    listed = await container.project_service.list()
    summaries = tuple(_told(session, summary) for summary in listed)
    return Answer(lambda: projects_text(summaries), lambda: projects_data(summaries))


async def create_memory_project(session: Session, values: dict[str, Any]) -> Answer:
    """Make a folder a project, and begin to index it."""
    from memoranda.services.projects import nesting

    container = await session.container()
    made, created = await container.project_service.create(
        values["name"],
        values["path"],
        set_default=values["set_default"],
        is_remote=session.is_remote,
    )
    summary = _told(session, made)
    await session.workspace(summary.project.name)
    done = "Created" if created else "Already there:"
    notes = await asyncio.to_thread(nesting, summary.project, container.projects())
    return Answer(
        lambda: "\n".join([f"{done} {project_text(summary)}", *(f"Note: {one}." for one in notes)]),
        lambda: project_data(summary) | {"created": created, "notes": notes},
    )


def _told(session: Session, summary: ProjectSummary) -> ProjectSummary:
    """The summary for this client; over HTTP without the reason of a trouble, which names our own files."""
    if session.is_remote and summary.status.startswith("failed"):
        return replace(summary, status="failed")
    return summary


DECLARATIONS = (
    Declaration(
        name="list_memory_projects",
        title="List projects",
        description="List the projects (folders of notes) with their sizes and status.",
        params=(),
        run=list_memory_projects,
        read_only=True,
        idempotent=True,
    ),
    Declaration(
        name="create_memory_project",
        title="Create project",
        description="Make a folder of Markdown notes a project; it is made if it is not there.",
        params=(
            Param("name", required=True),
            Param(
                "path",
                description="Absolute folder.",
                required=True,
                aliases=("directory", *FOLDER_ALIASES),
            ),
            Param("set_default", Kind.BOOLEAN, default=False),
        ),
        run=create_memory_project,
        idempotent=True,
    ),
)

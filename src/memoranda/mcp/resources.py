"""What the resources read; `server` serves it.

`memory://project_info` is the default project, `memory://@{project}/project_info` a named one
(spec 6.3).
"""

from __future__ import annotations

from memoranda.errors import DatabaseDamaged
from memoranda.mcp.session import Session
from memoranda.render.bounds import compact
from memoranda.render.projects import info_data

PROJECT_INFO_URI = "memory://project_info"
NAMED_PROJECT_INFO_URI = "memory://@{project}/project_info"
PROJECT_INFO_TITLE = "Project info"
PROJECT_INFO_DESCRIPTION = "Folder, counts, sync status and files that are not indexed, as JSON."


async def project_info(session: Session, project: str | None = None) -> str:
    """One JSON document about a project.

    Raises:
        MemorandaError: no such project, or the index cannot be opened.
    """
    try:
        return await _project_info(session, project)
    except DatabaseDamaged:  # it is made anew by the next look
        return await _project_info(session, project)


async def _project_info(session: Session, project: str | None) -> str:
    await session.fresh_workspace(project)
    container = await session.container()
    return compact(info_data(await container.project_service.info(project)))

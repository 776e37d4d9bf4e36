"""What the resources read; `server` serves it.

`memory://project_info` is the default project, `memory://@{project}/project_info` a named one
(spec 6.3).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memoranda.errors import DatabaseDamaged, RootMissing
from memoranda.mcp.session import Session
from memoranda.render.bounds import compact
from memoranda.render.live import Onlooker
from memoranda.render.projects import info_data

if TYPE_CHECKING:
    from memoranda.model.sync import Skipped
    from memoranda.model.views import ProjectInfo

PROJECT_INFO_URI = "memory://project_info"
NAMED_PROJECT_INFO_URI = "memory://@{project}/project_info"
PROJECT_INFO_TITLE = "Project info"
PROJECT_INFO_DESCRIPTION = (
    "Folder, counts, sync status, who keeps it up to date, how search by meaning stands, and files "
    "that are not indexed, as JSON."
)

_MOST_EVENTS = 10


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
    from importlib.metadata import version

    from memoranda.sync.sync_service import INDEX_VERSION

    await session.fresh_workspace(project)
    container = await session.container()
    info = await container.project_service.info(project)
    skipped, trouble = await asyncio.to_thread(_skipped, info)
    onlooker = Onlooker(session.now(), version("memoranda"), INDEX_VERSION)
    data = info_data(info, onlooker, skipped=skipped, most_events=_MOST_EVENTS)
    return compact(data | ({"folder_error": trouble} if trouble else {}))


def _skipped(info: ProjectInfo) -> tuple[Sequence[Skipped], str]:
    """What is left out, and why nobody knows if so.

    From the last sync of this process if nobody else syncs; else the folder is looked at.
    """
    from memoranda.files.scan import scan_folder

    is_ours = info.leader is None or info.leader.is_me
    if is_ours and info.state.report is not None:
        return info.state.skipped, ""
    try:
        return scan_folder(info.project.path, skips=info.project.skips).skipped, ""
    except RootMissing as error:
        return (), error.message

"""A look at a project as a whole: what its index says, what its folder shows, and who looks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memoranda.errors import RootMissing
from memoranda.mcp.session import Session
from memoranda.render.live import Onlooker

if TYPE_CHECKING:
    from memoranda.model.sync import Skipped
    from memoranda.model.views import ProjectInfo


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen.

    Attributes:
        skipped: what is left out on purpose.
        trouble: why the folder cannot be looked at, "" if it can.
    """

    info: ProjectInfo
    onlooker: Onlooker
    skipped: Sequence[Skipped]
    trouble: str


async def look_at(session: Session, project: str | None) -> Look:
    """Look at a project (None or blank: the default one); its folder is looked at too.

    Raises:
        MemorandaError: no such project, or the index cannot be opened.
    """
    from importlib.metadata import version

    from memoranda.sync.sync_service import INDEX_VERSION

    await session.fresh_workspace(project)
    container = await session.container()
    info = await container.project_service.info(project)
    skipped, trouble = await asyncio.to_thread(_skipped, info)
    return Look(
        info, Onlooker(session.now(), version("memoranda"), INDEX_VERSION), skipped, trouble
    )


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

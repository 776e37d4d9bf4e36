"""`memoranda reindex`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.cli.options import JsonOption, ProjectOption

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.model.sync import SyncReport


def reindex(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Build the index of a project anew from its files.

    The index is derived from the notes and can always be rebuilt; no note is changed.
    """
    from memoranda.cli.errors import FAILED
    from memoranda.cli.output import write_json, write_text
    from memoranda.cli.progress import progress_bar
    from memoranda.cli.reports import nothing_read, report_json, report_text
    from memoranda.cli.session import opened, with_container

    async def work(container: Container) -> tuple[Project, SyncReport]:
        chosen = container.find_project(project)
        workspace = await opened(container, chosen)
        with progress_bar(chosen.name) as progress:
            return chosen, await workspace.reindex(progress)

    rebuilt, report = with_container(work)
    if as_json:
        write_json(report_json(rebuilt.name, report))
    else:
        write_text(report_text(rebuilt.name, report))
    return FAILED if nothing_read(report) else 0

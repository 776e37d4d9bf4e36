"""`memoranda reindex`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.cli.options import JsonOption, ProjectOption

if TYPE_CHECKING:
    from memoranda.cli.vectors import Vectors
    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.model.sync import SyncReport


def reindex(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Build the index of a project anew from its files.

    The index is derived from the notes and can always be rebuilt; no note is changed. Vectors of texts
    that are as before are kept, those of other models are removed; what is missing is made, unless a
    server does it.
    """
    from memoranda.cli.errors import FAILED
    from memoranda.cli.freshness import put_right
    from memoranda.cli.output import write_json, write_text
    from memoranda.cli.progress import progress_bar
    from memoranda.cli.reports import nothing_read, report_json, report_text
    from memoranda.cli.session import opened, with_container
    from memoranda.cli.vectors import embed_pending, vectors_json, vectors_text

    async def work(container: Container) -> tuple[Project, SyncReport, Vectors]:
        chosen = container.find_project(project)
        container.is_adopting = True
        workspace = await opened(container, chosen)
        await put_right(workspace)
        with progress_bar(chosen.name) as progress:
            report = await workspace.reindex(progress)
        vectors = await embed_pending(
            chosen.name,
            container.choice,
            workspace.coordinator,
            workspace.backfill,
            forget_others=True,
        )
        return chosen, report, vectors

    rebuilt, report, vectors = with_container(work)
    if as_json:
        write_json(report_json(rebuilt.name, report) | {"vectors": vectors_json(vectors)})
    else:
        write_text(f"{report_text(rebuilt.name, report)}\n{vectors_text(vectors)}")
    return FAILED if nothing_read(report) else 0

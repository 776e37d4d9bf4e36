"""`memoranda context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import JsonOption, ProjectOption

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.model.views import ContextResult


def context(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Path, title, permalink or memory:// address; with a * at its end: many notes.",
        ),
    ],
    depth: Annotated[
        int, typer.Option("--depth", min=1, max=3, help="How many links away, 1 to 3.")
    ] = 1,
    max_related: Annotated[
        int,
        typer.Option("--max-related", "-n", min=0, max=100, help="Related notes at most, of each."),
    ] = 10,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="WHEN", help="Only related notes changed since: 2026-03-01, 7d, ..."
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a note with its links both ways, and the notes around it with the reasons."""
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.notes import local_name, notes_of
    from memoranda.cli.output import write_json, write_styled
    from memoranda.cli.session import with_container
    from memoranda.cli.styles import context_lines
    from memoranda.cli.when import since_when
    from memoranda.render.context import context_data, context_text

    if not name.strip():
        raise typer.BadParameter("name a note", param_hint="NAME")
    begun = since_when(since) if since else None

    async def work(container: Container) -> tuple[Project, ContextResult]:
        workspace = await notes_of(container, project, [name])
        result = await workspace.context.build_context(
            local_name(name, workspace), depth=depth, max_related=max_related, since=begun
        )
        return workspace.project, result

    chosen, result = with_container(work)
    if as_json:
        write_json(context_data(result, chosen, WHOLE))
    else:
        write_styled(context_lines(context_text(result, WHOLE)))

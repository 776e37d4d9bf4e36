"""`memoranda read`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import JsonOption, ProjectOption

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.model.views import NoteView


def read(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Path, title, permalink, alias or memory:// address of a note."
        ),
    ],
    section: Annotated[
        str | None,
        typer.Option(metavar="HEADING", help="Only this section, e.g. 'Install > Linux'."),
    ] = None,
    start_line: Annotated[
        int | None, typer.Option("--start-line", min=1, help="First line to print.")
    ] = None,
    end_line: Annotated[
        int | None, typer.Option("--end-line", min=1, help="Last line to print.")
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a note as it is in its file, a section of it, or some of its lines."""
    if not name.strip():
        raise typer.BadParameter("name a note", param_hint="NAME")
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.notes import local_name, notes_of
    from memoranda.cli.output import write_json, write_text
    from memoranda.cli.session import with_container

    async def work(container: Container) -> tuple[Project, NoteView]:
        workspace = await notes_of(container, project, [name])
        view = await workspace.notes.read(
            local_name(name, workspace),
            section=section,
            start_line=start_line,
            end_line=end_line,
            max_chars=WHOLE,
        )
        return workspace.project, view

    chosen, view = with_container(work)
    if as_json:
        from memoranda.render.notes import view_data

        write_json(view_data(view, chosen, WHOLE))
    else:
        write_text(view.text)

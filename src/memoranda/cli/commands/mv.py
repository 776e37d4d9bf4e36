"""`memoranda mv`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import DryRunOption, JsonOption, ProjectOption

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.model.moves import MoveResult
    from memoranda.model.project import Project


def mv(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="Path, permalink or memory:// address of a note, or a folder."
        ),
    ],
    destination: Annotated[
        str,
        typer.Argument(
            metavar="DESTINATION", help="The new path; with a / at its end: into that folder."
        ),
    ],
    dry_run: DryRunOption = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Move or rename a note or a folder, and rewrite the links that would break.

    Links that still mean the same note are left as they are. Everything happens or nothing, and
    `memoranda undo` takes it back.
    """
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.notes import local_name, me, notes_of
    from memoranda.cli.output import write_json
    from memoranda.cli.session import with_container
    from memoranda.render.moves import move_data

    for name, given in (("SOURCE", source), ("DESTINATION", destination)):
        if not given.strip():
            raise typer.BadParameter("give a path", param_hint=name)

    async def work(container: Container) -> tuple[Project, MoveResult]:
        workspace = await notes_of(container, project, [source])
        result = await workspace.moves.move(
            local_name(source, workspace),
            local_name(destination, workspace),
            dry_run=dry_run,
            by=me("mv"),
        )
        return workspace.project, result

    chosen, result = with_container(work)
    if as_json:
        write_json(move_data(result, WHOLE))
    else:
        _print(result, chosen)


def _print(result: MoveResult, project: Project) -> None:
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.notes import undo_command
    from memoranda.cli.output import write_styled
    from memoranda.cli.styles import answer_lines
    from memoranda.cli.wording import way_back
    from memoranda.render.moves import move_text

    text = move_text(result, WHOLE)
    if result.change_id is not None:
        text = way_back(text, undo_command(result.change_id, project.name))
    write_styled(answer_lines(text))

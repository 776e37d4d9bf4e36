"""`memoranda undo`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memoranda.cli.options import DryRunOption, JsonOption, ProjectOption, YesOption

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.model.undoing import UndoResult
    from memoranda.workspace import Workspace


def undo(
    change_id: Annotated[
        int | None,
        typer.Argument(
            metavar="ID",
            min=1,
            help="The change, as `history list` numbers it; left out: the newest.",
        ),
    ] = None,
    client: Annotated[
        str | None, typer.Option("--client", metavar="NAME", help="All changes by this client.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="WHEN", help="All changes since: 2026-03-01, 2h, ..."),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option(
            "--path", metavar="PATH", help="With --client or --since: only in this note or folder."
        ),
    ] = None,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Take back a change by a tool, or all changes of a client since a time.

    What was changed since then stays where it does not overlap; where it does, nothing is changed and the
    difference is shown. An undo is a change like any other, so it can be taken back too. Without ID it asks
    before it does anything; where nobody can answer, --yes must be given.
    """
    from memoranda.cli.errors import FAILED
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.notes import me, notes_of, undo_command
    from memoranda.cli.output import write_json, write_note, write_styled
    from memoranda.cli.session import with_container
    from memoranda.cli.undo_lines import undo_lines
    from memoranda.cli.when import since_when

    if change_id is not None and (client or since):
        raise typer.BadParameter("give ID, or --client and --since", param_hint="ID")
    if path is not None and not (client or since):
        raise typer.BadParameter("give --client or --since as well", param_hint="--path")
    begun = since_when(since) if since else None
    must_ask = change_id is None and not (yes or dry_run)
    _require_answerable(must_ask=must_ask, is_newest=not (client or since))

    async def work(container: Container) -> tuple[Project, UndoResult | None]:
        workspace = await notes_of(container, project)
        what: dict[str, Any] = {"client": client, "since": begun, "path": path}
        if not (client or since):
            what = {"change_id": _newest(workspace) if change_id is None else change_id}
        if must_ask and not _is_confirmed(await workspace.undo.undo(**what, dry_run=True)):
            return workspace.project, None
        result = await workspace.undo.undo(**what, dry_run=dry_run, by=me("undo"))
        return workspace.project, result

    chosen, result = with_container(work)
    if result is None:
        write_note("Nothing was taken back.")
        return FAILED
    if as_json:
        from memoranda.render.history import undo_data

        write_json(undo_data(result, WHOLE))
    else:
        way_back = ""
        if result.change_id is not None:
            way_back = undo_command(result.change_id, chosen.name)
        write_styled(undo_lines(result, way_back))
    return 0


def _newest(workspace: Workspace) -> int:
    """The newest change in the project's folder.

    Raises:
        InvalidArgument: none is recorded.
    """
    from memoranda.errors import InvalidArgument

    newest = workspace.history.changes(limit=1)
    if not newest:
        raise InvalidArgument("ID", f"No change is recorded for {workspace.project.name}")
    return newest[0].change_id


def _require_answerable(*, must_ask: bool, is_newest: bool) -> None:
    """Raises BadParameter where a question is needed and nobody is there; ID is none of many changes."""
    from memoranda.cli.questions import can_ask

    if must_ask and not can_ask():
        what = "ID or --yes" if is_newest else "--yes, or --dry-run to see what it would do"
        raise typer.BadParameter(f"nobody can be asked here: give {what}", param_hint="--yes")


def _is_confirmed(preview: UndoResult) -> bool:
    """Show what would be taken back, and ask."""
    from memoranda.cli.change_lines import changes_text
    from memoranda.cli.output import write_note
    from memoranda.cli.questions import is_confirmed

    write_note(changes_text(preview.changes))
    number = len(preview.changes)
    return is_confirmed(f"Take back {'this change' if number == 1 else f'these {number} changes'}?")

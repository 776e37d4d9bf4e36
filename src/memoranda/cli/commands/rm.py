"""`memoranda rm`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import JsonOption, ProjectOption, YesOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.model.views import DeleteResult
    from memoranda.repositories.store import Tx
    from memoranda.workspace import Workspace

    Deleted = tuple[DeleteResult, str]

_FEW = 10


def rm(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME", help="Path, permalink or memory:// address of a note."),
    ],
    yes: YesOption = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Delete notes; `memoranda undo` brings them back.

    The names must be exact. All are looked up before the first note is deleted. For several notes it asks
    on a terminal, and --json lists them as `deleted`.
    """
    from memoranda.cli.errors import FAILED
    from memoranda.cli.output import write_note
    from memoranda.cli.session import with_container

    if not all(name.strip() for name in names):
        raise typer.BadParameter("name a note", param_hint="NAME")

    async def work(container: Container) -> tuple[Project, list[Deleted]]:
        from memoranda.cli.notes import local_name, me, notes_of, undo_line

        workspace = await notes_of(container, project, names)
        wanted = [local_name(name, workspace) for name in names]
        if len(wanted) > 1:
            wanted = await _paths(workspace, wanted)
            if not (yes or _is_confirmed(wanted)):
                return workspace.project, []
        done: list[Deleted] = []
        for name in wanted:
            result = await workspace.notes.delete(name, by=me("rm"))
            done.append((result, undo_line(workspace, result.ref.file_path)))
        return workspace.project, done

    chosen, done = with_container(work)
    if not done:
        write_note("Nothing was deleted.")
        return FAILED
    _print(chosen, done, as_json=as_json)
    return 0


async def _paths(workspace: Workspace, names: Sequence[str]) -> list[str]:
    """The paths of the notes of these names, each once.

    Raises:
        NoteNotFound, AmbiguousName: of the first name that names no note exactly.
    """
    from memoranda.services.lookup import find_note

    def found(tx: Tx) -> list[str]:
        refs = (find_note(tx, name, exact=True) for name in names)
        return list(dict.fromkeys(ref.file_path for ref in refs))

    return await workspace.store.read(found)


def _is_confirmed(paths: Sequence[str]) -> bool:
    """Ask on the terminal; where nobody can answer, it goes on: nothing is lost for good."""
    from memoranda.cli.output import write_note
    from memoranda.cli.questions import can_ask, is_confirmed

    if not can_ask():
        return True
    for path in paths[:_FEW]:
        write_note(f"  {path}")
    if len(paths) > _FEW:
        write_note(f"  ... and {len(paths) - _FEW} more")
    return is_confirmed(f"Delete these {len(paths)} notes?")


def _print(project: Project, done: Sequence[Deleted], *, as_json: bool) -> None:
    """One note is the tool's answer; several are a list of them."""
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.output import write_json, write_styled
    from memoranda.render.notes import delete_data, delete_text

    if as_json:
        answers = [delete_data(result, project, WHOLE) for result, _ in done]
        write_json(answers[0] if len(answers) == 1 else {"deleted": answers})
        return
    lines: list[tuple[str, str]] = []
    for result, way_back in done:
        first, *rest = delete_text(result, WHOLE).splitlines()
        lines += [(first, "bold"), *((line, "yellow") for line in rest)]
        lines += [(f"Undo: {way_back}", "dim")] if way_back else []
    write_styled(lines)

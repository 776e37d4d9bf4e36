"""`memoranda write`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import ExpectOption, JsonOption, ProjectOption

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.model.views import WriteResult


def write(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="The note's title and file name.")],
    directory: Annotated[
        str, typer.Option("--dir", "-d", metavar="FOLDER", help="The folder of the note.")
    ] = "",
    content: Annotated[
        str | None,
        typer.Option(
            "--content",
            "-c",
            metavar="TEXT",
            help="The text; - or left out: from standard input.",
        ),
    ] = None,
    file: Annotated[
        str | None, typer.Option("--file", "-f", metavar="FILE", help="Take the text from a file.")
    ] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; repeat for more.")
    ] = None,
    note_type: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="The note's type; left out: note."),
    ] = None,
    meta: Annotated[
        list[str] | None,
        typer.Option(
            "--meta",
            metavar="KEY=VALUE",
            help="A further key of the header, such as status=draft; repeat for more.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the note if it is there.")
    ] = False,
    expected_checksum: ExpectOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a new note.

    The text may begin with a header of its own. A note that is there is replaced with --overwrite only, and
    `memoranda undo` brings it back.
    """
    from memoranda.cli.assignments import parse_assignments
    from memoranda.cli.input_text import given_text, read_file, read_stdin
    from memoranda.cli.notes import me, notes_of, undo_line
    from memoranda.cli.session import with_container

    if not title.strip():
        raise typer.BadParameter("give the note a title", param_hint="TITLE")
    if content is not None and file is not None:
        raise typer.BadParameter("give --content or --file, not both", param_hint="--file")
    metadata = parse_assignments(meta or (), "--meta")
    words = [part.strip() for tag in tags or () for part in tag.split(",")]
    if file is not None:
        text = read_file(file)
    else:
        text = read_stdin() if content is None else given_text(content)

    async def work(container: Container) -> tuple[Project, WriteResult, str]:
        workspace = await notes_of(container, project)
        result = await workspace.notes.write(
            title=title,
            content=text,
            directory=directory,
            note_type=note_type,
            tags=[word for word in words if word],
            metadata=metadata,
            overwrite=overwrite,
            expected_checksum=expected_checksum,
            by=me("write"),
        )
        return workspace.project, result, undo_line(workspace, result.ref.file_path)

    print_written(*with_container(work), as_json=as_json)


def print_written(
    project: Project, result: WriteResult, way_back: str, *, as_json: bool, dry_run: bool = False
) -> None:
    """Print what became of a note, and how to take it back."""
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.output import write_json, write_styled
    from memoranda.cli.styles import change_lines
    from memoranda.model.views import WriteAction
    from memoranda.render.notes import write_data, write_text

    if as_json:
        marks = {"dry_run": True} if dry_run else {}
        write_json(write_data(result, project, WHOLE) | marks)
        return
    lines = list(change_lines(write_text(result, sys.maxsize, dry_run=dry_run)))
    if way_back and not dry_run and result.action is not WriteAction.UNCHANGED:
        lines += [("", "")] if result.diff else []
        lines.append((f"Undo: {way_back}", "dim"))
    write_styled(lines)

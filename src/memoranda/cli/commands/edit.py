"""`memoranda edit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from typer.models import OptionInfo

from memoranda.cli.options import DryRunOption, ExpectOption, JsonOption, ProjectOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.container import Container
    from memoranda.model.edit import Edit
    from memoranda.model.project import Project
    from memoranda.model.views import WriteResult


def _text(*names: str, help: str) -> OptionInfo:  # noqa: A002 - as typer calls it
    option: OptionInfo = typer.Option(*names, metavar="TEXT", help=help)
    return option


def edit(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Path, title, permalink, alias or memory:// address of a note."
        ),
    ],
    append: Annotated[str | None, _text("--append", "-a", help="Add this at the end.")] = None,
    prepend: Annotated[
        str | None, _text("--prepend", help="Add this at the start, below the header.")
    ] = None,
    body: Annotated[
        str | None, _text("--body", help="Put this in place of all that is below the header.")
    ] = None,
    find: Annotated[
        str | None, _text("--find", help="Replace this text; needs --replace-with.")
    ] = None,
    replacement: Annotated[
        str | None,
        _text("--replace-with", "--replace", help="What stands there then; '' deletes it."),
    ] = None,
    count: Annotated[
        int,
        typer.Option(
            "--count", metavar="N", min=1, max=100_000, help="How often --find must be there."
        ),
    ] = 1,
    section: Annotated[
        str | None,
        typer.Option(
            "--section",
            "-s",
            metavar="HEADING",
            help="Change at this section, e.g. 'Install > Linux'; needs --text, --before or --after.",
        ),
    ] = None,
    text: Annotated[
        str | None, _text("--text", help="What is to stand below the heading of --section.")
    ] = None,
    before: Annotated[str | None, _text("--before", help="Add this before --section.")] = None,
    after: Annotated[str | None, _text("--after", help="Add this after --section.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Set a key of the header; repeat for more."
        ),
    ] = None,
    unset: Annotated[
        list[str] | None,
        typer.Option("--unset", metavar="KEY", help="Delete a key of the header; repeat for more."),
    ] = None,
    dry_run: DryRunOption = False,
    expected_checksum: ExpectOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change part of a note and print the difference; every other byte stays.

    Give one change of the text, keys of the header, or both. Where a text is -, it is read from standard
    input. `memoranda undo` takes the change back.
    """
    from memoranda.cli.assignments import parse_assignments
    from memoranda.cli.commands.write import print_written
    from memoranda.cli.edit_choice import TextOptions, chosen_edit
    from memoranda.cli.notes import local_name, me, notes_of, undo_line
    from memoranda.cli.session import with_container

    if not name.strip():
        raise typer.BadParameter("name a note", param_hint="NAME")
    keys = parse_assignments(settings or (), "--set") | dict.fromkeys(unset or ())
    texts = TextOptions(
        append, prepend, body, find, replacement, count, section, text, before, after
    )
    edits = _edits(chosen_edit(texts), keys)

    async def work(container: Container) -> tuple[Project, WriteResult, str]:
        workspace = await notes_of(container, project, [name])
        result = await workspace.notes.edit(
            local_name(name, workspace),
            *edits,
            expected_checksum=expected_checksum,
            dry_run=dry_run,
            by=me("edit"),
        )
        way_back = "" if dry_run else undo_line(workspace, result.ref.file_path)
        return workspace.project, result, way_back

    print_written(*with_container(work), as_json=as_json, dry_run=dry_run)


def _edits(of_text: Edit | None, keys: dict[str, object]) -> Sequence[Edit]:
    from memoranda.model.edit import SetMetadata

    edits = [*([of_text] if of_text is not None else []), *([SetMetadata(keys)] if keys else [])]
    if not edits:
        raise typer.BadParameter(
            "say what to change, for example --append TEXT or --set KEY=VALUE", param_hint="NAME"
        )
    return edits

"""`memoranda project ...`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import EveryProjectOption, FolderArgument, JsonOption

if TYPE_CHECKING:
    from pathlib import Path

    from memoranda.container import Container
    from memoranda.model.project import Project, ProjectSummary

commands = typer.Typer(
    help="List, add and remove projects.", no_args_is_help=True, rich_markup_mode=None
)

NameArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME", help="The project's name; or give --project.", show_default=False
    ),
]
NameOption = Annotated[
    str | None, typer.Option("--project", "-p", metavar="NAME", help="The same as NAME.")
]


@commands.command("list")
def list_projects(project: EveryProjectOption = None, as_json: JsonOption = False) -> None:
    """List the projects with their sizes."""
    from memoranda.cli.command_line import command_line
    from memoranda.cli.output import write_json, write_note, write_text
    from memoranda.cli.selection import default_project
    from memoranda.cli.session import with_container
    from memoranda.cli.tables import Column, Cut, print_table

    async def work(container: Container) -> tuple[tuple[ProjectSummary, ...], str]:
        summaries = await container.project_service.list()
        if project is not None:
            chosen = container.find_project(project)
            summaries = tuple(each for each in summaries if each.project.name == chosen.name)
        return summaries, default_project(container)[1]

    summaries, trouble = with_container(work)
    if as_json:
        from memoranda.render.projects import projects_data

        write_json(projects_data(summaries))
        return
    if not summaries:
        write_text(f"No project is configured. Begin with: {command_line('up', 'PATH')}")
        return
    rows = [
        (
            summary.project.name + (" *" if summary.project.is_default else ""),
            summary.counts.notes,
            summary.project.disabled or "active",
            summary.project.path,
        )
        for summary in summaries
    ]
    columns = (
        Column("NAME (* default)", "bold"),
        Column("NOTES", spare=2),
        Column("STATUS", "", Cut.END, spare=1),
        Column("FOLDER", "cyan", Cut.START),
    )
    print_table(columns, rows)
    if trouble:
        write_note(f"note: {trouble}")


@commands.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it.")],
    path: FolderArgument,
    default: Annotated[
        bool, typer.Option("--default", help="Make it the default project.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Add a folder of notes as a project (without indexing it; `memoranda up` does both)."""
    from memoranda.cli.command_line import command_line
    from memoranda.cli.keeping import is_led
    from memoranda.cli.output import write_json, write_note, write_text
    from memoranda.cli.selection import absolute_folder
    from memoranda.cli.session import with_container
    from memoranda.config import database_path
    from memoranda.services.projects import nesting

    folder = absolute_folder(path)

    async def work(container: Container) -> tuple[ProjectSummary, bool, list[str], bool]:
        service = container.project_service
        is_served = any(is_led(database_path(each)) for each in container.projects())
        summary, created = await service.create(name, str(folder), set_default=default)
        return summary, created, nesting(summary.project, container.projects()), is_served

    summary, created, notes, is_served = with_container(work)
    if as_json:
        from memoranda.render.projects import project_data

        write_json(project_data(summary) | {"created": created, "notes": notes})
        return
    project = summary.project
    done = "Added" if created else "Already there:"
    for note in notes:
        write_note(f"note: {note}")
    write_text(f"{done} project {project.name} for {project.path}.")
    run = command_line("sync", project=project.name)
    write_text(
        f"The server that runs indexes it within seconds; to wait for that, run: {run}"
        if is_served
        else f"Index it with: {run}"
    )


@commands.command()
def remove(
    name: NameArgument = None,
    project: NameOption = None,
    delete_index: Annotated[
        bool, typer.Option("--delete-index", help="Delete its index database as well.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove a project from the configuration. No note is ever deleted."""
    from memoranda.cli.output import write_json, write_text
    from memoranda.cli.selection import default_project
    from memoranda.cli.session import with_container
    from memoranda.config import database_path

    wanted = _one_name(name, project)

    async def work(container: Container) -> tuple[Project, tuple[Project | None, str]]:
        removed = await container.project_service.remove(wanted)
        return removed, default_project(container)

    removed, (now, trouble) = with_container(work)
    deleted = _delete_database(database_path(removed)) if delete_index else []
    if as_json:
        write_json(
            {
                "name": removed.name,
                "path": str(removed.path),
                "removed": True,
                "index_deleted": bool(deleted),
                "default_project": now.name if now else None,
            }
        )
        return
    write_text(f"Removed project {removed.name}. The notes in {removed.path} are untouched.")
    if deleted:
        write_text(f"Deleted its index {database_path(removed)}.")
    elif database_path(removed).exists():
        write_text(f"Its index {database_path(removed)} is kept.")
    if now is None:
        write_text(f"{trouble[:1].upper()}{trouble[1:]}.")
    else:
        write_text(f"The default project is {'now ' if removed.is_default else ''}{now.name}.")


@commands.command()
def default(
    name: NameArgument = None, project: NameOption = None, as_json: JsonOption = False
) -> None:
    """Make a project the one that is meant when none is named."""
    from memoranda.cli.output import write_json, write_note, write_text
    from memoranda.cli.session import with_container

    wanted = _one_name(name, project)

    async def work(container: Container) -> Project:
        return await container.project_service.set_default(wanted)

    chosen = with_container(work)
    if as_json:
        write_json({"name": chosen.name, "path": str(chosen.path), "is_default": chosen.is_default})
    elif chosen.is_default:
        write_text(f"The default project is {chosen.name}.")
    else:
        write_text(f"The default project in the configuration file is {chosen.name}.")
        write_note("note: BASIC_MEMORY_DEFAULT_PROJECT in the environment names another, and wins")


@commands.command()
def info(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="The project's name; default: the default one.", show_default=False
        ),
    ] = None,
    project: NameOption = None,
    as_json: JsonOption = False,
) -> int:
    """Say all about one project; without NAME about the default one."""
    from memoranda.cli.commands.status import print_status
    from memoranda.cli.selection import only_name

    return print_status([only_name(name, project)], as_json=as_json, as_list=False)


def _one_name(argument: str | None, option: str | None) -> str:
    from memoranda.cli.selection import only_name

    name = only_name(argument, option)
    if not name:
        raise typer.BadParameter("give the project's name", param_hint="NAME")
    return name


def _delete_database(database: Path) -> list[Path]:
    """Delete the database and what SQLite keeps beside it; anything else in the folder stays."""
    deleted = []
    for file in (database, *(database.with_name(database.name + end) for end in ("-wal", "-shm"))):
        if file.exists():
            file.unlink()
            deleted.append(file)
    return deleted

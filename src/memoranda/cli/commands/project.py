"""`memoranda project ...`."""

from __future__ import annotations

import shlex
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
    str | None, typer.Argument(metavar="NAME", help="The project's name.", show_default=False)
]
NameOption = Annotated[
    str | None, typer.Option("--project", "-p", metavar="NAME", help="The same as NAME.")
]


@commands.command("list")
def list_projects(project: EveryProjectOption = None, as_json: JsonOption = False) -> None:
    """List the projects with their sizes."""
    from memoranda.cli.output import table, write_json, write_text
    from memoranda.cli.session import with_container

    async def work(container: Container) -> tuple[ProjectSummary, ...]:
        summaries = await container.project_service.list()
        if project is None:
            return summaries
        chosen = container.find_project(project)
        return tuple(summary for summary in summaries if summary.project.name == chosen.name)

    summaries = with_container(work)
    if as_json:
        from memoranda.render.projects import projects_data

        write_json(projects_data(summaries))
        return
    if not summaries:
        write_text("No project is configured. Begin with: memoranda up PATH")
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
    write_text(table(("NAME (* default)", "NOTES", "STATUS", "FOLDER"), rows))


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
    from memoranda.cli.output import write_json, write_text
    from memoranda.cli.selection import absolute_folder
    from memoranda.cli.session import with_container

    folder = absolute_folder(path)

    async def work(container: Container) -> tuple[ProjectSummary, bool]:
        return await container.project_service.create(name, str(folder), set_default=default)

    summary, created = with_container(work)
    if as_json:
        from memoranda.render.projects import project_data

        write_json(project_data(summary) | {"created": created})
        return
    project = summary.project
    done = "Added" if created else "Already there:"
    write_text(f"{done} project {project.name} for {project.path}.")
    write_text(f"Index it with: memoranda sync --project {shlex.quote(project.name)}")


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
    from memoranda.cli.session import with_container
    from memoranda.config import database_path

    wanted = _one_name(name, project)

    async def work(container: Container) -> Project:
        return await container.project_service.remove(wanted)

    removed = with_container(work)
    deleted = _delete_database(database_path(removed)) if delete_index else []
    if as_json:
        write_json(
            {
                "name": removed.name,
                "path": str(removed.path),
                "removed": True,
                "index_deleted": bool(deleted),
            }
        )
        return
    write_text(f"Removed project {removed.name}. The notes in {removed.path} are untouched.")
    if deleted:
        write_text(f"Deleted its index {database_path(removed)}.")
    elif database_path(removed).exists():
        write_text(f"Its index {database_path(removed)} is kept.")


@commands.command()
def default(
    name: NameArgument = None, project: NameOption = None, as_json: JsonOption = False
) -> None:
    """Make a project the one that is meant when none is named."""
    from memoranda.cli.output import write_json, write_text
    from memoranda.cli.session import with_container

    wanted = _one_name(name, project)

    async def work(container: Container) -> Project:
        return await container.project_service.set_default(wanted)

    chosen = with_container(work)
    if as_json:
        write_json({"name": chosen.name, "path": str(chosen.path), "is_default": True})
    else:
        write_text(f"The default project is {chosen.name}.")


@commands.command()
def info(
    name: NameArgument = None, project: NameOption = None, as_json: JsonOption = False
) -> None:
    """Say all about one project; without NAME about the default one."""
    from memoranda.cli.commands.status import print_status
    from memoranda.cli.selection import only_name

    print_status([only_name(name, project)], as_json=as_json, as_list=False)


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

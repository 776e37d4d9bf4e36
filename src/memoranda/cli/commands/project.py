"""`memoranda project ...`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import EveryProjectOption, FolderArgument, JsonOption

if TYPE_CHECKING:
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


@dataclass(frozen=True, slots=True)
class _Removed:
    """A project that was removed, and its index. `where`: as a phrase goes on after "its index"."""

    project: Project
    where: str
    is_deleted: bool
    is_kept: bool


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
            "?" if _failure(summary) else summary.counts.notes,
            summary.project.disabled or ("failed" if _failure(summary) else "active"),
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
    for failure in dict.fromkeys(filter(None, map(_failure, summaries))):
        write_note(f"note: {failure}")
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
    import asyncio

    from memoranda.cli.command_line import command_line
    from memoranda.cli.output import write_json, write_note, write_text
    from memoranda.cli.selection import absolute_folder
    from memoranda.cli.session import with_container
    from memoranda.services.projects import nesting

    folder = absolute_folder(path)

    async def work(container: Container) -> tuple[ProjectSummary, bool, list[str], bool]:
        service = container.project_service
        is_served = await asyncio.to_thread(_is_any_led, container)
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
        bool, typer.Option("--delete-index", help="Delete its index as well.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove a project from the configuration. No note is ever deleted."""
    import asyncio

    from memoranda.cli.output import write_json, write_text
    from memoranda.cli.selection import default_project
    from memoranda.cli.session import with_container

    wanted = _one_name(name, project)

    async def work(container: Container) -> tuple[_Removed, tuple[Project | None, str]]:
        places = container.places
        if (
            delete_index and places.is_shared
        ):  # others may use it: nothing is done if it has to stay
            await asyncio.to_thread(_refuse_if_led, container, wanted)
        removed = await container.project_service.remove(wanted)
        if delete_index:
            is_deleted = await asyncio.to_thread(_delete_index, container, removed)
        else:
            is_deleted = False
        is_kept = not is_deleted and (places.is_shared or places.size(removed) > 0)
        shown = places.shown(removed)
        where = f"in {shown}" if places.is_shared else shown
        return _Removed(removed, where, is_deleted, is_kept), default_project(container)

    done, (now, trouble) = with_container(work)
    removed = done.project
    if as_json:
        write_json(
            {
                "name": removed.name,
                "path": str(removed.path),
                "removed": True,
                "index_deleted": done.is_deleted,
                "default_project": now.name if now else None,
            }
        )
        return
    write_text(f"Removed project {removed.name}. The notes in {removed.path} are untouched.")
    if done.is_deleted:
        write_text(f"Deleted its index {done.where}.")
    elif done.is_kept and not delete_index:
        write_text(f"Its index {done.where} is kept.")
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


def _failure(summary: ProjectSummary) -> str:
    """Why its index cannot be used, "" when it can."""
    failed, found, why = summary.status.partition("failed: ")
    return why if found and not failed else ""


def _one_name(argument: str | None, option: str | None) -> str:
    from memoranda.cli.selection import only_name

    name = only_name(argument, option)
    if not name:
        raise typer.BadParameter("give the project's name", param_hint="NAME")
    return name


def _is_any_led(container: Container) -> bool:
    """Whether a server runs that sees the configuration; not when nobody can tell."""
    from memoranda.errors import DatabaseProblem

    try:
        return any(container.places.is_led(each) for each in container.projects())
    except DatabaseProblem:
        return False


def _refuse_if_led(container: Container, name: str) -> None:
    from memoranda.errors import ProjectConflict

    project = container.find_project(name)
    if container.places.is_led(project):
        raise ProjectConflict(
            f"The index of {project.name} cannot be deleted: a server keeps it up to date",
            hint="End the servers that serve the project, on every machine, or leave --delete-index out; "
            "nothing was changed.",
            parameter="project",
        )


def _delete_index(container: Container, project: Project) -> bool:
    """Delete it when its project is out of the configuration; an error says that this much is done."""
    from memoranda.errors import MemorandaError

    try:
        return container.places.remove(project)
    except MemorandaError as error:
        error.message = (
            f"The project {project.name} is removed, and its index is kept: {error.message}"
        )
        error.hint = "To delete the index as well, add the project again and repeat the command when that is mended."
        raise

"""Which projects a command works on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memoranda.errors import ProjectNotFound, RootMissing
from memoranda.model.project import Project

if TYPE_CHECKING:
    from memoranda.container import Container


def selected(container: Container, name: str | None) -> tuple[Project, ...]:
    """The project of that name, or without a name all active ones in configured order.

    Raises:
        ProjectNotFound: no project of that name, or none that is active.
    """
    if name:
        return (container.find_project(name),)
    projects = tuple(project for project in container.projects() if project.is_active)
    if not projects:
        raise ProjectNotFound(None, [project.name for project in container.projects()])
    return projects


def absolute_folder(path: str) -> Path:
    """The folder with `~` expanded and without `..` and symbolic links.

    Raises:
        typer.BadParameter: the path is blank.
        RootMissing: there is no folder of that name, or none that can be reached.
    """
    if not path.strip():
        import typer

        raise typer.BadParameter("name the folder that holds the notes", param_hint="PATH")
    try:
        folder = Path(path).expanduser().resolve()
        is_folder, is_there = folder.is_dir(), folder.exists()
    except (OSError, RuntimeError) as error:  # RuntimeError: ~somebody, or links in a circle
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise RootMissing(
            path,
            f"{path} cannot be reached: {reason}",
            hint="Check the spelling, and the permissions of the folders above it.",
        ) from error
    if is_folder:
        return folder
    if is_there:
        raise RootMissing(
            path, f"{path} is a file, not a folder", hint="Name the folder that holds the notes."
        )
    raise RootMissing(
        path, f"There is no folder {path}", hint="Check the spelling, or make it with mkdir."
    )


def projects_at(folder: Path, projects: Sequence[Project]) -> list[Project]:
    """The projects whose folder is this one (resolved), the active ones first."""
    found = [project for project in projects if project.path.resolve() == folder]
    return sorted(found, key=lambda project: not project.is_active)


def default_project(container: Container) -> tuple[Project | None, str]:
    """The default project, or None and why there is none."""
    try:
        return container.find_project(None), ""
    except ProjectNotFound as error:
        if error.name is None:
            return None, "no project is left"
        return None, f"the configured default project {error.name!r} does not exist"


def only_name(argument: str | None, option: str | None) -> str | None:
    """The name given as an argument or as `--project`.

    Raises:
        typer.BadParameter: both are given and differ.
    """
    if argument and option and argument != option:
        import typer

        raise typer.BadParameter("NAME and --project name different projects")
    return argument or option


def unique_name(wanted: str, taken: Sequence[Project]) -> str:
    """`wanted`, or `wanted-2`, `wanted-3`, ... when a project has that name or permalink."""
    from memoranda.model.address import slug

    names = {project.name.casefold() for project in taken}
    permalinks = {project.permalink for project in taken}
    base = wanted if slug(wanted) else "notes"
    candidate, number = base, 1
    while candidate.casefold() in names or slug(candidate) in permalinks:
        number += 1
        candidate = f"{base}-{number}"
    return candidate

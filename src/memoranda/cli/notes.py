"""What commands on notes share: whose notes, by which names, for whom, and the way back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memoranda.model.address import ByName, NotePath, parse_address
from memoranda.model.history import Author

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.workspace import Workspace

CLIENT = "memoranda"
"""What the history and the search log call this command line."""


def me(command: str) -> Author:
    """Who changes something with a command."""
    from memoranda.cli.version import version

    return Author(CLIENT, version(), command)


async def notes_of(
    container: Container, project: str | None, names: Sequence[str] = ()
) -> Workspace:
    """The workspace in which these names are looked up, with its index up to date.

    Args:
        container: of this process.
        project: as given, None for the default one.
        names: of notes; a `memory://@project/...` address chooses the project.

    Raises:
        InvalidArgument: two of them name different projects.
        ProjectNotFound, ProjectConflict, RootMissing, DatabaseProblem.
    """
    from memoranda.cli.freshness import brought_up_to_date
    from memoranda.cli.session import opened

    workspace = await opened(container, _project(container, project, names))
    await brought_up_to_date(workspace)
    return workspace


def _project(container: Container, project: str | None, names: Sequence[str]) -> Project:
    from memoranda.errors import InvalidArgument

    chosen = container.find_project(project) if project else None
    for name in names:
        address = parse_address(name)
        if not isinstance(address, ByName) or address.project is None:
            continue
        named = container.find_project(address.project)
        if chosen is not None and chosen.name != named.name:
            raise InvalidArgument(
                "--project", f"{name!r} is a note of the project {named.name}, not of {chosen.name}"
            )
        chosen = named
    return chosen or container.find_project(None)


def local_name(name: str, workspace: Workspace) -> str:
    """A note's name; of a file or folder named by its absolute path, the path in the project."""
    return below_root(name, workspace.project.path)


def below_root(name: str, root: Path) -> str:
    """The same with `~` for the home folder; what is not in the project stays as it is."""
    from memoranda.files.local_names import local_name as in_project

    given = os.path.expanduser(name)  # noqa: PTH111  (a Path loses the / at its end)
    inside = in_project(given, root)
    return name if inside == given else inside


def undo_line(workspace: Workspace, path: NotePath) -> str:
    """The command that takes back what this process has just done to a note; "" if nothing is recorded."""
    last = workspace.history.changes(paths=[path], client=CLIENT, limit=1)
    return undo_command(last[0].batch, workspace.project.name) if last else ""


def undo_command(change_id: int, project: str) -> str:
    """The command that takes a change back."""
    from memoranda.cli.command_line import command_line

    return command_line("undo", str(change_id), project=project)

"""Serving MCP over stdio, apart from the command, so that it starts without the parser."""

from __future__ import annotations

import os


def serve(project: str | None = None, *, read_only: bool = False) -> None:
    """Serve until the client closes stdin.

    Args:
        project: the default project of this process.
        read_only: refuse whatever would write, whatever the configuration says.

    Raises:
        ProjectNotFound: there is no project of that name.
        ConfigProblem: `project` is given and the configuration cannot be read.
    """
    choose(project)
    if read_only:
        os.environ["BASIC_MEMORY_READ_ONLY"] = "true"  # noqa: TID251
    from memoranda.mcp.server import run_stdio

    run_stdio()


def choose(project: str | None) -> None:
    """Make a project the default of this process; None or "" leaves the default.

    Raises:
        ProjectNotFound: there is no project of that name.
        ConfigProblem: the configuration cannot be read.
    """
    if project:
        from memoranda.config import configured_projects, find_project, load_settings

        chosen = find_project(configured_projects(load_settings()), project)
        # Written, not read: the server takes the choice as it takes any other from outside.
        os.environ["BASIC_MEMORY_DEFAULT_PROJECT"] = chosen.name  # noqa: TID251

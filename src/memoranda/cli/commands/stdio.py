"""Serving MCP over stdio, apart from the command, so that it starts without the parser."""

from __future__ import annotations

import os
from pathlib import Path


def serve(project: str | None = None, *, read_only: bool = False) -> None:
    """Serve until the client closes stdin.

    Args:
        project: the default project of this process.
        read_only: refuse whatever would write, whatever the configuration says.

    Raises:
        ProjectNotFound: there is no project of that name.
        ConfigProblem: `project` is given and the configuration cannot be read.
    """
    ignore_env_file()
    choose(project)
    if read_only:
        os.environ["BASIC_MEMORY_READ_ONLY"] = "true"  # noqa: TID251
    from memoranda.mcp.server import run_stdio

    run_stdio()


def ignore_env_file() -> None:
    """Keep FastMCP, which is not imported yet, from reading its settings from a `.env` of the current folder.

    Clients start servers in a folder of notes, which shall not configure them. A file that the user names in
    FASTMCP_ENV_FILE is read.
    """
    os.environ.setdefault("FASTMCP_ENV_FILE", os.devnull)  # noqa: TID251
    if not Path(os.environ.get("HOME", "")).is_absolute():  # noqa: TID251
        # In a container: FastMCP asks for a data folder when it is imported, and fails without a home folder.
        # Nothing is kept there.
        os.environ.setdefault("XDG_DATA_HOME", os.sep)  # noqa: TID251


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

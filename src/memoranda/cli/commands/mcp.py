"""`memoranda mcp`."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.commands.stdio import serve


def mcp(
    project: Annotated[
        str | None,
        typer.Option(
            "--project", "-p", metavar="NAME", help="The default project for this client."
        ),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Only let the client read.")
    ] = False,
) -> None:
    """Serve the notes to an assistant over MCP (stdio).

    A client starts this itself; it ends when the client closes its input. Stdout carries the
    protocol alone, the log goes to stderr and to a file in the configuration folder.
    """
    serve(project, read_only=read_only)

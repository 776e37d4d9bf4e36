"""`memoranda mcp`."""

from __future__ import annotations

from memoranda.cli.commands.stdio import serve
from memoranda.cli.options import ClientProjectOption, ClientReadOnlyOption


def mcp(project: ClientProjectOption = None, read_only: ClientReadOnlyOption = False) -> None:
    """Serve the notes to an assistant over MCP (stdio).

    A client starts this itself; it ends when the client closes its input. Stdout carries the
    protocol alone, the log goes to stderr and to a file in the configuration folder.
    """
    serve(project, read_only=read_only)

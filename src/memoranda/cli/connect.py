"""How an assistant is connected: the command a client must run, in the forms clients take."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from memoranda.cli.clients.places import Client
from memoranda.cli.clients.servers import Stdio, client_command, entry_of
from memoranda.cli.command_line import command_line, program

ENTRY = "memoranda"
"""What a client calls the server unless told otherwise."""


def server_command() -> list[str]:
    """The words that start this installation's server from anywhere, absolute path first."""
    return [*program(), "mcp"]


def client_configuration(
    command: Sequence[str], environment: Mapping[str, str], entry: str = ENTRY
) -> dict[str, object]:
    """The entry of an `mcpServers` configuration (Claude Desktop, Cursor and most clients)."""
    server = Stdio(tuple(command), environment)
    return {"mcpServers": {entry: entry_of(Client.CURSOR, server, entry)}}


def claude_command(
    command: Sequence[str], environment: Mapping[str, str], entry: str = ENTRY
) -> str:
    """The line that adds the server to Claude Code, for every folder the person works in."""
    return client_command(Client.CLAUDE_CODE, Stdio(tuple(command), environment), entry)


def connect_text(command: Sequence[str], environment: Mapping[str, str], entry: str = ENTRY) -> str:
    """What a person types to connect a client, ready to copy.

    Args:
        command: what starts the server, for clients that `connect` does not know.
        environment: the variables that it needs.
        entry: what clients shall call the server.
    """
    named = [] if entry == ENTRY else ["--entry", entry]
    variables = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    return (
        "Connect an assistant\n"
        f"  {command_line('connect', 'claude-code', '--write', *named)}\n"
        "  Instead of claude-code: claude-desktop, cursor, vscode, codex, chatgpt. Without --write it\n"
        "  shows what would be written, and --undo takes it back.\n"
        f"  Any other client starts this: {' '.join([*variables, shlex.join(command)])}"
    )

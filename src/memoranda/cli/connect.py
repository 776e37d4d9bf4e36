"""How an assistant is connected: the command a client must run, in the forms clients take."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

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
    server: dict[str, object] = {"command": command[0], "args": list(command[1:])}
    if environment:
        server["env"] = dict(environment)
    return {"mcpServers": {entry: server}}


def claude_command(
    command: Sequence[str], environment: Mapping[str, str], entry: str = ENTRY
) -> str:
    """The line that adds the server to Claude Code, for every folder the person works in."""
    variables = [
        word for name, value in environment.items() for word in ("--env", f"{name}={value}")
    ]
    words = ["claude", "mcp", "add", "--scope", "user", entry, *variables, "--", *command]
    return shlex.join(words)


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

"""How an assistant is connected: the command a client must run, in the forms clients take."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence

from memoranda.cli.command_line import program

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
    """Both, ready to copy."""
    configuration = client_configuration(command, environment, entry)
    snippet = json.dumps(configuration, indent=2, ensure_ascii=False)
    return (
        "Connect an assistant\n"
        f"  Claude Code:\n    {claude_command(command, environment, entry)}\n"
        "  Claude Desktop, Cursor and others, in their MCP configuration:\n"
        + "\n".join(f"    {line}" for line in snippet.splitlines())
    )

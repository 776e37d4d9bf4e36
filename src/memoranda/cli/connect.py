"""How an assistant is connected: the command a client must run, in the forms clients take."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


def server_command() -> list[str]:
    """The words that start this installation's server from anywhere, absolute path first."""
    script = Path(sys.executable).with_name(
        "memoranda.exe" if sys.platform == "win32" else "memoranda"
    )
    if script.is_file():
        return [str(script), "mcp"]
    return [sys.executable, "-m", "memoranda", "mcp"]


def needed_environment(folder: Path) -> dict[str, str]:
    """What the server must find in its environment to use this configuration folder."""
    usual = Path.home() / ".basic-memory"
    return {} if folder == usual else {"BASIC_MEMORY_CONFIG_DIR": str(folder)}


def client_configuration(
    command: Sequence[str], environment: Mapping[str, str]
) -> dict[str, object]:
    """The entry of an `mcpServers` configuration (Claude Desktop, Cursor and most clients)."""
    entry: dict[str, object] = {"command": command[0], "args": list(command[1:])}
    if environment:
        entry["env"] = dict(environment)
    return {"mcpServers": {"memoranda": entry}}


def claude_command(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """The line that adds the server to Claude Code."""
    variables = [
        word for name, value in environment.items() for word in ("--env", f"{name}={value}")
    ]
    words = ["claude", "mcp", "add", "memoranda", *variables, "--", *command]
    return shlex.join(words)


def connect_text(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Both, ready to copy."""
    snippet = json.dumps(client_configuration(command, environment), indent=2, ensure_ascii=False)
    return (
        "Connect an assistant\n"
        f"  Claude Code:\n    {claude_command(command, environment)}\n"
        "  Claude Desktop, Cursor and others, in their MCP configuration:\n"
        + "\n".join(f"    {line}" for line in snippet.splitlines())
    )

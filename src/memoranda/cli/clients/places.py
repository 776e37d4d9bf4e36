"""The clients that can be connected, and where each keeps its configuration. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import assert_never


class Client(StrEnum):
    """A program that speaks to MCP servers, as the command line calls it."""

    CLAUDE_CODE = "claude-code"
    CLAUDE_DESKTOP = "claude-desktop"
    CURSOR = "cursor"
    VSCODE = "vscode"
    CODEX = "codex"
    CHATGPT = "chatgpt"


class Platform(StrEnum):
    """A system, as far as places of configuration files go."""

    LINUX = "linux"
    MACOS = "macos"
    WINDOWS = "windows"


class Syntax(StrEnum):
    """How a configuration file is written; JSONC is JSON with comments and commas before a bracket."""

    JSON = "json"
    JSONC = "jsonc"
    TOML = "toml"


@dataclass(frozen=True, slots=True)
class ClientKind:
    """What is known of a client.

    Attributes:
        title: its name for people.
        syntax: of its configuration file.
        table: the key under which its file has the servers, "" when it has no file.
        reload: what a person does so that the client sees a change.
        check: how a person sees that it works.
    """

    title: str
    syntax: Syntax
    table: str
    reload: str
    check: str


_KINDS = {
    Client.CLAUDE_CODE: ClientKind(
        "Claude Code",
        Syntax.JSON,
        "mcpServers",
        "Start a new session of Claude Code.",
        "`claude mcp list` shows it; in a session type /mcp.",
    ),
    Client.CLAUDE_DESKTOP: ClientKind(
        "Claude Desktop",
        Syntax.JSON,
        "mcpServers",
        "Quit Claude Desktop, not its window alone, and start it again.",
        "Settings, Developer lists it.",
    ),
    Client.CURSOR: ClientKind(
        "Cursor",
        Syntax.JSONC,
        "mcpServers",
        "Start Cursor again, or switch the server on in its settings.",
        "The MCP part of Cursor's settings lists it with its tools.",
    ),
    Client.VSCODE: ClientKind(
        "VS Code",
        Syntax.JSONC,
        "servers",
        "Run MCP: List Servers in VS Code and start it; VS Code asks once whether you trust it.",
        "MCP: List Servers shows it as running.",
    ),
    Client.CODEX: ClientKind(
        "Codex",
        Syntax.TOML,
        "mcp_servers",
        "Start Codex again.",
        "`codex mcp list` shows it; in a session type /mcp.",
    ),
    Client.CHATGPT: ClientKind(
        "ChatGPT",
        Syntax.JSON,
        "",
        "Switch the app on in a new chat.",
        "Ask it to search your notes.",
    ),
}


def kind_of(client: Client) -> ClientKind:
    """What is known of this client."""
    return _KINDS[client]


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of a client's file."""

    client: Client
    file: Path
    name: str

    @property
    def kind(self) -> ClientKind:
        """What is known of the client."""
        return kind_of(self.client)


def client_file(
    client: Client, platform: Platform, environment: Mapping[str, str], home: PurePath
) -> PurePath | None:
    """The file in which the client keeps the servers of this user; None: it has no such file.

    Args:
        client: which one.
        platform: the system it runs on.
        environment: the variables that the client heeds: APPDATA, CLAUDE_CONFIG_DIR, CODEX_HOME,
            XDG_CONFIG_HOME. A blank one counts as not set.
        home: the home folder of the user.

    Source: the documentation of the clients; docs/how-to/clients has the list.
    """
    match client:
        case Client.CLAUDE_DESKTOP:
            return _programs(platform, environment, home) / "Claude" / "claude_desktop_config.json"
        case Client.CLAUDE_CODE:
            return _named(environment, "CLAUDE_CONFIG_DIR", platform, home) / ".claude.json"
        case Client.CURSOR:
            return home / ".cursor" / "mcp.json"
        case Client.VSCODE:
            return _programs(platform, environment, home) / "Code" / "User" / "mcp.json"
        case Client.CODEX:
            return _named(environment, "CODEX_HOME", platform, home / ".codex") / "config.toml"
        case Client.CHATGPT:
            return None
        case _:
            assert_never(client)


def client_folder(client: Client, file: PurePath, home: PurePath) -> PurePath:
    """The folder whose absence says that the client was never started here."""
    if client is Client.CLAUDE_CODE and file.parent == home:
        return home / ".claude"
    return file.parent


def _programs(platform: Platform, environment: Mapping[str, str], home: PurePath) -> PurePath:
    """The folder in which programs of this user keep their things."""
    match platform:
        case Platform.LINUX:
            return _named(environment, "XDG_CONFIG_HOME", platform, home / ".config")
        case Platform.MACOS:
            return home / "Library" / "Application Support"
        case Platform.WINDOWS:
            return _named(environment, "APPDATA", platform, home / "AppData" / "Roaming")
        case _:
            assert_never(platform)


def _named(
    environment: Mapping[str, str], variable: str, platform: Platform, usual: PurePath
) -> PurePath:
    value = environment.get(variable, "").strip()
    if not value:
        return usual
    return PureWindowsPath(value) if platform is Platform.WINDOWS else PurePosixPath(value)

"""Where clients keep their configuration, on the three systems."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from memoranda.cli.clients.places import Client, Platform, client_file, client_folder

POSIX = PurePosixPath("/home/you/")
WINDOWS = PureWindowsPath("C:/Users/you")
ROAMING = {"APPDATA": r"D:\Roaming"}


@pytest.mark.parametrize(
    ("client", "linux", "macos", "windows"),
    [
        (
            Client.CLAUDE_DESKTOP,
            "/home/you/.config/Claude/claude_desktop_config.json",
            "/home/you/Library/Application Support/Claude/claude_desktop_config.json",
            r"D:\Roaming\Claude\claude_desktop_config.json",
        ),
        (
            Client.VSCODE,
            "/home/you/.config/Code/User/mcp.json",
            "/home/you/Library/Application Support/Code/User/mcp.json",
            r"D:\Roaming\Code\User\mcp.json",
        ),
        (
            Client.CLAUDE_CODE,
            "/home/you/.claude.json",
            "/home/you/.claude.json",
            r"C:\Users\you\.claude.json",
        ),
        (
            Client.CURSOR,
            "/home/you/.cursor/mcp.json",
            "/home/you/.cursor/mcp.json",
            r"C:\Users\you\.cursor\mcp.json",
        ),
        (
            Client.CODEX,
            "/home/you/.codex/config.toml",
            "/home/you/.codex/config.toml",
            r"C:\Users\you\.codex\config.toml",
        ),
    ],
)
def test_usual_files(client: Client, linux: str, macos: str, windows: str) -> None:
    assert str(client_file(client, Platform.LINUX, {}, POSIX)) == linux
    assert str(client_file(client, Platform.MACOS, {}, POSIX)) == macos
    assert str(client_file(client, Platform.WINDOWS, ROAMING, WINDOWS)) == windows


def test_variables_of_the_clients_are_heeded() -> None:
    set_ = {"CLAUDE_CONFIG_DIR": "/a", "CODEX_HOME": "/b", "XDG_CONFIG_HOME": "/c", "APPDATA": " "}
    found = {each: client_file(each, Platform.LINUX, set_, POSIX) for each in Client}
    assert str(found[Client.CLAUDE_CODE]) == "/a/.claude.json"
    assert str(found[Client.CODEX]) == "/b/config.toml"
    assert str(found[Client.VSCODE]) == "/c/Code/User/mcp.json"
    assert str(found[Client.CLAUDE_DESKTOP]) == "/c/Claude/claude_desktop_config.json"
    assert found[Client.CHATGPT] is None
    macos = client_file(Client.VSCODE, Platform.MACOS, set_, POSIX)
    assert str(macos) == "/home/you/Library/Application Support/Code/User/mcp.json"
    windows = client_file(Client.VSCODE, Platform.WINDOWS, set_, WINDOWS)
    assert str(windows) == r"C:\Users\you\AppData\Roaming\Code\User\mcp.json"
    codex = client_file(Client.CODEX, Platform.WINDOWS, {"CODEX_HOME": r"E:\x"}, WINDOWS)
    assert str(codex) == r"E:\x\config.toml"


def test_the_folder_that_tells_whether_a_client_was_started() -> None:
    home = POSIX / ".claude.json"
    assert client_folder(Client.CLAUDE_CODE, home, POSIX) == POSIX / ".claude"
    assert client_folder(Client.CLAUDE_CODE, PurePosixPath("/a/.claude.json"), POSIX) == (
        PurePosixPath("/a")
    )
    assert client_folder(Client.CURSOR, POSIX / ".cursor" / "mcp.json", POSIX) == POSIX / ".cursor"

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from memoranda.cli.clients.places import Client
from memoranda.cli.command_line import command_line, needed_environment, program
from memoranda.cli.connect import (
    claude_command,
    client_configuration,
    connect_text,
    server_command,
)

COMMAND = ["/opt/my notes/bin/memoranda", "mcp"]
FOLDER = {"BASIC_MEMORY_CONFIG_DIR": "/data/con fig"}


def test_server_command_is_absolute_and_of_this_installation() -> None:
    program, *arguments = server_command()
    assert Path(program).is_absolute()
    assert Path(program).exists()
    assert arguments[-1] == "mcp"


def test_usual_configuration_folder_needs_no_variable() -> None:
    assert needed_environment(Path.home() / ".basic-memory") == {}
    assert needed_environment(Path("/data/con fig")) == FOLDER


def test_client_configuration_carries_command_and_folder() -> None:
    entry = client_configuration(COMMAND, FOLDER)["mcpServers"]["memoranda"]
    assert entry == {"command": COMMAND[0], "args": ["mcp"], "env": FOLDER}
    assert "env" not in client_configuration(COMMAND, {})["mcpServers"]["memoranda"]


def test_claude_command_survives_a_shell() -> None:
    assert shlex.split(claude_command(COMMAND, FOLDER)) == [
        "claude", "mcp", "add", "--scope", "user", "memoranda",
        "--env", "BASIC_MEMORY_CONFIG_DIR=/data/con fig", "--", *COMMAND,
    ]  # fmt: skip


def test_text_has_a_command_that_runs_and_one_for_any_other_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("BASIC_MEMORY_CONFIG_DIR", raising=False)
    text = connect_text(COMMAND, FOLDER)
    assert f"  {command_line('connect', 'claude-code', '--write')}\n" in text
    assert "BASIC_MEMORY_CONFIG_DIR='/data/con fig' '/opt/my notes/bin/memoranda' mcp" in text
    for client in Client:
        assert client in text


def test_entry_has_the_name_it_was_given_in_every_form() -> None:
    text = connect_text(COMMAND, {}, "memoranda-example")
    assert " connect claude-code --write --entry memoranda-example\n" in text


def test_command_line_runs_anywhere_and_finds_the_same_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", "/data/con fig")
    assert shlex.split(command_line("search", "two words", project="My Notes")) == [
        "BASIC_MEMORY_CONFIG_DIR=/data/con fig", *program(), "search", "two words", "--project", "My Notes",
    ]  # fmt: skip
    monkeypatch.delenv("BASIC_MEMORY_CONFIG_DIR")
    assert shlex.split(command_line("status")) == [*program(), "status"]

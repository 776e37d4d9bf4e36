"""Without a home folder, as in a container: what works, and what is said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memoranda.cli.command_line import command_line, needed_environment


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """No HOME, and a user whom the system does not know."""

    def unknown(uid: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)


@pytest.mark.usefixtures("homeless")
def test_the_variable_of_the_configuration_folder_is_needed_by_clients(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(tmp_path))
    assert needed_environment(tmp_path) == {"BASIC_MEMORY_CONFIG_DIR": str(tmp_path)}
    assert f"BASIC_MEMORY_CONFIG_DIR={tmp_path}" in command_line("mcp")


@pytest.mark.usefixtures("homeless")
def test_a_command_can_be_named_where_there_is_no_configuration_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("BASIC_MEMORY_CONFIG_DIR", raising=False)
    assert command_line("mcp").endswith(" mcp")


def test_the_server_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
import pwd

def unknown(uid):
    raise KeyError(uid)

pwd.getpwuid = unknown
from memoranda.cli.commands.stdio import ignore_env_file
ignore_env_file()
import fastmcp.settings
"""
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    done = subprocess.run(
        [sys.executable, "-c", code], env=dict(os.environ), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

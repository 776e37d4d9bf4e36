"""Command lines to copy and run: they work in any folder and find the same configuration."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path


def program() -> list[str]:
    """The words that start this installation from anywhere, absolute path first.

    A client may start them in a folder of notes; `-P` keeps Python from importing what lies there.
    """
    script = Path(sys.executable).with_name(
        "memoranda.exe" if sys.platform == "win32" else "memoranda"
    )
    return [str(script)] if script.is_file() else [sys.executable, "-P", "-m", "memoranda"]


def needed_environment(folder: Path) -> dict[str, str]:
    """What must be in the environment of a process that is to use this configuration folder."""
    usual = Path(os.path.expanduser("~/.basic-memory"))  # noqa: PTH111  (without a home folder it stays)
    return {} if folder == usual else {"BASIC_MEMORY_CONFIG_DIR": str(folder)}


def command_line(*words: str, project: str | None = None) -> str:
    """This command with these words, quoted for a shell, `--project` last when it is given."""
    option = [] if project is None else ["--project", project]
    return " ".join([*_variables(), shlex.join([*program(), *words, *option])])


def _variables() -> list[str]:
    from memoranda.config import config_dir
    from memoranda.errors import ConfigProblem

    try:
        needed = needed_environment(config_dir())
    except ConfigProblem:  # no home folder: the command itself says so
        return []
    return [f"{name}={shlex.quote(value)}" for name, value in needed.items()]

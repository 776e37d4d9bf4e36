"""Help, version and usage: what a command line says before any work begins."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoranda.cli.application import application
from memoranda.cli.command_line import command_line

Cli = Callable[..., Any]  # the fixture of conftest.py

COMMANDS = [
    ("up",), ("connect",), ("mcp",), ("sync",), ("status",), ("doctor",), ("search",), ("searches",), ("read",), ("reindex",),
    ("context",), ("recent",), ("ls",), ("write",), ("edit",), ("mv",), ("rm",), ("undo",), ("completion",),
    ("history", "list"), ("history", "show"), ("history", "purge"), ("config", "show"),
    ("project", "list"), ("project", "add"), ("project", "remove"), ("project", "default"), ("project", "info"),
]  # fmt: skip
HEAVY = {
    "alembic", "asyncio", "dateparser", "fastmcp", "filelock", "loguru", "mcp", "pydantic", "pydantic_settings",
    "rich", "sqlalchemy", "yaml", "pyromark",
}  # fmt: skip


def imported_by(*arguments: str) -> set[str]:
    """Top packages that a command line loads, in a fresh interpreter."""
    code = (
        "import sys\n"
        "from memoranda.cli.main import run\n"
        "code = run(sys.argv[1:])\n"
        "print('\\n'.join(sorted({name.partition('.')[0] for name in sys.modules})), file=sys.stderr)\n"
        "sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), ("search", "--help"), ("completion", "bash", "--", "re")],
)
def test_help_version_and_completion_load_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert not imported_by(*arguments) & HEAVY


def test_of_a_known_command_no_other_is_built() -> None:
    assert [each.name for each in application("ls").registered_commands] == ["ls"]
    assert [each.name for each in application("history").registered_groups] == ["history"]
    assert (
        len(application("lss").registered_commands) == len(application().registered_commands) > 15
    )


def test_a_server_that_cannot_be_is_refused_before_the_protocol_is_loaded(home: Path) -> None:
    code = (
        "import sys\n"
        "from memoranda.cli.main import run\n"
        "code = run(['serve', '--host', '0.0.0.0'])\n"
        "assert code == 1 and not {'fastmcp', 'mcp', 'uvicorn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_version_does_not_load_the_parser() -> None:
    assert "typer" not in imported_by("--version")


def test_version_is_that_of_the_package(cli: Cli) -> None:
    from importlib.metadata import version

    assert cli("--version").out == f"memoranda {version('memoranda')}\n"
    assert cli("-V").out == cli("--version").out


def test_help_names_every_command(cli: Cli) -> None:
    text = cli("--help").out
    assert all(f"  {command[0]} " in text for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(cli: Cli, command: tuple[str, ...]) -> None:
    outcome = cli(*command, "--help")
    assert outcome.code == 0
    assert outcome.out.startswith(f"Usage: memoranda {' '.join(command)} ")


@pytest.mark.parametrize(
    "command", [each for each in COMMANDS if each not in {("project", "add"), ("completion",)}]
)
def test_every_command_takes_project(cli: Cli, command: tuple[str, ...]) -> None:
    assert "--project" in cli(*command, "--help").out


@pytest.mark.parametrize(
    "command", [each for each in COMMANDS if each not in {("mcp",), ("completion",)}]
)
def test_every_command_that_prints_takes_json(cli: Cli, command: tuple[str, ...]) -> None:
    assert "--json" in cli(*command, "--help").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("serch", "x"), "No such command 'serch'. Did you mean 'search', 'searches', 'serve'?"),
        (("up",), "Missing argument 'PATH'"),
        (("up", ""), "name the folder that holds the notes"),
        (("up", " "), "name the folder that holds the notes"),
        (("up", "x", "--name", ""), "give the project a name"),
        (("project", "add", "x", ""), "name the folder that holds the notes"),
        (("read", ""), "name a note"),
        (("search", "x", "--limit", "0"), "'--limit' / '-n': must be at least 1"),
        (("search", "x", "--limit", "201"), "'--limit' / '-n': must be at most 200"),
        (("search", "x", "--limit", "few"), "'--limit' / '-n': must be a whole number"),
        (("search", "x", "--limit", "1.5"), "'--limit' / '-n': must be a whole number"),
        (("search", "x", "--limit", "9" * 30), "'--limit' / '-n': must be at most 200"),
        (("search", "x", "--mode", "psychic"), "'--mode': 'psychic' is not one of 'fts', "),
        (("search",), "give words to find, or a filter"),
        (("project", "remove"), "give the project's name"),
        (("read", "x", "--nope"), "No such option: --nope"),
        (("search", "\udcff"), "is not text in the terminal's encoding"),
    ],
)
def test_wrong_usage_is_one_message_and_code_2(
    cli: Cli, arguments: tuple[str, ...], message: str
) -> None:
    outcome = cli(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert message in outcome.err
    assert len(outcome.err.splitlines()) <= 2

    as_json = cli(*arguments, "--json")
    assert as_json.code == 2
    assert as_json.err == ""
    assert as_json.json["error"]["code"] == "USAGE"
    assert message in as_json.json["error"]["message"]


def test_hint_of_wrong_usage_is_a_line_that_runs(cli: Cli) -> None:
    hint = cli("search").err.splitlines()[1]
    assert hint == f"hint: See `{command_line('search', '--help')}`."


def test_help_of_a_mistyped_command_is_wrong_usage(cli: Cli) -> None:
    outcome = cli("serch", "--help")
    assert outcome.code == 2
    assert "Did you mean 'search', 'searches', 'serve'?" in outcome.err


def test_no_command_shows_the_help_as_wrong_usage(cli: Cli) -> None:
    for arguments in ((), ("project",), ("config",)):
        outcome = cli(*arguments)
        assert outcome.code == 2
        assert outcome.out == ""
        assert outcome.err.startswith("Usage: memoranda")


def test_json_after_a_double_dash_is_a_word(cli: Cli) -> None:
    outcome = cli("read", "--", "--json")
    assert outcome.code == 1
    assert outcome.err.startswith("error: ")

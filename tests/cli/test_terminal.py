"""What a terminal shows that a pipe does not: colours, and tables that fit."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def seen(*arguments: object, width: int = 60, **variables: str) -> str:
    """What a terminal of that width shows of a command."""
    main_end, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS"}}
    process = subprocess.Popen(
        [sys.executable, "-m", "memoranda", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
        env=env | {"TERM": "xterm-256color"} | variables,
    )
    os.close(terminal)
    shown = b""
    try:
        while data := os.read(main_end, 65_536):
            shown += data
    except OSError:  # the terminal is closed
        pass
    process.wait()
    os.close(main_end)
    return shown.decode().replace("\r\n", "\n")


@pytest.fixture
def long_names(ready: Cli, notes: Path) -> Cli:
    """A note with a long name in wide letters, and one whose name steers terminals."""
    (notes / f"{'观星笔记' * 8}.md").write_text("# Long\n")
    (notes / "evil \x1b[2J\rname.md").write_text("# Evil\n")
    ready("sync")
    return ready


def test_a_table_is_coloured_and_fits_the_terminal(long_names: Cli) -> None:
    from rich.cells import cell_len

    shown = seen("ls")
    assert "\x1b[1mNAME" in shown
    lines = ESCAPE.sub("", shown.partition("\x1b[1mNAME")[2]).splitlines()
    assert all(cell_len(line) <= 60 for line in lines)
    assert any(line.startswith("…") for line in lines)
    assert "\x1b[2J" not in shown
    assert "\rname" not in shown
    assert "\x1b" not in long_names("ls").out.replace("evil \x1b", "")


def test_a_difference_is_coloured_and_notes_are_dim(ready: Cli) -> None:
    shown = seen("edit", "Compost", "--find", "every week", "--replace-with", "daily")
    assert "\x1b[31m-Turn the heap every week.\x1b[0m\n" in shown
    assert "\x1b[32m+Turn the heap daily.\x1b[0m\n" in shown
    assert "\x1b[2mUndo: " in shown
    assert "\x1b[1;31merror: There is no note 'nope'\x1b[0m" in seen("read", "nope")
    assert "\x1b[2mnote: " in seen("ls", "-n", 1)


def test_without_colours_there_are_the_same_words(ready: Cli) -> None:
    ready("edit", "Compost", "--append", "- x")
    plain = ready("history", "show", 1).out
    assert ESCAPE.sub("", seen("history", "show", 1, width=500)) == plain
    assert seen("history", "show", 1, width=500, TERM="dumb") == plain
    sparing = seen("history", "show", 1, width=500, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", sparing)
    ready("sync")
    assert re.findall(r"\x1b\[([^01])", seen("ls", "-n", 1, NO_COLOR="1")) == [], "bold at most"


@pytest.mark.parametrize(
    "arguments", [["ls"], ["recent"], ["history", "list"], ["project", "list"]]
)
def test_tables_fit_a_terminal_of_thirty_columns(ready: Cli, arguments: list[str]) -> None:
    ready("edit", "Compost", "--append", "- x")
    shown = ESCAPE.sub("", seen(*arguments, width=30)).partition("\nnote: ")[0]
    assert max(map(len, shown.splitlines())) <= 30
    assert ".md" in shown or "notes" in shown


def test_a_pipe_gets_no_escape_sequence_and_nothing_is_cut(ready: Cli, notes: Path) -> None:
    (notes / f"{'long name ' * 20}.md").write_text("# Long\n")
    for arguments in (
        ["ls"],
        ["recent"],
        ["context", "Compost"],
        ["edit", "Compost", "--append", "x"],
    ):
        done = ready(*arguments)
        assert "\x1b" not in done.out + done.err
        assert "…" not in done.out.partition("Related")[0]
    assert "long name " * 19 in ready("ls").out

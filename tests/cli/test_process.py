"""What only a process of its own shows: signals, pipes, terminals, the ways to start it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]  # the fixtures of conftest.py
MEMORANDA = [sys.executable, "-m", "memoranda"]


def call(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MEMORANDA, *map(str, arguments)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        **options,
    )


def test_module_and_script_are_the_same_command() -> None:
    script = Path(sys.executable).with_name("memoranda")
    outputs = {
        subprocess.run([*start, "--version"], capture_output=True, text=True, check=True).stdout
        for start in ([str(script)], MEMORANDA)
    }
    assert len(outputs) == 1


def test_up_in_a_process_writes_no_colour_and_no_bar(notes: Path, home: Path) -> None:
    done = call("up", notes)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


def test_progress_bar_is_drawn_on_a_terminal_only(notes: Path, home: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [*MEMORANDA, "up", str(notes)],
            stdout=subprocess.PIPE,
            stderr=theirs,
            stdin=subprocess.DEVNULL,
            env=os.environ | {"TERM": "xterm"},
            text=True,
        )
        drawn = os.read(ours, 100_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 0
    assert "Indexing my notes" in drawn
    assert "4/4" in drawn
    assert "Indexing" not in done.stdout
    assert "\x1b" not in done.stdout


def test_reader_that_goes_away_is_no_error_message(ready: Cli, notes: Path) -> None:
    (notes / "long.md").write_text("many words\n" * 200_000)
    # Unbuffered, Python writes once and never learns that the pipe is closed.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(
        [*MEMORANDA, "read", "long"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


_CLOSED = "error: cannot write the output: it is closed\n"
_FULL = "error: cannot write the output: No space left on device\n"


def redirected(command: str, redirection: str) -> subprocess.CompletedProcess[str]:
    """The command as a shell starts it."""
    return subprocess.run(
        ["sh", "-c", f'"$0" -m memoranda {command} {redirection}', sys.executable],
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("redirection", "said"), [(">&-", _CLOSED), (">/dev/full", _FULL), (">&- 2>&-", "")]
)
def test_output_that_cannot_be_written_is_said_in_one_line(
    ready: Cli, redirection: str, said: str
) -> None:
    done = redirected("ls", redirection)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_long_output_on_a_full_disk_is_no_fault_of_the_program(ready: Cli, notes: Path) -> None:
    (notes / "long.md").write_text("many words\n" * 20_000)
    ready("edit", "long", "--append", "x")
    for command in ("read long", "history show 1 --before"):
        done = redirected(command, ">/dev/full")
        assert (done.returncode, done.stderr) == (1, _FULL)


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_without_stderr_a_command_does_its_work(ready: Cli, redirection: str) -> None:
    done = redirected("ls -n 1", redirection)
    assert (done.returncode, done.stdout[:4]) == (0, "NAME")
    assert redirected("read nope", redirection).returncode == 1


def test_interrupt_ends_with_130_and_no_traceback(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    for part in ("commands.status.print_status", "application.run_application"):
        monkeypatch.setattr(f"memoranda.cli.{part}", interrupted)
        outcome = cli("status")
        assert outcome.code == 130
        assert outcome.err == ""


def test_output_that_the_terminal_cannot_show_is_escaped(ready: Cli, notes: Path) -> None:
    (notes / "日記.md").write_text("Fünf Äpfel und 日記\n")
    done = call("read", "日記", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "F\\xfcnf" in done.stdout


def test_mcp_refuses_an_unknown_project_at_once(ready: Cli) -> None:
    done = call("mcp", "--project", "nope")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: There is no project 'nope'")


def test_mcp_ends_when_its_input_ends(ready: Cli) -> None:
    for arguments in (["mcp"], ["mcp", "--project", "my notes"]):
        done = call(*arguments)
        assert done.returncode == 0
        assert done.stdout == ""

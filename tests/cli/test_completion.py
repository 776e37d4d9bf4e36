"""What a shell completes, asked as it asks and in a real bash."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.conftest import Cli


def completed(cli: Cli, *words: str, shell: str = "bash") -> list[str]:
    """The answer for the words that are typed so far, the last one unfinished."""
    done = cli("completion", shell, "--", *words)
    assert (done.code, done.err) == (0, "")
    return [line.partition("\t")[0] for line in done.out.splitlines()]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["re"], ["read", "recent", "reindex"]),
        (["history", ""], ["list", "show", "purge"]),
        (["nonsense"], []),
        (["edit", "x", "--se"], ["--section", "--set"]),
        (["edit", "--section", "x", "--se"], ["--set"]),
        (["edit", "--set", "a=b", "x", "--set"], ["--set"]),
        (["edit", "--section", "--se"], []),
        (["search", "x", "--mode", ""], ["fts", "vector", "hybrid"]),
        (["search", "--mode", "=", "h"], ["hybrid"]),
        (["search", "--mode="], ["fts", "vector", "hybrid"]),
        (["search", "x", "--item-type", "o"], ["observation"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["--v"], ["--version"]),
        (["undo", "--hel"], ["--help"]),
    ],
)
def test_commands_options_and_choices(cli: Cli, words: list[str], found: list[str]) -> None:
    assert completed(cli, *words) == found


def test_projects_are_completed_and_quoted(ready: Cli, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    ready("project", "add", "work", tmp_path / "work")
    assert completed(ready, "read", "--project", "") == ["my\\ notes", "work"]
    assert completed(ready, "read", "-p", "MY") == ["my\\ notes"]
    assert completed(ready, "read", "--project", "=", "my\\ n") == ["my\\ notes"]
    assert completed(ready, "read", "-p", "'my n") == ["my notes"]
    assert completed(ready, "read", "--project=my n", shell="zsh") == ["--project=my notes"]
    assert completed(ready, "project", "remove", "w", shell="fish") == ["work"]


def test_notes_and_folders_come_from_the_folder_of_the_project(
    ready: Cli, notes: Path, tmp_path: Path
) -> None:
    (notes / ".hidden").mkdir()
    (notes / "picture.png").write_bytes(b"")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "plan.md").write_text("# Plan\n")
    ready("project", "add", "work", tmp_path / "work")
    assert completed(ready, "read", "") == ["broken\\ header.md", "garden/", "Garden\\ diary.md"]
    assert completed(ready, "mv", "x", "garden/c") == ["garden/Compost.md"]
    assert completed(ready, "mv", "x", "y", "garden/c") == []
    assert completed(ready, "rm", "x", "y", "garden/c") == ["garden/Compost.md"]
    assert completed(ready, "ls", "g") == completed(ready, "write", "--dir", "g") == ["garden/"]
    assert completed(ready, "edit", "-p", "work", "") == ["plan.md"]
    assert completed(ready, "read", "--project=work", "", shell="zsh") == ["plan.md"]
    for word in ("../", "/", "~/", "no/such/", "garden/Compost.md/"):
        assert completed(ready, "read", word) == []


def test_a_note_in_a_folder_is_completed_by_its_name_alone(
    ready: Cli, notes: Path, tmp_path: Path
) -> None:
    for name in ("Garden beds.md", ".Garden hidden.md", "Garden picture.png"):
        (notes / ".git").mkdir(exist_ok=True)
        (notes / ".git" / name).write_text("x")
    (notes / "garden" / "other").mkdir()
    (notes / "garden" / "other" / "Garden of another.md").write_text("x")
    ready("project", "add", "other", notes / "garden" / "other")
    assert completed(ready, "read", "garden b") == ["Garden\\ beds"]
    assert completed(ready, "read", "'Garden ") == ["Garden diary.md", "Garden beds"]
    assert completed(ready, "mv", "Garden b") == ["Garden\\ beds"]
    assert completed(ready, "mv", "x", "Garden b") == []
    assert completed(ready, "history", "list", "Garden b") == []
    assert ready("read", "Garden beds").code == 0


def test_files_of_the_machine_are_left_to_the_shell(ready: Cli) -> None:
    for words in (["up", ""], ["write", "x", "--file", "a"], ["project", "add", "x", ""]):
        assert completed(ready, *words) == ["\x1f"]


def test_without_a_configuration_nothing_is_completed_and_nothing_said(
    cli: Cli, home: Path
) -> None:
    assert completed(cli, "read", "") == completed(cli, "read", "-p", "") == []
    home.mkdir()
    (home / "config.json").write_text("{")
    assert completed(cli, "read", "-p", "") == []


def test_zsh_and_fish_get_a_word_about_each(cli: Cli) -> None:
    line = "ls\tList the folders and notes of a folder."
    for shell in ("zsh", "fish"):
        assert line in cli("completion", shell, "--", "ls").out.splitlines()
        assert "memoranda" in cli("completion", shell).out


_AS_ITS_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)


class Bash:
    """An interactive bash on a terminal of its own."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.main_end, terminal = pty.openpty()
        env = {name: value for name, value in os.environ.items() if not name.startswith("BASH")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _AS_ITS_TERMINAL, "bash", "--norc", "--noprofile", "-i"],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            cwd=folder,
            env=env
            | {
                "BASIC_MEMORY_CONFIG_DIR": str(home),
                "TERM": "dumb",
                "PS1": "READY>",
                "INPUTRC": os.devnull,
            },
        )
        os.close(terminal)
        self.rest = ""
        self.wait_for("READY>")

    def send(self, text: str) -> None:
        os.write(self.main_end, text.encode())

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Read on until that is there; what comes behind it waits for the next call."""
        until = time.monotonic() + 50
        while (found := re.search(pattern, self.rest)) is None:
            assert time.monotonic() < until, f"{pattern!r} did not come: {self.rest!r}"
            if select.select([self.main_end], [], [], 1)[0]:
                self.rest += os.read(self.main_end, 10_000).decode()
        self.rest = self.rest[found.end() :]
        return found

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.main_end)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_a_real_bash_completes_words_with_blanks_and_files(
    ready: Cli, home: Path, notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "complete.bash").write_text(ready("completion", "bash").out)
    (tmp_path / "draft of today.txt").write_text("x")
    bash = Bash(home, tmp_path)
    try:
        bash.send("source complete.bash; echo sour''ced\n")
        bash.wait_for("sourced\r\n.*READY>")
        for typed, whole in (
            ("rec", "memoranda recent"),
            ("read Garden\\ d", "memoranda read Garden diary.md"),
            ("read 'Garden d", "memoranda read Garden diary.md"),
            ("read 'Garden b", "memoranda read Garden beds"),
            ("read --project=my", "memoranda read --project=my notes"),
            ("edit x --sec", "memoranda edit x --section"),
            ("write x --file dra", "memoranda write x --file draft of today.txt"),
        ):
            bash.send(f"memoranda {typed}\t")
            bash.send("\x01echo '=>' \n")  # to the start of the line
            assert bash.wait_for(r"=> (memoranda [^\r\n]*?) *\r\n")[1] == whole
            bash.wait_for("READY>")
    finally:
        bash.close()

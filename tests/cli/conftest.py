"""Commands in this process: a private configuration folder, real files, a real database."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memoranda.cli.main import run

NOTES = {
    "garden/Compost.md": (
        "---\ntitle: Compost\ntags: [garden, soil]\n---\n\n# Compost\n\nTurn the heap every week.\n\n"
        "- [method] Two parts brown, one part green #ratio\n- feeds [[Garden beds]]\n"
    ),
    "garden/Garden beds.md": "# Garden beds\n\nFour beds, see [[Compost]] and [[Irrigation]].\n",
    "Garden diary.md": "---\ntype: diary\n---\nFirst frost on the beds.\n",
    "broken header.md": "---\ntitle: a: b: c\n  - [\n---\nStill readable text about slugs.\n",
}


@dataclass(frozen=True)
class Outcome:
    """What a command left: exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Stdout as one JSON document."""
        return json.loads(self.out)


Cli = Callable[..., Outcome]


@pytest.fixture
def tmp_path(memory_path: Path) -> Path:
    """What is tested here is not the disk."""
    return memory_path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration folder of this test; no setting of the machine is seen."""
    import os

    for name in list(os.environ):
        if name.startswith("BASIC_MEMORY_"):
            monkeypatch.delenv(name)
    folder = tmp_path / "config"
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return folder


@pytest.fixture
def cli(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs one command line as the console command would; `stdin` is what it reads there."""

    def call(*arguments: object, stdin: str | bytes = "") -> Outcome:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A small folder of notes."""
    folder = tmp_path / "my notes"
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def ready(cli: Cli, notes: Path) -> Cli:
    """`cli` with the notes already indexed as the project `my notes`."""
    assert cli("up", notes).code == 0
    return cli

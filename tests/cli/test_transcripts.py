"""Sessions at a shell print today what they printed when they were written down.

They run on a copy of the example notes, at a fixed moment as far as the clock is asked. `replaying` says how
a transcript is written. A failing test names the file with the session as it went this time.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cli.conftest import Cli
from tests.cli.replaying import Places, replayed, run_all

from memoranda.files.clock import SystemClock

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
VAULT = Path(__file__).resolve().parents[2] / "examples" / "vault"
NOW = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)
SAVED = datetime(2026, 8, 30, 9, 0, tzinfo=UTC)


@pytest.fixture
def places(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Places]:
    """A copy of the example notes, all saved at one moment, in a machine that goes by UTC."""
    begun = SystemClock().now()
    monkeypatch.setattr(SystemClock, "now", lambda _: NOW)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED", "false")
    vault = tmp_path / "vault"
    shutil.copytree(VAULT, vault)
    for path in vault.rglob("*.md"):
        os.utime(path, (SAVED.timestamp(), SAVED.timestamp()))
    monkeypatch.chdir(tmp_path)
    yield Places(vault, home, begun)
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("file", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_session_goes_as_it_is_written_down(
    cli: Cli, places: Places, tmp_path: Path, file: Path
) -> None:
    transcript = file.read_text("utf-8")
    assert cli("up", places.vault).code == 0
    now = replayed(transcript, run_all(transcript, cli), places)
    actual = tmp_path / file.name
    actual.write_text(now, "utf-8")
    assert now == transcript, f"if it is meant to be so: cp {actual} {file}"


def test_the_sessions_show_every_command() -> None:
    import typer

    from memoranda.cli.application import application

    root = typer.main.get_command(application())
    shown = {
        line.split()[2]
        for file in TRANSCRIPTS
        for line in file.read_text("utf-8").splitlines()
        if line.startswith("$ memoranda ")
    }
    assert shown >= set(getattr(root, "commands", ())) - {"mcp"}

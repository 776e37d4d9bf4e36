"""Transcripts of sessions at a shell: command lines, and what each printed.

    $ memoranda read nope          a command line; `<<< text` at its end is its standard input
    some text                      standard output
    ! error: ...                   standard error
    ? 1                            the exit code, unless it is 0
    ;; some words                  a comment; an empty line stands before it

What differs between two runs is written in the same way each time: the folders, the version, durations,
the sizes of databases, and the times of files that the session wrote.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.cli.conftest import Cli, Outcome

from memoranda.cli.command_line import command_line, program
from memoranda.cli.version import version


@dataclass(frozen=True)
class Places:
    """The folders of one session, and when it began (aware)."""

    vault: Path
    config: Path
    begun: datetime


def commands(transcript: str) -> Iterator[tuple[str, list[str], str | None]]:
    """The command lines of a transcript: as written, its words, and its standard input."""
    for line in transcript.splitlines():
        if line.startswith("$ memoranda"):
            words = shlex.split(line.removeprefix("$ memoranda"))
            text = None
            if "<<<" in words:
                *words, _, text = words
                text += "\n"
            yield line, words, text


def replayed(transcript: str, outcomes: list[Outcome], places: Places) -> str:
    """The transcript with what the commands printed this time."""
    left = iter(outcomes)
    lines: list[str] = []
    for line in transcript.splitlines():
        if line.startswith("$ memoranda"):
            lines += [line, *_printed(next(left), places)]
        elif line.startswith(";; "):
            lines += ["", line] if lines else [line]
    return "\n".join(lines) + "\n"


def _printed(outcome: Outcome, places: Places) -> Iterator[str]:
    yield from _same(outcome.out, places).splitlines()
    yield from (f"! {line}" for line in _same(outcome.err, places).splitlines())
    if outcome.code:
        yield f"? {outcome.code}"


def _same(text: str, places: Places) -> str:
    text = text.replace(command_line(), "memoranda").replace(program()[0], "PROGRAM")
    around = places.vault.parent
    for path, name in ((places.config, "CONFIG"), (places.vault, "VAULT"), (around, "AROUND")):
        text = text.replace(str(path), name)
    text = re.sub(rf"\bmemoranda {re.escape(version())}\b", "memoranda VERSION", text)
    text = re.sub(r"\b\d+\.\d s\b", "0.0 s", text)
    text = re.sub(r"(memory\.db \()[^)]*", r"\1SIZE", text)
    return re.sub(
        r"\b\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?", lambda found: _hashed(found[0], places), text
    )


def _hashed(time: str, places: Places) -> str:
    """A time in the session without its digits, any other one as it is."""
    age = datetime.fromisoformat(time).replace(tzinfo=UTC) - places.begun
    return re.sub(r"\d", "#", time) if timedelta(minutes=-2) < age < timedelta(hours=1) else time


def run_all(transcript: str, cli: Cli) -> list[Outcome]:
    """Run the command lines of a transcript, one after the other."""
    return [cli(*words, stdin=text or "") for _, words, text in commands(transcript)]

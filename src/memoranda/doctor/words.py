"""Phrases that several checks share."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime

_MOST_NAMED = 3


def command(*words: str, project: str = "") -> str:
    """A command of ours as hints have it; the front end makes it one that runs on this machine."""
    option = ("--project", project) if project else ()
    return f"`memoranda {shlex.join([*words, *option])}`"


def some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 note`, `2 notes`, `3 searches`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def size(n_bytes: int) -> str:
    """A size for people."""
    if n_bytes < 1_000_000:
        return f"{n_bytes / 1000:.1f} kB"
    if n_bytes < 1_000_000_000:
        return f"{n_bytes / 1_000_000:.1f} MB"
    return f"{n_bytes / 1_000_000_000:.1f} GB"


def day_and_time(moment: datetime) -> str:
    """To the second, in UTC."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"

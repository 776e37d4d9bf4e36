"""Questions to a person at a terminal; answers come from there and never from a pipe."""

from __future__ import annotations

import sys


def can_ask() -> bool:
    """Whether somebody sees a question and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def is_confirmed(question: str) -> bool:
    """Ask on stderr; anything but yes is no."""
    import typer

    return typer.confirm(question, err=True)

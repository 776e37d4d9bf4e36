"""The three standard streams of the process, as commands find them."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


def prepare() -> None:
    """Make streams that can be used, and that can show every name.

    A stream that is closed at the start (`>&-`) is None in Python, and the next file that is opened, such
    as a database, gets its number. So something harmless takes that number: nothing is read, what goes
    to stderr is dropped, and what goes to stdout fails as it does on a full disk.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names on disk may hold what cannot be encoded
            stream.reconfigure(errors="backslashreplace")


def discard(stream: TextIO) -> None:
    """Point a stream at nothing, so that the interpreter's last flush does not complain."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):  # it is no real file, or already closed
        return

"""What commands print: data to stdout, everything else to stderr.

Plain text without colour, so that it reads the same in a terminal, a file and a pipe.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence

_STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class ReaderGone(Exception):
    """The pipe that stdout goes to was closed. Not an OSError, which typer would treat its own way."""


def write_json(value: object) -> None:
    """Print one JSON document on stdout."""
    _write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_text(text: str) -> None:
    """Print text on stdout, with exactly one line end after it; for a terminal see `shown`."""
    _write(shown(text, on_terminal=sys.stdout.isatty()).rstrip("\n") + "\n")


def write_raw(data: bytes) -> None:
    """Print bytes on stdout as they are, nothing added."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        raise ReaderGone from error


def shown(text: str, *, on_terminal: bool) -> str:
    """The text as it is; for a terminal without the control characters that would steer it."""
    return _STEERING.sub("\ufffd", text) if on_terminal else text


def write_note(text: str) -> None:
    """Print something that is not data (what is going on, a warning) on stderr."""
    sys.stderr.write(shown(text, on_terminal=sys.stderr.isatty()).rstrip("\n") + "\n")


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows under their headings, columns as wide as needed, numbers to the right."""
    cells = [list(headings), *([str(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headings))]
    right = [
        bool(rows) and all(isinstance(row[i], int) for row in rows) for i in range(len(widths))
    ]
    lines = (
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        )
        for row in cells
    )
    return "\n".join(line.rstrip() for line in lines)


def listed(label: str, items: Sequence[str], *, most: int = 10) -> list[str]:
    """One line an item, `label` in front; beyond `most` only how many more there are."""
    lines = [f"  {label:<9} {item}" for item in items[:most]]
    if len(items) > most:
        lines.append(f"  {label:<9} ... and {len(items) - most} more (--json lists all)")
    return lines


def size(n_bytes: int) -> str:
    """A size for people: 812 bytes, 3.4 kB, 12.0 MB."""
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    if n_bytes < 1_000_000:
        return f"{n_bytes / 1000:.1f} kB"
    return f"{n_bytes / 1_000_000:.1f} MB"


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
    except BrokenPipeError as error:
        raise ReaderGone from error

"""What commands print: data to stdout, everything else to stderr.

Plain text in a file and a pipe; a terminal may get colours as well (`terminal`), never other words.
"""

from __future__ import annotations

import errno
import json
import re
import sys
from collections.abc import Iterable, Sequence

Styled = Iterable[tuple[str, str]]
"""Lines, each with the style that a terminal shows it in ("" for none), as rich names styles."""

_STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_NOTE_STYLES = {"error": "bold red", "hint": "cyan"}


class ReaderGone(Exception):
    """The pipe that stdout goes to was closed. Not an OSError, which typer would treat its own way."""


class OutputLost(Exception):
    """Stdout takes nothing: its disk is full, or it is closed. Not an OSError, as above."""


def reason(error: OutputLost | OSError) -> str:
    """Why stdout takes nothing."""
    cause = error.__cause__ if isinstance(error, OutputLost) else error
    if isinstance(cause, OSError):
        return "it is closed" if cause.errno == errno.EBADF else cause.strerror or str(cause)
    return str(cause)


def write_json(value: object) -> None:
    """Print one JSON document on stdout."""
    _write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_text(text: str) -> None:
    """Print text on stdout, with exactly one line end after it; for a terminal see `shown`."""
    _write(shown(text, on_terminal=sys.stdout.isatty()).rstrip("\n") + "\n")


def write_styled(lines: Styled) -> None:
    """Print lines on stdout, on a terminal in their styles."""
    if sys.stdout.isatty():
        from memoranda.cli.terminal import print_styled

        print_styled(lines)
    else:
        write_text("\n".join(line for line, _ in lines))


def write_raw(data: bytes) -> None:
    """Print bytes on stdout as they are, nothing added."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        raise ReaderGone from error
    except OSError as error:
        raise OutputLost from error


def shown(text: str, *, on_terminal: bool) -> str:
    """The text as it is; for a terminal without the control characters that would steer it."""
    return _STEERING.sub("\ufffd", text) if on_terminal else text


def write_note(text: str) -> None:
    """Print something that is not data (what is going on, a warning) on stderr.

    On a terminal the word before the first colon says how it looks; the rest is dim.
    """
    style = _NOTE_STYLES.get(text.partition(":")[0], "dim")
    write_styled_note((line, style) for line in text.rstrip("\n").split("\n"))


def write_styled_note(lines: Styled) -> None:
    """Print lines on stderr, on a terminal in their styles.

    Where stderr takes nothing they are dropped: there is no other place to say it.
    """
    if sys.stderr.isatty():
        from memoranda.cli.terminal import print_styled

        print_styled(lines, stderr=True)
    else:
        try:
            sys.stderr.write("".join(f"{line}\n" for line, _ in lines))
            sys.stderr.flush()
        except BrokenPipeError as error:
            raise ReaderGone from error
        except OSError:
            from memoranda.cli.streams import discard

            discard(sys.stderr)


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
    except OSError as error:
        raise OutputLost from error

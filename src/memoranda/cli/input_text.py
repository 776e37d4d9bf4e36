"""Text that a command gets: from an option, a file or standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from memoranda.errors import FileProblem, InvalidArgument

STDIN = "-"


def given_text(text: str) -> str:
    """The text of an option; `-` stands for standard input.

    Raises:
        InvalidArgument: standard input is not UTF-8.
    """
    return read_stdin() if text == STDIN else text


def read_file(name: str) -> str:
    """The text of a file; `-` stands for standard input, `~` is expanded.

    Raises:
        FileProblem: it cannot be read.
        InvalidArgument: it is not UTF-8.
    """
    if name == STDIN:
        return read_stdin()
    try:
        data = Path(name).expanduser().read_bytes()
    except (OSError, RuntimeError) as error:  # RuntimeError: ~somebody
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise FileProblem(
            name, f"{name} cannot be read: {reason}", hint="Check the spelling of --file."
        ) from error
    return _decoded(data, name)


def read_stdin() -> str:
    """All of standard input; on a terminal it says first how to end it.

    Raises:
        InvalidArgument: it is not UTF-8.
    """
    from memoranda.cli.output import write_note

    if sys.stdin.isatty():
        write_note("note: type the text; Ctrl-D on a line of its own ends it")
    return _decoded(sys.stdin.buffer.read(), "standard input")


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            "content",
            f"{source} is not UTF-8: byte {error.start}",
            hint="Convert it first, for example with iconv.",
        ) from error

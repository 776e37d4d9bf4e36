"""The console command: streams, the ways out, and the fast paths.

Start-up time is a feature, so this module imports next to nothing: `--version` and a plain
`mcp` never load the command line parser, `--help` never loads anything that does work, and what a
shell asks while somebody types is never parsed (which would load pydantic).

Exit codes: 0 done, 1 the thing asked for failed, 2 wrong usage, 130 interrupted, 141 the reader of
our output went away.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from memoranda.cli.output import OutputLost, ReaderGone, reason, write_note, write_text
from memoranda.cli.streams import discard, prepare

OUTPUT_LOST = 1
INTERRUPTED = 130
PIPE_CLOSED = 141


def main() -> None:
    """Run the command line of this process and end it."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line; errors are reported, none are raised.

    Returns:
        The exit code.
    """
    prepare()
    try:
        try:
            return _dispatch(list(arguments))
        finally:
            sys.stdout.flush()
    except (ReaderGone, BrokenPipeError):
        discard(sys.stdout)
        return PIPE_CLOSED
    except (OutputLost, OSError) as error:  # an OSError comes from the flush alone
        discard(sys.stdout)
        write_note(f"error: cannot write the output: {reason(error)}")
        return OUTPUT_LOST
    except KeyboardInterrupt:
        return INTERRUPTED


def _dispatch(arguments: list[str]) -> int:
    match arguments:
        case ["--version" | "-V"]:
            from memoranda.cli.version import version

            write_text(f"memoranda {version()}")
            return 0
        case ["mcp"]:
            return _serve(None)
        case ["mcp", "--project" | "-p", name]:
            return _serve(name)
        case ["completion", ("bash" | "zsh" | "fish") as shell, "--", *words] if words:
            return _complete(shell, words)
        case _:
            from memoranda.cli.application import run_application

            return run_application(arguments)


def _serve(project: str | None) -> int:
    from memoranda.cli.commands.stdio import serve
    from memoranda.cli.errors import guarded

    return guarded(lambda: serve(project), as_json=False)


def _complete(shell: str, words: list[str]) -> int:
    from memoranda.cli.commands.completion import print_answer
    from memoranda.cli.errors import guarded
    from memoranda.cli.shells import Shell

    return guarded(lambda: print_answer(Shell(shell), words), as_json=False)

"""Errors of the command line: one message, one hint, one exit code.

A command in a hint stands in backquotes; what is shown is the line that runs on this machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from memoranda.cli.output import ReaderGone, write_json, write_note
from memoranda.errors import ConfigProblem, MemorandaError, NoteNotFound, ProjectNotFound

FAILED = 1
WRONG_USAGE = 2


def guarded(work: Callable[[], int | None], *, as_json: bool) -> int:
    """Run `work` and report what it raises.

    Returns:
        What `work` returned (None counts as 0), or the exit code of its error.
    """
    try:
        return work() or 0
    except MemorandaError as error:
        report(error.code, error.message, hint=hint(error), fields=error.fields(), as_json=as_json)
        return FAILED
    except ReaderGone:
        raise
    except Exception as error:  # noqa: BLE001  the outermost boundary: logged with its traceback
        return _report_bug(error, as_json=as_json)


def hint(error: MemorandaError) -> str:
    """What to do next in the words of the command line; an error's own hint may name a tool."""
    match error:
        case ProjectNotFound(known=()):
            text = "Begin with `memoranda up PATH`."
        case NoteNotFound(near=()):
            text = "Find it with `memoranda search WORDS`."
        case _:
            text = error.hint
    return runnable(text)


def runnable(text: str) -> str:
    """The text with each `memoranda ...` as a command line that can be copied."""
    from memoranda.cli.command_line import command_line

    return re.sub(r"`memoranda ([^`]+)`", lambda match: f"`{command_line()} {match[1]}`", text)


def report(
    code: str,
    message: str,
    *,
    hint: str = "",
    fields: Mapping[str, object] | None = None,
    as_json: bool,
) -> None:
    """Say what went wrong: two lines on stderr, or with `as_json` one document on stdout."""
    if as_json:
        write_json({"error": {"code": code, "message": message, "hint": hint, **(fields or {})}})
        return
    write_note(f"error: {message}")
    if hint:
        write_note(f"hint: {hint}")


def _report_bug(error: Exception, *, as_json: bool) -> int:
    """One message for the person; the traceback goes to the log file, not over the terminal."""
    from contextlib import suppress

    from loguru import logger

    from memoranda.config import log_file
    from memoranda.logs import configure_logging

    with suppress(ConfigProblem):  # the failure may have come before the log was set up
        configure_logging("ERROR", log_file(), stderr=False)
    logger.opt(exception=error).error("unexpected error")
    report(
        "ERROR",
        f"Something unexpected happened: {type(error).__name__}: {error}",
        hint="This is a fault of Memoranda, your notes are untouched. The log file has the details.",
        as_json=as_json,
    )
    return FAILED

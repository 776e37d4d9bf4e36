"""Errors of the command line: one message, one hint, one exit code.

A command in a hint stands in backquotes; what is shown is the line that runs on this machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from memoranda.cli.output import OutputLost, ReaderGone, write_json, write_note
from memoranda.errors import ConfigProblem, MemorandaError, UndoConflict

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
        _report_error(error, as_json=as_json)
        return FAILED
    except (OutputLost, ReaderGone):
        raise
    except Exception as error:  # noqa: BLE001  the outermost boundary: logged with its traceback
        return _report_bug(error, as_json=as_json)


def _report_error(error: MemorandaError, *, as_json: bool) -> None:
    from memoranda.cli.wording import message

    fields = error.fields()
    report(error.code, message(error), hint=hint(error), fields=fields, as_json=as_json)
    if isinstance(error, UndoConflict) and error.diff and not as_json:
        from memoranda.cli.output import write_styled_note
        from memoranda.cli.styles import diff_lines

        write_styled_note(diff_lines(error.diff))


def hint(error: MemorandaError) -> str:
    """What to do next, with each command as a line that runs."""
    from memoranda.cli.wording import hint as worded

    return runnable(worded(error))


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

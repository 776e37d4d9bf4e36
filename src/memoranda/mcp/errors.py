"""One mapping from exceptions to what a client sees: code, message, hint, fields; never a traceback."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memoranda.errors import ConfigProblem, Conflict, DatabaseProblem, MemorandaError
from memoranda.render.bounds import one_line

_MESSAGE_CHARS = 600
_FIELD_CHARS = 300
_MOST_ITEMS = 20


_HINTS = {
    "INVALID_ARGUMENT": "Correct it and repeat the call.",
    "IO_ERROR": "The user can look at `memoranda status` and the log.",
    "NOT_READY": "Repeat the call in a few seconds.",
    "READ_ONLY": "Tell the user: nothing was changed.",
}
"""What to do about errors that have no better hint of their own."""


def error_data(error: MemorandaError) -> dict[str, Any]:
    """`{"error": {"code", "message", "hint", ...fields}}`, bounded whatever the caller sent."""
    fields = {name: _bounded(value) for name, value in error.fields().items()}
    named = {
        "code": error.code,
        "message": one_line(error.message, _MESSAGE_CHARS),
        "hint": one_line(_hint(error), _MESSAGE_CHARS),
    }
    return {"error": named | {k: v for k, v in fields.items() if k not in named}}


def error_text(error: MemorandaError) -> str:
    """The message with its code on one line, the hint on the next."""
    lines = [f"{error.code}: {one_line(error.message, _MESSAGE_CHARS)}"]
    if hint := _hint(error):
        lines.append(one_line(hint, _MESSAGE_CHARS))
    if isinstance(error, Conflict):
        lines.append(f"Its checksum is now {error.checksum}.")
    return "\n".join(lines)


def without_places(error: MemorandaError) -> MemorandaError:
    """The same for a client over HTTP, which is not told where configuration and index are on this machine."""
    match error:
        case ConfigProblem():
            return ConfigProblem(
                "configuration",
                "The configuration of this server cannot be used",
                hint="Tell the user: `memoranda config show` says why.",
            )
        case DatabaseProblem():
            return type(error)(
                "The index of the project cannot be used now",
                hint="Repeat the call in a moment. If it stays so, tell the user: `memoranda status` says why.",
            )
        case _:
            return error


class Unexpected(MemorandaError):
    """What a client sees of an exception that nobody foresaw; the log has the traceback."""

    code = "INTERNAL"

    def __init__(self, tool: str) -> None:
        super().__init__(f"{tool} failed unexpectedly", hint="The server's log has the details.")


def _hint(error: MemorandaError) -> str:
    return error.hint or _HINTS.get(error.code, "")


def _bounded(value: object) -> object:
    match value:
        case str():
            return value if len(value) <= _FIELD_CHARS else one_line(value, _FIELD_CHARS)
        case Mapping():
            return {str(key): _bounded(item) for key, item in list(value.items())[:_MOST_ITEMS]}
        case list() | tuple():
            return [_bounded(item) for item in value[:_MOST_ITEMS]]
        case _:
            return value

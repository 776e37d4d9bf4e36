"""What a client is told when a resource or a prompt fails: a protocol error with our code and hint.

Resources and prompts have no results that are errors, as tools have, so this is the JSON-RPC error.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from fastmcp.exceptions import FastMCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from mcp import MCPError
from memoranda.errors import (
    AmbiguousName,
    AmbiguousSection,
    DatabaseDamaged,
    InvalidArgument,
    MemorandaError,
    NoteNotFound,
    OutsideProject,
    ProjectError,
    SectionNotFound,
)
from memoranda.mcp.errors import Unexpected, error_data, error_text, without_places
from memoranda.mcp.session import Session

T = TypeVar("T")

_MISTAKES = (
    AmbiguousName,
    AmbiguousSection,
    InvalidArgument,
    NoteNotFound,
    OutsideProject,
    ProjectError,
    SectionNotFound,
)


class Refusal(FastMCPError, MCPError):
    """An error of ours on the wire: `CODE: message` and the hint as its message, all fields as its data.

    FastMCP keeps what is an `MCPError`, and logs what is a `FastMCPError` no louder than that asks for: a note
    that is not there is no trouble of the server.
    """

    def __init__(self, error: MemorandaError) -> None:
        code = INVALID_PARAMS if isinstance(error, _MISTAKES) else INTERNAL_ERROR
        MCPError.__init__(self, code, sendable(error_text(error)), error_data(error))
        self.log_level = logging.DEBUG


async def answered(session: Session, name: str, ask: Callable[[], Awaitable[T]]) -> T:
    """What a resource or a prompt answers, to its end also when the client goes away.

    Asked again when the index turns out damaged: it is made anew by then.

    Raises:
        Refusal: with the reason.
    """

    async def asked() -> T:
        try:
            return await ask()
        except DatabaseDamaged:
            return await ask()

    try:
        return await session.run(asked())
    except MemorandaError as error:
        raise Refusal(without_places(error) if session.is_remote else error) from error
    except Exception as error:
        from loguru import logger

        logger.exception("{} failed", name)
        raise Refusal(Unexpected(name)) from error


def sendable(text: str) -> str:
    """The text without the lone surrogates that no transport can encode."""
    return text.encode(errors="replace").decode()

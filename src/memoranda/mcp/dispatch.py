"""One tool call, from raw arguments to what is sent: parse, run, render, map errors.

This is the task boundary where an exception that nobody foresaw is logged and answered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memoranda.errors import DatabaseDamaged, MemorandaError
from memoranda.mcp.arguments import parse
from memoranda.mcp.client import acting
from memoranda.mcp.declarations import OUTPUT_FORMAT, Answer, Declaration
from memoranda.mcp.errors import Unexpected, error_data, error_text, without_places
from memoranda.mcp.other_names import MEANT
from memoranda.mcp.session import Session
from memoranda.model.history import NOBODY, Author
from memoranda.render.bounds import compact


@dataclass(frozen=True, slots=True)
class Reply:
    """What is sent: text blocks, the same as JSON values when asked for, and whether it failed."""

    blocks: tuple[str, ...]
    data: dict[str, Any] | None = None
    is_error: bool = False


async def call(
    declaration: Declaration,
    session: Session,
    arguments: Mapping[str, Any],
    by: Author = NOBODY,
) -> Reply:
    """Run a tool for a client. Never raises but for cancellation."""
    as_json = declaration.is_json_only or wants_json(arguments)
    try:
        if not declaration.read_only:
            await session.require_writable()
        values = parse(declaration.all_params, arguments, MEANT.get(declaration.name))
        values.pop(OUTPUT_FORMAT.name, None)
        with acting(by, declaration.name):
            answer = await _run(declaration, session, values)
        if as_json:
            return _json_reply(answer.data())
        text = answer.text()
        return Reply(tuple(map(_sendable, (text,) if isinstance(text, str) else text)))
    except MemorandaError as error:
        told = without_places(error) if session.is_remote else error
        return error_reply(told, as_json=as_json)
    except Exception:  # noqa: BLE001 the boundary: logged, and the server lives on
        from loguru import logger

        logger.exception("{} failed", declaration.name)
        return error_reply(Unexpected(declaration.name), as_json=as_json)


async def _run(declaration: Declaration, session: Session, values: dict[str, Any]) -> Answer:
    """Run it; what only reads is run again when the index turned out damaged: it is made anew by then."""
    try:
        return await declaration.run(session, values)
    except DatabaseDamaged:
        if not declaration.read_only:
            raise
        return await declaration.run(session, values)


def wants_json(arguments: Mapping[str, Any]) -> bool:
    """Whether the call asks for JSON, also if nothing else of it can be read."""
    asked = arguments.get(OUTPUT_FORMAT.name)
    return isinstance(asked, str) and asked.strip().lower() == "json"


def error_reply(error: MemorandaError, *, as_json: bool) -> Reply:
    """What is sent for an error."""
    if as_json:
        return _json_reply(error_data(error), is_error=True)
    return Reply((_sendable(error_text(error)),), is_error=True)


def _json_reply(data: dict[str, Any], *, is_error: bool = False) -> Reply:
    text = compact(data)
    sendable = _sendable(text)
    if sendable is not text:
        data = json.loads(sendable)
    return Reply((sendable,), data, is_error)


def _sendable(text: str) -> str:
    """The same text, or one without the lone surrogates that no transport can encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text

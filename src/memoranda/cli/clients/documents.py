"""One client's file as text, whatever its syntax. Pure."""

from __future__ import annotations

from typing import Any

from memoranda.cli.clients import json_document, toml_document
from memoranda.cli.clients.places import ClientKind, Syntax
from memoranda.cli.clients.servers import Entry
from memoranda.cli.clients.trace import Edited, Trace, Unusable

INPUTS = "inputs"
"""Where VS Code keeps its questions."""


def decoded(data: bytes) -> str:
    """The bytes as text, nothing translated.

    Raises:
        Unusable: they are not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unusable("is not UTF-8", data.count(b"\n", 0, error.start) + 1) from error


def encoded(text: str) -> bytes:
    """The text as bytes.

    Raises:
        Unusable: it has a character that no file in UTF-8 can hold, as from a path in another encoding.
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Unusable("cannot hold a path that is not UTF-8") from error


def servers_in(kind: ClientKind, text: str) -> dict[str, Any]:
    """The servers of the file by name. Raises `Unusable`."""
    if kind.syntax is Syntax.TOML:
        return toml_document.table_of(text, kind.table)
    return json_document.table_of(text, kind.table, is_strict=_is_strict(kind))


def with_server(kind: ClientKind, text: str, name: str, entry: Entry) -> Edited:
    """The file with this entry. Raises `Unusable`."""
    if kind.syntax is Syntax.TOML:
        return toml_document.with_entry(text, kind.table, name, entry)
    return json_document.with_entry(text, kind.table, name, entry, is_strict=_is_strict(kind))


def without_server(kind: ClientKind, text: str, name: str, trace: Trace) -> str:
    """The file without the entry, see `Trace`. Raises `Unusable`."""
    if kind.syntax is Syntax.TOML:
        return toml_document.without_entry(text, kind.table, name, trace)
    return json_document.without_entry(text, kind.table, name, trace, is_strict=_is_strict(kind))


def with_input(kind: ClientKind, text: str, question: Entry) -> Edited | None:
    """The file with a question of VS Code; None: it is there. Raises `Unusable`."""
    return json_document.with_item(text, INPUTS, question, is_strict=_is_strict(kind))


def without_input(kind: ClientKind, text: str, question: Entry, trace: Trace) -> str:
    """The file without that question. Raises `Unusable`."""
    return json_document.without_item(
        text, INPUTS, question["id"], trace, is_strict=_is_strict(kind)
    )


def is_empty(kind: ClientKind, text: str) -> bool:
    """Whether the file says nothing. Raises `Unusable`."""
    if kind.syntax is Syntax.TOML:
        return toml_document.is_empty(text)
    return json_document.is_empty(text, is_strict=_is_strict(kind))


def snippet(kind: ClientKind, name: str, entry: Entry, question: Entry | None = None) -> str:
    """What a file that holds nothing else would be, to copy by hand. Raises `Unusable`."""
    text = with_server(kind, "", name, entry).text
    if question is not None and (edited := with_input(kind, text, question)) is not None:
        text = edited.text
    return text.rstrip("\n")


def _is_strict(kind: ClientKind) -> bool:
    return kind.syntax is Syntax.JSON

"""A tool as a value: a plain async function and what clients are told about it.

Nothing here knows FastMCP: `server` serves the table of declarations, and another front end could.
A tool returns an `Answer`; which form is sent is decided by `output_format`, which every tool has
and no tool function sees.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from memoranda.mcp.parameters import Param, schema
from memoranda.mcp.session import Session
from memoranda.model.toolset import Toolset

OUTPUT_FORMAT = Param("output_format", default="text", choices=("text", "json"))
PROJECT = Param("project", description="Project name; default project if left out.")

NOTE_ALIASES = ("identifier", "permalink", "note", "url", "uri", "file", "file_path", "filename")
READ_ALIASES = (*NOTE_ALIASES, "title", "name")
"""Where a title does as well."""
FOLDER_ALIASES = ("folder", "dir")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool found out, in both forms; only the wanted one is made.

    Attributes:
        text: one block or several, short, for a model.
        data: JSON values for a program.
    """

    text: Callable[[], str | tuple[str, ...]]
    data: Callable[[], dict[str, Any]]


Run = Callable[[Session, dict[str, Any]], Awaitable[Answer]]


@dataclass(frozen=True)
class Declaration:
    """A tool.

    Attributes:
        description: for the model: what it does and when to use it.
        params: without `output_format`, which is added unless the tool has one form only.
        run: gets the typed values by the parameters' names.
        toolset: the group that it is offered with.
        read_only, destructive, idempotent: the hints of the MCP tool annotations.
        is_json_only: it answers in JSON and takes no `output_format`.
    """

    name: str
    title: str
    description: str
    params: tuple[Param, ...]
    run: Run
    toolset: Toolset = Toolset.CORE
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    is_json_only: bool = False

    @cached_property
    def all_params(self) -> tuple[Param, ...]:
        """The tool's own parameters and `output_format`."""
        return self.params if self.is_json_only else (*self.params, OUTPUT_FORMAT)

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema that clients see."""
        return schema(self.all_params)

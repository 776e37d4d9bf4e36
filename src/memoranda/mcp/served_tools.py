"""The declared tools as FastMCP serves them: which of them, how they are listed, and their calls.

A tool that only this server does not offer is told from one that there is not. Tools that write stay
callable when only reading is allowed, so that a client with an older list is told why it is refused.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import Tool, ToolResult
from mcp_types import (
    CallToolRequestParams,
    ListToolsRequest,
    TextContent,
    ToolAnnotations,
)
from mcp_types import (
    Tool as SdkTool,
)
from pydantic import BaseModel, PrivateAttr

from memoranda.errors import InvalidArgument, MemorandaError
from memoranda.mcp.declarations import Declaration
from memoranda.mcp.dispatch import Reply, call, error_reply, wants_json
from memoranda.mcp.other_names import TOOLS_MEANT
from memoranda.mcp.session import Session
from memoranda.mcp.table import TOOLS
from memoranda.model.history import NOBODY, Author
from memoranda.model.toolset import Toolset

_ALIKE = 0.7


def add_tools(server: FastMCP, session: Session, toolsets: Collection[str]) -> None:
    """Add the tools of the core and of these toolsets."""
    wanted = {Toolset.CORE, *toolsets}
    tools = [_tool(each, session) for each in TOOLS if each.toolset in wanted]
    for tool in tools:
        server.add_tool(tool)
    server.add_middleware(_Offer(tools, session))


class _Offer(Middleware):
    """What is listed, and what a call is answered.

    A tool is called from here: FastMCP's way to it looks for versions, for what a session has switched on and
    off, and for tools of other servers, which there are not, and takes as long as all else that it does.
    """

    def __init__(self, tools: Sequence[_ServedTool], session: Session) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._reading = {tool.name for tool in tools if tool.reads_only}
        self._session = session

    async def on_list_tools(
        self,
        context: MiddlewareContext[ListToolsRequest],
        call_next: CallNext[ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        tools = await call_next(context)
        if not self._session.is_read_only:
            return tools
        return [tool for tool in tools if tool.name in self._reading]

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        asked = context.message
        if (tool := self._tools.get(asked.name)) is not None:
            return await tool.run(asked.arguments or {})
        return failed(_no_such_tool(asked.name, self._tools.keys()), asked.arguments or {})


def failed(error: MemorandaError, arguments: Mapping[str, Any]) -> ToolResult:
    """An error as the result of a call with these arguments."""
    return _Result(error_reply(error, as_json=wants_json(arguments)))


def _no_such_tool(name: str, served: Collection[str]) -> InvalidArgument:
    shown = name[:60]
    word = shown.lower().replace("-", "_")
    meant = TOOLS_MEANT.get(word, "")
    for declaration in TOOLS:
        if declaration.name == name:
            use = f"Use {meant}. " if meant in served else ""
            return InvalidArgument(
                "name",
                f"The tool {shown!r} belongs to the toolset '{declaration.toolset}', which this "
                "server does not offer",
                hint=f"{use}The user can add it to toolsets in the configuration and restart the "
                "server.",
            )
    if meant and meant not in served:
        guess = f"The tool for it is {meant}, which this server does not offer. "
    else:
        meant = meant or _nearest(word, served)
        guess = f"Did you mean {meant!r}? " if meant else ""
    return InvalidArgument(
        "name", f"There is no tool {shown!r}", hint=f"{guess}Tools: {', '.join(sorted(served))}."
    )


def _nearest(word: str, served: Collection[str]) -> str:
    """The tool with a name of nearly these letters, "" for none; never one that can destroy something."""
    safe = [each.name for each in TOOLS if each.name in served and not each.destructive]
    return next(iter(difflib.get_close_matches(word, safe, n=1, cutoff=_ALIKE)), "")


def _tool(declaration: Declaration, session: Session) -> _ServedTool:
    tool = _ServedTool(
        name=declaration.name,
        title=declaration.title,
        description=declaration.description,
        parameters=declaration.input_schema,
        annotations=ToolAnnotations(
            title=declaration.title,
            read_only_hint=declaration.read_only,
            destructive_hint=declaration.destructive,
            idempotent_hint=declaration.idempotent,
            open_world_hint=False,
        ),
    )
    tool.bind(declaration, session)
    return tool


class _ServedTool(Tool):
    """A declaration under FastMCP. Arguments arrive here as the client sent them."""

    _declaration: Declaration = PrivateAttr()
    _session: Session = PrivateAttr()

    def bind(self, declaration: Declaration, session: Session) -> None:
        self._declaration, self._session = declaration, session

    @property
    def reads_only(self) -> bool:
        """Whether a call changes nothing."""
        return self._declaration.read_only

    def to_mcp_tool(self, **overrides: Any) -> SdkTool:
        """Without FastMCP's metadata, which no client reads and every model pays for."""
        return super().to_mcp_tool(**({"_meta": None} | overrides))

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        session, by = self._session, asking_client()
        return _Result(await session.run(call(self._declaration, session, arguments, by)))


def asking_client() -> Author:
    """The client of the request that is served now, as it says itself."""
    try:
        said = get_context().session.client_params
    except RuntimeError:  # called without a request
        return NOBODY
    return NOBODY if said is None else Author(said.client_info.name, said.client_info.version)


class _Result(ToolResult):
    """A reply as FastMCP's result, without its round trip of the data through JSON."""

    def __init__(self, reply: Reply) -> None:
        BaseModel.__init__(
            self,
            content=[TextContent(type="text", text=block) for block in reply.blocks],
            structured_content=reply.data,
            meta=None,
            is_error=reply.is_error,
        )

"""The time limit of a call, answered in the protocol."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from fastmcp.server.middleware.middleware import CallNext, Middleware, MiddlewareContext

from memoranda.errors import NotReady
from memoranda.mcp.refusal import Refusal
from memoranda.mcp.served_tools import failed

_TOOL: Final = "tools/call"


class Patience(Middleware):
    """Ends a request that takes too long, with an error that says so.

    What a call had begun to write is finished all the same, see `mcp.session.Session.run`.
    """

    def __init__(self, call_s: float) -> None:
        self._call_s = call_s

    async def on_request(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        limit = asyncio.timeout(self._call_s)
        try:
            async with limit:
                return await call_next(context)
        except TimeoutError:
            if not limit.expired():
                raise
            error = NotReady(
                f"The call took longer than {self._call_s:g} seconds",
                hint="Ask for less at a time. What it had begun to write is finished: look before "
                "you repeat it.",
            )
            if context.method != _TOOL:
                raise Refusal(error) from None
            return failed(error, context.message.arguments or {})

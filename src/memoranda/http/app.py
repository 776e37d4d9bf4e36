"""The web application: FastMCP's endpoint behind the gate."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from fastmcp import FastMCP
from fastmcp.server.http import StreamableHTTPASGIApp
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from memoranda.http.gate import Gate, Intake, Tell
from memoranda.http.plan import ServePlan
from memoranda.http.replay import Replay

_RETRY_MS: Final = 1000
"""After so long a client that lost its connection shall come back."""
_CORS_HEADERS: Final = (
    "accept",
    "authorization",
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
)


class Application:
    """An ASGI application over one server; its lifespan is the server's.

    Args:
        server: what is served.
        plan: how.
        tell: told of every request that is refused.
        now_s: a clock that only goes forward.
    """

    def __init__(
        self,
        server: FastMCP,
        plan: ServePlan,
        *,
        tell: Tell = lambda _refused, _address: None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint = _Endpoint(server, plan)
        self._intake = Intake(self._endpoint, plan, tell=tell)
        self._outer = Gate(_for_pages(self._intake, plan), plan, now_s=now_s, tell=tell)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._outer(scope, receive, send)

    def end(self) -> None:
        """Refuse new requests and end the streams that clients listen to; what is under way goes on."""
        self._intake.ending.set()


class _Endpoint:
    """FastMCP's application, bounded."""

    def __init__(self, server: FastMCP, plan: ServePlan) -> None:
        limits = plan.limits
        self._app = server.http_app(
            path=plan.path,
            json_response=False,
            stateless_http=False,
            event_store=Replay(limits.replay_bytes),
            retry_interval=_RETRY_MS,
            host_origin_protection=False,  # the gate is stricter
            session_idle_timeout=limits.idle_s,
        )
        self._app.debug = False  # whatever FastMCP's own settings say: it would show tracebacks
        self._most_sessions = limits.sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and (manager := self._sessions()) is not None:
            manager.max_sessions = self._most_sessions  # FastMCP has no setting for it
        await self._app(scope, receive, send)

    def _sessions(self) -> StreamableHTTPSessionManager | None:
        for route in self._app.routes:
            endpoint = getattr(route, "endpoint", None)
            if isinstance(endpoint, StreamableHTTPASGIApp):
                return endpoint.session_manager
        return None


def _for_pages(inner: ASGIApp, plan: ServePlan) -> ASGIApp:
    """With the headers that let the scripts of allowed pages read answers; nothing else without such pages."""
    if not plan.origins:
        return inner
    return CORSMiddleware(
        inner,
        allow_origins=[str(origin) for origin in plan.origins],
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=list(_CORS_HEADERS),
        expose_headers=[
            "mcp-session-id",
            "mcp-protocol-version",
            "retry-after",
            "www-authenticate",
        ],
        max_age=600,
    )

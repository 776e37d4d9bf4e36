"""The web application: FastMCP's endpoint behind the gate."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final

from anyio import CancelScope
from fastmcp import FastMCP
from fastmcp.server.http import StreamableHTTPASGIApp
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from memoranda.http.answers import NO_SUCH_EVENT
from memoranda.http.gate import Gate, Intake, Tell, header_values
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
        self._replay = Replay(limits.replay_bytes)
        self._app = server.http_app(
            path=plan.path,
            json_response=False,
            stateless_http=False,
            event_store=self._replay,
            retry_interval=_RETRY_MS,
            host_origin_protection=False,  # the gate is stricter
            session_idle_timeout=limits.idle_s,
        )
        self._app.debug = False  # whatever FastMCP's own settings say: it would show tracebacks
        self._most_sessions = limits.sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = None if scope["type"] == "lifespan" else self._sessions()
        if manager is None:
            await self._app(scope, receive, send)
            return
        if not self._can_go_on(scope):
            await NO_SUCH_EVENT.send(send)
            return
        most = self._most_sessions  # FastMCP has no setting for it
        if len(manager._server_instances) >= most:  # noqa: SLF001 - who is idle makes room
            most += len(_idle(manager))
        manager.max_sessions = most
        try:
            await self._app(scope, receive, send)
        finally:
            self._make_room(manager)

    def _make_room(self, manager: StreamableHTTPSessionManager) -> None:
        """End the sessions that were idle for longest while there are too many.

        Many clients close and leave their session behind: a hundred of them must not shut everybody out.
        """
        too_many = len(manager._server_instances) - self._most_sessions  # noqa: SLF001
        if too_many > 0:
            for scope in _idle(manager)[:too_many]:
                scope.cancel()

    def _can_go_on(self, scope: Scope) -> bool:
        """Whether the event, if any, is known after which a client wants to be told the rest.

        Else the SDK would send it nothing, and its own client would ask again for ever.
        """
        if scope["method"] != "GET":
            return True
        return all(map(self._replay.knows, filter(None, header_values(scope, b"last-event-id"))))

    def _sessions(self) -> StreamableHTTPSessionManager | None:
        for route in self._app.routes:
            endpoint = getattr(route, "endpoint", None)
            if isinstance(endpoint, StreamableHTTPASGIApp):
                return endpoint.session_manager
        return None


def _idle(manager: StreamableHTTPSessionManager) -> list[CancelScope]:
    """What ends each session that nothing is under way in, the longest idle first."""
    sessions = manager._server_instances.values()  # noqa: SLF001 - FastMCP has no other way to them
    scopes = [each.idle_scope for each in sessions if each.idle_scope is not None]
    idle = [scope for scope in scopes if scope.deadline < math.inf]
    return sorted(idle, key=lambda scope: scope.deadline)


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
            "www-authenticate",
        ],
        max_age=600,
    )

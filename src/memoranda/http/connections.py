"""Connections as uvicorn serves them, with what it has no setting for.

A client that sends its headers a byte at a time, or does not read what it is sent, would hold a connection
for as long as it likes, and any number of them may be opened. All three are bounded here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from memoranda.http.plan import Limits

_FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_SLOW: Final = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def guarded_protocol(limits: Limits) -> type[H11Protocol]:
    """The protocol class for a server with these limits."""

    class GuardedProtocol(H11Protocol):
        _late: asyncio.TimerHandle | None = None
        _stuck: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            if len(self.connections) >= limits.connections:
                self.transport = transport
                transport.write(_FULL)
                transport.close()
                return
            super().connection_made(transport)
            self._expect_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._head_is_there()
            self._unstick()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._head_is_there()
            elif self.conn.trailing_data[0]:
                self._expect_head()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
                self._expect_head()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._unstick()
            self._stuck = self.loop.call_later(limits.body_s, self.transport.abort)

        def resume_writing(self) -> None:
            self._unstick()
            super().resume_writing()

        def _unstick(self) -> None:
            if self._stuck is not None:
                self._stuck.cancel()
                self._stuck = None

        def _expect_head(self) -> None:
            if self._late is None:
                self._late = self.loop.call_later(limits.head_s, self._end)

        def _head_is_there(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

        def _end(self) -> None:
            if not self.transport.is_closing():
                if self.conn.trailing_data[0]:
                    self.transport.write(_SLOW)
                self.transport.close()

    return GuardedProtocol


def protocol_settings(limits: Limits) -> dict[str, Any]:
    """The settings of `uvicorn.Config` that belong to connections."""
    return {
        "http": guarded_protocol(limits),
        "ws": "none",
        "loop": "asyncio",
        "proxy_headers": False,  # else whoever reaches us by loopback could say to be anybody
        "server_header": False,
        "access_log": False,
        "log_config": None,
        "timeout_keep_alive": 15,
        "h11_max_incomplete_event_size": 32_768,
    }

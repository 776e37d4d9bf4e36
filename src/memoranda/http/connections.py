"""Connections as uvicorn serves them, with what it has no setting for.

A client that sends its headers a byte at a time, goes on sending what was refused, or does not read what
it is sent, would hold a connection for as long as it likes, and any number of them may be opened. All four
are bounded here. Nothing that a client sends makes the event loop log a traceback.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from memoranda.http.plan import Limits

_FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_SLOW: Final = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_READ_BYTES: Final = 32_768
"""What is taken from a connection at once: the loop is free again after so much, whatever it holds."""
_MOST_UNREAD_BYTES: Final = 65_536
"""So much of a body that nobody reads, because its request was refused, is let pass; then the connection ends."""
_MOST_UNREAD_OF_KNOWN_LENGTH_BYTES: Final = 64_000_000
"""The same when its length was said, so that it costs next to nothing: many clients look at the answer only when
all is sent, and are told nothing but that the connection broke if it cannot be."""
_BACKLOG: Final = 32
"""So many connections are taken at once before one of them is looked at; four times as many are under way."""
_FEWEST: Final = 8


def most_connections(wanted: int) -> int:
    """How many connections may be open: no more than leave half of the process's files to the notes.

    asyncio logs a traceback for each connection that it has no file for, and notes could not be written.
    """
    with contextlib.suppress(ImportError):  # Windows has no such limit
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if most != resource.RLIM_INFINITY:
            return min(wanted, max(_FEWEST, (most - 4 * _BACKLOG) // 2))
    return wanted


def guarded_protocol(limits: Limits) -> type[H11Protocol]:
    """The protocol class for a server with these limits."""
    most = most_connections(limits.connections)

    class GuardedProtocol(H11Protocol):
        _late: asyncio.TimerHandle | None = None
        _stuck: asyncio.TimerHandle | None = None
        _leaving: asyncio.TimerHandle | None = None
        _unread_bytes = 0

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            if len(self.connections) >= most:
                self.transport = transport
                transport.write(_FULL)
                self._leave()
                return
            if hasattr(transport, "max_size"):  # of asyncio's own transports, 256 KiB
                transport.max_size = _READ_BYTES
            super().connection_made(transport)
            self._expect()

        def connection_lost(self, exc: Exception | None) -> None:
            self._expect_nothing()
            self._unstick()
            if self._leaving is not None:
                self._leaving.cancel()
                self._leaving = None
            self._unset_keepalive_if_required()  # uvicorn forgets it when the client breaks off
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._is_unread():
                self._unread_bytes += len(data)
                if self._unread_bytes > self._most_unread_bytes():
                    self.transport.abort()
                    return
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.transport.is_closing():
                self._leave()
                return
            self._unread_bytes = 0
            if self._is_unread() or self.conn.trailing_data[0]:
                self._watch()

        def send_400_response(self, msg: str) -> None:
            # What comes after an answer cannot be answered: uvicorn would fail to.
            if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
                super().send_400_response(msg)
            self._leave()

        def timeout_keep_alive_handler(self) -> None:
            super().timeout_keep_alive_handler()
            self._leave()

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

        def _is_unread(self) -> bool:
            """Whether the request was answered before all of its body has come."""
            return self.conn.their_state is h11.SEND_BODY and self.cycle.response_complete

        def _most_unread_bytes(self) -> int:
            is_known = any(name == b"content-length" for name, _ in self.headers)
            return _MOST_UNREAD_OF_KNOWN_LENGTH_BYTES if is_known else _MOST_UNREAD_BYTES

        def _watch(self) -> None:
            """Set the deadline, or lift it, as the state of the connection asks for; uvicorn has none here."""
            if self.conn.their_state is h11.IDLE or self._is_unread():
                self._expect()
            else:
                self._expect_nothing()

        def _expect(self) -> None:
            if self._late is None:
                self._late = self.loop.call_later(limits.head_s, self._end)

        def _expect_nothing(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

        def _end(self) -> None:
            if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
                self.transport.write(_SLOW)
            self._leave()

        def _leave(self) -> None:
            """Close, and do not wait for ever until the client has read the rest."""
            self.transport.close()
            if self._leaving is None:
                self._leaving = self.loop.call_later(limits.body_s, self.transport.abort)

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
        "backlog": _BACKLOG,
        "h11_max_incomplete_event_size": 32_768,
    }

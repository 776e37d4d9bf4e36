"""What was answered lately, for a client that lost its connection and asks for the rest.

Every message that goes to a client over a stream gets a number. A client that comes back with the last
number it has seen is sent what followed on that stream. Only so much is kept as `most_bytes` allows,
the oldest goes first, and nothing is written to disk.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage
from pydantic import BaseModel

_EVENT_BYTES: Final = 1000
"""What an event takes beside the text in it, about."""


class Replay(EventStore):
    """Events of all sessions in the order they came; FastMCP keeps their streams apart by session."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._events: OrderedDict[int, tuple[StreamId, JSONRPCMessage | None, int]] = OrderedDict()
        self._bytes = 0
        self._last = 0

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        """Keep a message; None opens a stream."""
        self._last += 1
        size = _EVENT_BYTES + _text_size(message)
        self._events[self._last] = (stream_id, message, size)
        self._bytes += size
        while self._bytes > self._most_bytes:
            _, (_, _, gone) = self._events.popitem(last=False)
            self._bytes -= gone
        return str(self._last)

    def knows(self, event_id: EventId) -> bool:
        """Whether what followed an event can still be sent."""
        return _number(event_id) in self._events

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        """Send what came after an event on its stream.

        Returns:
            The stream; None when the event is not known, or not any more.
        """
        number = _number(last_event_id)
        if number not in self._events:
            return None
        stream = self._events[number][0]
        later = [
            EventMessage(message, str(each))
            for each, (of, message, _) in self._events.items()
            if each > number and of == stream and message is not None
        ]
        for event in later:
            await send_callback(event)
        return stream


def _number(event_id: EventId) -> int:
    """Which event it is; 0, which none has, for what is no number of ours."""
    is_number = event_id.isascii() and event_id.isdigit() and len(event_id) < 20
    return int(event_id) if is_number else 0


def _text_size(value: object) -> int:
    """About how many bytes the texts of a message take."""
    todo, size = [value], 0
    while todo:
        each = todo.pop()
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, dict):
            todo += each.keys()
            todo += each.values()
        elif isinstance(each, list | tuple):
            todo += each
        elif isinstance(each, BaseModel):
            todo += each.__dict__.values()
        else:
            size += 8
    return size

"""What was refused, in the log: a line a minute for each reason and client, and some for all together.

A flood must not fill the log, and nothing that a request holds is written: no path, no header, no name.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from loguru import logger

from memoranda.http.answers import Refused
from memoranda.http.rates import client_network

_EVERY_S: Final = 60.0
_MOST: Final = 1000
_MOST_LINES: Final = 20
"""In the same time, for who has many addresses."""


class RefusalLog:
    """Call it with each refusal and the address of the client."""

    def __init__(self, *, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._said: OrderedDict[tuple[str, str], tuple[float, int]] = OrderedDict()  # at, since
        self._minute_s, self._lines, self._unsaid = self._now_s(), 0, 0

    def __call__(self, refused: Refused, address: str) -> None:
        now_s = self._now_s()
        key = (refused.message, client_network(address))
        at, since = self._said.pop(key, (now_s - _EVERY_S, 0))
        is_due = now_s - at >= _EVERY_S
        self._said[key] = (now_s, 0) if is_due else (at, since + 1)
        if len(self._said) > _MOST:
            self._said.popitem(last=False)
        if is_due and self._has_room(now_s):
            more = f" ({since:,} more since the last such line)" if since else ""
            logger.warning(
                "Refused a request from {}: {} ({}){}",
                key[1],
                refused.message,
                refused.status,
                more,
            )

    def _has_room(self, now_s: float) -> bool:
        """Whether one more line may be written; says before it how many were not."""
        if now_s - self._minute_s >= _EVERY_S:
            if self._unsaid:
                logger.warning("Refused {:,} more requests, from many clients", self._unsaid)
            self._minute_s, self._lines, self._unsaid = now_s, 0, 0
        self._lines += 1
        if self._lines <= _MOST_LINES:
            return True
        self._unsaid += 1
        return False

"""A moment in the past as a person writes it: `7d`, `2026-03-01`, `last week`."""

from __future__ import annotations

from datetime import datetime


def since_when(text: str, option: str = "--since") -> datetime:
    """The moment, aware UTC; days begin at midnight here.

    Raises:
        InvalidArgument: it is none, or lies in the future.
    """
    from memoranda.files.clock import SystemClock
    from memoranda.services.timeframe import parse_timeframe

    return parse_timeframe(text, SystemClock().now(), parameter=option)

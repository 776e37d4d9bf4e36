"""Dates as people write them in a header. Pure."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

_EPOCH_S: Final = re.compile(r"\d{10}", re.ASCII)
_EPOCH_MS: Final = re.compile(r"\d{13}", re.ASCII)
_LONGEST: Final = 64


def parse_date(text: str) -> datetime | None:
    """ISO 8601 (`/` for `-` too) or seconds or milliseconds since 1970 -> aware UTC; else None.

    A date without zone is in the zone of this machine. Touches no clock.
    """
    try:
        if (written := _written(text)) is not None:
            return written.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def parse_day(text: str) -> date | None:
    """The calendar day of the same forms as it is written, whatever the zone; else None."""
    written = _written(text)
    return None if written is None else written.date()


def _written(text: str) -> datetime | None:
    text = text.strip() if len(text) <= _LONGEST else ""
    try:
        if _EPOCH_MS.fullmatch(text):
            return datetime.fromtimestamp(int(text) / 1000, UTC)
        if _EPOCH_S.fullmatch(text):
            return datetime.fromtimestamp(int(text), UTC)
        if text.isdigit():
            return None
        return datetime.fromisoformat(text.replace("/", "-"))
    except (ValueError, OverflowError, OSError):
        return None

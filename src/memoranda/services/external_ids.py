"""Ids of rows for those outside the index: UUIDs that sort by the time they were made.

Random ids would scatter the rows of a batch over the whole of a unique index; these go to its end.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime

_RANDOM_BYTES = 10
_RANDOM_BITS = 74


def external_ids(at: datetime, count: int) -> list[str]:
    """So many new UUIDs in rising order.

    Args:
        at: when; naive UTC, as stored.
        count: how many.

    Source: RFC 9562, version 7: milliseconds, then 74 random bits, which are sorted here.
    """
    millis = int(at.replace(tzinfo=UTC).timestamp() * 1000)
    random = os.urandom(_RANDOM_BYTES * count)
    numbers = sorted(
        int.from_bytes(random[start : start + _RANDOM_BYTES], "big") >> 80 - _RANDOM_BITS
        for start in range(0, len(random), _RANDOM_BYTES)
    )
    return [_uuid(millis, number) for number in numbers]


def _uuid(millis: int, random: int) -> str:
    high, low = random >> 62, random & (1 << 62) - 1
    digits = f"{millis << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

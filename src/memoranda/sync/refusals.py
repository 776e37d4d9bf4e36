"""Notes that could not be embedded, and when each is tried again. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

FIRST_RETRY_S = 1.0
LONGEST_RETRY_S = 300.0

Version = tuple[int, str]
"""A note and the bytes it had."""


def pause_s(failures: int) -> float:
    """Seconds from the last of so many failures to the next try."""
    return min(FIRST_RETRY_S * 2.0 ** min(failures - 1, 30), LONGEST_RETRY_S)


@dataclass(frozen=True, slots=True)
class _Refusal:
    count: int
    not_before: float
    reason: str


class Refusals:
    """What was refused and is still pending. Times are the clock's monotonic seconds."""

    def __init__(self) -> None:
        self._refusals: dict[Version, _Refusal] = {}

    def __len__(self) -> int:
        return len(self._refusals)

    @property
    def reason(self) -> str:
        """Of the last one, "" without any."""
        return next(reversed(self._refusals.values())).reason if self._refusals else ""

    @property
    def next_at(self) -> float:
        """When the first of them is to be tried again."""
        return min((one.not_before for one in self._refusals.values()), default=math.inf)

    def put_off(self, now: float) -> frozenset[Version]:
        """Those whose time has not come."""
        return frozenset(key for key, one in self._refusals.items() if one.not_before > now)

    def add(self, version: Version, reason: str, now: float, *, is_at_once: bool = False) -> None:
        """Put one off, longer every time; `is_at_once`: but not the first time."""
        before = self._refusals.pop(version, None)
        count = before.count + 1 if before else 1
        wait = 0.0 if is_at_once and before is None else pause_s(count)
        self._refusals[version] = _Refusal(count, now + wait, reason)

    def keep(self, versions: Collection[Version]) -> None:
        """Forget all but these."""
        kept = {key: one for key, one in self._refusals.items() if key in versions}
        self._refusals = kept

"""Which changed paths are due for a sync: those that are quiet, and those that never become quiet. Pure.

An editor that saves, and a tool that writes a large file, change a path several times within moments. A
path is due when nothing happened to it for the delay; one that keeps changing is due all the same after
ten delays, at least five seconds, or it would never be indexed. The time is passed in. Source: spec 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

EVERYTHING = ""
"""The path of the project's folder: all of it may have changed."""
MAX_PATHS = 10_000
_PATIENCE_IN_DELAYS = 10
_LEAST_PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class _Waiting:
    """When a path is due if nothing more happens to it, and when at the latest."""

    due_at: float
    latest_at: float


class PendingPaths:
    """Paths that wait for a sync. Times are seconds of one monotonic clock.

    More than 10,000 paths are remembered as `EVERYTHING`, a full sync, until that is taken.
    """

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._patience_s = max(delay_s * _PATIENCE_IN_DELAYS, _LEAST_PATIENCE_S)
        self._waiting: dict[str, _Waiting] = {}
        self._is_overflowing = False

    def __len__(self) -> int:
        return len(self._waiting)

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @property
    def is_overflowing(self) -> bool:
        """Whether there were so many paths that only `EVERYTHING` is remembered of them."""
        return self._is_overflowing

    def add(self, paths: Iterable[str], now: float) -> None:
        """Something happened to these; the quiet time of each begins anew."""
        for path in paths:
            known = self._waiting.get(self._key(path))
            latest_at = now + self._patience_s if known is None else known.latest_at
            self._put(path, _Waiting(min(now + self._delay_s, latest_at), latest_at))

    def retry(self, paths: Iterable[str], now: float, after_s: float) -> None:
        """The sync of these failed: they are due in `after_s`, those that changed meanwhile as they were."""
        for path in paths:
            if self._key(path) not in self._waiting:
                due_at = now + after_s
                self._put(path, _Waiting(due_at, due_at + self._patience_s))

    def due(self, now: float) -> frozenset[str]:
        """What can be synced now; it stays until it is taken."""
        return frozenset(path for path, one in self._waiting.items() if one.due_at <= now)

    def take(self, now: float) -> frozenset[str]:
        """What is due, no longer pending."""
        taken = self.due(now)
        for path in taken:
            del self._waiting[path]
        if self._is_overflowing and not self._waiting:
            self._is_overflowing = False
        return taken

    def next_at(self) -> float | None:
        """When the next path becomes due if nothing more happens, None when none waits."""
        return min((one.due_at for one in self._waiting.values()), default=None)

    def clear(self) -> None:
        """Forget all paths."""
        self._waiting.clear()
        self._is_overflowing = False

    def _key(self, path: str) -> str:
        return EVERYTHING if self._is_overflowing else path

    def _put(self, path: str, one: _Waiting) -> None:
        self._waiting[self._key(path)] = one
        if len(self._waiting) > MAX_PATHS:
            latest_at = min(each.latest_at for each in self._waiting.values())
            self._waiting = {EVERYTHING: _Waiting(min(one.due_at, latest_at), latest_at)}
            self._is_overflowing = True

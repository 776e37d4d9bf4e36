"""Events from the system, by `watchfiles`, in a thread of their own.

The thread is a daemon, so that nothing waits for it when the process ends. `watchfiles` has no way to wait
for an event without waking up; how often it does is a matter of idle CPU against latency.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from memoranda.sync.hints import Hints, Sieve

STEP_MS = 80
"""Between two looks; an event is told after one to two of them. Measured: 0.1 % of a core."""
DEBOUNCE_MS = 240
"""Events that follow each other are told together, but not later than that."""
OVERLAP_S = (DEBOUNCE_MS + 2 * STEP_MS) / 1000
"""After so long, what happened before has reached `watchfiles`."""
_ROUND_MS = 400
"""Without an event the thread looks so often whether its time is over."""

Events = set[tuple[int, str]]
Answer = Events | Literal["signal", "stop", "timeout"]


class Stop(Protocol):
    """Asked at each step whether to end."""

    def is_set(self) -> bool: ...


class Notifier(Protocol):
    """What of `watchfiles.RustNotify` is used."""

    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: Stop | None, /
    ) -> Answer: ...

    def close(self) -> None: ...


def open_notifier(paths: Sequence[str], *, recursive: bool) -> Notifier:
    """Watch these folders. The first call imports `watchfiles`.

    Raises:
        OSError: a folder is not there or may not be read, or a limit of the system is reached.
        RuntimeError: the system does not let us watch.
        UnicodeEncodeError: a path is not valid Unicode.
    """
    from watchfiles._rust_notify import RustNotify

    # Permission is not ignored: `watchfiles` would ignore all other failures with it.
    return RustNotify(list(paths), False, False, 0, recursive, False)


@dataclass(frozen=True, slots=True)
class Told:
    """Where a watch tells; called from its thread.

    Attributes:
        hints: of one batch of events, not empty.
        ended: no more events come, with the reason; "" when it was stopped.
    """

    hints: Callable[[Hints], object]
    ended: Callable[[str], object]


class NativeWatch:
    """One notifier and its thread, from `start` to `stop`."""

    def __init__(self, notifier: Notifier, sieve: Sieve, told: Told) -> None:
        self._notifier = notifier
        self.sieve = sieve
        """Which events count; may be exchanged at any time."""
        self._told = told
        self._ends_at: float | None = None
        self._is_cut_off = False
        self._thread = threading.Thread(target=self._run, name="memoranda watch", daemon=True)

    def start(self) -> None:
        """Tell events from now on; what happened since the notifier was opened is included."""
        self._thread.start()

    def stop(self, *, after_s: float = 0.0) -> None:
        """End within two steps and tell nothing more, or tell all events of `after_s` seconds more.

        Does not wait. However late the thread gets its turn, nothing of that time is dropped: `watchfiles`
        drops what it has gathered when it is told to stop, so it is only told so when that is wanted.
        """
        self._ends_at = time.monotonic() + after_s
        self._is_cut_off = after_s <= 0

    def is_set(self) -> bool:
        """Whether the notifier is to end at once, asked by the notifier at each step."""
        return self._is_cut_off

    def _run(self) -> None:
        reason = ""
        try:
            is_last = False
            while not (is_last or self._is_cut_off):
                is_last = self._is_over()  # asked first: the last round gives what came before it
                wait_ms = 1 if is_last else _ROUND_MS
                events = self._notifier.watch(DEBOUNCE_MS, STEP_MS, wait_ms, self)
                if isinstance(events, set):
                    hints = self.sieve.sift(events)
                    if hints.hints:
                        self._told.hints(hints)
        except BaseException as error:  # noqa: BLE001 - the boundary of the thread; a panic is no Exception
            reason = str(error) or type(error).__name__
        self._notifier.close()
        self._told.ended(reason)

    def _is_over(self) -> bool:
        return self._ends_at is not None and self._ends_at <= time.monotonic()

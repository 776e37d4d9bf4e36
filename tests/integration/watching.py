"""A watched folder for tests: the watcher's hints are waited for, never slept for."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memoranda.sync.native_watch import Answer, Notifier, Stop, open_notifier

DEADLINE_S = 20.0


@dataclass
class Hearing:
    """Takes in what a watcher tells, one batch after the other."""

    batches: list[frozenset[str]] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, paths: frozenset[str]) -> None:
        self.batches.append(paths)
        self._news.set()

    @property
    def paths(self) -> frozenset[str]:
        """All paths that were told since they were last forgotten."""
        return frozenset().union(*self.batches)

    def forget(self) -> None:
        self.batches.clear()

    async def until(self, *paths: str) -> frozenset[str]:
        """Wait until all of these were told; returns all that were."""
        async with asyncio.timeout(DEADLINE_S):
            while not self.paths.issuperset(paths):
                self._news.clear()
                await self._news.wait()
        return self.paths


@dataclass
class HandClock:
    """A clock that stands still until it is set."""

    time: float = 0.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.time, UTC)

    def monotonic(self) -> float:
        return self.time


class FakeNotifier:
    """Gives what a test puts in, and like `watchfiles` drops it when it is told to stop.

    Attributes:
        turn: while it is not set the thread of the watch gets no further.
    """

    def __init__(self) -> None:
        self.turn = threading.Event()
        self.turn.set()
        self.answers: queue.Queue[Answer | BaseException] = queue.Queue()
        self.is_closed = False

    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: Stop | None, /
    ) -> Answer:
        ends_at = time.monotonic() + timeout_ms / 1000
        while stop_event is None or not stop_event.is_set():
            try:
                answer = self.answers.get(timeout=0.01)
            except queue.Empty:
                if time.monotonic() > ends_at:
                    return "timeout"
                continue
            self.turn.wait()
            if stop_event is not None and stop_event.is_set():
                return "stop"
            if isinstance(answer, BaseException):
                raise answer
            return answer
        return "stop"

    def close(self) -> None:
        self.is_closed = True


@dataclass
class Opener:
    """Opens notifiers as the system does, or fails as it is told.

    Attributes:
        problems: raised one after the other; None lets one call pass.
        fakes: given out before real notifiers.
        clock: goes on half a second with every problem.
        opened: the paths of every call.
    """

    problems: list[Exception | None] = field(default_factory=list)
    fakes: list[FakeNotifier] = field(default_factory=list)
    clock: HandClock | None = None
    opened: list[Sequence[str]] = field(default_factory=list)

    def __call__(self, paths: Sequence[str], *, recursive: bool) -> Notifier:
        self.opened.append(paths)
        if self.problems and (problem := self.problems.pop(0)) is not None:
            if self.clock is not None:
                self.clock.time += 0.5
            raise problem
        return self.fakes.pop(0) if self.fakes else open_notifier(paths, recursive=recursive)

"""Watching a project's folder: what changed outside, as hints, and how well that works (spec 4.1).

On Linux exactly the folders that a scan looks into are watched, one by one, so that nothing is spent on
what is left out; other systems watch the whole tree at no cost. Whatever stands in the way is no error for
the caller: the state then says POLLING and why, and the next `watch` tries again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from loguru import logger

from memoranda.model.live import FileEvent, WatchMode, WatchPlan, WatchState
from memoranda.ports import Clock
from memoranda.sync.hints import Hints, Sieve
from memoranda.sync.native_watch import OVERLAP_S, NativeWatch, Told, open_notifier
from memoranda.sync.watch_opening import (
    CannotWatch,
    Identity,
    Opened,
    OpenNotifier,
    Place,
    find_place,
    not_watched,
    open_folders,
)

RECENT_EVENTS = 100
STOP_S = 0.3
_SPARING = 100
"""A try that failed after a second is not repeated for so many seconds."""
_SHORT_LIFE_S = 10.0
_PAUSE_S = 30.0
"""Without a try, after events came to an end twice within a short life."""


@dataclass(slots=True, eq=False)
class _Watch:
    """One native watch, current or on its way out."""

    place: Place
    folders: frozenset[str]
    since: float
    reason: str
    is_stale: bool
    native: NativeWatch = field(init=False)
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class WatchService:
    """Watches one project for its leader. All methods belong to the event loop.

    Args:
        root: the project's folder; may be a symbolic link.
        skips: folders inside it that are other projects', relative POSIX paths.
        plan: whether and how to watch.
        clock: for the times in the state, and to be sparing with tries.
        changed: told in the event loop what may have changed, as relative POSIX paths; "" is everything,
            told also when a watched folder came or went, for no events tell of the notes in it.
        open_notifier: opens the system's side of a watch.
        recursive: whether the system watches a whole tree at no cost.
    """

    def __init__(
        self,
        root: Path,
        skips: Sequence[str],
        plan: WatchPlan,
        clock: Clock,
        changed: Callable[[frozenset[str]], None],
        *,
        open_notifier: OpenNotifier = open_notifier,
        recursive: bool = sys.platform != "linux",
    ) -> None:
        self._root = root
        self._skips = tuple(skips)
        self._plan = plan
        self._clock = clock
        self._changed = changed
        self._open_notifier = open_notifier
        self._is_recursive = recursive
        self._watch: _Watch | None = None
        self._leaving: set[_Watch] = set()
        self._turn = 0
        self._is_blind = False
        self._retry_at = float("-inf")
        self._short_lives = 0
        self._logged: set[str] = set()
        self._recent: deque[FileEvent] = deque(maxlen=RECENT_EVENTS)
        self._is_running = False
        self._mode = WatchMode.OFF
        self._reason = ""
        self._start_time: datetime | None = None
        self._error_count = 0
        self._last_error: str | None = None
        self._last_error_at: datetime | None = None
        self._synced_files = 0

    @property
    def state(self) -> WatchState:
        """How watching stands now."""
        return WatchState(
            mode=self._mode,
            reason=self._reason,
            running=self._is_running,
            start_time=self._start_time,
            folders=len(self._watch.folders) if self._watch is not None else 0,
            error_count=self._error_count,
            last_error=self._last_error,
            last_error_at=self._last_error_at,
            synced_files=self._synced_files,
            recent_events=tuple(self._recent),
        )

    @property
    def is_watching(self) -> bool:
        """Whether events come."""
        return self._watch is not None

    def failed(self, message: str) -> None:
        """Count a failure of watching, or of a sync that it asked for."""
        self._error_count += 1
        self._last_error, self._last_error_at = message, self._clock.now()

    def synced(self, files: int) -> None:
        """Count files whose changes were indexed."""
        self._synced_files += files

    async def watch(self, folders: Sequence[str]) -> None:
        """Begin to watch these folders, or go on with them; never raises for what stands in the way.

        A new watch is there before the old one ends. When events come again after they did not, everything
        is named as changed. Nothing is done when these very folders are watched already.

        Args:
            folders: relative POSIX paths, "" for the root.
        """
        self._turn += 1
        if self._plan.mode is WatchMode.OFF:
            self._mode, self._reason = WatchMode.OFF, "switched off in the configuration"
            return
        self._is_running = True
        self._start_time = self._start_time or self._clock.now()
        turn = self._turn
        try:
            await self._go_on(frozenset(folders) or frozenset({""}), turn)
        except CannotWatch as problem:
            if turn == self._turn:
                self._go_blind(str(problem), is_failure=problem.is_failure)

    async def stop(self) -> None:
        """End within about 0.3 s. Nothing is told after that; `watch` begins anew. Idempotent."""
        self._turn += 1
        self._is_running = self._is_blind = False
        self._let_go()
        for each in self._leaving:
            each.native.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_S):
                await self._all_left()

    async def _go_on(self, folders: frozenset[str], turn: int) -> None:
        place = await asyncio.to_thread(find_place, self._root, self._plan.mode)
        if turn != self._turn:
            return
        if self._is_due(place.identity, folders):
            if self._clock.monotonic() < self._retry_at:
                return
            opened = await self._open(place, folders, turn)
            if turn != self._turn:
                opened.notifier.close()
                return
            self._begin(place, folders - opened.gone, opened)
        if self._watch is not None:
            self._mode = WatchMode.EVENTS
            self._reason = "; ".join(filter(None, (self._watch.reason, place.reason)))

    def _is_due(self, identity: Identity, folders: frozenset[str]) -> bool:
        """Whether a new watch is needed; where a tree is watched as a whole, other folders need none."""
        watch = self._watch
        if watch is None or watch.is_stale or watch.place.identity != identity:
            return True
        if self._is_recursive:
            watch.native.sieve = self._sieve(watch.place, folders)
            watch.folders = folders
            return False
        return watch.folders != folders

    async def _open(self, place: Place, folders: frozenset[str], turn: int) -> Opened:
        """Open a watch; when two at once are too much for the system, without the old one."""
        try:
            return await self._try(place, folders)
        except CannotWatch as problem:
            is_alone = self._watch is None and not self._leaving
            if not problem.is_limit or is_alone or turn != self._turn:
                raise
        self._let_go()
        self._is_blind = True
        for each in self._leaving:
            each.native.stop()
        await self._all_left()
        return await self._try(place, folders)

    async def _try(self, place: Place, folders: frozenset[str]) -> Opened:
        started = self._clock.monotonic()
        try:
            return await asyncio.to_thread(
                open_folders,
                place.path,
                folders,
                self._open_notifier,
                recursive=self._is_recursive,
            )
        except CannotWatch:
            now = self._clock.monotonic()
            self._retry_at = now + _SPARING * (now - started)
            raise

    def _begin(self, place: Place, folders: frozenset[str], opened: Opened) -> None:
        self._let_go(after_s=OVERLAP_S)
        watch = _Watch(
            place,
            folders,
            since=self._clock.monotonic(),
            reason=not_watched(opened.refused),
            is_stale=bool(opened.refused),
        )
        loop = asyncio.get_running_loop()

        def hand_over(call: Callable[..., None], *args: object) -> None:
            try:
                loop.call_soon_threadsafe(call, watch, *args)
            except RuntimeError:  # the loop is closed: nobody is left to be told
                watch.native.stop()

        told = Told(
            hints=lambda hints: hand_over(self._arrived, hints),
            ended=lambda reason: hand_over(self._ended, reason),
        )
        watch.native = NativeWatch(opened.notifier, self._sieve(place, folders), told)
        watch.native.start()
        self._watch = watch
        if self._mode is WatchMode.POLLING:
            logger.info("{} is watched again", self._root)
        must_look = self._is_blind or bool(opened.gone)
        self._is_blind = False
        self._retry_at = float("-inf")
        if must_look:
            self._changed(frozenset({""}))

    def _sieve(self, place: Place, folders: frozenset[str]) -> Sieve:
        return Sieve(
            place.path,
            folders,
            self._skips,
            lambda path: os.path.isdir(f"{place.path}/{path}"),  # noqa: PTH112
            tells_folders=not self._is_recursive,
        )

    def _arrived(self, watch: _Watch, hints: Hints) -> None:
        if not self._is_running:
            return
        now = self._clock.now()
        self._recent.extend(FileEvent(now, hint.kind, hint.path) for hint in hints.hints)
        watch.is_stale |= hints.are_folders_lost
        if hints.is_root_lost and watch is self._watch:
            self._go_blind("the project's folder was moved or removed")
        everything = frozenset({""} if hints.are_folders_lost else ())
        self._changed(everything.union(hint.path for hint in hints.hints))

    def _ended(self, watch: _Watch, reason: str) -> None:
        watch.ended.set()
        self._leaving.discard(watch)
        if watch is not self._watch:
            return
        self._watch = None
        now = self._clock.monotonic()
        self._short_lives = self._short_lives + 1 if now - watch.since < _SHORT_LIFE_S else 0
        if self._short_lives > 1:
            self._retry_at = now + _PAUSE_S
        self._go_blind(f"events came to an end: {_in_words(reason)}")
        self._changed(frozenset({""}))

    def _go_blind(self, reason: str, *, is_failure: bool = True) -> None:
        """No events come from now on."""
        self._let_go()
        self._is_blind = True
        if is_failure and (self._mode is not WatchMode.POLLING or self._reason != reason):
            self.failed(reason)
            if reason not in self._logged:
                self._logged.add(reason)
                logger.warning("{} is scanned instead of watched: {}", self._root, reason)
        self._mode, self._reason = WatchMode.POLLING, reason

    def _let_go(self, *, after_s: float = 0.0) -> None:
        """The current watch ends, now or in a while."""
        if self._watch is not None:
            self._watch.native.stop(after_s=after_s)
            self._leaving.add(self._watch)
            self._watch = None

    async def _all_left(self) -> None:
        for each in tuple(self._leaving):
            await each.ended.wait()


def _in_words(reason: str) -> str:
    """Why a watch ended by itself. A name that is no text ends it even when the file is only read."""
    if "decode path" in reason:
        return "a file has a name that is not valid Unicode"
    return reason or "without a reason"

"""The life of a project's vectors: what is pending is embedded in the background, and failures are outlived.

Whoever writes notes does nothing for vectors; the process that leads the project notices, also what others
write, by a look at the database that costs next to nothing.

The work takes one thread, in steps of a fraction of a second. Its priority is not lowered: a thread that
holds the interpreter's lock and waits for the processor makes every call of the server wait with it
(measured on a busy machine: 22 ms instead of 1).
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable

from loguru import logger

from memoranda.errors import DatabaseAway, EmbeddingProblem, MemorandaError
from memoranda.model.embedding import EmbeddingProgress
from memoranda.ports import Clock, EmbeddingProvider, ProgressSink, VectorIndex
from memoranda.repositories.changes import Mark, change_mark
from memoranda.repositories.store import Store
from memoranda.sync.embed_notes import Embedded, NoteEmbedder, at_once, counted
from memoranda.sync.refusals import pause_s

LOOK_S = 2.0
"""Between two looks whether somebody changed the index."""

AWAY_S = 5.0
"""Between two tries while the database is away, of which others tell."""

SURE_S = 60.0
"""What is pending is asked for anyway after so long."""


async def _nothing(_: EmbeddingProvider) -> None:
    """Nobody wants to know."""


class EmbedBackfill:
    """Embeds the notes of one project. Not for two tasks at once.

    Args:
        name: the project's name, for the log.
        store: its index.
        index: its vectors.
        provider: the one to use now, None while there is none.
        clock: for durations.
        finished: called when nothing is pending any more, with the provider.
    """

    def __init__(
        self,
        name: str,
        store: Store,
        index: VectorIndex,
        provider: Callable[[], EmbeddingProvider | None],
        clock: Clock,
        *,
        finished: Callable[[EmbeddingProvider], Awaitable[object]] = _nothing,
    ) -> None:
        self._name = name
        self._store = store
        self._index = index
        self._provider = provider
        self._clock = clock
        self._finished = finished
        self._embedder = NoteEmbedder(name, store, index, clock)
        self._wake = asyncio.Event()
        self._marks: dict[int, Mark] = {}
        self._sure_until = -math.inf
        self._given_up: EmbeddingProvider | None = None
        self._failures = 0
        self._error = ""

    @property
    def error(self) -> str:
        """Why embedding stands still, or what it had to leave out; "" when all is well."""
        refusals = self._embedder.refusals
        if self._error or not refusals:
            return self._error
        return f"{counted(len(refusals))} cannot be embedded: {refusals.reason}"

    @property
    def space(self) -> str:
        """Name of the space it embeds in, "" while there is no provider."""
        provider = self._provider()
        return "" if provider is None else provider.space.name

    async def progress(self) -> EmbeddingProgress | None:
        """How far the vectors of the project are, whoever makes them; None without a provider."""
        if (provider := self._provider()) is None:
            return None
        space = provider.space.name
        return await self._store.read(lambda tx: self._index.progress(tx.conn, space))

    async def has_vectors(self) -> bool:
        """Whether notes of the project have vectors in any space, with or without a provider."""
        return await self._store.read(lambda tx: self._index.other_spaces(tx.conn, ""))

    def wake(self) -> None:
        """The index has changed: look now."""
        self._wake.set()

    async def run_once(
        self, progress: ProgressSink | None = None, *, forget_others: bool = False
    ) -> Embedded:
        """Embed all that is pending; cancelled, it leaves done what is done.

        Args:
            progress: told how many notes of those that were pending are done.
            forget_others: remove vectors of other models for certain.

        Raises:
            EmbeddingProblem: the provider failed.
            DatabaseProblem, DiskFull: the index did.
        """
        if (provider := self._provider()) is None:
            return Embedded()
        embedded = await self._embedder.embed_all(provider, progress, forget_others=forget_others)
        await self._finish(provider)
        return embedded

    async def run(self, quiet: Callable[[], Awaitable[None]] | None = None) -> None:
        """For the leader: embed what is pending whenever there is some, until cancelled.

        Args:
            quiet: waits until nobody more important is at work.
        """
        self._embedder.quiet = quiet or at_once
        while True:
            wait, provider = LOOK_S, self._provider()
            try:
                if (
                    provider is not None
                    and provider is not self._given_up
                    and await self._has_news(provider)
                ):
                    self._sure_until = self._clock.monotonic() + SURE_S
                    await self._embedder.embed_all(provider)
                    await self._finish(provider)
                    if self._error:
                        logger.info("Project {}: notes are embedded again", self._name)
                    self._failures, self._error = 0, ""
            except Exception as error:  # noqa: BLE001 - the boundary of the task: counted, and tried again
                wait = self._failed(error, provider)
            await self._rest(wait)

    async def _finish(self, provider: EmbeddingProvider) -> None:
        """All is embedded; that nobody can be told is no failure of that."""
        try:
            await self._finished(provider)
        except MemorandaError as error:
            logger.warning("Project {}: similarities are not measured: {}", self._name, error)

    async def _has_news(self, provider: EmbeddingProvider) -> bool:
        """Whether something may be pending."""
        now, mark = self._clock.monotonic(), await self._store.read(change_mark)
        if self._marks.get(mark[0]) == mark and provider.space.name == self._embedder.space:
            return min(self._sure_until, self._embedder.refusals.next_at) <= now
        self._marks[mark[0]] = mark  # before the work: what comes meanwhile is news
        return True

    async def _rest(self, wait: float) -> None:
        """So long, or until there is news; only failures are slept out."""
        if self._failures:
            await asyncio.sleep(wait)
        else:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._wake.wait()
        self._wake.clear()

    def _failed(self, error: Exception, provider: EmbeddingProvider | None) -> float:
        """Count a failure; returns seconds until the next try."""
        self._marks.clear()
        self._sure_until = -math.inf
        if isinstance(error, MemorandaError):
            message = error.message
        else:
            logger.opt(exception=error).error("Project {}: embedding failed", self._name)
            message = f"{type(error).__name__} while embedding; the log has the details"
        is_away = isinstance(error, DatabaseAway)
        is_said = is_away or message == self._error
        self._error = message
        if not is_said:
            logger.warning("Project {}: notes are not embedded: {}", self._name, message)
        if isinstance(error, EmbeddingProblem) and error.is_lasting:
            self._given_up, self._failures = provider, 0
            return LOOK_S
        self._failures += 1
        return min(pause_s(self._failures), AWAY_S if is_away else math.inf)

"""Embeds all notes of a project that have no vectors of their present text, batch after batch.

What is to be done is asked of the index, so whatever ends a run, the next one goes on where it stopped:
notes are read in one transaction, embedded outside any, and stored in another.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from loguru import logger

from memoranda.errors import EmbeddingProblem
from memoranda.model.sync import Progress
from memoranda.ports import Clock, EmbeddingProvider, PendingNote, ProgressSink, VectorIndex
from memoranda.repositories.store import Store, Tx
from memoranda.sync.embedding_calls import EmbeddingCalls, in_order
from memoranda.sync.refusals import Refusals, Version

if TYPE_CHECKING:
    from memoranda.ports import Vectors

MOST_NOTES = 64
MOST_REFUSED = 256
"""More notes than that which the provider refuses, and the provider is to blame."""

_FIRST_NOTES = 16
_BATCH_TEXTS = 1000
_LEAST_TEXTS = 32
_BATCH_S = 3.0
"""A batch is stored about so often: what was written meanwhile comes next, and less is lost by a kill."""
_RETIRED = 2000
"""Vectors of another space that are removed in one transaction."""
_BUNDLED = "static"
_LONG = 20
"""A run of more notes is said in the log."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a run did.

    Attributes:
        notes: whose vectors are now of their text.
        texts: that were embedded for them.
        refused: notes that it refused; they stay pending, and `reason` says why the last one.
    """

    notes: int = 0
    texts: int = 0
    refused: int = 0
    reason: str = ""
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Batch:
    """Notes to be embedded together.

    Attributes:
        known: which of their texts have a vector already.
        is_all: whether no other note was pending.
    """

    notes: Sequence[PendingNote]
    known: frozenset[bytes]
    is_all: bool


async def at_once() -> None:
    """Nobody is in the way."""


class NoteEmbedder:
    """Embeds the notes of one project. Not for two tasks at once.

    Args:
        name: the project's name, for the log.
        store: its index.
        index: its vectors.
        clock: for durations.

    Attributes:
        refusals: the notes that were left out.
        quiet: waits until nobody more important is at work; may be set by the owner.
    """

    def __init__(self, name: str, store: Store, index: VectorIndex, clock: Clock) -> None:
        self._name = name
        self._store = store
        self._index = index
        self._clock = clock
        self._calls = EmbeddingCalls()
        self._notes = _FIRST_NOTES
        self._texts = _BATCH_TEXTS
        self._is_tidy = False
        self.space = ""
        self.refusals = Refusals()
        self.quiet: Callable[[], Awaitable[None]] = at_once

    async def embed_all(
        self,
        provider: EmbeddingProvider,
        progress: ProgressSink | None = None,
        *,
        forget_others: bool = False,
    ) -> Embedded:
        """Embed all that is pending in the provider's space; cancelled, it leaves done what is done.

        Args:
            provider: makes the vectors.
            progress: told how many notes of those that were pending are done.
            forget_others: remove vectors of other models for certain. The bundled one keeps them otherwise: it
                may stand in for a model that is away, whose vectors cost work or money.

        Raises:
            EmbeddingProblem: the provider failed.
            DatabaseProblem, DiskFull: the index did.
        """
        space = provider.space.name
        if space != self.space:
            self.space, self._is_tidy, self.refusals = space, False, Refusals()
        began = self._clock.monotonic()
        done: set[int] = set()
        texts, total, last = 0, 0, frozenset[Version]()

        def show() -> None:
            if progress is not None:
                elapsed = self._clock.monotonic() - began
                progress(Progress(len(done), max(total, len(done)), elapsed))

        while batch := await self._next(space, last):
            if not total:
                total = await self._total(space, batch)
                if total > _LONG:
                    logger.info("Project {}: {:,} notes are to be embedded", self._name, total)
                show()
            vectors = await self._timed(provider, batch)
            ready = [note for note in batch.notes if _is_ready(note, batch.known, vectors)]
            if ready:
                await self._store.write(partial(self._store_vectors, space, ready, vectors))
            texts += len(vectors)
            last = frozenset(map(_version, ready))
            done.update(note.entity_id for note in ready)
            show()
        if forget_others or provider.space.provider != _BUNDLED:
            await self._tidy_up(space)
        duration = self._clock.monotonic() - began
        if total > _LONG:
            logger.info(
                "Project {}: {:,} notes embedded, {:,} texts in {:.1f} s",
                self._name,
                len(done),
                texts,
                duration,
            )
        return Embedded(len(done), texts, len(self.refusals), self.refusals.reason, duration)

    def _store_vectors(
        self,
        space: str,
        notes: Sequence[PendingNote],
        vectors: Mapping[bytes, Vectors],
        tx: Tx,
    ) -> None:
        self._index.replace(tx.conn, space, notes, vectors)

    async def _next(self, space: str, last: frozenset[Version]) -> _Batch | None:
        """The next notes; None: none is left.

        Args:
            space: of the provider.
            last: what was stored last. What is pending again with the same bytes is tried once more, and
                then put off.
        """
        now = self._clock.monotonic()
        put_off = self.refusals.put_off(now)
        if len(put_off) > MOST_REFUSED:
            raise EmbeddingProblem(f"{counted(len(put_off))} were refused: {self.refusals.reason}")
        limit = self._notes + len(put_off)

        def look(tx: Tx) -> tuple[Sequence[PendingNote], _Batch]:
            found = self._index.pending(tx.conn, space, limit)
            fresh = [note for note in found if _version(note) not in put_off][: self._notes]
            keys = {chunk.content_key for note in fresh for chunk in note.chunks}
            known = self._index.known(tx.conn, space, keys) if keys else frozenset()
            return found, _Batch(fresh, known, len(found) < limit)

        found, batch = await self._store.read(look)
        if not batch.notes:  # what was refused and is not pending any more has changed, or is gone
            self.refusals.keep(frozenset(map(_version, found)))
            return None
        if returned := [note for note in batch.notes if _version(note) in last]:
            for note in returned:
                reason = "its vectors are stored and not found"
                self.refusals.add(_version(note), reason, now, is_at_once=True)
            return await self._next(space, frozenset())
        return batch

    def _size(self, notes: Sequence[PendingNote]) -> None:
        """Take as many notes next time as have the texts of a batch."""
        texts = sum(len(note.chunks) for note in notes)
        self._notes = max(1, min(MOST_NOTES, self._texts * len(notes) // max(1, texts)))

    async def _total(self, space: str, batch: _Batch) -> int:
        """How many notes are to be done; counted only if they are more than a few."""
        if batch.is_all:
            return len(batch.notes)
        counted = await self._store.read(lambda tx: self._index.progress(tx.conn, space))
        return max(counted.pending, len(batch.notes))

    async def _timed(self, provider: EmbeddingProvider, batch: _Batch) -> Mapping[bytes, Vectors]:
        """The same as `_embed`; how long it takes says how many texts make the next batch."""
        began = self._clock.monotonic()
        vectors = await self._embed(provider, batch)
        took = self._clock.monotonic() - began
        if vectors and took > 0:
            fitting = int(len(vectors) * _BATCH_S / took)
            self._texts = max(_LEAST_TEXTS, min(_BATCH_TEXTS, fitting))
        self._size(batch.notes)
        return vectors

    async def _embed(self, provider: EmbeddingProvider, batch: _Batch) -> Mapping[bytes, Vectors]:
        """The vectors of what is not known; notes with a text that is refused are put off."""
        texts = {
            chunk.content_key: chunk.text
            for note in batch.notes
            for chunk in note.chunks
            if chunk.content_key not in batch.known
        }
        waiting = in_order(texts)
        vectors: dict[bytes, Vectors] = {}
        refused: dict[bytes, str] = {}
        while waiting:
            await self.quiet()
            made = await self._calls.embed(provider, self._calls.take(waiting))
            vectors |= made.vectors
            refused |= made.refused
        now = self._clock.monotonic()
        for note in batch.notes if refused else ():
            reasons = [
                refused[one.content_key] for one in note.chunks if one.content_key in refused
            ]
            if reasons:
                self.refusals.add(_version(note), reasons[0], now)
        return vectors

    async def _tidy_up(self, space: str) -> None:
        """Once all has vectors of this space, those of others are of no use."""
        if self._is_tidy:
            return
        removed, last = 0, _RETIRED
        while last == _RETIRED:  # in steps, so that nobody waits long who writes a note
            await self.quiet()
            last = await self._store.write(
                lambda tx: self._index.retire_others(tx.conn, space, _RETIRED)
            )
            removed += last
        self._is_tidy = True
        if removed:
            logger.info("Project {}: {:,} vectors of another space removed", self._name, removed)


def _version(note: PendingNote) -> Version:
    return note.entity_id, note.checksum


def _is_ready(note: PendingNote, known: frozenset[bytes], vectors: Mapping[bytes, Vectors]) -> bool:
    return all(chunk.content_key in vectors or chunk.content_key in known for chunk in note.chunks)


def counted(notes: int) -> str:
    """A number of notes, in words."""
    return "1 note" if notes == 1 else f"{notes:,} notes"

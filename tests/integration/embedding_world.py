"""Notes, an index with vectors, and a provider whose every text is counted."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from tests.integration.conftest import Index, vectors_of

from memoranda.model.embedding import EmbeddingProgress, EmbeddingSpace
from memoranda.ports import EmbeddingProvider
from memoranda.sync.embed_backfill import EmbedBackfill

DIMENSIONS = 8


@dataclass
class CountingProvider:
    """Turns a text into a direction of its own.

    Attributes:
        given: every text it was asked for, also in calls that failed.
        made: those that it gave a vector for.
        before: called with the texts of a call; may wait, and may raise what the provider shall.
    """

    model: str = "a"
    given: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    calls: int = 0
    before: Callable[[Sequence[str]], None] = lambda _: None
    gate: asyncio.Event | None = None
    waits: asyncio.Event = field(default_factory=asyncio.Event)
    width: int = DIMENSIONS
    provider: str = "fastembed"

    @property
    def space(self) -> EmbeddingSpace:
        return EmbeddingSpace(self.provider, self.model, "1", DIMENSIONS)

    async def embed_query(self, text: str, /) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = _vector(text, self.width)
        return vector

    async def embed_documents(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        self.calls += 1
        self.given += texts
        self.before(texts)
        if self.gate is not None:
            self.waits.set()
            await self.gate.wait()
        self.made += texts
        return np.array([_vector(text, self.width) for text in texts], np.float32)

    async def aclose(self) -> None: ...

    @property
    def twice(self) -> list[str]:
        """Texts that got a vector more than once."""
        return [text for text, times in Counter(self.made).items() if times > 1]


@dataclass
class StillClock:
    """A clock that is put forward by hand."""

    time: float = 1000.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.time, UTC)

    def monotonic(self) -> float:
        return self.time


@dataclass
class World:
    """One project and what embeds it."""

    index: Index
    provider: CountingProvider | None = field(default_factory=CountingProvider)
    clock: StillClock = field(default_factory=StillClock)

    def __post_init__(self) -> None:
        self.vectors = vectors_of(self.index.store)
        self.backfill = self.another()

    def another(self) -> EmbedBackfill:
        """As in a process that was just started."""
        return EmbedBackfill("main", self.index.store, self.vectors, self.current, self.clock)

    def current(self) -> EmbeddingProvider | None:
        return self.provider

    async def write(self, path: str, content: str) -> None:
        """A note is saved and indexed."""
        self.index.write(path, content)
        await self.index.sync.full_sync()

    async def write_many(self, notes: int, parts: int = 1) -> None:
        """So many notes of so many sections are saved and indexed."""
        for number in range(notes):
            text = "\n\n".join(f"## Part {each}\n\nOf {number}." for each in range(parts))
            self.index.write(f"n{number}.md", f"# Note {number}\n\n{text}\n")
        await self.index.sync.full_sync()

    async def progress(self, space: EmbeddingSpace | None = None) -> EmbeddingProgress:
        name = (space or CountingProvider().space).name
        return await self.index.store.read(lambda tx: self.vectors.progress(tx.conn, name))


def _vector(text: str, width: int) -> NDArray[np.float32]:
    digest = hashlib.blake2b(text.encode(), digest_size=2 * width).digest()
    raw = np.frombuffer(digest, np.uint16).astype(np.float32) - 32768
    unit: NDArray[np.float32] = raw / np.linalg.norm(raw)
    return unit

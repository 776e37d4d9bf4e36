"""Calls of an embedding provider: short ones, so that an end need not wait, and one bad text spoils no other.

A call that takes the CPU is followed by shorter ones until it takes a fraction of a second; what is
measured is CPU time, since a service far away takes its time whatever it is given.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memoranda.errors import EmbeddingProblem
from memoranda.ports import EmbeddingProvider

if TYPE_CHECKING:
    from memoranda.ports import Vectors

MOST_TEXTS = 256
MOST_CHARACTERS = 100_000
CALL_S = 0.15
"""CPU time that a call should take at most."""

MOST_SPLITS = 64
"""Calls to find out which texts of one call are refused; after that the provider is to blame."""

_FIRST_TEXTS = 32
_PROBE = "note"


@dataclass(frozen=True, slots=True)
class TextVectors:
    """What became of texts, by content key.

    Attributes:
        vectors: of those that the provider took, shape (dimensions,) each.
        refused: why it did not take the others.
    """

    vectors: Mapping[bytes, Vectors]
    refused: Mapping[bytes, str]


def in_order(texts: Mapping[bytes, str]) -> deque[tuple[bytes, str]]:
    """Texts with their keys, the short ones first: those of like length are cheapest together."""
    return deque(sorted(texts.items(), key=lambda item: len(item[1])))


class EmbeddingCalls:
    """Gives a provider what it can do in a moment. Remembers how much that is."""

    def __init__(self) -> None:
        self._texts = _FIRST_TEXTS

    def take(self, waiting: deque[tuple[bytes, str]]) -> Mapping[bytes, str]:
        """Remove the texts of the next call from the front, one at least."""
        taken: dict[bytes, str] = {}
        characters = 0
        while waiting and len(taken) < self._texts:
            key, text = waiting[0]
            characters += len(text)
            if taken and characters > MOST_CHARACTERS:
                break
            taken[key] = text
            waiting.popleft()
        return taken

    async def embed(self, provider: EmbeddingProvider, texts: Mapping[bytes, str]) -> TextVectors:
        """Embed the texts of one call.

        When the provider fails and still takes another text, the texts are tried in halves, down to those
        that it refuses.

        Raises:
            EmbeddingProblem: it fails altogether, or for good.
        """
        keys = list(texts)
        try:
            return TextVectors(await self._vectors(provider, texts, keys), {})
        except EmbeddingProblem as problem:
            if problem.is_lasting:
                raise
            await _call(provider, [_PROBE])
            return await self._in_halves(provider, texts, keys, problem)

    async def _in_halves(
        self,
        provider: EmbeddingProvider,
        texts: Mapping[bytes, str],
        keys: Sequence[bytes],
        problem: EmbeddingProblem,
    ) -> TextVectors:
        vectors: dict[bytes, Vectors] = {}
        refused: dict[bytes, str] = {}
        splits = 0
        waiting: list[tuple[Sequence[bytes], EmbeddingProblem]] = [(keys, problem)]
        while waiting:
            failed, why = waiting.pop()
            if len(failed) == 1:
                refused[failed[0]] = why.message
                continue
            for half in (failed[: len(failed) // 2], failed[len(failed) // 2 :]):
                splits += 1
                if splits > MOST_SPLITS:
                    raise why
                try:
                    vectors |= await self._vectors(provider, texts, half)
                except EmbeddingProblem as error:
                    if error.is_lasting:
                        raise
                    waiting.append((half, error))
        return TextVectors(vectors, refused)

    async def _vectors(
        self, provider: EmbeddingProvider, texts: Mapping[bytes, str], keys: Sequence[bytes]
    ) -> dict[bytes, Vectors]:
        began = time.process_time()
        rows = await _call(provider, [texts[key] for key in keys])
        self._learn(len(keys), time.process_time() - began)
        return dict(zip(keys, rows, strict=True))

    def _learn(self, texts: int, cpu_s: float) -> None:
        """Twice as many at most next time; half as many as would fit if it took too long."""
        fits = texts * CALL_S / max(cpu_s, 1e-6)
        if cpu_s > CALL_S:
            self._texts = max(1, int(fits / 2))
        elif texts >= self._texts:
            self._texts = min(MOST_TEXTS, 2 * self._texts, max(self._texts, int(fits)))


async def _call(provider: EmbeddingProvider, texts: Sequence[str]) -> Vectors:
    """Raises EmbeddingProblem also for vectors that are none of the space."""
    import numpy as np

    space = provider.space
    try:
        rows = await provider.embed_documents(texts)
    except EmbeddingProblem:
        raise
    except Exception as error:  # what it says may be the text of a note
        raise EmbeddingProblem(
            f"{space.model} failed with an unexpected {type(error).__name__}"
        ) from error
    if rows.shape != (len(texts), space.dimensions):
        raise EmbeddingProblem(
            f"{space.model} gave {_shape(rows)} for {len(texts)} texts, not vectors of "
            f"{space.dimensions} numbers",
            is_lasting=True,
        )
    if not np.isfinite(rows).all():
        raise EmbeddingProblem(f"{space.model} gave vectors that are no numbers")
    return rows


def _shape(rows: Vectors) -> str:
    return " x ".join(str(length) for length in rows.shape)

"""The meaning leg of one search: the vector of the question, or why there is none.

What takes time (a model that loads, an endpoint that answers slowly) is waited for a few seconds and no
longer: a search without its meaning leg is an answer, a search that hangs is none.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from loguru import logger

from memoranda.errors import EmbeddingProblem
from memoranda.model.embedding import EmbeddingSpace, ProviderPhase, ProviderState
from memoranda.ports import Clock, EmbeddingProvider
from memoranda.text.query import TextQuery

if TYPE_CHECKING:
    from memoranda.ports import Vectors

PATIENCE_S = 5.0
"""For a model that loads, and for the vector of a question."""
PAUSE_S = 30.0
"""After a failure the provider is not asked again for so long."""
_QUESTION_CHARS = 2_000
_SHARE = 0.5
"""Of meaning in the score of a hit: the spec's."""
_STATIC_SHARE = 0.35
"""A table of words says less than a model that reads sentences; chosen by `benchmarks retrieval`."""


class ProviderSource(Protocol):
    """Where the embedding provider of the process comes from (`embeddings.choice.ProviderChoice`)."""

    @property
    def state(self) -> ProviderState: ...

    @property
    def provider(self) -> EmbeddingProvider | None:
        """The one that is ready now, else None."""
        ...

    async def ready(self) -> EmbeddingProvider | None:
        """Wait until it is decided; None: there is none, see `state`."""
        ...


class NoProvider:
    """A source that has none: meaning is not searched."""

    state = ProviderState(ProviderPhase.OFF)
    provider = None

    async def ready(self) -> EmbeddingProvider | None:
        """None."""
        return None


NO_PROVIDER = NoProvider()


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, as a vector.

    Attributes:
        vector: unit length, or zeros when the question says nothing to a model.
        share: of meaning in the score of a hit that words found as well, 0..1.
    """

    space: EmbeddingSpace
    vector: Vectors
    share: float


@dataclass(frozen=True, slots=True)
class NoQuestion:
    """Why a search goes by words alone, as the beginning of a sentence."""

    reason: str


class MeaningService:
    """Turns questions into vectors with the provider of the process."""

    def __init__(self, source: ProviderSource, clock: Clock) -> None:
        self._source = source
        self._clock = clock
        self._failed: tuple[float, str] = (-math.inf, "")
        self._waited_at = -math.inf

    async def question(self, text: str, parsed: TextQuery) -> Question | NoQuestion:
        """The vector of a query, without what is no part of the question: filters and exclusions."""
        provider = await self._ready()
        if provider is None:
            return NoQuestion(_why_none(self._source.state))
        failed_at, reason = self._failed
        if self._clock.monotonic() < failed_at + PAUSE_S:
            return NoQuestion(reason)
        asked = _asked(text, parsed)
        try:
            async with asyncio.timeout(PATIENCE_S):
                vector = await vector_of(provider, asked)
        except EmbeddingProblem as problem:
            return self._failure(f"Meaning search failed: {problem.message}")
        except TimeoutError:
            return self._failure(
                f"Meaning search failed: {provider.space.provider} did not answer in {PATIENCE_S:.0f} s"
            )
        if not any(map(str.isalpha, asked)):
            vector = vector * 0  # numbers and signs look alike to a model: words find them
        share = _STATIC_SHARE if provider.space.provider == "static" else _SHARE
        return Question(provider.space, vector, share)

    async def _ready(self) -> EmbeddingProvider | None:
        """The provider; who has waited for it in vain is followed by others that do not wait."""
        if self._clock.monotonic() < self._waited_at + PAUSE_S:
            return self._source.provider
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._source.ready()
        except TimeoutError:
            self._waited_at = self._clock.monotonic()
            return None

    def _failure(self, reason: str) -> NoQuestion:
        self._failed = (self._clock.monotonic(), reason)
        return NoQuestion(reason)


async def vector_of(provider: EmbeddingProvider, question: str) -> Vectors:
    """The vector of a question.

    Raises:
        EmbeddingProblem: the provider failed, in whatever way, or gave what is no vector of its space.
    """
    try:
        vector = await provider.embed_query(question)
    except EmbeddingProblem:
        raise
    except Exception as error:
        logger.opt(exception=error).error("The embedding provider failed with a question")
        raise EmbeddingProblem(f"unexpected {type(error).__name__}") from error
    if trouble := _trouble(vector, provider.space):
        raise EmbeddingProblem(trouble)
    return vector


def _why_none(state: ProviderState) -> str:
    match state.phase:
        case ProviderPhase.OFF:
            return "Meaning search is switched off"
        case ProviderPhase.FAILED:
            return f"Meaning search cannot be used: {state.reason}"
        case ProviderPhase.LOADING | ProviderPhase.ABSENT | ProviderPhase.READY:
            return f"Meaning search is not ready: {state.reason or 'its model is being loaded'}"


def _trouble(vector: Vectors, space: EmbeddingSpace) -> str:
    """Why a vector is none of the space, else ""."""
    import numpy as np

    if vector.shape != (space.dimensions,):
        return f"{space.model} gave a vector that is not of {space.dimensions} numbers"
    return "" if np.isfinite(vector).all() else f"{space.model} gave a vector that is no numbers"


def _asked(text: str, parsed: TextQuery) -> str:
    """The question as typed; the words to look for, where something else is typed beside them."""
    if parsed.filters or parsed.excluded or any(one.excluded for one in parsed.clauses):
        text = " ".join(term.text for term in parsed.terms)
    return text[:_QUESTION_CHARS]

"""Sources of embedding providers for tests: one that has what the test gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memoranda.model.embedding import EmbeddingSpace, ProviderPhase, ProviderState
from memoranda.ports import EmbeddingProvider


@dataclass
class Provided:
    """A source that has this provider; None: it failed, for this reason."""

    provider: EmbeddingProvider | None
    reason: str = "it is set"

    @property
    def state(self) -> ProviderState:
        if self.provider is None:
            return ProviderState(ProviderPhase.FAILED, "static", "m", self.reason)
        space = self.provider.space
        return ProviderState(
            ProviderPhase.READY, space.provider, space.model, self.reason, space=space
        )

    async def ready(self) -> EmbeddingProvider | None:
        return self.provider


@dataclass
class DrawnProvider:
    """A text lies where it is drawn: at the angles (in degrees) of the words of it that have one.

    Attributes:
        angles: word -> its direction; a text with several lies at their mean, one with none nowhere.
        asked: the questions, in order.
    """

    angles: dict[str, float]
    provider: str = "static"
    asked: list[str] = field(default_factory=list)

    @property
    def space(self) -> EmbeddingSpace:
        return EmbeddingSpace(self.provider, "drawn", "1", 2)

    async def embed_query(self, text: str, /) -> NDArray[np.float32]:
        self.asked.append(text)
        return self._vector(text)

    async def embed_documents(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        rows = [self._vector(text) for text in texts]
        return np.array(rows, np.float32).reshape(-1, 2)

    async def aclose(self) -> None: ...

    def _vector(self, text: str) -> NDArray[np.float32]:
        lower = text.lower()
        found = [angle for word, angle in self.angles.items() if word in lower]
        if not found:
            return np.zeros(2, np.float32)
        angle = np.radians(float(np.mean(found)))
        return np.array([np.cos(angle), np.sin(angle)], np.float32)

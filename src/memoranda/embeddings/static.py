"""The embedding provider that always works: the bundled static model. Source: spec 5.3."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memoranda.embeddings.static_model import DIMENSIONS, TABLE_SHA256, StaticModel
from memoranda.errors import EmbeddingProblem
from memoranda.model.embedding import EmbeddingSpace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

SPACE = EmbeddingSpace(
    provider="static",
    model=f"memoranda-static-{DIMENSIONS}",
    revision=TABLE_SHA256[:8],
    dimensions=DIMENSIONS,
)


class StaticProvider:
    """`ports.EmbeddingProvider` over `StaticModel`: no download, no network, nothing to configure.

    Raises (both methods): EmbeddingProblem: the file of the model is missing or damaged; lasting.
    """

    @property
    def space(self) -> EmbeddingSpace:
        """Always the same in one release; known without loading the model."""
        return SPACE

    async def embed_query(self, text: str, /) -> Vectors:
        """The vector of a question: float32 [256]. A question is embedded as any text is."""
        vector: Vectors = (await self.embed_documents([text]))[0]
        return vector

    async def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """The vectors of the texts: float32 [n, 256]; the first call of a process loads the model."""
        return await asyncio.to_thread(_encode, texts)

    async def aclose(self) -> None:
        """Nothing to let go of: the model belongs to the process."""


def _encode(texts: Sequence[str]) -> Vectors:
    try:
        model = StaticModel.load()
    except (OSError, EOFError, ValueError) as error:
        raise EmbeddingProblem(
            f"The bundled embedding model cannot be read: {error}",
            is_lasting=True,
            hint="Install Memoranda again.",
        ) from error
    return model.encode(texts)

"""Vectors of documents that are kept between runs: a model that takes minutes for a set takes them once.

Only what the provider itself gave for that very text in that very space is given again. Questions are
always embedded anew, so that what a search costs is what it costs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memoranda.model.embedding import EmbeddingSpace
from memoranda.ports import EmbeddingProvider

if TYPE_CHECKING:
    from memoranda.ports import Vectors

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vector (space TEXT, text BLOB, value BLOB, PRIMARY KEY (space, text))
WITHOUT ROWID
"""


class KeepingProvider:
    """`ports.EmbeddingProvider` over another one and a file."""

    def __init__(self, provider: EmbeddingProvider, file: Path) -> None:
        self._provider = provider
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(_SCHEMA)

    @property
    def space(self) -> EmbeddingSpace:
        return self._provider.space

    async def embed_query(self, text: str, /) -> Vectors:
        return await self._provider.embed_query(text)

    async def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        kept = self._kept(texts)
        new = [text for text in dict.fromkeys(texts) if text not in kept]
        if new:
            made = dict(zip(new, await self._provider.embed_documents(new), strict=True))
            self._keep(made)
            kept |= made
        if not texts:
            return np.zeros((0, self.space.dimensions), np.float32)
        return np.stack([kept[text] for text in texts])

    async def aclose(self) -> None:
        await self._provider.aclose()

    def _kept(self, texts: Sequence[str]) -> dict[str, Vectors]:
        statement = "SELECT value FROM vector WHERE space = ? AND text = ?"
        found = dict[str, "Vectors"]()
        with closing(sqlite3.connect(self._file)) as connection:
            for text in texts:
                row = connection.execute(statement, (self.space.name, _key(text))).fetchone()
                if row is not None:
                    found[text] = np.frombuffer(row[0], "<f4").astype(np.float32)
        return found

    def _keep(self, made: dict[str, Vectors]) -> None:
        rows = [
            (self.space.name, _key(text), one.astype("<f4").tobytes()) for text, one in made.items()
        ]
        with closing(sqlite3.connect(self._file)) as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", rows)


def _key(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()

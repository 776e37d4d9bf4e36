"""Vectors that a run made are given again to the next one: the same, and of documents alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from benchmarks.retrieval.kept_vectors import KeepingProvider

from memoranda.model.embedding import EmbeddingSpace

if TYPE_CHECKING:
    from memoranda.ports import Vectors


class Counted:
    """A provider whose vectors say how many texts it had embedded by then."""

    def __init__(self, revision: str = "1") -> None:
        self.space = EmbeddingSpace("made up", "counted", revision, 3)
        self.asked: list[str] = []
        self.is_closed = False

    async def embed_query(self, text: str, /) -> Vectors:
        return (await self.embed_documents([text]))[0]

    async def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        first = len(self.asked)
        self.asked += texts
        return np.arange(first, len(self.asked), dtype=np.float32)[:, None].repeat(3, axis=1)

    async def aclose(self) -> None:
        self.is_closed = True


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "made" / "vectors.db"


async def test_a_document_is_embedded_once_for_all_runs(file: Path) -> None:
    first = Counted()
    made = await KeepingProvider(first, file).embed_documents(["a", "b", "a"])
    assert first.asked == ["a", "b"]
    assert made[:, 0].tolist() == [0, 1, 0]
    later = Counted()
    again = await KeepingProvider(later, file).embed_documents(["c", "b", "a"])
    assert later.asked == ["c"]
    assert again[1:].tolist() == made[[1, 0]].tolist()
    assert (again.dtype, again.shape) == (np.float32, (3, 3))


async def test_a_question_is_embedded_every_time(file: Path) -> None:
    counted = Counted()
    kept = KeepingProvider(counted, file)
    await kept.embed_documents(["a"])
    assert [(await kept.embed_query("a"))[0] for _ in range(2)] == [1, 2]


async def test_vectors_of_another_space_are_not_given(file: Path) -> None:
    await KeepingProvider(Counted(), file).embed_documents(["a"])
    other = Counted("2")
    await KeepingProvider(other, file).embed_documents(["a"])
    assert other.asked == ["a"]


async def test_no_text_has_no_vector(file: Path) -> None:
    counted = Counted()
    assert (await KeepingProvider(counted, file).embed_documents([])).shape == (0, 3)
    assert not counted.asked


async def test_what_it_stands_for_shows_through(file: Path) -> None:
    counted = Counted()
    kept = KeepingProvider(counted, file)
    await kept.aclose()
    assert (kept.space, counted.is_closed) == (counted.space, True)

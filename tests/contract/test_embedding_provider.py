"""`ports.EmbeddingProvider`: one suite over the bundled model, fastembed and an endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.unit.embeddings.fake_endpoint import fake_endpoint

from memoranda.embeddings.endpoint import Endpoint
from memoranda.embeddings.fastembed import FastembedProvider
from memoranda.embeddings.local_models import LocalModel
from memoranda.embeddings.openai import OpenAIProvider
from memoranda.embeddings.static import StaticProvider
from memoranda.ports import EmbeddingProvider

TEXTS = [
    "a dog runs",
    "",
    "the tax return is late",
    " \n\t",
    "狗在公园里跑",
    "a\ud800 b",
    "x " * 5_000,
]
BLANK = [1, 3]


class TextEmbedding:
    """As much of fastembed's as the provider uses; a text is the vector of its length."""

    def __init__(self, name: str, **_: object) -> None:
        self.model = SimpleNamespace()

    @staticmethod
    def list_supported_models() -> list[dict[str, str]]:
        return [{"model": "BAAI/bge-small-en-v1.5", "model_file": "model.onnx"}]

    def passage_embed(self, texts: list[str]) -> Iterator[np.ndarray]:
        for text in texts:
            yield np.array([len(text), 7.0, 1.0], np.float32)

    query_embed = passage_embed


@pytest.fixture(params=["static", "fastembed", "openai"])
async def provider(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[EmbeddingProvider]:
    if request.param == "static":
        yield StaticProvider()
        return
    if request.param == "fastembed":
        (tmp_path / "models--x").mkdir()
        library = SimpleNamespace(TextEmbedding=TextEmbedding)
        loaded = FastembedProvider.load(LocalModel(caches=(tmp_path,)), library=lambda: library)
        assert loaded is not None
        yield loaded
        await loaded.aclose()
        return
    with fake_endpoint() as endpoint:
        connected = await OpenAIProvider.connect(Endpoint(endpoint.url, "small", batch_size=2))
        yield connected
        await connected.aclose()


async def test_vectors_are_float32_of_unit_length_one_for_each_text(
    provider: EmbeddingProvider,
) -> None:
    found = await provider.embed_documents(TEXTS)
    assert found.dtype == np.float32
    assert found.shape == (len(TEXTS), provider.space.dimensions)
    full = [row for row in range(len(TEXTS)) if row not in BLANK]
    assert np.allclose(np.linalg.norm(found[full], axis=1), 1, atol=1e-5)


async def test_a_text_without_anything_is_all_zeros(provider: EmbeddingProvider) -> None:
    assert not (await provider.embed_documents(TEXTS))[BLANK].any()
    question = await provider.embed_query("  ")
    assert question.shape == (provider.space.dimensions,)
    assert not question.any()


async def test_no_text_has_no_vector(provider: EmbeddingProvider) -> None:
    found = await provider.embed_documents([])
    assert found.shape == (0, provider.space.dimensions)
    assert found.dtype == np.float32


async def test_a_text_has_the_same_vector_whatever_stands_beside_it(
    provider: EmbeddingProvider,
) -> None:
    together = await provider.embed_documents(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        assert np.allclose((await provider.embed_documents([text]))[0], vector, atol=1e-6)


async def test_a_question_is_a_vector_of_the_same_space(provider: EmbeddingProvider) -> None:
    question = await provider.embed_query("a dog runs")
    assert question.dtype == np.float32
    assert question.shape == (provider.space.dimensions,)
    assert np.isclose(np.linalg.norm(question), 1, atol=1e-5)


async def test_several_tasks_may_ask_at_once(provider: EmbeddingProvider) -> None:
    expected = await provider.embed_documents(TEXTS)
    answers = await asyncio.gather(
        *(provider.embed_documents([text]) for text in TEXTS),
        *(provider.embed_query(text) for text in TEXTS),
    )
    for row, vector in enumerate(answers[: len(TEXTS)]):
        assert np.allclose(vector[0], expected[row], atol=1e-6)


async def test_closing_twice_is_no_error_and_the_space_stays(provider: EmbeddingProvider) -> None:
    before = provider.space
    await provider.aclose()
    await provider.aclose()
    assert provider.space == before

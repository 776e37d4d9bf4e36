from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memoranda.embeddings import static_model
from memoranda.embeddings.static import StaticProvider
from memoranda.embeddings.static_model import StaticModel
from memoranda.errors import EmbeddingProblem
from memoranda.model.embedding import EmbeddingSpace
from memoranda.ports import EmbeddingProvider


@pytest.fixture
def unloaded() -> Iterator[None]:
    StaticModel.load.cache_clear()
    yield
    StaticModel.load.cache_clear()


def test_space_names_the_shipped_file() -> None:
    table = Path(static_model.__file__).with_name("data") / static_model.TABLE_NAME
    revision = hashlib.sha256(table.read_bytes()).hexdigest()[:8]
    provider: EmbeddingProvider = StaticProvider()
    assert provider.space == EmbeddingSpace("static", "memoranda-static-256", revision, 256)


async def test_queries_and_documents_are_in_one_space() -> None:
    provider = StaticProvider()
    query = await provider.embed_query("dog training")
    documents = await provider.embed_documents(["stock market", "dog training"])
    assert query.shape == (256,)
    assert documents.shape == (2, 256)
    assert np.array_equal(documents[1], query)
    assert not np.array_equal(documents[0], query)


async def test_no_documents_make_no_vectors() -> None:
    assert (await StaticProvider().embed_documents([])).shape == (0, 256)


async def test_a_query_without_words_is_all_zeros() -> None:
    assert not (await StaticProvider().embed_query("?!")).any()


async def test_several_tasks_may_call_at_once() -> None:
    provider = StaticProvider()
    texts = [f"note {number} about gardens" for number in range(20)]
    alone = [await provider.embed_query(text) for text in texts]
    together = await asyncio.gather(*(provider.embed_query(text) for text in texts))
    assert np.array_equal(together, alone)


async def test_work_is_done_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[int] = set()
    encode = StaticModel.encode

    def watched(self: StaticModel, texts: Sequence[str]) -> NDArray[np.float32]:
        threads.add(threading.get_ident())
        return encode(self, texts)

    monkeypatch.setattr(StaticModel, "encode", watched)
    await StaticProvider().embed_documents(["dog"])
    await StaticProvider().embed_query("dog")
    assert threads
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("content", [None, b"", b"no table at all"])
async def test_a_damaged_file_is_a_lasting_problem(
    content: bytes | None, unloaded: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if content is not None:
        (tmp_path / "table.npy").write_bytes(content)
    monkeypatch.setattr(static_model, "TABLE_NAME", str(tmp_path / "table.npy"))
    provider = StaticProvider()
    assert provider.space.provider == "static"
    with pytest.raises(EmbeddingProblem) as caught:
        await provider.embed_query("dog")
    assert caught.value.is_lasting
    assert caught.value.hint


async def test_closing_is_idempotent() -> None:
    provider = StaticProvider()
    await provider.aclose()
    await provider.aclose()


def test_nothing_heavy_is_imported_before_the_first_call() -> None:
    code = """
import sys
from memoranda.embeddings.static import StaticProvider
StaticProvider().space
print("numpy" in sys.modules, "tokenizers" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]

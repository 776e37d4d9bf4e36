"""Providers from settings on, with the real bundled model, a real HTTP endpoint and a real download."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.unit.embeddings.fake_endpoint import FakeEndpoint, fake_endpoint
from tests.unit.embeddings.fake_hub import fake_hub
from tests.unit.embeddings.tiny_model import write_model

from memoranda.config import endpoint_key, load_settings, model_caches
from memoranda.embeddings.choice import ProviderChoice
from memoranda.embeddings.download import Download
from memoranda.embeddings.keys import find_key
from memoranda.embeddings.plan import embedding_plan
from memoranda.errors import ConfigProblem, EmbeddingProblem
from memoranda.model.embedding import ProviderPhase

REPOSITORY = "Qdrant/bge-small-en-v1.5-onnx-Q"
real = pytest.mark.skipif(
    importlib.util.find_spec("fastembed") is None, reason="fastembed is not installed"
)
Given = Callable[..., ProviderChoice]


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Given:
    """A choice from what the environment says; nothing of this machine's is seen."""
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def choice(**settings: object) -> ProviderChoice:
        for name, value in settings.items():
            monkeypatch.setenv(f"BASIC_MEMORY_SEMANTIC_{name.upper()}", str(value))
        return ProviderChoice(embedding_plan(load_settings()), model_caches())

    return choice


@pytest.fixture
def server() -> Iterator[FakeEndpoint]:
    with fake_endpoint() as endpoint:
        yield endpoint


async def test_nothing_set_is_a_provider_that_works(given: Given) -> None:
    choice = given()
    provider = await choice.ready()
    assert provider is not None
    assert choice.state.phase is ProviderPhase.READY
    dog, canine, tax = await provider.embed_documents(["dog training", "canine behavior", "tax"])
    assert dog @ canine > dog @ tax
    await choice.aclose()


async def test_an_endpoint_from_settings_gets_the_texts_and_the_key(
    given: Given, server: FakeEndpoint
) -> None:
    choice = given(
        embedding_provider="openai",
        base_url=server.url,
        embedding_model="nomic",
        dimensions=4,
        api_key="sk-mine",
    )
    provider = await choice.ready()
    assert provider is not None
    assert (await provider.embed_documents(["a", "b"])).shape == (2, 4)
    assert server.asked[-1] == {"model": "nomic", "input": ["a", "b"], "dimensions": 4}
    assert set(server.keys) == {"Bearer sk-mine"}
    assert server.url in choice.state.reason
    await choice.aclose()


async def test_the_key_of_openai_is_told_to_nobody_else(
    given: Given, server: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    choice = given(embedding_provider="openai", base_url=server.url, embedding_model="m")
    await choice.ready()
    assert server.keys == [None]
    assert endpoint_key("api.openai.com") == "sk-openai"
    assert endpoint_key("api.openai.com.example.org") == ""
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_API_KEY", " sk-mine\n")
    assert endpoint_key("api.openai.com") == endpoint_key("example.org") == "sk-mine"
    await choice.aclose()


def test_a_key_may_be_in_the_keyring_of_the_system(
    given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given()
    (tmp_path / "keyring.py").write_text(
        "def get_password(service, user):\n"
        "    if user == 'locked':\n"
        "        raise RuntimeError\n"
        "    return f'{service}-{user}' if '.' in user else None\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "keyring", raising=False)
    assert find_key("https://api.example.org/v1") == "memoranda-api.example.org"
    assert find_key("https://unknown/v1") == ""
    assert find_key("https://locked/v1") == ""
    assert find_key("http://127.0.0.1:11434/v1") == ""
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_API_KEY", "sk-mine")
    assert find_key("https://api.example.org/v1") == find_key("http://127.0.0.1/v1") == "sk-mine"
    monkeypatch.delitem(sys.modules, "keyring", raising=False)


async def test_an_endpoint_that_serves_another_model_later_is_a_lasting_problem(
    given: Given, server: FakeEndpoint
) -> None:
    choice = given(embedding_provider="openai", base_url=server.url, embedding_model="m")
    provider = await choice.ready()
    assert provider is not None
    server.dimensions = 9
    with pytest.raises(EmbeddingProblem) as caught:
        await provider.embed_query("a")
    assert caught.value.is_lasting
    await choice.aclose()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("base_url", "ftp://h/v1", "http"),
        ("base_url", "localhost:11434", "http"),
        ("base_url", "https://me:sk-secret@h/v1", "API_KEY"),
        ("base_url", "https://h/v1?key=sk-secret", "API_KEY"),
        ("model_path", "models/mine", "absolute"),
        ("dimensions", "0", "greater"),
        ("pooling", "max", "mean"),
        ("batch_size", "many", "integer"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_and_no_key_repeated(
    given: Given, name: str, value: str, said: str
) -> None:
    with pytest.raises(ConfigProblem) as caught:
        given(**{name: value})
    shown = caught.value.message + caught.value.hint
    assert f"BASIC_MEMORY_SEMANTIC_{name.upper()}" in shown
    assert said in shown
    assert "sk-secret" not in shown


def test_a_folder_may_be_given_from_the_home_folder_on(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me/")
    given(model_path="~/models/mine", base_url=" ")
    settings = load_settings()
    assert settings.semantic_model_path == "/home/me/models/mine"
    assert settings.semantic_base_url is None


def test_a_cache_that_others_could_write_is_not_looked_into(
    given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given()
    ours = tmp_path / "config" / ".models"
    assert model_caches() == (ours, tmp_path / "cache")
    monkeypatch.delenv("FASTEMBED_CACHE_PATH")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert model_caches() == (ours,)
    (tmp_path / "fastembed_cache").mkdir()
    assert model_caches() == (ours, tmp_path / "fastembed_cache")
    monkeypatch.setattr("os.getuid", lambda: -1)
    assert model_caches() == (ours,)


@real
@pytest.mark.model
async def test_a_folder_with_a_model_asks_for_fastembed(given: Given, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny", ["dog", "cat"])
    choice = given(model_path=folder)
    provider = await choice.ready()
    assert provider is not None
    assert provider.space.provider == "fastembed"
    assert np.allclose(await provider.embed_query("cat"), [0, 1])
    await choice.aclose()


@real
@pytest.mark.model
async def test_a_folder_that_is_broken_is_not_replaced_by_the_bundled_model(
    given: Given, tmp_path: Path
) -> None:
    folder = write_model(tmp_path / "tiny", ["dog"])
    shutil.rmtree(folder / "1_Pooling")
    choice = given(model_path=folder)
    assert await choice.ready() is None
    assert choice.state.phase is ProviderPhase.FAILED
    assert "semantic_pooling" in choice.state.reason
    await choice.aclose()


@real
@pytest.mark.model
async def test_a_model_is_downloaded_when_that_is_allowed_and_found_again_without_the_network(
    given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_model(
        tmp_path / "tiny", ["dog", "cat"], file="model_optimized.onnx", pooling=None
    )
    with fake_hub(REPOSITORY, folder) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
        monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
        hub.gate.clear()
        choice = given(embedding_provider="fastembed", allow_download="true")
        assert await choice.ready() is None
        assert choice.state.progress is not None
        hub.gate.set()
        provider = await choice.ready(through_download=True)
        assert choice.state.phase is ProviderPhase.READY, choice.state
        assert provider is not None
        assert provider.space.model == "BAAI/bge-small-en-v1.5"
        assert provider.space.dimensions == 2
        await choice.aclose()
    again = given(embedding_provider="fastembed", allow_download="false")
    found = await again.ready()
    assert found is not None
    assert found.space == provider.space
    await again.aclose()


@real
@pytest.mark.model
async def test_a_download_ends_when_it_is_not_wanted_any_more(
    given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_model(tmp_path / "tiny", ["dog"], file="model_optimized.onnx", pooling=None)
    with fake_hub(REPOSITORY, folder) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
        hub.gate.clear()
        choice = given(embedding_provider="fastembed", allow_download="true")
        assert await choice.ready() is None
        assert await asyncio.to_thread(hub.waits.wait, 30)
        await choice.aclose()
        assert choice.state.progress is None


async def test_a_download_that_cannot_work_says_why(tmp_path: Path) -> None:
    download = Download("no-such-model", tmp_path / "cache")
    with pytest.raises(EmbeddingProblem, match=r"no-such-model could not be downloaded: ."):
        await download.run()
    assert download.progress() == 0
    (tmp_path / "file").write_text("")
    with pytest.raises(EmbeddingProblem):
        await Download("bge-small-en-v1.5", tmp_path / "file").run()

"""The provider over fastembed: with a small library of our own, and with the real one where it is installed."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.unit.embeddings.tiny_model import write_model

from memoranda.embeddings import static_model
from memoranda.embeddings.fastembed import FastembedProvider
from memoranda.embeddings.local_models import LocalModel, has_files
from memoranda.embeddings.model_folder import fingerprint, read_model_folder
from memoranda.errors import EmbeddingProblem

real = pytest.mark.skipif(
    importlib.util.find_spec("fastembed") is None, reason="fastembed is not installed"
)


DEFAULT = LocalModel()


class Library:
    """What of fastembed is used. Every text is the vector of its length, of `width` numbers."""

    def __init__(self, *, cached: str = "", width: int = 3) -> None:
        self.cached, self.width = cached, width
        self.options: dict[str, Any] = {}
        self.registered: dict[str, Any] = {}
        self.threads: set[str] = set()
        self.niceness: list[int] = []
        self.failure: BaseException | None = None
        self.gave: object = None
        outer = self

        class TextEmbedding:
            def __init__(self, name: str, **options: Any) -> None:
                outer.options = options
                if "cache_dir" in options and options["cache_dir"] != outer.cached:
                    raise ValueError("Could not load model from any source.")
                self.model = SimpleNamespace()

            @staticmethod
            def list_supported_models() -> list[dict[str, Any]]:
                known = [{"model": "BAAI/bge-small-en-v1.5", "model_file": "model_optimized.onnx"}]
                return known + [{"model": name} for name in outer.registered]

            @staticmethod
            def add_custom_model(*, model: str, **description: Any) -> None:
                assert model not in outer.registered
                outer.registered[model] = description

            def passage_embed(self, texts: list[str]) -> Iterator[np.ndarray]:
                outer.threads.add(threading.current_thread().name)
                outer.niceness.append(os.getpriority(os.PRIO_PROCESS, 0))
                if outer.failure is not None:
                    raise outer.failure
                if outer.gave is not None:
                    yield np.array(outer.gave)
                    return
                for text in texts:
                    yield np.array([len(text), 1.0, 0.0, 0.0, 0.0][: outer.width], np.float32)

            query_embed = passage_embed

        self.TextEmbedding = TextEmbedding
        pooling = {"MEAN": "mean", "CLS": "cls"}
        description = SimpleNamespace(PoolingType=pooling, ModelSource=lambda hf: hf)
        self.common = SimpleNamespace(model_description=description)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    (tmp_path / "cache" / "models--Qdrant--bge").mkdir(parents=True)
    return tmp_path / "cache"


def load(library: Library, wanted: LocalModel) -> FastembedProvider:
    provider = FastembedProvider.load(wanted, library=lambda: library)
    assert provider is not None
    return provider


def problem_of(library: Any, wanted: LocalModel = DEFAULT) -> EmbeddingProblem:
    with pytest.raises(EmbeddingProblem) as caught:
        FastembedProvider.load(wanted, library=library)
    return caught.value


@pytest.fixture
async def loaded(cache: Path) -> tuple[Library, FastembedProvider]:
    library = Library(cached=str(cache))
    return library, load(library, LocalModel(caches=(cache,)))


def fail(error: BaseException) -> Any:
    def library() -> Any:
        raise error

    return library


def test_the_module_of_the_provider_imports_no_heavy_library() -> None:
    code = (
        "import sys, memoranda.embeddings.choice as c; c.local_models.is_installed();"
        "print([m for m in ('fastembed','numpy','httpx2','onnxruntime','openai') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_library_that_is_missing_is_a_lasting_problem_that_says_how_to_get_it() -> None:
    problem = problem_of(fail(ModuleNotFoundError("fastembed")))
    assert problem.is_lasting
    assert "not installed" in problem.message
    assert "Install" in problem.hint


def test_a_library_that_cannot_be_imported_says_why() -> None:
    problem = problem_of(fail(OSError("libgomp.so.1: no such file")))
    assert problem.is_lasting
    assert "libgomp.so.1" in problem.message


def test_only_local_files_are_asked_for_and_one_thread(
    loaded: tuple[Library, FastembedProvider],
) -> None:
    options = loaded[0].options
    assert options["local_files_only"] is True
    assert options["threads"] == 1


def test_the_specified_name_means_the_model_of_that_name(
    loaded: tuple[Library, FastembedProvider],
) -> None:
    space = loaded[1].space
    assert (space.provider, space.model) == ("fastembed", "BAAI/bge-small-en-v1.5")
    assert space.dimensions == 3


def test_the_first_cache_with_the_model_counts(tmp_path: Path, cache: Path) -> None:
    empty, other = tmp_path / "empty", tmp_path / "other"
    (other / "models--x").mkdir(parents=True)
    library = Library(cached=str(cache))
    load(library, LocalModel(caches=(empty, other, cache)))
    assert library.options["cache_dir"] == str(cache)


def test_a_model_without_files_is_none_and_no_error(tmp_path: Path, cache: Path) -> None:
    library = Library(cached="elsewhere")
    wanted = LocalModel(caches=(tmp_path / "missing", cache))
    assert FastembedProvider.load(wanted, library=lambda: library) is None


def test_caches_have_files_or_not(tmp_path: Path, cache: Path) -> None:
    assert has_files([tmp_path / "missing", cache])
    assert not has_files([tmp_path / "missing"])


def test_an_unknown_model_is_a_lasting_problem(cache: Path) -> None:
    problem = problem_of(Library, LocalModel("no-such", caches=(cache,)))
    assert problem.is_lasting
    assert "'no-such'" in problem.message


@pytest.mark.parametrize("error", [RuntimeError("INVALID_PROTOBUF"), OSError("short read")])
def test_a_model_that_cannot_be_loaded_is_a_lasting_problem(cache: Path, error: Exception) -> None:
    library = Library(cached=str(cache))
    library.failure = error
    problem = problem_of(lambda: library, LocalModel(caches=(cache,)))
    assert problem.is_lasting
    assert str(error) in problem.message


def test_other_dimensions_than_set_are_a_lasting_problem(cache: Path) -> None:
    library = Library(cached=str(cache))
    problem = problem_of(lambda: library, LocalModel(caches=(cache,), dimensions=4))
    assert problem.is_lasting
    assert "3 numbers, not 4" in problem.message


@pytest.mark.parametrize("gave", [[float("nan"), 1.0, 0.0], 5.0, [[1.0], [2.0]]])
def test_what_is_no_vector_is_a_lasting_problem(cache: Path, gave: object) -> None:
    library = Library(cached=str(cache))
    library.gave = gave
    assert problem_of(lambda: library, LocalModel(caches=(cache,))).is_lasting


async def test_vectors_have_unit_length_and_the_order_of_the_texts(
    loaded: tuple[Library, FastembedProvider],
) -> None:
    found = await loaded[1].embed_documents(["aaaa", "", "b", "  \n"])
    assert found.dtype == np.float32
    assert np.allclose(
        found, [[4 / 17**0.5, 1 / 17**0.5, 0], [0] * 3, [0.5**0.5] * 2 + [0], [0] * 3]
    )
    assert (await loaded[1].embed_documents([])).shape == (0, 3)
    assert np.allclose(await loaded[1].embed_query("aaaa"), found[0])


async def test_questions_do_not_wait_in_the_thread_of_documents(
    loaded: tuple[Library, FastembedProvider],
) -> None:
    library, provider = loaded
    library.threads.clear()
    await provider.embed_documents(["a"])
    await provider.embed_query("a")
    assert library.threads == {"embed-documents_0", "embed-query_0"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts priority by thread")
async def test_documents_have_a_low_priority_and_questions_have_not(
    loaded: tuple[Library, FastembedProvider],
) -> None:
    library, provider = loaded
    library.niceness.clear()
    await provider.embed_documents(["a"])
    await provider.embed_query("a")
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert library.niceness == [max(ours, 10), ours]


async def test_a_call_that_fails_is_a_problem_without_the_text(
    loaded: tuple[Library, FastembedProvider],
) -> None:
    library, provider = loaded
    library.failure = RuntimeError("bad input: my secret note")
    with pytest.raises(EmbeddingProblem) as caught:
        await provider.embed_documents(["my secret note"])
    assert "RuntimeError" in caught.value.message
    assert "secret" not in caught.value.message
    assert not caught.value.is_lasting


async def test_a_panic_of_the_tokenizer_is_a_problem(
    loaded: tuple[Library, FastembedProvider],
) -> None:
    panic = type("PanicException", (BaseException,), {})
    loaded[0].failure = panic("index out of bounds")
    with pytest.raises(EmbeddingProblem):
        await loaded[1].embed_query("a")


async def test_vectors_of_another_length_are_refused(
    loaded: tuple[Library, FastembedProvider],
) -> None:
    loaded[0].width = 2
    with pytest.raises(EmbeddingProblem) as caught:
        await loaded[1].embed_documents(["a"])
    assert caught.value.is_lasting


async def test_a_closed_provider_answers_nothing(loaded: tuple[Library, FastembedProvider]) -> None:
    await loaded[1].aclose()
    await loaded[1].aclose()
    with pytest.raises(EmbeddingProblem):
        await loaded[1].embed_query("a")


async def test_closing_ends_a_batch_between_two_texts(
    loaded: tuple[Library, FastembedProvider],
) -> None:
    library, provider = loaded
    running, go_on = threading.Event(), threading.Event()

    def embed(self: Any, texts: list[str]) -> Iterator[np.ndarray]:
        assert not running.is_set(), "another text was embedded after the close"
        running.set()
        go_on.wait(5)
        yield np.ones(3, np.float32)

    library.TextEmbedding.passage_embed = embed  # type: ignore[method-assign]
    call = asyncio.ensure_future(provider.embed_documents(["a", "b", "c"]))
    await asyncio.to_thread(running.wait, 5)
    await provider.aclose()
    go_on.set()
    with pytest.raises(EmbeddingProblem, match="closed"):
        await call


def folder_of(tmp_path: Path, **files: str) -> Path:
    names = {"tokenizer.json": "{}", "tokenizer_config.json": "{}", "model.onnx": "weights"}
    for name, text in (names | {k.replace("__", "/"): v for k, v in files.items()}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_folder_is_registered_with_the_pooling_that_its_files_say(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "mine", **{"1_Pooling/config.json": '{"pooling_mode": "cls"}'})
    library = Library()
    provider = load(library, LocalModel("", folder))
    assert provider.space.model == "mine"
    assert library.options["specific_model_path"] == str(folder)
    assert [one["pooling"] for one in library.registered.values()] == ["cls"]
    load(library, LocalModel("", folder))  # known by now


def test_a_pooling_that_was_set_wins_and_is_another_space(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, **{"1_Pooling/config.json": '{"pooling_mode": "cls"}'})
    library = Library()
    theirs = load(library, LocalModel("", folder)).space
    ours = load(library, LocalModel("", folder, pooling="mean")).space
    assert [one["pooling"] for one in library.registered.values()] == ["cls", "mean"]
    assert theirs.name != ours.name


def test_a_folder_that_says_no_pooling_is_a_lasting_problem(tmp_path: Path) -> None:
    problem = problem_of(Library, LocalModel("", folder_of(tmp_path)))
    assert problem.is_lasting
    assert "semantic_pooling" in problem.hint


def test_prompts_of_a_folder_are_put_before_the_texts(tmp_path: Path) -> None:
    prompts = json.dumps({"prompts": {"query": "query: ", "passage": "passage: "}})
    folder = folder_of(
        tmp_path,
        **{
            "config_sentence_transformers.json": prompts,
            "1_Pooling/config.json": '{"pooling_mode": "mean"}',
        },
    )
    read = read_model_folder(folder)
    assert (read.query_prompt, read.document_prompt) == ("query: ", "passage: ")
    provider = load(Library(), LocalModel("", folder))
    found = asyncio.run(provider.embed_documents(["a"]))
    assert np.allclose(found[0], np.array([10, 1, 0]) / 101**0.5)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"modules.json": '[{"type": "sentence_transformers.models.Dense"}]'}, "Dense"),
        ({"modules.json": "["}, "modules.json"),
        ({"other.onnx": "x", "model.onnx": ""}, ""),
    ],
)
def test_folders_that_cannot_be_used(tmp_path: Path, files: dict[str, str], said: str) -> None:
    folder = folder_of(tmp_path, **files)
    if not said:
        assert read_model_folder(folder).model_file == "model.onnx"
        return
    with pytest.raises(EmbeddingProblem, match=said) as caught:
        read_model_folder(folder)
    assert caught.value.is_lasting


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "model.onnx"])
def test_a_folder_without_one_of_its_files_says_so(tmp_path: Path, name: str) -> None:
    (folder_of(tmp_path) / name).unlink()
    with pytest.raises(EmbeddingProblem) as caught:
        read_model_folder(tmp_path)
    assert caught.value.is_lasting
    assert "onnx" in caught.value.hint if name == "model.onnx" else name in caught.value.message


def test_several_models_of_no_usual_name_are_listed(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, **{"a.onnx": "x", "onnx/b.onnx": "x"})
    (folder / "model.onnx").unlink()
    with pytest.raises(EmbeddingProblem, match=r"a\.onnx, onnx/b\.onnx"):
        read_model_folder(folder)
    (folder / "a.onnx").unlink()
    assert read_model_folder(folder).model_file == "onnx/b.onnx"


def test_another_file_of_the_same_name_and_size_has_another_fingerprint(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    model = folder / "model.onnx"
    model.write_bytes(bytes(3_000_000))
    before = fingerprint(folder, "model.onnx")
    assert before == fingerprint(folder, "model.onnx")
    assert len(before) == 8
    weights = bytearray(3_000_000)
    weights[1_000_000:1_100_000] = b"\1" * 100_000
    model.write_bytes(weights)
    changed = fingerprint(folder, "model.onnx")
    (folder / "tokenizer.json").write_text('{"a": 1}')
    assert len({before, changed, fingerprint(folder, "model.onnx")}) == 3


@real
@pytest.mark.model
async def test_a_folder_with_a_real_model_makes_vectors(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny", ["dog", "cat", "tax"], file="onnx/model.onnx")
    provider = FastembedProvider.load(LocalModel("", folder))
    assert provider is not None
    assert (provider.space.model, provider.space.dimensions) == ("tiny", 3)
    found = await provider.embed_documents(["dog", "Dog cat", "tax"])
    assert np.allclose(found, [[1, 0, 0], [0.5**0.5, 0.5**0.5, 0], [0, 0, 1]], atol=1e-6)
    assert np.allclose(await provider.embed_query("cat"), [0, 1, 0])
    await provider.aclose()


@real
@pytest.mark.model
async def test_the_end_of_a_long_text_counts_as_its_start_does(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny", ["dog", "cat"], window=16)
    provider = FastembedProvider.load(LocalModel("", folder))
    assert provider is not None
    found = await provider.embed_documents(["dog " * 50 + "cat " * 50])
    assert np.allclose(found, [[0.5**0.5, 0.5**0.5]], atol=0.01)
    await provider.aclose()


@real
@pytest.mark.model
async def test_a_window_below_the_tokenizers_own_is_kept(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny", ["dog", "cat"], window=512)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 12}')
    provider = FastembedProvider.load(LocalModel("", folder))
    assert provider is not None
    seen: list[int] = []
    passage_embed = provider._model.passage_embed

    def counting(texts: list[str]) -> Any:
        seen.extend(len(text.split()) for text in texts)
        return passage_embed(texts)

    provider._model.passage_embed = counting
    await provider.embed_documents(["dog " * 50])
    assert sum(seen) == 50
    assert max(seen) <= 10
    await provider.aclose()


@real
@pytest.mark.model
async def test_900_chinese_characters_are_more_than_a_window_and_all_count(tmp_path: Path) -> None:
    from tokenizers import BertWordPieceTokenizer

    place = Path(static_model.__file__).parent / "data" / static_model.VOCABULARY_NAME
    words = place.read_text("utf-8").split("\n")
    start, end = "中", "日"
    folder = write_model(tmp_path / "tiny", [start, end], window=512)
    text = start * 450 + end * 450
    real_words = {word: number for number, word in enumerate(dict.fromkeys(words)) if word}
    assert len(BertWordPieceTokenizer(real_words).encode(text).ids) > 512
    provider = FastembedProvider.load(LocalModel("", folder))
    assert provider is not None
    assert np.allclose(await provider.embed_documents([text]), [[0.5**0.5, 0.5**0.5]], atol=0.01)
    await provider.aclose()


@real
@pytest.mark.model
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_broken_file_is_a_lasting_problem(tmp_path: Path, name: str) -> None:
    folder = write_model(tmp_path / "tiny", ["dog"])
    (folder / name).write_bytes(b"{junk")
    with pytest.raises(EmbeddingProblem) as caught:
        FastembedProvider.load(LocalModel("", folder))
    assert caught.value.is_lasting
    assert caught.value.message.startswith(f"The model {folder} cannot be loaded: ")


@real
@pytest.mark.model
def test_loading_never_reaches_for_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: list[object] = []

    def refuse(*args: object, **_: object) -> None:
        reached.append(args)
        raise OSError("no network")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    (tmp_path / "cache" / "models--Qdrant--bge-small-en-v1.5-onnx-Q").mkdir(parents=True)
    assert FastembedProvider.load(LocalModel(caches=(tmp_path / "cache",))) is None
    folder = write_model(tmp_path / "tiny", ["dog"])
    assert FastembedProvider.load(LocalModel("", folder)) is not None
    assert reached == []

"""A provider that fails, whenever it does: words answer, the answer says why, and it comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from types import ModuleType

import numpy as np
import pytest
from loguru import logger
from numpy.typing import NDArray
from tests.integration.conftest import Index, until
from tests.integration.embedding_world import CountingProvider, StillClock
from tests.integration.provided import DrawnProvider, Provided

from memoranda.embeddings.choice import ProviderChoice, Sources
from memoranda.embeddings.fastembed import FastembedProvider
from memoranda.embeddings.local_models import is_installed
from memoranda.embeddings.plan import EmbeddingPlan
from memoranda.errors import EmbeddingProblem
from memoranda.model.embedding import EmbeddingSpace
from memoranda.model.search import SearchQuery, SearchResults, SearchType
from memoranda.ports import EmbeddingProvider
from memoranda.repositories.vectors import BlobVectorIndex
from memoranda.services import meaning
from memoranda.services.meaning import PAUSE_S, ProviderSource

MakeIndex = Callable[..., Index]

NOTES = {f"n{number}.md": f"heron {number}\n" for number in range(3)}
MODES = [SearchType.VECTOR, SearchType.HYBRID]


@dataclass
class FailingProvider(CountingProvider):
    """Fails in questions, as `asked` says."""

    asked: Callable[[], Awaitable[object]] | None = None
    questions: int = 0
    length: int | None = None
    fill: float | None = None

    async def embed_query(self, text: str, /) -> NDArray[np.float32]:
        self.questions += 1
        if self.asked is not None:
            await self.asked()
        vector = await super().embed_query(text)
        if self.fill is not None:
            vector = np.full_like(vector, self.fill)
        return vector if self.length is None else np.resize(vector, self.length)


@dataclass
class World:
    """A project whose source of providers is given."""

    make_index: MakeIndex
    clock: StillClock = field(default_factory=StillClock)

    async def open(self, source: ProviderSource) -> Index:
        index = self.make_index(source=source, clock=self.clock)
        for path, content in NOTES.items():
            index.write(path, content)
        await index.sync.full_sync()
        return index


@pytest.fixture
def world(make_index: MakeIndex) -> World:
    return World(make_index)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not answer is waited for next to no time."""
    monkeypatch.setattr(meaning, "PATIENCE_S", 0.01)


async def ask(index: Index, mode: SearchType = SearchType.HYBRID) -> SearchResults:
    return await index.search.search(SearchQuery("heron", mode))


async def words_answer(index: Index, *reasons: str) -> None:
    """Every mode finds what words find, and says why it is no more."""
    plain = await ask(index, SearchType.FTS)
    assert {hit.ref.file_path for hit in plain.hits} == NOTES.keys()
    assert plain.degraded is None
    for mode in MODES:
        results = await ask(index, mode)
        assert results.hits == plain.hits
        assert (results.search_type, results.total) == (SearchType.FTS, plain.total)
        assert results.degraded is not None
        assert results.degraded.endswith("; this is a full-text answer")
        for reason in reasons:
            assert reason in results.degraded


async def meaning_answers(index: Index) -> None:
    for mode in MODES:
        results = await ask(index, mode)
        assert (results.search_type, results.degraded) == (mode, None)


async def refuse(*_: object) -> None:
    raise EmbeddingProblem("The endpoint says 503")


async def crash(*_: object) -> None:
    raise ZeroDivisionError


async def hang(*_: object) -> None:
    await asyncio.Event().wait()


# Import and load


def absent() -> ModuleType:
    raise ModuleNotFoundError("No module named 'fastembed'")


def broken() -> ModuleType:
    raise ImportError("libonnx.so: cannot open shared object file\nmore")


def unusable() -> ModuleType:
    """Can be imported, and no more."""
    return ModuleType("fastembed")


def raising(error: Exception) -> Callable[[], EmbeddingProvider]:
    def load() -> EmbeddingProvider:
        raise error

    return load


@asynccontextmanager
async def choosing(sources: Sources, provider: str) -> AsyncIterator[ProviderChoice]:
    choice = ProviderChoice(EmbeddingPlan(provider=provider), (), sources=sources, sleep=hang)
    try:
        yield choice
    finally:
        await choice.aclose()


@pytest.mark.spec("12.3")
@pytest.mark.parametrize(
    ("library", "reason"),
    [
        (absent, "The library fastembed is not installed"),
        (broken, "The library fastembed cannot be imported: libonnx.so: cannot open shared"),
        (unusable, "The model bge-small-en-v1.5 cannot be loaded"),
    ],
)
async def test_a_library_that_is_asked_for_and_cannot_be_used(
    world: World, library: Callable[[], ModuleType], reason: str
) -> None:
    sources = Sources(load=lambda wanted: FastembedProvider.load(wanted, library=library))
    async with choosing(sources, "fastembed") as choice:
        index = await world.open(choice)
        await words_answer(index, reason)
        assert (await index.backfill.run_once()).notes == 0


@pytest.mark.spec("12.3")
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (EmbeddingProblem("The file is damaged", is_lasting=True), "The file is damaged"),
        (ZeroDivisionError("x"), "It cannot be loaded: ZeroDivisionError"),
    ],
)
async def test_a_model_that_cannot_be_loaded(world: World, error: Exception, reason: str) -> None:
    async with choosing(Sources(bundled=raising(error)), "static") as choice:
        index = await world.open(choice)
        await words_answer(index, reason)


async def test_a_model_that_fails_with_its_first_text(world: World) -> None:
    provider = FailingProvider(asked=refuse)
    async with choosing(Sources(bundled=lambda: provider), "static") as choice:
        index = await world.open(choice)
        await words_answer(index, "The endpoint says 503")


async def test_a_model_that_loads_at_the_second_try(world: World) -> None:
    provider = FailingProvider(asked=refuse)
    again = asyncio.Event()

    async def sleep(_: float) -> None:
        await again.wait()

    plan = EmbeddingPlan(provider="static")
    choice = ProviderChoice(plan, (), sources=Sources(bundled=lambda: provider), sleep=sleep)
    index = await world.open(choice)
    await words_answer(index)
    provider.asked = None
    again.set()
    await until(lambda: choice.provider)
    await words_answer(index, "No note is embedded")
    await index.backfill.run_once()
    await meaning_answers(index)
    await choice.aclose()


@pytest.mark.usefixtures("impatient")
async def test_who_waits_in_vain_for_a_model_is_the_only_one_who_waits(world: World) -> None:
    loaded = asyncio.Event()
    waits = 0

    @dataclass
    class Loading(Provided):
        async def ready(self) -> EmbeddingProvider | None:
            nonlocal waits
            waits += 1
            await loaded.wait()
            return self.provider

    source = Loading(None)
    index = await world.open(source)
    for _ in range(3):
        await words_answer(index)
    assert waits == 1
    source.provider = CountingProvider()
    await index.backfill.run_once()
    await meaning_answers(index)  # it is there now: nobody need wait for it
    loaded.set()
    world.clock.time += PAUSE_S
    await meaning_answers(index)
    assert waits > 1


def test_a_module_without_a_finder_counts_as_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fastembed", unusable())
    assert is_installed()


# Notes


@pytest.mark.parametrize(
    ("fails_with", "reason"),
    [
        (EmbeddingProblem("The endpoint says 503"), "The endpoint says 503"),
        (EmbeddingProblem("The key is wrong", is_lasting=True), "The key is wrong"),
        (ZeroDivisionError("x"), "unexpected ZeroDivisionError"),
    ],
)
async def test_a_provider_that_fails_for_notes(
    world: World, fails_with: Exception, reason: str
) -> None:
    def before(_: Sequence[str]) -> None:
        raise fails_with

    provider = FailingProvider(before=before)
    index = await world.open(Provided(provider))
    with pytest.raises(EmbeddingProblem, match=reason):
        await index.backfill.run_once()
    await words_answer(index, "No note is embedded")
    provider.before = lambda _: None
    await index.backfill.run_once()
    await meaning_answers(index)


async def test_a_provider_that_fails_in_the_middle_of_the_notes(world: World) -> None:
    provider = FailingProvider()
    index = await world.open(Provided(provider))
    await index.backfill.run_once()

    def before(_: Sequence[str]) -> None:
        raise EmbeddingProblem("The endpoint says 503")

    provider.before = before
    index.write("new.md", "heron of today\n")
    await index.sync.full_sync()
    with pytest.raises(EmbeddingProblem):
        await index.backfill.run_once()
    results = await ask(index)
    assert {hit.ref.file_path for hit in results.hits} == {*NOTES, "new.md"}
    assert results.search_type is SearchType.HYBRID
    assert results.degraded == "Meaning search knows 3 of 4 notes so far"
    provider.before = lambda _: None
    await index.backfill.run_once()
    await meaning_answers(index)


async def test_a_provider_whose_vectors_of_notes_have_another_length(world: World) -> None:
    provider = FailingProvider(width=5)
    index = await world.open(Provided(provider))
    with pytest.raises(EmbeddingProblem, match="not vectors of 8 numbers"):
        await index.backfill.run_once()
    await words_answer(index)
    assert index.rows("SELECT * FROM search_vector_embeddings") == []


# Questions


@pytest.mark.spec("12.3")
@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"asked": refuse}, "Meaning search failed: The endpoint says 503"),
        ({"asked": crash}, "Meaning search failed: unexpected ZeroDivisionError"),
        ({"asked": hang}, "Meaning search failed: fastembed did not answer in 0 s"),
        ({"length": 5}, "Meaning search failed: a gave a vector that is not of 8 numbers"),
        ({"fill": np.nan}, "Meaning search failed: a gave a vector that is no numbers"),
        ({"fill": np.inf}, "Meaning search failed: a gave a vector that is no numbers"),
    ],
)
@pytest.mark.usefixtures("impatient")
async def test_a_provider_that_fails_for_questions(
    world: World, broken: dict[str, object], reason: str
) -> None:
    provider = FailingProvider()
    source = Provided(provider)
    index = await world.open(source)
    await index.backfill.run_once()
    await meaning_answers(index)
    source.provider = failing = replace(provider, questions=0, **broken)  # type: ignore[arg-type]
    await words_answer(index, reason)
    world.clock.time += PAUSE_S - 1
    await words_answer(index, reason)
    assert failing.questions == 1  # it is not asked again for a while
    source.provider = provider
    await words_answer(index, reason)
    world.clock.time += 1
    await meaning_answers(index)


@pytest.mark.usefixtures("impatient")
async def test_a_search_that_is_cancelled_is_no_failure(world: World) -> None:
    provider = FailingProvider()
    index = await world.open(Provided(provider))
    await index.backfill.run_once()
    provider.asked = hang
    task = asyncio.create_task(ask(index))
    await until(lambda: provider.questions)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    provider.asked = None
    await meaning_answers(index)


async def test_vectors_of_another_space_are_compared_with_nothing(world: World) -> None:
    @dataclass
    class Renewed(CountingProvider):
        @property
        def space(self) -> EmbeddingSpace:
            return replace(super().space, revision="2")

    source = Provided(CountingProvider())
    index = await world.open(source)
    await index.backfill.run_once()
    source.provider = Renewed()
    await words_answer(index, "No note is embedded")
    await index.backfill.run_once()
    await meaning_answers(index)


async def test_vectors_of_equal_length_are_not_mixed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While those of the old space are still there: each model has its words where the other has others."""
    monkeypatch.setattr(BlobVectorIndex, "retire_others", lambda *_: 0)
    source = Provided(DrawnProvider({"heron": 0.0, "kettle": 90.0}))
    index = await world.open(source)
    index.write("kettle.md", "kettle\n")
    await index.sync.full_sync()
    for provider in (source.provider, DrawnProvider({"heron": 90.0, "kettle": 0.0}, "openai")):
        source.provider = provider
        await index.backfill.run_once()
        for mode in MODES:
            results = await ask(index, mode)
            assert results.search_type is mode
            assert {hit.ref.file_path for hit in results.hits} == NOTES.keys()
    assert len(index.rows("SELECT DISTINCT model FROM search_vector_embeddings")) == 2


async def test_what_failed_is_in_the_log_once(world: World) -> None:
    logged: list[str] = []
    sink = logger.add(lambda message: logged.append(message.record["message"]), level="ERROR")
    index = await world.open(Provided(FailingProvider(asked=crash)))
    for _ in range(3):
        await words_answer(index)
    logger.remove(sink)
    assert logged == ["The embedding provider failed with a question"]

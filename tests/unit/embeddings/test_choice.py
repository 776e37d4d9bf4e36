"""Which provider is chosen, and what is said of it, with providers of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from loguru import logger

from memoranda.embeddings.choice import ProviderChoice, Sources
from memoranda.embeddings.endpoint import Endpoint
from memoranda.embeddings.local_models import LocalModel
from memoranda.embeddings.plan import EmbeddingPlan, embedding_plan, unused_settings
from memoranda.errors import EmbeddingProblem
from memoranda.model.embedding import EmbeddingSpace, ProviderPhase
from memoranda.settings import Settings

MISSING = EmbeddingProblem("It is broken", is_lasting=True, hint="Mend it.")
PLAN = EmbeddingPlan()
DOWN = EmbeddingProblem("It is down")


@dataclass
class Provider:
    """Embeds nothing; `failure` is what a call raises."""

    name: str
    failure: Exception | None = None
    closed: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def space(self) -> EmbeddingSpace:
        return EmbeddingSpace(self.name, "model", "1", 2)

    async def embed_query(self, text: str, /) -> np.ndarray:
        self.asked.append(text)
        if self.failure is not None:
            raise self.failure
        return np.ones(2, np.float32)

    async def embed_documents(self, texts: Sequence[str], /) -> np.ndarray:
        return np.ones((len(texts), 2), np.float32)

    async def aclose(self) -> None:
        self.closed += 1


@dataclass
class FakeDownload:
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    failure: EmbeddingProblem | None = None
    at: float = 0.25
    was_cancelled: bool = False

    def progress(self) -> float:
        return self.at

    async def run(self) -> None:
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        if self.failure is not None:
            raise self.failure


@dataclass
class World:
    """What there is on the machine.

    Attributes:
        files: whether the model is there; a problem: it is, and is broken.
        answers: of the endpoint, one for each try; None: it works.
    """

    cache: Path
    static: Provider = field(default_factory=lambda: Provider("static"))
    is_installed: bool = False
    files: bool | Exception = False
    answers: list[Exception | None] = field(default_factory=list)
    key: str = ""
    download: FakeDownload = field(default_factory=FakeDownload)
    loads: list[LocalModel] = field(default_factory=list)
    endpoints: list[Endpoint] = field(default_factory=list)
    downloads: list[tuple[str, Path]] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    given: list[Provider] = field(default_factory=list)

    def load(self, wanted: LocalModel) -> Provider | None:
        self.loads.append(wanted)
        if isinstance(self.files, Exception):
            raise self.files
        return self._give("fastembed") if self.files or self.download.gate.is_set() else None

    async def connect(self, endpoint: Endpoint) -> Provider:
        self.endpoints.append(endpoint)
        answer = self.answers.pop(0) if self.answers else None
        if answer is not None:
            raise answer
        return self._give("openai")

    def _give(self, name: str) -> Provider:
        self.given.append(Provider(name))
        return self.given[-1]

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def fetch(self, name: str, cache: Path) -> FakeDownload:
        self.downloads.append((name, cache))
        return self.download

    def choice(self, plan: EmbeddingPlan = PLAN, **sources: object) -> ProviderChoice:
        mine = Sources(
            bundled=lambda: self.static,
            is_installed=lambda: self.is_installed,
            load=self.load,
            find_key=lambda _: self.key,
            connect=self.connect,
            download=self.fetch,  # type: ignore[arg-type]
        )
        return ProviderChoice(
            plan,
            (self.cache,),
            sources=replace(mine, **sources),  # type: ignore[arg-type]
            sleep=self.sleep,
        )


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "models--x").mkdir()
    return World(tmp_path)


@pytest.fixture
def logged() -> Iterator[list[str]]:
    lines: list[str] = []
    take = lambda line: lines.append(str(line))  # noqa: E731
    sink = logger.add(take, level="INFO", format="{level} {message}")
    yield lines
    logger.remove(sink)


async def chosen(choice: ProviderChoice) -> str:
    provider = await choice.ready()
    return provider.space.provider if provider else ""


async def test_the_model_of_the_program_is_used_where_there_is_no_other(world: World) -> None:
    choice = world.choice()
    assert choice.state.phase is ProviderPhase.LOADING
    assert choice.provider is None
    assert await choice.ready() is world.static
    assert choice.provider is world.static
    assert choice.state.phase is ProviderPhase.READY
    assert choice.state.space == world.static.space
    assert "not installed" in choice.state.reason


async def test_a_provider_has_embedded_a_word_before_it_is_chosen(world: World) -> None:
    world.static.failure = MISSING
    choice = world.choice()
    assert await choice.ready() is None
    assert choice.state.phase is ProviderPhase.FAILED
    assert choice.state.reason == "It is broken. Mend it"
    assert not choice.state.is_passing
    assert len(world.static.asked) == 1


async def test_fastembed_that_works_is_preferred(world: World) -> None:
    world.is_installed, world.files = True, True
    assert await chosen(world.choice()) == "fastembed"


@pytest.mark.parametrize("files", [False, MISSING])
async def test_fastembed_that_does_not_work_is_left_and_said(
    world: World, files: bool | Exception
) -> None:
    world.is_installed, world.files = True, files
    choice = world.choice()
    assert await chosen(choice) == "static"
    assert "fastembed cannot be used: " in choice.state.reason


async def test_fastembed_without_any_model_is_not_even_imported(world: World) -> None:
    world.is_installed = True
    (world.cache / "models--x").rmdir()
    choice = world.choice()
    assert await chosen(choice) == "static"
    assert world.loads == []
    assert "no files of a model" in choice.state.reason


async def test_fastembed_that_was_asked_for_is_imported_for_what_it_can_say(world: World) -> None:
    (world.cache / "models--x").rmdir()
    plan = EmbeddingPlan(provider="fastembed")
    world.is_installed = True
    assert await world.choice(plan).ready() is None
    assert world.loads == []
    world.is_installed, world.files = False, MISSING
    choice = world.choice(plan)
    assert await choice.ready() is None
    assert choice.state.reason == "It is broken. Mend it"
    world.is_installed, world.files = True, True
    assert await chosen(world.choice(replace(plan, folder=Path("/m")))) == "fastembed"


async def test_off_is_off(world: World) -> None:
    choice = world.choice(EmbeddingPlan(is_on=False))
    assert choice.state.phase is ProviderPhase.OFF
    assert await choice.ready() is None
    assert await choice.ready(through_download=True) is None
    assert choice.state.phase is ProviderPhase.OFF
    await choice.aclose()


@pytest.mark.parametrize("provider", ["fastembed", "openai", "cohere"])
async def test_what_was_asked_for_and_fails_is_replaced_by_nothing(
    world: World, provider: str
) -> None:
    world.files, world.answers = MISSING, [MISSING]
    choice = world.choice(EmbeddingPlan(provider=provider))
    assert await choice.ready() is None
    assert choice.state.phase is ProviderPhase.FAILED
    assert choice.state.provider == provider
    assert choice.state.reason
    assert world.static.asked == []
    assert world.slept == []


async def test_static_can_be_asked_for(world: World) -> None:
    world.is_installed, world.files = True, True
    choice = world.choice(EmbeddingPlan(provider="static"))
    assert await chosen(choice) == "static"
    assert choice.state.reason == "semantic_embedding_provider is static"


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        (EmbeddingPlan(), "fastembed is installed, and its files were found"),
        (
            EmbeddingPlan(provider="fastembed"),
            "semantic_embedding_provider is fastembed; its files were found",
        ),
        (
            EmbeddingPlan(provider="fastembed", folder=Path("/m")),
            "semantic_model_path is set; its files are in /m",
        ),
    ],
)
async def test_why_it_is_fastembed_is_said(world: World, plan: EmbeddingPlan, reason: str) -> None:
    world.is_installed, world.files = True, True
    choice = world.choice(plan)
    assert await chosen(choice) == "fastembed"
    assert choice.state.reason == reason


async def test_fastembed_gets_the_folder_and_no_name_that_is_not_given(world: World) -> None:
    world.files = True
    folder = Path("/models/mine")
    plan = EmbeddingPlan(provider="fastembed", folder=folder, pooling="cls", dimensions=7)
    choice = world.choice(plan)
    assert await chosen(choice) == "fastembed"
    assert world.loads == [LocalModel("", folder, (world.cache,), "cls", 7)]
    assert str(folder) in choice.state.reason


async def test_missing_files_are_not_fetched_unless_allowed(world: World) -> None:
    choice = world.choice(EmbeddingPlan(provider="fastembed"))
    assert await choice.ready() is None
    assert "semantic_allow_download" in choice.state.reason
    assert world.downloads == []


async def test_a_download_runs_behind_and_is_not_waited_for(world: World) -> None:
    choice = world.choice(EmbeddingPlan(provider="fastembed", may_download=True))
    assert await choice.ready() is None
    assert choice.state.phase is ProviderPhase.LOADING
    assert choice.state.progress == 0.25
    assert world.downloads == [("bge-small-en-v1.5", world.cache)]
    world.download.gate.set()
    found = await choice.ready(through_download=True)
    assert found is not None
    assert found.space.provider == "fastembed"
    assert choice.state.progress is None


async def test_a_download_that_fails_is_said_and_tried_again(world: World) -> None:
    world.download.failure = DOWN
    world.download.gate.set()
    gone_on = asyncio.Event()

    async def sleep(seconds: float) -> None:
        world.slept.append(seconds)
        if len(world.slept) == 2:
            gone_on.set()
            await asyncio.Event().wait()

    choice = world.choice(
        EmbeddingPlan(provider="fastembed", may_download=True), load=lambda _: None
    )
    choice._sleep = sleep
    assert await choice.ready(through_download=True) is None
    assert choice.state.phase is ProviderPhase.FAILED
    assert choice.state.reason == "It is down"
    await gone_on.wait()
    assert len(world.downloads) == 2
    await choice.aclose()


async def test_who_only_looks_downloads_nothing_and_is_told_what_does(world: World) -> None:
    choice = world.choice(EmbeddingPlan(provider="fastembed", may_download=True))
    choice.look_only()
    assert await choice.ready(through_download=True) is None
    assert choice.state.phase is ProviderPhase.ABSENT
    assert (choice.state.provider, choice.state.model) == ("fastembed", "bge-small-en-v1.5")
    assert choice.state.reason == (
        "its files are not here yet; a server or `memoranda sync` downloads them"
    )
    assert (world.downloads, world.slept) == ([], [])


async def test_what_a_server_will_download_is_not_replaced_by_who_only_looks(world: World) -> None:
    world.is_installed = True
    choice = world.choice(EmbeddingPlan(may_download=True))
    choice.look_only()
    assert await choice.ready() is None
    assert choice.state.phase is ProviderPhase.ABSENT
    assert world.static.asked == []


async def test_files_that_are_here_are_used_by_who_only_looks(world: World) -> None:
    world.files = True
    choice = world.choice(EmbeddingPlan(provider="fastembed", may_download=True))
    choice.look_only()
    assert await chosen(choice) == "fastembed"


async def test_closing_ends_a_download(world: World) -> None:
    choice = world.choice(EmbeddingPlan(provider="fastembed", may_download=True))
    await choice.ready()
    await choice.aclose()
    assert world.download.was_cancelled


async def test_an_endpoint_is_told_as_what_leaves_the_machine(
    world: World, logged: list[str]
) -> None:
    world.key = "sk-secret"
    choice = world.choice(EmbeddingPlan(provider="openai"))
    assert await chosen(choice) == "openai"
    said = (
        "semantic_embedding_provider is openai; texts of notes and searches are sent to "
        "https://api.openai.com/v1"
    )
    assert choice.state.reason == said
    assert world.endpoints[0].model == "text-embedding-3-small"
    assert world.endpoints[0].key == "sk-secret"
    assert [line for line in logged if said in line]
    assert "sk-secret" not in "".join(logged) + str(choice.state)


async def test_an_endpoint_is_never_chosen_by_itself(world: World) -> None:
    world.key = "sk-secret"
    plan = EmbeddingPlan(base_url="http://127.0.0.1:1/v1", model="m")
    assert await chosen(world.choice(plan)) == "static"
    assert world.endpoints == []


MODEL, URL = "semantic_embedding_model", "semantic_base_url"


@pytest.mark.parametrize(
    ("plan", "said", "way_on"),
    [
        (
            EmbeddingPlan(base_url="http://h/v1"),
            f"{URL} is set and not used: it counts for the provider openai",
            f'Set semantic_embedding_provider to "openai", or remove {URL}.',
        ),
        (
            EmbeddingPlan(model="m"),
            f"{MODEL} is set and not used: it counts for the providers fastembed and openai",
            f'Set semantic_embedding_provider to "fastembed" or "openai", or remove {MODEL}.',
        ),
        (
            EmbeddingPlan(model="m", base_url="http://h/v1"),
            f"{MODEL} and {URL} are set and not used: they count for the provider openai",
            f'Set semantic_embedding_provider to "openai", or remove {MODEL} and {URL}.',
        ),
    ],
)
async def test_what_was_given_and_is_not_used_is_said(
    world: World, plan: EmbeddingPlan, said: str, way_on: str
) -> None:
    choice = world.choice(plan)
    assert await chosen(choice) == "static"
    assert choice.state.reason == (
        f"it comes with the program, and fastembed is not installed; {said}"
    )
    unused = unused_settings(plan, "static")
    assert unused is not None
    assert unused.way_on == way_on


async def test_what_the_detected_provider_uses_is_not_called_unused(world: World) -> None:
    world.is_installed, world.files = True, True
    choice = world.choice(EmbeddingPlan(model="m", base_url="http://h/v1"))
    assert await chosen(choice) == "fastembed"
    assert choice.state.reason.endswith(
        f"; {URL} is set and not used: it counts for the provider openai"
    )
    for plan in (EmbeddingPlan(), EmbeddingPlan(provider="static", model="m")):
        assert unused_settings(plan, "static") is None
    assert unused_settings(EmbeddingPlan(model="m", is_on=False), "static") is None


@pytest.mark.parametrize(
    ("url", "is_said"),
    [("http://192.168.1.5/v1", True), ("https://h/v1", False), ("http://localhost/v1", False)],
)
async def test_a_key_that_goes_unprotected_is_said(world: World, url: str, is_said: bool) -> None:
    world.key = "sk-secret"
    choice = world.choice(EmbeddingPlan(provider="openai", base_url=url, model="m"))
    await choice.ready()
    assert ("unprotected" in choice.state.reason) is is_said


async def test_an_endpoint_of_ones_own_gets_no_model_of_openai(world: World) -> None:
    plan = EmbeddingPlan(provider="openai", base_url="http://h/v1", dimensions=8, batch_size=3)
    await world.choice(plan).ready()
    assert world.endpoints == [Endpoint("http://h/v1", "", 8, 3)]


async def test_an_endpoint_that_is_down_is_tried_again_more_and_more_seldom(world: World) -> None:
    world.answers = [DOWN] * 8 + [None]
    choice = world.choice(EmbeddingPlan(provider="openai"))
    assert await choice.ready() is None
    assert choice.state.reason == "It is down"
    assert choice.state.is_passing
    assert choice._task is not None
    await choice._task
    assert choice.state.phase is ProviderPhase.READY
    assert choice.provider is world.given[0]
    assert world.slept == [5, 10, 20, 40, 80, 160, 300, 300]


async def test_whatever_goes_wrong_is_a_state(world: World) -> None:
    def load(_: LocalModel) -> Provider:
        raise ZeroDivisionError

    choice = world.choice(EmbeddingPlan(provider="fastembed"), load=load)
    choice._sleep = lambda _: asyncio.Event().wait()  # type: ignore[assignment,return-value]
    assert await choice.ready() is None
    assert choice.state.phase is ProviderPhase.FAILED
    assert "ZeroDivisionError" in choice.state.reason
    await choice.aclose()


async def test_all_who_ask_get_the_same_provider(world: World) -> None:
    world.files = True
    choice = world.choice(EmbeddingPlan(provider="fastembed"))
    found = await asyncio.gather(*(choice.ready() for _ in range(5)))
    assert {id(provider) for provider in found} == {id(world.given[0])}
    assert len(world.loads) == 1


async def test_closing_closes_the_provider_once(world: World) -> None:
    choice = world.choice()
    await choice.ready()
    await choice.aclose()
    await choice.aclose()
    assert world.static.closed == 1
    assert choice.provider is None


async def test_one_line_is_logged_at_the_start_and_at_each_change(
    world: World, logged: list[str]
) -> None:
    world.answers = [DOWN, DOWN, None]
    choice = world.choice(EmbeddingPlan(provider="openai"))
    await choice.ready()
    assert choice._task is not None
    await choice._task
    await choice.ready()
    assert len(logged) == 2
    assert logged[0].startswith("WARNING")
    assert "openai failed: It is down" in logged[0]
    assert logged[1].startswith("INFO Searching by meaning with openai model, 2 dimensions: ")


@pytest.mark.parametrize(
    ("given", "plan"),
    [
        ({}, EmbeddingPlan()),
        ({"semantic_search_enabled": False}, EmbeddingPlan(is_on=False)),
        ({"semantic_search_enabled": True}, EmbeddingPlan()),
        ({"semantic_embedding_provider": "fastembed"}, EmbeddingPlan(provider="fastembed")),
        ({"semantic_embedding_provider": " OpenAI "}, EmbeddingPlan(provider="openai")),
        (
            {"semantic_embedding_model": "bge-small-en-v1.5"},
            EmbeddingPlan(model="bge-small-en-v1.5"),
        ),
        (
            {"semantic_model_path": "/m", "semantic_pooling": "cls"},
            EmbeddingPlan(provider="fastembed", folder=Path("/m"), pooling="cls"),
        ),
        (
            {"semantic_model_path": "/m", "semantic_embedding_provider": "static"},
            EmbeddingPlan(provider="static", folder=Path("/m")),
        ),
        (
            {"semantic_base_url": "http://h/v1/", "semantic_dimensions": 9},
            EmbeddingPlan(base_url="http://h/v1", dimensions=9),
        ),
        (
            {"semantic_allow_download": True, "semantic_batch_size": 5},
            EmbeddingPlan(may_download=True, batch_size=5),
        ),
    ],
)
def test_only_settings_that_were_given_count(given: dict[str, object], plan: EmbeddingPlan) -> None:
    assert embedding_plan(Settings(**given)) == plan  # type: ignore[arg-type]

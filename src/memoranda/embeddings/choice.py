"""Which provider turns text into vectors, decided once for a process and shared by its projects.

"Can be imported" is not "works" (a departure from spec 9.3): a provider is chosen when it has embedded a
word. What was asked for by name and fails is never replaced by another one in silence, since vectors of two
spaces cannot be compared; then texts are searched by their words, and `state` says why.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from loguru import logger

from memoranda.embeddings import local_models
from memoranda.embeddings.local_models import LocalModel
from memoranda.embeddings.plan import EmbeddingPlan, unused_settings
from memoranda.errors import EmbeddingProblem
from memoranda.model.embedding import ProviderPhase, ProviderState
from memoranda.ports import EmbeddingProvider

if TYPE_CHECKING:
    from memoranda.embeddings.download import Download
    from memoranda.embeddings.endpoint import Endpoint

_FIRST_WAIT_S = 5.0
_LONGEST_WAIT_S = 300.0
_PROBE = "probe"
_IS_FASTEMBED = "semantic_embedding_provider is fastembed"
_ABSENT = "its files are not here yet; a server or `memoranda sync` downloads them"
_NAMES = ("static", "fastembed", "openai")


def bundled() -> EmbeddingProvider:
    """The model that comes with the program."""
    from memoranda.embeddings.static import StaticProvider

    return StaticProvider()


def load(wanted: LocalModel) -> EmbeddingProvider | None:
    """A model on this machine; None: there are no files of it."""
    from memoranda.embeddings.fastembed import FastembedProvider

    return FastembedProvider.load(wanted)


def find_key(base_url: str) -> str:
    """The key for an endpoint."""
    from memoranda.embeddings import keys

    return keys.find_key(base_url)


async def connect(target: Endpoint) -> EmbeddingProvider:
    """An endpoint."""
    from memoranda.embeddings.openai import OpenAIProvider

    return await OpenAIProvider.connect(target)


def download(model: str, cache: Path) -> Download:
    """What fetches a model."""
    from memoranda.embeddings.download import Download

    return Download(model, cache)


class _FilesAbsent(EmbeddingProblem):
    """The files of a model are not here, might be downloaded, and are not by this process."""

    def __init__(self, model: str) -> None:
        super().__init__("Its files are not on this machine yet", is_lasting=True)
        self.model = model


@dataclass(frozen=True, slots=True)
class Sources:
    """Where providers come from; tests put their own in. All but `connect` block and run in a thread.

    Each imports what it needs when it is asked, as most processes need one of them.
    """

    bundled: Callable[[], EmbeddingProvider] = bundled
    is_installed: Callable[[], bool] = local_models.is_installed
    load: Callable[[LocalModel], EmbeddingProvider | None] = load
    find_key: Callable[[str], str] = find_key
    connect: Callable[[Endpoint], Awaitable[EmbeddingProvider]] = connect
    download: Callable[[str, Path], Download] = download


class ProviderChoice:
    """The provider of a process and its state; close it with `aclose`.

    `start` decides in the background; `ready` waits for that.
    """

    def __init__(
        self,
        plan: EmbeddingPlan,
        caches: tuple[Path, ...],
        *,
        sources: Sources = Sources(),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Nothing is loaded yet.

        Args:
            plan: what is asked for.
            caches: folders with downloaded models (`config.model_caches`); the first one gets new ones.
            sources: where providers come from.
            sleep: waits before another try.
        """
        self._plan = plan
        self._caches = caches
        self._sources = sources
        self._sleep = sleep
        self._may_download = plan.may_download
        self._provider: EmbeddingProvider | None = None
        self._download: Download | None = None
        self._state = ProviderState(
            ProviderPhase.LOADING if plan.is_on else ProviderPhase.OFF,
            plan.provider if plan.is_on else "",
            plan.model if plan.is_on else "",
            "it is being loaded" if plan.is_on else "semantic_search_enabled is false",
        )
        self._task: asyncio.Task[None] | None = None
        self._answered = asyncio.Event()
        """Something is known: a provider, a failure, or that a download runs."""
        self._decided = asyncio.Event()
        """The first try has ended."""

    @property
    def state(self) -> ProviderState:
        """Where it stands now."""
        if self._download is not None:
            return replace(self._state, progress=self._download.progress())
        return self._state

    @property
    def provider(self) -> EmbeddingProvider | None:
        """The provider when it is READY, else None."""
        return self._provider

    def look_only(self) -> None:
        """Download nothing, for who only looks or has no time; call it before `start`."""
        self._may_download = False

    def start(self) -> None:
        """Decide in the background; idempotent. After a failure that may pass it is tried again and again."""
        if self._task is not None:
            return
        if not self._plan.is_on:
            self._log()
            self._answered.set()
            self._decided.set()
        self._task = asyncio.create_task(self._decide(), name="embedding provider")

    async def ready(self, *, through_download: bool = False) -> EmbeddingProvider | None:
        """Start, wait until it is decided, and return the provider; None: there is none, see `state`.

        Args:
            through_download: wait for a download, too, which may take minutes.
        """
        self.start()
        await (self._decided if through_download else self._answered).wait()
        return self._provider

    async def aclose(self) -> None:
        """Stop loading, downloading and trying, and close the provider; idempotent."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        provider, self._provider = self._provider, None
        if provider is not None:
            await provider.aclose()

    async def _decide(self) -> None:
        if not self._plan.is_on:
            return
        wait_s = _FIRST_WAIT_S
        while True:
            try:
                provider, reason = await self._chosen()
            except _FilesAbsent as absent:
                self._set(ProviderState(ProviderPhase.ABSENT, "fastembed", absent.model, _ABSENT))
                return
            except EmbeddingProblem as problem:
                failed = problem
            except Exception as error:  # noqa: BLE001  (a task's boundary: searches must go on)
                logger.opt(exception=error).error("The embedding provider cannot be chosen")
                failed = EmbeddingProblem(f"It cannot be loaded: {type(error).__name__}")
            else:
                space = provider.space
                self._provider = provider
                self._set(
                    ProviderState(
                        ProviderPhase.READY, space.provider, space.model, reason, space=space
                    )
                )
                return
            self._set(self._failed(failed))
            if failed.is_lasting:
                return
            await self._sleep(wait_s)
            wait_s = min(wait_s * 2, _LONGEST_WAIT_S)

    async def _chosen(self) -> tuple[EmbeddingProvider, str]:
        match self._plan.provider:
            case "static":
                return await self._bundled(), "semantic_embedding_provider is static"
            case "fastembed":
                provider, found = await self._local()
                set_by = "semantic_model_path is set" if self._plan.folder else _IS_FASTEMBED
                return provider, f"{set_by}; {found}"
            case "openai":
                return await self._remote()
            case "":
                provider, why = await self._detected()
                unused = unused_settings(self._plan, provider.space.provider)
                return provider, f"{why}; {unused.text}" if unused else why
            case other:
                raise EmbeddingProblem(
                    f"There is no provider {other!r}",
                    is_lasting=True,
                    hint=f"Set semantic_embedding_provider to {', '.join(_NAMES)}.",
                )

    async def _detected(self) -> tuple[EmbeddingProvider, str]:
        """Fastembed if it works, else the bundled model; the reason says which of its steps did not."""
        if not await asyncio.to_thread(self._sources.is_installed):
            return (
                await self._bundled(),
                "it comes with the program, and fastembed is not installed",
            )
        if not (self._plan.may_download or local_models.has_files(self._caches)):
            why = "fastembed has no files of a model on this machine"
            return await self._bundled(), f"it comes with the program, and {why}"
        try:
            provider, found = await self._local()
        except _FilesAbsent:
            raise
        except EmbeddingProblem as problem:
            return await self._bundled(), f"fastembed cannot be used: {problem.message}"
        return provider, f"fastembed is installed, and {found}"

    async def _bundled(self) -> EmbeddingProvider:
        provider = await asyncio.to_thread(self._sources.bundled)
        await provider.embed_query(_PROBE)
        return provider

    async def _local(self) -> tuple[EmbeddingProvider, str]:
        plan = self._plan
        name = plan.model or ("" if plan.folder else local_models.DEFAULT_MODEL)
        wanted = LocalModel(name, plan.folder, self._caches, plan.pooling, plan.dimensions)
        found = await asyncio.to_thread(self._loaded, wanted)
        if found is not None:
            where = f"its files are in {plan.folder}" if plan.folder else "its files were found"
            return found, where
        if not plan.may_download:
            raise EmbeddingProblem(
                f"The files of the model {name} are not on this machine",
                is_lasting=True,
                hint="Set semantic_allow_download to true, or put them into a folder and set "
                "semantic_model_path.",
            )
        if not self._may_download:
            raise _FilesAbsent(name)
        await self._fetch(name)
        found = await asyncio.to_thread(self._sources.load, wanted)
        if found is None:
            raise EmbeddingProblem(f"The model {name} was downloaded and is not there")
        return found, "its files were downloaded"

    def _loaded(self, wanted: LocalModel) -> EmbeddingProvider | None:
        """The library is not even imported when there can be nothing to load."""
        is_worth_it = wanted.folder is not None or local_models.has_files(wanted.caches)
        if is_worth_it or not self._sources.is_installed():
            return self._sources.load(wanted)
        return None

    async def _fetch(self, name: str) -> None:
        reason = "its files are being downloaded"
        self._state = ProviderState(ProviderPhase.LOADING, "fastembed", name, reason)
        self._log()
        self._download = self._sources.download(name, self._caches[0])
        self._answered.set()
        try:
            await self._download.run()
        finally:
            self._download = None

    async def _remote(self) -> tuple[EmbeddingProvider, str]:
        from memoranda.embeddings.endpoint import (
            DEFAULT_MODEL,
            OPENAI_URL,
            Endpoint,
            is_local,
        )

        plan = self._plan
        url = plan.base_url or OPENAI_URL
        target = Endpoint(
            url,
            plan.model or ("" if plan.base_url else DEFAULT_MODEL),
            plan.dimensions,
            plan.batch_size,
            await asyncio.to_thread(self._sources.find_key, url),
        )
        reason = (
            f"semantic_embedding_provider is openai; texts of notes and searches are sent to {url}"
        )
        if target.key and url.startswith("http://") and not is_local(url):
            reason += ", and they and the key go over the network unprotected"
        return await self._sources.connect(target), reason

    def _failed(self, problem: EmbeddingProblem) -> ProviderState:
        reason = problem.message + (f". {problem.hint.removesuffix('.')}" if problem.hint else "")
        return ProviderState(
            ProviderPhase.FAILED,
            self._plan.provider or self._state.provider or "static",
            self._plan.model or self._state.model,
            reason,
            is_passing=not problem.is_lasting,
        )

    def _set(self, state: ProviderState) -> None:
        is_news = state != self._state
        self._state = state
        if is_news:
            self._log()
        self._answered.set()
        self._decided.set()

    def _log(self) -> None:
        state = self._state
        match state.phase:
            case ProviderPhase.FAILED:
                logger.warning(
                    "Searching by words alone: the embedding provider {} failed: {}",
                    state.provider,
                    state.reason,
                )
            case ProviderPhase.READY if state.space is not None:
                logger.info(
                    "Searching by meaning with {} {}, {} dimensions: {}",
                    state.provider,
                    state.model,
                    state.space.dimensions,
                    state.reason,
                )
            case _:
                logger.info("Searching by words alone for now: {}", state.reason)

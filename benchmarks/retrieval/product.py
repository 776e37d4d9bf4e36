"""Vaults indexed and asked by the product itself, in this process and in a folder that goes away."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from loguru import logger
from tools.postgres_server import BACKEND_VARIABLE, databases

from benchmarks.measure import RESULTS
from benchmarks.retrieval.kept_vectors import KeepingProvider
from benchmarks.retrieval.legs import MINILM, STATIC, WORDS, Leg
from benchmarks.retrieval.measures import DEPTH
from benchmarks.retrieval.tasks import Question, Task, Vault
from memoranda.container import Container
from memoranda.embeddings.choice import Sources
from memoranda.embeddings.fastembed import FastembedProvider
from memoranda.embeddings.local_models import LocalModel
from memoranda.model.search import SearchFilters, SearchQuery, SearchResults
from memoranda.ports import EmbeddingProvider
from memoranda.services.search import SearchService
from memoranda.settings import ProjectEntry, Settings
from memoranda.workspace import Workspace

_DIR_VARIABLE = "BASIC_MEMORY_CONFIG_DIR"
MODEL_VARIABLE = "MEMORANDA_MODEL_PATH"
"""Names the folder of the model that is not part of the program."""

_VECTORS = RESULTS / "vectors.db"
_SAVED_S = 1_700_000_000
"""When all notes were saved: "last week" means the same in every run."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question got.

    Attributes:
        ranked: unique ids, best first.
        is_declined: nothing was found, or it was said that nothing of it is relevant.
        cpu_ms: processor time of the whole process.
    """

    question: Question
    ranked: tuple[str, ...]
    is_declined: bool
    cpu_ms: float


@asynccontextmanager
async def indexed(
    vaults: Sequence[Vault], *, languages: Sequence[str] = (), model: str = ""
) -> AsyncIterator[Mapping[str, SearchService]]:
    """The search services of these vaults by name, after one sync of each.

    Nothing of the user's configuration is read: all settings are the defaults, but for `languages`, the
    place of the index and the embedding model, which is `legs.STATIC`, `legs.MINILM` or none.

    Raises:
        RuntimeError: a note was not indexed, or has no vectors.
    """
    with _written(vaults) as folders, _database() as database:
        values: dict[str, object] = {"projects": folders, **_embedding(model), **database}
        if languages:
            values["search_languages"] = list(languages)
        settings = Settings.model_validate(values)
        container = await Container.open(settings, sources=Sources(load=_kept))
        try:
            services = {}
            for vault in vaults:
                workspace = await container.workspace(container.find_project(vault.name))
                report = await workspace.sync.full_sync()
                if report.failures:
                    raise RuntimeError(f"{vault.name}: not indexed: {report.failures}")
                if model:
                    await _embedded(container, workspace)
                services[vault.name] = workspace.search
            yield services
        finally:
            await container.aclose()


@contextmanager
def _database() -> Iterator[Mapping[str, object]]:
    """Settings of where the index is: of its own, on PostgreSQL where the variable of the tests says so."""
    if os.environ.get(BACKEND_VARIABLE) != "postgres":
        yield {}
        return
    url = databases().create()
    yield {"database_backend": "postgres", "database_url": url}
    databases().drop(url)


def models() -> tuple[str, ...]:
    """The embedding models that are here; "" for none."""
    return ("", STATIC, *([MINILM] if os.environ.get(MODEL_VARIABLE) else []))


async def answers(task: Task, search: SearchService, leg: Leg = WORDS) -> list[Answer]:
    """Every question of a task, one after the other.

    Raises:
        RuntimeError: a question was not answered in the way that it was asked.
    """
    got = []
    for question in task.questions:
        query = SearchQuery(
            question.text,
            search_type=leg.search_type,
            filters=SearchFilters(item_types=task.item_types),
            limit=task.limit,
        )
        started = time.process_time()
        results = await search.search(query)
        cpu_ms = (time.process_time() - started) * 1000
        if results.degraded:
            raise RuntimeError(f"{leg.name}: {question.text}: {results.degraded}")
        ranked = tuple(dict.fromkeys(_ids(task, results)))[:DEPTH]
        is_declined = results.is_weak or not results.hits
        got.append(Answer(question, ranked, is_declined, cpu_ms))
    return got


def _embedding(model: str) -> dict[str, object]:
    """The settings that ask for a model."""
    asked: dict[str, object] = {"semantic_search_enabled": bool(model)}
    if model == MINILM:
        asked["semantic_model_path"] = str(Path(os.environ[MODEL_VARIABLE]).resolve())
    elif model:
        asked["semantic_embedding_provider"] = model
    return asked


def _kept(wanted: LocalModel) -> EmbeddingProvider | None:
    """A model that takes minutes for a set, over the vectors that it made in runs before."""
    provider = FastembedProvider.load(wanted)
    return None if provider is None else KeepingProvider(provider, _VECTORS)


async def _embedded(container: Container, workspace: Workspace) -> None:
    """Every note has its vectors."""
    if await container.choice.ready() is None:
        raise RuntimeError(f"no vectors: {container.choice.state.reason}")
    await workspace.backfill.run_once()
    progress = await workspace.backfill.progress()
    if progress is None or not progress.is_complete or workspace.backfill.error:
        raise RuntimeError(f"{workspace.project.name}: not embedded: {progress}")


def _ids(task: Task, results: SearchResults) -> Iterator[str]:
    for found in results.hits:
        places = task.places[found.ref.file_path]
        for line in [passage.start_line for passage in found.passages] or [1]:
            if (one := places.at(line)) is not None:
                yield one


@contextmanager
def _written(vaults: Sequence[Vault]) -> Iterator[Mapping[str, ProjectEntry]]:
    """The vaults as folders, and a configuration folder of their own for this process."""
    before = os.environ.get(_DIR_VARIABLE)
    with tempfile.TemporaryDirectory(prefix="memoranda-retrieval-") as home:
        folders = {}
        for vault in vaults:
            root = Path(home) / vault.name
            for path, text in vault.files.items():
                file = root / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8", newline="")
                os.utime(file, (_SAVED_S, _SAVED_S))
            folders[vault.name] = ProjectEntry(path=str(root))
        os.environ[_DIR_VARIABLE] = str(Path(home) / "config")
        logger.disable("memoranda")
        try:
            yield folders
        finally:
            logger.enable("memoranda")
            if before is None:
                del os.environ[_DIR_VARIABLE]
            else:
                os.environ[_DIR_VARIABLE] = before

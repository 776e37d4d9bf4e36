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

from benchmarks.retrieval.measures import DEPTH
from benchmarks.retrieval.tasks import Question, Task, Vault
from memoranda.container import Container
from memoranda.model.search import SearchFilters, SearchQuery, SearchResults, SearchType
from memoranda.services.search import SearchService
from memoranda.settings import ProjectEntry, Settings

_DIR_VARIABLE = "BASIC_MEMORY_CONFIG_DIR"
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
    vaults: Sequence[Vault], *, languages: Sequence[str] = ()
) -> AsyncIterator[Mapping[str, SearchService]]:
    """The search services of these vaults by name, after one sync of each.

    Nothing of the user's configuration is read: all settings are the defaults, but for `languages`.

    Raises:
        RuntimeError: a note was not indexed.
    """
    with _written(vaults) as folders:
        values: dict[str, object] = {"projects": folders}
        if languages:
            values["search_languages"] = list(languages)
        container = await Container.open(Settings.model_validate(values))
        try:
            services = {}
            for vault in vaults:
                workspace = await container.workspace(container.find_project(vault.name))
                report = await workspace.sync.full_sync()
                if report.failures:
                    raise RuntimeError(f"{vault.name}: not indexed: {report.failures}")
                services[vault.name] = workspace.search
            yield services
        finally:
            await container.aclose()


async def answers(task: Task, search: SearchService) -> list[Answer]:
    """Every question of a task, one after the other."""
    got = []
    for question in task.questions:
        query = SearchQuery(
            question.text,
            search_type=SearchType.FTS,
            filters=SearchFilters(item_types=task.item_types),
            limit=task.limit,
        )
        started = time.process_time()
        results = await search.search(query)
        cpu_ms = (time.process_time() - started) * 1000
        ranked = tuple(dict.fromkeys(_ids(task, results)))[:DEPTH]
        is_declined = results.is_weak or not results.hits
        got.append(Answer(question, ranked, is_declined, cpu_ms))
    return got


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

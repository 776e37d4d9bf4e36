"""A project is measured in the space of its vectors, again when it is another, and never for nothing."""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.integration.conftest import DrivenClock, Index, vectors_of

from memoranda.errors import EmbeddingProblem
from memoranda.model.embedding import EmbeddingSpace
from memoranda.ranking.confidence import Calibration
from memoranda.ranking.probes import PAIRS, off_topic
from memoranda.repositories.project import ProjectRepository
from memoranda.repositories.store import Tx
from memoranda.services.calibration import FEW_NOTES, CalibrationService, read_calibration
from memoranda.sync.embed_backfill import EmbedBackfill

DIMENSIONS = 256
SILENT = "silent"
"""A model that knows no word."""
BLURRED = "blurred"
"""A model in which long texts are all alike."""


@dataclass
class WordsProvider:
    """Texts with common words are near each other."""

    model: str = "words"
    asked: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    fails: bool = False

    @property
    def space(self) -> EmbeddingSpace:
        return EmbeddingSpace("static", self.model, "1", DIMENSIONS)

    async def embed_query(self, text: str, /) -> NDArray[np.float32]:
        if self.fails:
            raise EmbeddingProblem("no answer", is_lasting=False)
        self.asked.append(text)
        return self._vector(text)

    async def embed_documents(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        self.given += texts
        return np.array([self._vector(text) for text in texts], np.float32)

    async def aclose(self) -> None: ...

    def _vector(self, text: str) -> NDArray[np.float32]:
        return _vector("" if self.model == SILENT else text, blur=self.model == BLURRED)


class Project:
    """A project with vectors, and its calibration."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.vectors = vectors_of(index.store)
        self.service = CalibrationService(index.store, self.vectors)
        self.provider = WordsProvider()

    async def write(self, notes: range) -> None:
        """So many notes of one section each are saved, indexed and embedded."""
        for number in notes:
            words = " ".join(f"w{number}x{place}" for place in range(20))
            self.index.write(f"n{number}.md", f"# Note {number}\n\n{words}\n")
        await self.embed()

    async def remove(self, notes: range) -> None:
        for number in notes:
            (self.index.root / f"n{number}.md").unlink()
        await self.embed()

    async def embed(self) -> None:
        store, clock = self.index.store, DrivenClock()
        await self.index.sync.full_sync()
        await EmbedBackfill("main", store, self.vectors, lambda: self.provider, clock).run_once()
        self.provider.asked.clear()
        self.provider.given.clear()

    async def calibrate(self) -> Calibration | None:
        return await self.service.calibrate_if_due(self.provider)

    async def read(self, space: str | None = None) -> Calibration | None:
        name = space or self.provider.space.name
        return await self.index.store.read(lambda tx: read_calibration(tx, name))


@pytest.fixture
def project(index: Index) -> Project:
    return Project(index)


async def test_a_project_without_vectors_has_no_calibration(project: Project) -> None:
    assert await project.calibrate() is None
    assert await project.read() is None
    assert not project.provider.asked


async def test_what_is_measured_is_what_a_search_reads(project: Project) -> None:
    await project.write(range(20))
    made = await project.calibrate()
    assert made is not None
    assert await project.read() == made
    assert (made.space, made.vectors) == (project.provider.space.name, 40)
    assert await project.read("static:other@1/256") is None


async def test_a_text_of_the_project_is_nearer_than_what_fits_nothing(project: Project) -> None:
    await project.write(range(20))
    made = await project.calibrate()
    assert made is not None
    assert made.tells_apart
    assert 0 <= made.floor <= made.unfitting < 0.5 < made.fitting


async def test_nothing_is_embedded_while_a_calibration_holds(project: Project) -> None:
    await project.write(range(20))
    made = await project.calibrate()
    project.provider.asked.clear()
    assert await project.calibrate() == made
    assert not project.provider.asked


async def test_a_project_that_grew_by_half_is_measured_again(project: Project) -> None:
    await project.write(range(20))
    first = await project.calibrate()
    await project.write(range(20, 29))
    assert await project.calibrate() == first
    await project.write(range(29, 30))
    second = await project.calibrate()
    assert second is not None
    assert second.vectors == 60
    assert await project.read() == second


async def test_a_project_that_lost_most_of_itself_is_measured_again(project: Project) -> None:
    await project.write(range(30))
    first = await project.calibrate()
    await project.remove(range(16))
    assert await project.calibrate() == first
    await project.remove(range(16, 17))
    second = await project.calibrate()
    assert second is not None
    assert second.vectors == 26


async def test_another_space_is_measured_anew(project: Project) -> None:
    await project.write(range(20))
    first = await project.calibrate()
    project.provider = WordsProvider("another")
    await project.embed()
    assert await project.read() is None
    second = await project.calibrate()
    assert second is not None
    assert first is not None
    assert second == replace(first, space=project.provider.space.name, made_at=second.made_at)
    assert await project.read(first.space) is None


async def test_a_small_project_is_measured_with_notes_of_our_own(project: Project) -> None:
    await project.write(range(FEW_NOTES - 1))
    await project.calibrate()
    assert project.provider.given == [pair.text for pair in PAIRS]
    assert {pair.question for pair in PAIRS} <= set(project.provider.asked)


async def test_a_project_of_ten_notes_is_measured_with_its_own(project: Project) -> None:
    await project.write(range(FEW_NOTES))
    await project.calibrate()
    assert not project.provider.given
    assert any("w7x" in text for text in project.provider.asked)
    assert set(off_topic()) <= set(project.provider.asked)


async def test_the_same_notes_give_the_same_calibration(
    make_index: Callable[..., Index],
) -> None:
    made = []
    for name in ("one", "two"):
        index = make_index(name=name)
        project = Project(index)
        await project.write(range(20))
        calibration = await project.calibrate()
        assert calibration is not None
        made.append(replace(calibration, made_at=calibration.made_at.min))
    assert made[0] == made[1]


async def test_a_provider_that_fails_leaves_what_was_known(project: Project) -> None:
    await project.write(range(20))
    first = await project.calibrate()
    await project.write(range(20, 40))
    project.provider.fails = True
    with pytest.raises(EmbeddingProblem):
        await project.calibrate()
    assert await project.read() == first


@pytest.mark.parametrize("notes", [2, 20])
@pytest.mark.parametrize(
    "answer",
    [RuntimeError("no"), np.full(DIMENSIONS, np.nan), np.full(DIMENSIONS, np.inf), np.ones(3)],
)
async def test_what_is_no_vector_of_a_question_is_a_failure_of_the_provider(
    project: Project, notes: int, answer: Exception | NDArray[np.float32]
) -> None:
    await project.write(range(notes))

    async def embed_query(_: str) -> NDArray[np.float32]:
        if isinstance(answer, Exception):
            raise answer
        return answer

    project.provider.embed_query = embed_query  # type: ignore[method-assign,assignment]
    with pytest.raises(EmbeddingProblem):
        await project.calibrate()
    assert await project.read() is None


@pytest.mark.parametrize("value", [None, 7, {}, {"method": 1}, [1]])
async def test_what_was_stored_in_another_way_does_not_count(
    project: Project, value: object
) -> None:
    await project.write(range(20))
    first = await project.calibrate()
    await project.index.store.write(lambda tx: ProjectRepository(tx).set_fact("calibration", value))
    assert await project.read() is None
    again = await project.calibrate()
    assert first is not None
    assert again is not None
    assert replace(again, made_at=first.made_at) == first


async def test_what_was_measured_in_another_way_does_not_count(project: Project) -> None:
    await project.write(range(20))
    await project.calibrate()
    await project.index.store.write(_of_another_method)
    assert await project.read() is None


async def test_what_long_questions_gain_is_measured(project: Project) -> None:
    project.provider = WordsProvider(BLURRED)
    await project.write(range(20))
    made = await project.calibrate()
    assert made is not None
    assert made.long_gain > 0.05


async def test_a_model_that_knows_no_word_leaves_the_words_to_decide(project: Project) -> None:
    await project.write(range(20))
    project.provider = WordsProvider(SILENT)
    await project.embed()
    made = await project.calibrate()
    assert made is not None
    assert not made.tells_apart
    assert (made.floor, made.unfitting, made.fitting) == (0, 0, 0)


def _of_another_method(tx: Tx) -> None:
    facts = ProjectRepository(tx)
    stored = facts.fact("calibration")
    assert isinstance(stored, dict)
    facts.set_fact("calibration", stored | {"method": 0})


def _vector(text: str, *, blur: bool) -> NDArray[np.float32]:
    vector = np.zeros(DIMENSIONS, np.float32)
    words = re.findall(r"\w+", text.lower())
    for word in words:
        vector[zlib.crc32(word.encode()) % DIMENSIONS] += 1
    if blur:
        vector[0] += len(words) / 8
    length = np.linalg.norm(vector)
    return vector / length if length else vector


async def test_a_far_provider_is_asked_some_questions_at_a_time(project: Project) -> None:
    await project.write(range(20))
    asked, most = 0, 0
    answer = project.provider.embed_query

    async def far(text: str, /) -> NDArray[np.float32]:
        nonlocal asked, most
        asked += 1
        most = max(most, asked)
        await asyncio.sleep(0)
        asked -= 1
        return await answer(text)

    project.provider.embed_query = far  # type: ignore[method-assign]
    assert await project.calibrate() is not None
    assert 1 < most <= 8

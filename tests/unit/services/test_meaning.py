"""The vector of a question, or the reason why there is none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.integration.embedding_world import StillClock
from tests.integration.provided import DrawnProvider, Provided

from memoranda.model.embedding import ProviderPhase, ProviderState
from memoranda.services.meaning import NO_PROVIDER, MeaningService, NoQuestion, Question
from memoranda.text.query import parse_query

NOW = datetime(2026, 3, 4, tzinfo=UTC)


class Absent:
    """A source without a provider, in this state."""

    provider = None

    def __init__(self, state: ProviderState) -> None:
        self.state = state

    async def ready(self) -> None: ...


async def question(source: object, text: str) -> Question | NoQuestion:
    service = MeaningService(source, StillClock())  # type: ignore[arg-type]
    return await service.question(text, parse_query(text, now=NOW))


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (ProviderState(ProviderPhase.OFF), "Meaning search is switched off"),
        (
            ProviderState(ProviderPhase.FAILED, reason="No such model"),
            "Meaning search cannot be used: No such model",
        ),
        (
            ProviderState(ProviderPhase.LOADING, reason="it is being downloaded"),
            "Meaning search is not ready: it is being downloaded",
        ),
        (
            ProviderState(ProviderPhase.ABSENT, reason="its files are not here yet"),
            "Meaning search is not ready: its files are not here yet",
        ),
        (
            ProviderState(ProviderPhase.LOADING),
            "Meaning search is not ready: its model is being loaded",
        ),
    ],
)
async def test_why_there_is_none(state: ProviderState, reason: str) -> None:
    assert await question(Absent(state), "heron") == NoQuestion(reason)


async def test_a_project_without_a_source_has_it_switched_off() -> None:
    assert await question(NO_PROVIDER, "heron") == NoQuestion("Meaning search is switched off")


@pytest.mark.parametrize(
    ("provider", "share"), [("static", 0.35), ("fastembed", 0.5), ("openai", 0.5)]
)
async def test_a_table_of_words_weighs_less_than_a_model(provider: str, share: float) -> None:
    source = Provided(DrawnProvider({"heron": 90.0}, provider))
    found = await question(source, "heron")
    assert isinstance(found, Question)
    assert found.share == share
    assert found.vector.tolist() == pytest.approx([0, 1], abs=1e-6)
    assert found.space.provider == provider


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("where do herons nest?", "where do herons nest?"),
        ('"grey heron" nests', '"grey heron" nests'),
        ("herons OR cranes", "herons OR cranes"),
        ("herons -sea", "herons"),
        ("herons tag:wet nests", "herons nests"),
        ("herons -sea OR cranes tag:wet", "herons cranes"),
        ("heron " * 1000, ("heron " * 1000)[:2000]),
    ],
)
async def test_only_the_question_is_asked(typed: str, asked: str) -> None:
    provider = DrawnProvider({})
    found = await question(Provided(provider), typed)
    assert isinstance(found, Question)
    assert [one.strip() for one in provider.asked] == [asked.strip()]


@pytest.mark.parametrize("text", ["12.7.3", "2026-03-04", "->", "tag:heron 42"])
async def test_numbers_and_signs_alone_say_nothing_to_a_model(text: str) -> None:
    found = await question(Provided(DrawnProvider({text: 90.0, "42": 90.0}, "static")), text)
    assert isinstance(found, Question)
    assert not found.vector.any()

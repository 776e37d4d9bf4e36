from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from types import ModuleType

import pytest

from memoranda.model.embedding import (
    EmbeddingProgress,
    EmbeddingSpace,
    ProviderPhase,
    ProviderState,
)
from memoranda.model.project import Counts
from memoranda.model.sync import SyncState
from memoranda.model.views import ProjectInfo
from memoranda.render.live import Onlooker
from memoranda.render.meaning import meaning_data, meaning_texts, percent
from memoranda.render.projects import info_data

SPACE = EmbeddingSpace("static", "bundled", "53aa", 256)
STATIC = ProviderState(ProviderPhase.READY, "static", "bundled", space=SPACE)
BGE = ProviderState(ProviderPhase.LOADING, "fastembed", "bge-small-en-v1.5")
PART = EmbeddingProgress(notes=10_000, pending=8_766, vectors=4_321)
ALL = EmbeddingProgress(notes=10_000, vectors=45_678)


@pytest.mark.parametrize(
    ("provider", "embedding", "texts"),
    [
        (None, None, []),
        (None, PART, []),
        (ProviderState(ProviderPhase.OFF), None, ["off: the settings say so"]),
        (ProviderState(ProviderPhase.OFF, reason="of a test"), PART, ["off: of a test"]),
        (
            ProviderState(ProviderPhase.LOADING),
            None,
            ["the model is being loaded; until then searches go by words"],
        ),
        (
            replace(BGE, progress=0.456),
            None,
            [
                "fastembed bge-small-en-v1.5 is being downloaded (46 %); until then searches go by words"
            ],
        ),
        (
            replace(BGE, phase=ProviderPhase.FAILED, reason="it is not installed"),
            PART,
            [
                "fastembed bge-small-en-v1.5 cannot be used, searches go by words: it is not installed"
            ],
        ),
        (
            replace(BGE, phase=ProviderPhase.ABSENT, reason="a sync downloads it"),
            None,
            [
                "fastembed bge-small-en-v1.5 cannot be used yet, searches go by words: a sync downloads it"
            ],
        ),
        (
            ProviderState(ProviderPhase.FAILED),
            None,
            ["the model cannot be used, searches go by words"],
        ),
        (STATIC, None, ["static model"]),
        (STATIC, EmbeddingProgress(), ["static model, no notes yet"]),
        (STATIC, ALL, ["static model, all 10,000 notes embedded (45,678 vectors)"]),
        (
            STATIC,
            EmbeddingProgress(notes=1, vectors=1),
            ["static model, the one note embedded (1 vector)"],
        ),
        (
            STATIC,
            PART,
            ["static model, 1,234 of 10,000 notes embedded (12 %); the server embeds the rest"],
        ),
        (
            STATIC,
            EmbeddingProgress(notes=1, pending=1),
            ["static model, 0 of 1 note embedded (0 %); the server embeds the rest"],
        ),
        (
            replace(STATIC, reason="fastembed is not installed"),
            ALL,
            [
                "static model, all 10,000 notes embedded (45,678 vectors)",
                "why this model: fastembed is not installed",
            ],
        ),
        (
            replace(STATIC, reason="fastembed is not installed"),
            replace(PART, error="the disk is full"),
            [
                "static model, 1,234 of 10,000 notes embedded (12 %)",
                "stands still: the disk is full",
            ],
        ),
    ],
)
def test_it_is_said_in_a_line_or_two(
    provider: ProviderState | None, embedding: EmbeddingProgress | None, texts: list[str]
) -> None:
    assert meaning_texts(provider, embedding, way_on="the server embeds the rest") == texts


def test_nobody_is_told_to_go_on_when_nothing_goes_on_or_is_left() -> None:
    for embedding in (None, ALL, replace(PART, error="x")):
        assert "way on" not in "".join(meaning_texts(STATIC, embedding, way_on="way on"))


def test_a_reason_is_one_short_line() -> None:
    long = "\n".join(["word"] * 500)
    for phase in ProviderPhase:
        for text in meaning_texts(replace(STATIC, phase=phase, reason=long), ALL):
            assert len(text) < 500
            assert "\n" not in text
    texts = meaning_texts(STATIC, replace(PART, error=long))
    assert all(len(text) < 500 and "\n" not in text for text in texts)


@pytest.mark.parametrize(
    ("done", "total", "text"),
    [(0, 9, "0 %"), (1, 999, "<1 %"), (9_999, 10_000, "99 %"), (5, 5, "100 %"), (0, 0, "100 %")],
)
def test_all_is_said_only_of_all_and_nothing_only_of_nothing(
    done: int, total: int, text: str
) -> None:
    assert percent(done, total) == text


def test_data_has_all_of_it() -> None:
    assert meaning_data(replace(STATIC, reason="why"), replace(PART, error="no\nspace")) == {
        "state": "ready",
        "provider": "static",
        "model": "bundled",
        "dimensions": 256,
        "space": "static:bundled@53aa/256",
        "reason": "why",
        "download": None,
        "notes": 10_000,
        "notes_done": 1_234,
        "vectors": 4_321,
        "is_complete": False,
        "error": "no space",
    }


def test_what_is_not_known_is_null_in_data() -> None:
    assert meaning_data(None, None) is None
    data = meaning_data(replace(BGE, progress=0.33333), None)
    assert data is not None
    assert (data["state"], data["download"]) == ("loading", 0.333)
    unknown = ("dimensions", "space", "notes", "notes_done", "vectors", "is_complete")
    assert {data[key] for key in unknown} == {None}


def test_more_pending_than_there_are_notes_is_none_done() -> None:
    odd = EmbeddingProgress(notes=3, pending=5)
    assert meaning_texts(STATIC, odd) == ["static model, 0 of 3 notes embedded (0 %)"]


def test_project_info_has_it_as_meaning(samples: ModuleType) -> None:
    onlooker = Onlooker(datetime(2026, 1, 1, tzinfo=UTC), "1.0", 1)
    info = ProjectInfo(samples.PROJECT, Counts(), SyncState(), "/x", 1)
    assert info_data(info, onlooker, skipped=())["meaning"] is None
    info = replace(info, provider=STATIC, embedding=ALL)
    assert info_data(info, onlooker, skipped=())["meaning"] == meaning_data(STATIC, ALL)

from __future__ import annotations

from dataclasses import replace

import pytest

from memoranda.doctor.model import ModelFacts, judge
from memoranda.model.embedding import EmbeddingSpace, ProviderPhase, ProviderState
from memoranda.model.health import Check, Verdict

SPACE = EmbeddingSpace("fastembed", "bge-small-en-v1.5", "53aa", 384)
READY = ProviderState(
    ProviderPhase.READY, "fastembed", "bge-small-en-v1.5", "its files are cached", SPACE
)


def judged(facts: ModelFacts) -> Check:
    (check,) = judge(facts)
    assert check.name == "model"
    assert bool(check.hint) == (check.verdict is not Verdict.OK)
    assert not check.message.endswith(".")
    return check


def test_a_model_that_embeds_is_named_with_why_it_is_this_one() -> None:
    assert judged(ModelFacts(READY, took_ms=4.23)) == Check(
        "model",
        Verdict.OK,
        "fastembed bge-small-en-v1.5, 384 dimensions; it embeds a short text in 4.2 ms; "
        "why this one: its files are cached",
    )
    slow = judged(ModelFacts(replace(READY, reason=""), took_ms=1234.5))
    assert slow.message.endswith("; it embeds a short text in 1,234 ms")


def test_a_model_that_loads_and_does_not_embed_is_a_problem() -> None:
    facts = ModelFacts(READY, trouble="the endpoint\nanswers 401", way_on="Check the key.")
    check = judged(facts)
    assert check.verdict is Verdict.PROBLEM
    assert check.message == (
        "fastembed bge-small-en-v1.5 is loaded and cannot embed, searches go by words: "
        "the endpoint answers 401"
    )
    assert check.hint == "Check the key."
    assert "semantic_" in judged(replace(facts, way_on="")).hint


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (
            "the folder /models/none does not exist",
            "cannot be used, searches go by words: the folder /models/none does not exist",
        ),
        ("", "cannot be used, searches go by words"),
    ],
)
def test_a_model_that_cannot_be_used_is_a_problem_with_its_reason(reason: str, said: str) -> None:
    check = judged(ModelFacts(replace(READY, phase=ProviderPhase.FAILED, reason=reason)))
    assert check.verdict is Verdict.PROBLEM
    assert check.message == f"fastembed bge-small-en-v1.5 {said}"
    assert "the bundled model needs none" in check.hint


def test_a_model_that_is_switched_off_is_well() -> None:
    check = judged(ModelFacts(ProviderState(ProviderPhase.OFF)))
    assert (check.verdict, check.message) == (
        Verdict.OK,
        "search by meaning is off: the settings say so",
    )


@pytest.mark.parametrize(
    ("progress", "said"), [(None, "is being loaded"), (0.4, "is being downloaded")]
)
def test_a_model_that_is_not_here_yet_is_a_warning(progress: float | None, said: str) -> None:
    state = replace(READY, phase=ProviderPhase.LOADING, reason="why", progress=progress)
    check = judged(ModelFacts(state))
    assert check.verdict is Verdict.WARNING
    assert check.message == f"fastembed bge-small-en-v1.5 {said}; until then searches go by words"


def test_a_long_reason_is_cut() -> None:
    for phase in ProviderPhase:
        state = replace(READY, phase=phase, reason="word\n" * 900)
        assert len(judged(ModelFacts(state)).message) < 500
    assert len(judged(ModelFacts(READY, trouble="word\n" * 900)).message) < 500

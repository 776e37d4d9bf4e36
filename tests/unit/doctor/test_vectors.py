from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memoranda.doctor.vectors import VectorFacts, judge
from memoranda.model.embedding import EmbeddingProgress, ProviderPhase
from memoranda.model.health import Check, Verdict

ALL = EmbeddingProgress(notes=1_234, vectors=5_678)
PART = EmbeddingProgress(notes=1_234, pending=1_000, vectors=900)
WELL = VectorFacts("my notes", ProviderPhase.READY, ALL, size_bytes=5_800_000)
SYNC = "`memoranda sync --project 'my notes'`"
OTHER: dict[str, Any] = {"others": ("static:bundled@53aa/256",), "other_bytes": 34_000_000}


def judged(facts: VectorFacts, *, is_kept_up: bool = False) -> dict[str, Check]:
    checks = judge(facts, is_kept_up=is_kept_up)
    assert all(bool(check.hint) == (check.verdict is not Verdict.OK) for check in checks)
    return {check.name: check for check in checks}


@pytest.mark.parametrize(
    ("progress", "said"),
    [
        (ALL, "all of 1,234 notes embedded, 5,678 vectors in 5.8 MB"),
        (
            EmbeddingProgress(notes=1, vectors=1),
            "all of 1 note embedded, 1 vector in 5.8 MB",
        ),
        (EmbeddingProgress(notes=2), "all of 2 notes embedded"),
        (EmbeddingProgress(), "there is nothing to embed"),
    ],
)
def test_vectors_that_are_complete_are_well(progress: EmbeddingProgress, said: str) -> None:
    checks = judged(replace(WELL, progress=progress))
    assert checks == {"vectors": Check("vectors", Verdict.OK, said)}


def test_what_is_not_embedded_is_a_warning_unless_a_server_is_at_it() -> None:
    facts = replace(WELL, progress=PART)
    so_far = "234 of 1,234 notes embedded (18 %), 900 vectors in 5.8 MB"
    assert judged(facts)["vectors"] == Check(
        "vectors",
        Verdict.WARNING,
        f"{so_far}; no server embeds the rest",
        f"Embed it now: {SYNC}.",
    )
    assert judged(facts, is_kept_up=True)["vectors"] == Check(
        "vectors", Verdict.OK, f"{so_far}; the server embeds the rest"
    )


def test_embedding_that_stands_still_is_a_warning_with_its_reason() -> None:
    facts = replace(WELL, progress=replace(PART, error="the disk\nis full"))
    check = judged(facts, is_kept_up=True)["vectors"]
    assert check.verdict is Verdict.WARNING
    assert check.message.endswith("; it stands still: the disk is full")
    assert SYNC in check.hint


def test_vectors_of_another_model_are_named_with_their_size() -> None:
    check = judged(replace(WELL, **OTHER))["old vectors"]
    assert check.verdict is Verdict.OK
    assert check.message.startswith(
        "34.0 MB are vectors of another model (static:bundled@53aa/256), kept in case it comes back; "
    )
    assert "reindex" in check.message


def test_vectors_of_another_model_are_no_trouble_while_notes_are_pending() -> None:
    check = judged(replace(WELL, progress=PART, **OTHER), is_kept_up=True)["old vectors"]
    assert check.verdict is Verdict.OK
    assert "kept in case it comes back" in check.message


@pytest.mark.parametrize(
    ("phase", "why"),
    [(ProviderPhase.OFF, "search by meaning is off"), (ProviderPhase.FAILED, "there is no model")],
)
def test_without_a_model_vectors_are_kept_and_nothing_is_missed(
    phase: ProviderPhase, why: str
) -> None:
    facts = VectorFacts("my notes", phase)
    assert judged(facts) == {}
    check = judged(replace(facts, **OTHER))["vectors"]
    assert check.verdict is Verdict.OK
    assert check.message == (f"34.0 MB are kept and not used, as {why} (static:bundled@53aa/256)")


def test_vectors_that_cannot_be_looked_at_are_a_problem() -> None:
    check = judged(VectorFacts("x", ProviderPhase.READY, trouble="The database is busy"))["vectors"]
    assert (check.verdict, check.message) == (Verdict.PROBLEM, "The database is busy")

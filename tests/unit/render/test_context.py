from __future__ import annotations

from types import ModuleType

import pytest

from memoranda.model.note import RelatedNote
from memoranda.model.views import Context, ContextResult
from memoranda.render.bounds import compact
from memoranda.render.context import context_data, context_text


def result(samples: ModuleType, text: str, notes: int = 1) -> ContextResult:
    related = tuple(
        RelatedNote(samples.ref(f"near-{n}"), 1, "requires", "What it is about") for n in range(10)
    )
    links = tuple(samples.relation(1, to) for to in ("Focus", *("Attention " * 12,) * 20))
    view = samples.view(text, relations=links, backlinks=(samples.backlink(),))
    return ContextResult("deep-work", (Context(view, related),) * notes, notes)


@pytest.mark.spec("6.2.6")
def test_context_holds_the_text_links_and_what_is_around(samples: ModuleType) -> None:
    text = context_text(result(samples, "Body one\nBody two\n"))
    assert "--- note text begins\nBody one\nBody two\n--- note text ends" in text
    assert "requires Focus — focus" in text
    assert "Daily — daily (links_to)" in text
    assert "research/near-0" in text
    assert "What it is about" in text
    data = context_data(result(samples, "Body one\nBody two\n"), samples.PROJECT)
    note = data["contexts"][0]
    assert note["content"] == "Body one\nBody two\n"
    assert note["related"][0]["permalink"] == "research/near-0"
    assert note["related"][0]["distance"] == 1
    assert (data["total"], data["has_more"]) == (1, False)


@pytest.mark.parametrize("notes", [1, 3, 40])
def test_context_is_bounded_and_says_what_is_left(samples: ModuleType, notes: int) -> None:
    long = result(samples, "A line of some length.\n" * 4000, notes)
    data = context_data(long, samples.PROJECT, 20_000)
    assert len(compact(data)) <= 20_000
    assert data["contexts"][0]["next_line"] > 1
    assert data["has_more"] is (len(data["contexts"]) < notes)
    assert len(context_text(long, 4000)) <= 4000
    text = context_text(long, 20_000)
    assert len(text) <= 20_000
    assert "read_note path=research/deep-work start_line=" in text
    assert ("matching notes are shown" in text) is (notes == 40)


def test_nothing_that_matches_is_said(samples: ModuleType) -> None:
    assert context_text(ContextResult("x/*", (), 0)) == "Nothing matches 'x/*'."

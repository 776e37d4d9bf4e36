from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from memoranda.markdown.entity_parser import parse_note
from memoranda.model.address import NotePath, Permalink
from memoranda.model.note import RelatedNote
from memoranda.model.views import Context, ContextResult, Neighbourhood
from memoranda.render.bounds import compact
from memoranda.render.context import context_data, context_text


def result(
    samples: ModuleType,
    text: str,
    notes: int = 1,
    *,
    total: int = 10,
    is_exact: bool = True,
    depth: int = 1,
    max_related: int = 10,
) -> ContextResult:
    related = tuple(
        RelatedNote(samples.ref(f"near-{n}"), 1, "requires", "What it is about") for n in range(10)
    )
    links = tuple(samples.relation(1, to) for to in ("Focus", *("Attention " * 12,) * 20))
    view = samples.view(text, relations=links, backlinks=(samples.backlink(),), backlink_total=1)
    around = Neighbourhood(related, total, is_exact)
    return ContextResult(
        "deep-work", (Context(view, around),) * notes, notes, (), depth, max_related
    )


@pytest.mark.spec("6.2.6")
def test_context_holds_the_text_then_what_is_around_then_other_links(samples: ModuleType) -> None:
    text = context_text(result(samples, "Body one\nBody two\n"))
    assert "--- note text begins\nBody one\nBody two\n--- note text ends" in text
    assert "- Near 0 — research/near-0 · concept · 2025-02-03 (requires): What it is about" in text
    assert "- requires Focus — focus" in text
    assert "- Daily — daily (links_to)" in text
    assert (
        text.index("note text ends")
        < text.index("Related, most relevant first (10):")
        < text.index("Also links to (21):")
    )
    data = context_data(result(samples, "Body one\nBody two\n"), samples.PROJECT)
    note = data["contexts"][0]
    assert note["content"] == "Body one\nBody two\n"
    assert note["related"][0]["permalink"] == "research/near-0"
    assert note["related"][0]["distance"] == 1
    assert (note["related_total"], "related_total_is_exact" in note) == (10, False)
    assert "outline" not in note
    assert (data["total"], data["has_more"], "others" in data) == (1, False, False)


def test_a_link_to_a_related_note_is_not_said_twice(samples: ModuleType) -> None:
    near = RelatedNote(samples.ref("focus", permalink=Permalink("focus")), 1, "requires", "")
    view = samples.view(
        "x\n",
        relations=(samples.relation(1), samples.relation(2, None)),
        backlinks=(samples.backlink(),),
        backlink_total=70,
    )
    text = context_text(
        ContextResult("x", (Context(view, Neighbourhood((near,), 1)),), 1, max_related=1)
    )
    assert text.count("Focus") == 2, "the related note, and the link that leads nowhere"
    assert "Links to notes that do not exist (1): Focus" in text
    assert "Also linked from (70):\n- Daily — daily (links_to)\n- and 69 more" in text


def test_a_note_further_away_says_by_which_way(samples: ModuleType) -> None:
    far = RelatedNote(samples.ref("far"), 2, "requires > Focus > <- is", "", (Permalink("focus"),))
    one = ContextResult("x", (Context(samples.view("x\n"), Neighbourhood((far,), 1)),), 1, depth=2)
    assert "(requires > Focus > <- is, 2 steps)" in context_text(one)
    (related,) = context_data(one, samples.PROJECT)["contexts"][0]["related"]
    assert (related["distance"], related["via"]) == (2, ["focus"])


@pytest.mark.parametrize(
    ("total", "is_exact", "depth", "max_related", "said"),
    [
        (
            43,
            True,
            2,
            10,
            "- and 33 more: build_context path=research/deep-work depth=2 max_related=43",
        ),
        (
            5000,
            False,
            1,
            10,
            "- and at least 4,990 more: build_context path=research/deep-work max_related=100",
        ),
        (5000, True, 1, 100, "- and 4,990 more; timeframe narrows them"),
    ],
)
def test_how_many_are_left_out_and_how_to_get_them_is_said(
    samples: ModuleType, total: int, is_exact: bool, depth: int, max_related: int, said: str
) -> None:
    asked = result(
        samples, "x\n", total=total, is_exact=is_exact, depth=depth, max_related=max_related
    )
    lines = context_text(asked).splitlines()
    assert said in lines
    least = "" if is_exact else "at least "
    assert f"Related, most relevant first (10 of {least}{total:,}):" in lines
    note = context_data(asked, samples.PROJECT)["contexts"][0]
    assert (note["related_total"], note.get("related_total_is_exact", True)) == (total, is_exact)


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


def test_everything_at_once_fits(samples: ModuleType) -> None:
    text = "".join(f"## Section {n}\n\n" + "Some words.\n" * 20 for n in range(200))
    view = samples.view(
        text,
        parsed=parse_note(text, NotePath("a.md")),
        observations=tuple(samples.observation(4000 + n, "Fact " * 30) for n in range(50)),
        relations=tuple(samples.relation(n, f"To {n}" * 10) for n in range(30)),
        backlinks=(samples.backlink(),) * 30,
        backlink_total=30,
    )
    related = tuple(
        RelatedNote(samples.ref(f"near-{n}"), 1, "requires", "What it is about " * 9)
        for n in range(100)
    )
    context = Context(view, Neighbourhood(related, 120))
    one = context_text(ContextResult("x", (context,), 1, max_related=100))
    assert 18_000 < len(one) <= 20_000
    assert "for which there is no room here; timeframe narrows them" in one
    assert "Sections further down" in one
    assert "Facts further down (50):" in one
    assert "Also links to (30):" in one
    alone = Context(replace(view, relations=(), backlinks=(), backlink_total=0))
    lone = context_text(ContextResult("x", (alone,), 1))
    assert 17_000 < len(lone) <= 20_000
    assert "Facts further down (50):" in lone
    ten = ContextResult("x/*", (context,) * 10, 10)
    assert len(context_text(ten)) <= 20_000
    assert "more: build_context path=research/deep-work" in context_text(ten)
    for asked in (ContextResult("x", (context,), 1), ten):
        assert len(compact(context_data(asked, samples.PROJECT))) <= 20_000


def test_what_a_short_note_does_not_need_goes_to_a_long_one(samples: ModuleType) -> None:
    short, long = samples.view("Short.\n"), samples.view("A line of some length.\n" * 4000)
    views = (*(Context(short) for _ in range(9)), Context(long))
    text = context_text(ContextResult("x/*", views, 10))
    assert text.count("A line of some length.") * 23 > 20_000 // 10 * 3
    assert len(text) <= 20_000


def test_facts_and_sections_below_the_cut_are_told(samples: ModuleType) -> None:
    view = samples.view(
        "A line of some length.\n" * 4000,
        observations=(samples.observation(1, "Seen"), samples.observation(3999, "Not seen")),
    )
    text = context_text(ContextResult("x", (Context(view),), 1))
    assert "Facts further down (1):\n- [fact] Not seen (line 3999)" in text


def test_notes_of_a_pattern_that_are_left_out_are_named(samples: ModuleType) -> None:
    some = ContextResult(
        "x/*", (Context(samples.view("x\n")),), 30, (Permalink("x/b"), Permalink("x/c"))
    )
    text = context_text(some)
    assert "1 of 30 matching notes are shown. Not shown: x/b, x/c, and 27 more." in text
    data = context_data(some, samples.PROJECT)
    assert (data["has_more"], data["others"]) == (True, ["x/b", "x/c"])


def test_an_empty_note_without_links_says_so(samples: ModuleType) -> None:
    text = context_text(ContextResult("x", (Context(samples.view("")),), 1))
    assert text.splitlines()[1:] == [
        "file research/deep-work.md · empty",
        "No links from or to it.",
    ]
    alone = context_text(ContextResult("x", (Context(samples.view("Text\n")),), 1))
    assert alone.endswith("--- note text ends\nNo links from or to it.")


def test_nothing_that_matches_is_said(samples: ModuleType) -> None:
    assert context_text(ContextResult("x/*", (), 0)) == "Nothing matches 'x/*'."

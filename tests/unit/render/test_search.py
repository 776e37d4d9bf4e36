from __future__ import annotations

from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import pytest

from memoranda.model.search import (
    Confidence,
    Explanation,
    Hit,
    ItemType,
    Passage,
    SearchResults,
    SearchType,
    TermShare,
)
from memoranda.render.bounds import compact
from memoranda.render.search import MARKS, results_data, results_text


def results(
    samples: ModuleType, number: int = 2, item_type: ItemType = ItemType.NOTE, **changes: Any
) -> SearchResults:
    passage = Passage("Deep\nwork matters", ("Why", "Focus"), 12, 14, 0.5)
    hits = tuple(
        Hit(samples.ref(f"note-{n}"), 0.9, item_type, (passage,)) for n in range(1, number + 1)
    )
    values: dict[str, Any] = {
        "query": "deep work",
        "search_type": SearchType.FTS,
        "hits": hits,
        "total": number,
        "limit": 10,
        "offset": 0,
        "full_matches": changes.get("total", number),
    }
    return SearchResults(**values | changes)


def head(found: SearchResults) -> str:
    return results_text(found).splitlines()[0]


@pytest.mark.spec("13.4")
def test_text_is_numbered_hits_with_their_place(samples: ModuleType) -> None:
    text = results_text(results(samples, total=30, offset=10, degraded="No model is installed"))
    assert text.splitlines()[0] == "30 notes for 'deep work' (fts), 11-12:"
    assert (
        "11. Note 1 — research/note-1 · 2025-01-01, changed 2025-02-03 · concept · #focus" in text
    )
    assert "   L12-14 Why > Focus: Deep work matters" in text
    assert "No model is installed" in text
    assert text.endswith("More: page=3")


def test_a_note_that_was_never_changed_has_one_date(samples: ModuleType) -> None:
    ref = samples.ref(
        "a", updated_at=datetime(2025, 1, 1, 23, tzinfo=UTC), tags=(), note_type="note"
    )
    text = results_text(results(samples, hits=(Hit(ref, 1, ItemType.NOTE, ()),), total=1))
    assert text.splitlines()[1] == "1. A — research/a · 2025-01-01"


def test_a_note_whose_file_is_missing_is_marked(samples: ModuleType) -> None:
    ref = samples.ref("a", missing_since=datetime(2025, 3, 1, tzinfo=UTC))
    for item_type in (ItemType.NOTE, ItemType.SECTION):
        text = results_text(results(samples, hits=(Hit(ref, 1, item_type, ()),), total=1))
        assert "research/a · its file is missing · 2025-01-01" in text


@pytest.mark.parametrize(
    ("item_type", "name"),
    [
        (ItemType.OBSERVATION, "observation"),
        (ItemType.SECTION, "section"),
        (ItemType.RELATION, "relation"),
    ],
)
def test_an_item_is_one_line(samples: ModuleType, item_type: ItemType, name: str) -> None:
    assert results_text(results(samples, 2, item_type)).splitlines() == [
        f"2 {name}s for 'deep work' (fts):",
        *(
            f"{n}. Note {n} — research/note-{n} · 2025-01-01, changed 2025-02-03 · "
            "L12-14 Why > Focus: Deep work matters"
            for n in (1, 2)
        ),
    ]


def test_hits_of_several_types_are_items(samples: ModuleType) -> None:
    hits = tuple(Hit(samples.ref(), 1, one, ()) for one in (ItemType.NOTE, ItemType.SECTION))
    assert head(results(samples, hits=hits)) == "2 items for 'deep work' (fts):"


@pytest.mark.parametrize(
    ("full", "said"),
    [
        (12, "340 notes for 'deep work' (fts), 12 with all the words, 1-2:"),
        (0, "340 notes for 'deep work' (fts), none with all the words, 1-2:"),
        (340, "340 notes for 'deep work' (fts), 1-2:"),
        (None, "340 notes for 'deep work' (fts), newest file first, 1-2:"),
    ],
)
def test_the_first_line_says_how_well_they_match(
    samples: ModuleType, full: int | None, said: str
) -> None:
    found = results(samples, total=340, full_matches=full)
    assert head(found) == said
    assert results_data(found, samples.PROJECT)["full_matches"] == full


def test_a_total_that_is_not_exact_is_said(samples: ModuleType) -> None:
    found = results(samples, total=340, total_is_exact=False)
    assert head(found).startswith("about 340 notes")
    assert results_data(found, samples.PROJECT)["total_is_exact"] is False
    exact = results(samples)
    assert results_data(exact, samples.PROJECT)["total_is_exact"] is True
    assert results_data(exact, samples.PROJECT, is_complete=False)["total_is_exact"] is False


def test_without_words_the_newest_come_first(samples: ModuleType) -> None:
    newest = results(samples, query=" ", full_matches=None)
    assert head(newest) == "2 notes (fts), newest file first:"
    by_tag = results(samples, query="tag:site", full_matches=None)
    assert head(by_tag) == "2 notes for 'tag:site' (fts), newest file first:"


def test_filters_read_from_the_query_are_named(samples: ModuleType) -> None:
    filters = ("tags: soil", "in 2026-11-23..2026-11-29, from 'last week'")
    found = results(samples, read_filters=filters)
    assert results_text(found).splitlines()[1] == (
        "Filters read from the query: tags: soil; in 2026-11-23..2026-11-29, from 'last week'."
    )
    assert results_data(found, samples.PROJECT)["read_filters"] == list(filters)


def test_what_was_demanded_in_vain_is_said(samples: ModuleType) -> None:
    found = results(samples, relaxed=True)
    assert "Nothing has all that the query demands" in results_text(found)
    assert results_data(found, samples.PROJECT)["relaxed"] is True
    assert "demands" not in results_text(results(samples))
    assert "demands" not in results_text(results(samples, relaxed=True, is_weak=True))


def test_nothing_relevant_is_said_and_the_nearest_are_shown_short(samples: ModuleType) -> None:
    passage = Passage("text", (), 1, 1, 0.1)
    hits = tuple(Hit(samples.ref(f"n{n}"), 1, ItemType.NOTE, (passage,) * 3) for n in range(3))
    found = results(samples, hits=hits, total=99, is_weak=True, full_matches=0, suggestion="Try x.")
    lines = results_text(found).splitlines()
    assert lines[0] == "Nothing relevant was found for 'deep work' (fts); the nearest:"
    assert len(lines) == 1 + 3 * 2 + 1
    assert lines[-1] == "Try x."
    data = results_data(found, samples.PROJECT)
    assert (data["is_weak"], data["has_more"], data["next_page"]) == (True, False, None)
    assert len(data["results"]) == 3
    beyond = results(samples, 0, total=99, is_weak=True, offset=10)
    assert head(beyond).endswith("; the nearest are on page 1.")


def test_a_page_beyond_the_end_says_which_is_the_last(samples: ModuleType) -> None:
    text = results_text(results(samples, 0, total=41, offset=990))
    assert text == "41 notes for 'deep work' (fts), none on this page; the last is page 5."


@pytest.mark.spec("13.4")
def test_data_is_the_results_of_the_contract(samples: ModuleType) -> None:
    data = results_data(results(samples, 2, ItemType.OBSERVATION), samples.PROJECT)
    assert data["search_type"] == "fts"
    assert data["results"][0]["permalink"] == "research/note-1"
    assert data["results"][0]["item_type"] == "observation"
    assert data["results"][0]["passages"] == [
        {
            "text": "Deep work matters",
            "heading_path": ["Why", "Focus"],
            "start_line": 12,
            "end_line": 14,
            "score": 0.5,
        }
    ]
    assert (data["page"], data["total"], data["has_more"], data["next_page"]) == (1, 2, False, None)


def sure(samples: ModuleType, *confidences: Confidence | None, **changes: Any) -> SearchResults:
    """Hits of these confidences."""
    hits = tuple(
        Hit(samples.ref(f"note-{n}"), 0.9, ItemType.NOTE, (), confidence=confidence)
        for n, confidence in enumerate(confidences, 1)
    )
    values: dict[str, Any] = {"hits": hits, "total": len(hits), "search_type": SearchType.HYBRID}
    return results(samples, **(values | changes))


HIGH, MEDIUM, LOW, NONE = Confidence


def test_a_hit_of_little_confidence_is_marked(samples: ModuleType) -> None:
    first, *lines = results_text(sure(samples, HIGH, MEDIUM, None, LOW, NONE)).splitlines()
    assert first == "5 notes for 'deep work' (hybrid):"
    assert [line.split(" · ")[1] for line in lines] == [
        *["2025-01-01, changed 2025-02-03"] * 3,
        "unsure",
        "unlikely",
    ]


def test_a_mark_is_not_cut_off_with_what_is_long(samples: ModuleType) -> None:
    ref = samples.ref(title="t" * 3000, tags=("x" * 300,) * 9)
    hits = tuple(Hit(ref, 1, ItemType.NOTE, (), confidence=one) for one in (HIGH, LOW))
    assert " · unsure · " in results_text(results(samples, hits=hits, total=2))


def test_an_item_of_little_confidence_is_marked(samples: ModuleType) -> None:
    passage = Passage("text", (), 3, 3, 0.1)
    hits = tuple(
        Hit(samples.ref(), 1, ItemType.SECTION, (passage,), confidence=one) for one in (HIGH, LOW)
    )
    assert results_text(results(samples, hits=hits)).splitlines()[2] == (
        "2. Deep Work — research/deep-work · unsure · 2025-01-01, changed 2025-02-03 · L3: text"
    )


def test_that_all_are_of_little_confidence_is_said_once(samples: ModuleType) -> None:
    found = sure(samples, LOW, NONE, total=40, offset=10)
    text = results_text(found)
    assert text.splitlines()[0] == "40 notes for 'deep work' (hybrid), 11-12, all unsure:"
    assert text.count("unsure") == 1
    assert "unlikely" not in text


def test_nothing_relevant_is_not_said_again_of_each(samples: ModuleType) -> None:
    text = results_text(sure(samples, HIGH, NONE, LOW, is_weak=True))
    assert text.splitlines()[0].startswith("Nothing relevant was found")
    assert "unsure" not in text
    assert "unlikely" not in text


def test_data_has_the_confidence_of_each(samples: ModuleType) -> None:
    data = results_data(sure(samples, HIGH, MEDIUM, LOW, NONE, None), samples.PROJECT)
    said = [hit["confidence"] for hit in data["results"]]
    assert said == ["high", "medium", "low", "none", None]


@pytest.mark.parametrize(
    ("mode", "full", "said"),
    [
        (SearchType.VECTOR, None, "40 notes for 'deep work' (vector), 1-2:"),
        (SearchType.VECTOR, 0, "40 notes for 'deep work' (vector), 1-2:"),
        (SearchType.HYBRID, None, "40 notes for 'deep work' (hybrid), 1-2:"),
        (SearchType.HYBRID, 3, "40 notes for 'deep work' (hybrid), 3 with all the words, 1-2:"),
    ],
)
def test_what_is_found_by_meaning_is_not_measured_by_words_or_age(
    samples: ModuleType, mode: SearchType, full: int | None, said: str
) -> None:
    assert head(results(samples, total=40, search_type=mode, full_matches=full)) == said


def test_why_less_was_done_than_asked_is_one_bounded_sentence(samples: ModuleType) -> None:
    found = results(samples, degraded="The model\ncannot be used. " + "word " * 900)
    (line,) = [line for line in results_text(found).splitlines() if line.startswith("Note: ")]
    assert line.startswith("Note: The model cannot be used. ")
    assert len(line) < 700
    assert results_data(found, samples.PROJECT)["degraded"] == line.removeprefix("Note: ")


def marked(samples: ModuleType, text: str, *matches: str) -> str:
    passage = Passage(text, (), 1, 1, 1.0, matches)
    hits = (Hit(samples.ref(), 1, ItemType.NOTE, (passage,)),)
    found = results(samples, hits=hits, total=1)
    shown = results_text(found, is_marked=True).splitlines()[2].removeprefix("   L1: ")
    assert not set(MARKS) & set(results_text(found))
    assert results_data(found, samples.PROJECT)["results"][0]["passages"][0].get(
        "matches", []
    ) == list(matches)
    return shown.replace(MARKS[0], "<").replace(MARKS[1], ">")


@pytest.mark.parametrize(
    ("text", "matches", "expected"),
    [
        ("A heap; HEAPS cheap", ("heap",), "A <heap>; HEAPS cheap"),
        ("Heap and heap", ("Heap",), "<Heap> and <heap>"),
        ("deep work, work", ("deep work", "work"), "<deep work>, <work>"),
        ("个人知识管理的", ("知识管理",), "个人<知识管理>的"),
        ("C++ (x) c", ("C++", "x"), "<C++> (<x>) c"),
        ("deep\nwork", ("deep work",), "<deep work>"),
        ("nothing", (), "nothing"),
    ],
)
def test_what_matched_is_named_and_can_be_marked(
    samples: ModuleType, text: str, matches: tuple[str, ...], expected: str
) -> None:
    assert marked(samples, text, *matches) == expected


def test_an_explanation_is_shown_below_its_hit_if_there_is_one(samples: ModuleType) -> None:
    why = Explanation(1, (TermShare("deep", 2, is_exact=True, share=0.5),), {"text": 0.5}, {})
    hits = (
        Hit(samples.ref(), 0.9, ItemType.NOTE, (), why),
        Hit(samples.ref(), 0.5, ItemType.NOTE, ()),
    )
    found = results(samples, hits=hits)
    assert results_text(found).splitlines()[2:5] == [
        "   why: rank 1, score 0.9",
        "     best item: deep 0.5 (as typed, in 2 parts of notes)",
        "     of that: text 0.5",
    ]
    data = results_data(found, samples.PROJECT)
    assert data["results"][0]["explanation"]["rank"] == 1
    assert "explanation" not in data["results"][1]


@pytest.mark.spec("12.3")
def test_nothing_found_says_what_to_try(samples: ModuleType) -> None:
    nothing = results(samples, 0, suggestion="Use fewer words.")
    assert results_text(nothing) == "Nothing found for 'deep work' (fts).\nUse fewer words."
    assert results_data(nothing, samples.PROJECT)["suggestion"] == "Use fewer words."


def test_the_longest_of_everything_stays_within_the_bound(samples: ModuleType) -> None:
    passage = Passage("\u0001" * 500, ("h" * 200,) * 6, 10**6, 10**6, 1 / 3, ("m" * 60,) * 8)
    ref = samples.ref("a", title="t" * 3000, tags=("x" * 300,) * 90)
    found = results(
        samples,
        query="\u0001" * 20_000,
        hits=(Hit(ref, 1 / 3, ItemType.NOTE, (passage,) * 3),) * 100,
        limit=100,
        total=10**6,
        suggestion="s" * 90_000,
        read_filters=("f" * 20_000,) * 64,
        full_matches=10**5,
        relaxed=True,
        degraded="d" * 100,
    )
    assert len(compact(results_data(found, samples.PROJECT))) <= 20_000
    text = results_text(found)
    assert len(text) <= 20_000
    assert text.count("\n1. ") == 1


def test_a_note_with_many_tags_takes_not_the_room_of_the_others(samples: ModuleType) -> None:
    passage = Passage("word " * 70, ("h" * 200,) * 4, 1, 2, 1.0)
    odd = Hit(samples.ref(tags=("t" * 90,) * 40), 1, ItemType.NOTE, (passage,) * 3)
    (data,) = results_data(results(samples, hits=(odd,), total=1), samples.PROJECT)["results"]
    assert (len(data["tags"]), len(data["passages"])) == (8, 1)
    usual = Hit(samples.ref(tags=("t" * 9,) * 40), 1, ItemType.NOTE, (passage,) * 3)
    (data,) = results_data(results(samples, hits=(usual,), total=1), samples.PROJECT)["results"]
    assert (len(data["tags"]), len(data["passages"])) == (40, 3)


@pytest.mark.parametrize("offset", [0, 100, 300])
def test_a_page_too_long_is_made_smaller_and_the_next_one_follows_it(
    samples: ModuleType, offset: int
) -> None:
    page = results(samples, 100, limit=100, offset=offset, total=1000)
    data = results_data(page, samples.PROJECT, 20_000)
    assert len(compact(data)) <= 20_000
    assert 0 < len(data["results"]) < 100
    assert data["page_size"] == len(data["results"])
    assert (data["page"] - 1) * data["page_size"] == offset
    assert (data["next_page"] - 1) * data["page_size"] == offset + len(data["results"])
    text = results_text(page, 8_000)
    assert len(text) <= 8_000
    assert f"page_size={text.count('. Note ')}" in text


def test_a_tiny_score_stays_above_nothing(samples: ModuleType) -> None:
    hit = Hit(samples.ref(), 0.00000123456, ItemType.NOTE, ())
    data = results_data(results(samples, hits=(hit,), total=1), samples.PROJECT)
    assert data["results"][0]["score"] == 0.000001235

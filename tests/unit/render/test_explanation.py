from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest

from memoranda.model.search import (
    Confidence,
    Explanation,
    Hit,
    ItemType,
    SearchType,
    TermShare,
)
from memoranda.render.explanation import explanation_data, explanation_text

Explained = Callable[..., list[str]]

FTS, VECTOR, HYBRID = SearchType
WHY = Explanation(
    rank=2,
    terms=(
        TermShare("heap", 3, is_exact=True, share=2.31456789),
        TermShare("weeks", 12, is_exact=False, share=0.8),
        TermShare("frost", 1, is_exact=False, share=0.0),
        TermShare("qwertz", 0, is_exact=False, share=0.0),
    ),
    fields={"title": 0.5, "tags": 0.0, "headings": 0.0, "text": 2.6148},
    boosts={"phrase": 0.5, "passages": 4.5, "note": 1.0, "all_terms": 1.2, "recency": 1.0},
)
BOTH = replace(
    WHY,
    boosts={
        "phrase": 0.5,
        "passages": 1.5,
        "note": 0.25,
        "all_terms": 1.2,
        "words": 0.5,
        "meaning": 0.3123456,
        "late": 0.0,
        "recency": 0.5,
    },
    text_score=2.31456789,
    text_rank=1,
    similarity=0.6246912,
    similarity_rank=3,
)


@pytest.fixture
def explained(samples: ModuleType) -> Explained:
    """Makes the lines of an explanation."""

    def explained(
        why: Explanation,
        score: float = 1,
        mode: SearchType = FTS,
        confidence: Confidence | None = None,
    ) -> list[str]:
        hit = Hit(samples.ref(), score, ItemType.NOTE, (), why, confidence)
        return explanation_text(hit, why, mode).splitlines()

    return explained


def test_text_says_where_a_hit_is_and_why(explained: Explained) -> None:
    assert explained(WHY, 0.93) == [
        "   why: rank 2, score 0.93",
        "     best item: heap 2.315 (as typed, in 3 parts of notes), "
        "weeks 0.8 (in another form, in 12 parts of notes), "
        "frost 0 (not here, in 1 part of notes), qwertz 0 (nowhere), phrase 0.5",
        "     of that: title 0.5, text 2.615",
        "     score: (passages 4.5 + note 1) x all terms 1.2",
    ]


def test_both_searches_are_shown_beside_each_other(explained: Explained) -> None:
    lines = explained(BOTH, 0.93, HYBRID, Confidence.MEDIUM)
    assert lines[:2] == [
        "   why: rank 2, score 0.93, confidence medium",
        "     by words: rank 1, score 2.315; by meaning: rank 3, similarity 0.6247",
    ]
    assert lines[2].startswith("     best item: heap 2.315 ")
    assert lines[-2:] == [
        "     words: (passages 1.5 + note 0.25) x all terms 1.2",
        "     score: (words 0.5 + meaning 0.3123) x recency 0.5",
    ]


def test_of_an_item_both_sums_are_shown(explained: Explained) -> None:
    boosts = {"phrase": 0.5, "neighbours": 0.25, "words": 0.5, "meaning": 0.25}
    assert explained(replace(BOTH, boosts=boosts), mode=HYBRID)[-2:] == [
        "     words: item 3.615 + neighbours 0.25",
        "     score: words 0.5 + meaning 0.25",
    ]


def test_what_meaning_alone_has_found_has_no_sum_of_words(explained: Explained) -> None:
    why = Explanation(4, WHY.terms[:1], {}, {"words": 0.0, "meaning": 0.25}, None, None, 0.5, 1)
    assert explained(why, 0.25, HYBRID) == [
        "   why: rank 4, score 0.25",
        "     by words: not found; by meaning: rank 1, similarity 0.5",
        "     best item: heap 2.315 (as typed, in 3 parts of notes)",
        "     score: meaning 0.25",
    ]


@pytest.mark.parametrize(
    ("mode", "missed", "line"),
    [
        (HYBRID, "similarity", "     by words: rank 1, score 2.315; by meaning: not found"),
        (HYBRID, "text", "     by words: not found; by meaning: rank 3, similarity 0.6247"),
        (VECTOR, "text", "     by meaning: rank 3, similarity 0.6247"),
    ],
)
def test_a_search_that_ran_and_missed_the_hit_says_so(
    explained: Explained, mode: SearchType, missed: str, line: str
) -> None:
    nothing = (
        {"text_score": None, "text_rank": None}
        if missed == "text"
        else {"similarity": None, "similarity_rank": None}
    )
    assert explained(replace(BOTH, **nothing), mode=mode)[1] == line  # type: ignore[arg-type]


def test_a_search_by_meaning_alone_speaks_of_no_word(explained: Explained) -> None:
    why = replace(WHY, boosts={"words": 0.0, "meaning": 0.5}, similarity=0.5, similarity_rank=1)
    assert explained(why, 0.5, VECTOR) == [
        "   why: rank 2, score 0.5",
        "     by meaning: rank 1, similarity 0.5",
        "     score: meaning 0.5",
    ]


def test_a_hit_far_behind_was_found_by_its_words(explained: Explained) -> None:
    assert explained(Explanation(250, (), {}, {}), 0.01, HYBRID) == [
        "   why: rank 250, score 0.01",
        "     by words: behind those that were looked at closely",
    ]


def test_a_similarity_of_nothing_is_a_similarity(explained: Explained) -> None:
    why = replace(BOTH, similarity=0.0, similarity_rank=9)
    assert explained(why, mode=VECTOR)[1] == "     by meaning: rank 9, similarity 0"


def test_a_search_by_words_alone_speaks_of_no_other(explained: Explained) -> None:
    assert not any("by words" in line or "by meaning" in line for line in explained(BOTH))


def test_an_item_is_the_sum_of_its_terms_and_what_stands_around_it(explained: Explained) -> None:
    boosts = {"phrase": 0.5, "neighbours": 0.25, "note": 0.0, "recency": 0.5}
    why = Explanation(1, WHY.terms, {}, boosts)
    assert explained(why)[-1] == ("     score: (item 3.615 + neighbours 0.25) x recency 0.5")


def test_text_leaves_out_what_adds_nothing(explained: Explained) -> None:
    assert explained(Explanation(1, (), {"text": 0.0}, {})) == ["   why: rank 1, score 1"]


def test_what_multiplies_is_shown_as_a_factor(explained: Explained) -> None:
    boosts = {"passages": 3.0, "date": 2.0, "recency": 0.5, "all_terms": 0.25}
    last = explained(Explanation(1, (), {}, boosts))[-1]
    assert last.strip() == "score: passages 3 x date 2 x recency 0.5 x all terms 0.25"


def test_data_has_all_of_it() -> None:
    data = explanation_data(WHY)
    assert data["rank"] == 2
    assert data["terms"][0] == {"text": "heap", "items": 3, "exact": True, "share": 2.315}
    assert len(data["terms"]) == 4
    assert data["fields"] == {"title": 0.5, "tags": 0.0, "headings": 0.0, "text": 2.615}
    assert data["boosts"]["all_terms"] == 1.2
    legs = ("text_score", "text_rank", "similarity", "similarity_rank")
    assert [data[key] for key in legs] == [None] * 4
    both = explanation_data(BOTH)
    assert [both[key] for key in legs] == [2.315, 1, 0.6247, 3]


def test_a_long_term_is_cut(explained: Explained) -> None:
    why = Explanation(1, (TermShare("x" * 5000, 1, is_exact=True, share=1.0),), {}, {})
    assert len("".join(explained(why))) < 200
    assert len(explanation_data(why)["terms"][0]["text"]) <= 60

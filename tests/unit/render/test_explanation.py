from __future__ import annotations

from memoranda.model.search import Explanation, TermShare
from memoranda.render.explanation import explanation_data, explanation_text

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


def test_text_says_where_a_hit_is_and_why() -> None:
    assert explanation_text(WHY, 0.93).splitlines() == [
        "   why: rank 2, score 0.93",
        "     best item: heap 2.315 (as typed, in 3 parts of notes), "
        "weeks 0.8 (in another form, in 12 parts of notes), "
        "frost 0 (not here, in 1 part of notes), qwertz 0 (nowhere), phrase 0.5",
        "     of that: title 0.5, text 2.615",
        "     score: (passages 4.5 + note 1) x all terms 1.2",
    ]


def test_an_item_is_the_sum_of_its_terms_and_what_stands_around_it() -> None:
    boosts = {"phrase": 0.5, "neighbours": 0.25, "note": 0.0, "recency": 0.5}
    why = Explanation(1, WHY.terms, {}, boosts)
    assert explanation_text(why, 1).splitlines()[-1] == (
        "     score: (item 3.615 + neighbours 0.25) x recency 0.5"
    )


def test_text_leaves_out_what_adds_nothing() -> None:
    assert explanation_text(Explanation(1, (), {"text": 0.0}, {}), 1) == "   why: rank 1, score 1"


def test_what_multiplies_is_shown_as_a_factor() -> None:
    boosts = {"passages": 3.0, "date": 2.0, "recency": 0.5, "all_terms": 0.25}
    last = explanation_text(Explanation(1, (), {}, boosts), 1).splitlines()[-1]
    assert last.strip() == "score: passages 3 x date 2 x recency 0.5 x all terms 0.25"


def test_data_has_all_of_it() -> None:
    data = explanation_data(WHY)
    assert data["rank"] == 2
    assert data["terms"][0] == {"text": "heap", "items": 3, "exact": True, "share": 2.315}
    assert len(data["terms"]) == 4
    assert data["fields"] == {"title": 0.5, "tags": 0.0, "headings": 0.0, "text": 2.615}
    assert data["boosts"]["all_terms"] == 1.2


def test_a_long_term_is_cut() -> None:
    why = Explanation(1, (TermShare("x" * 5000, 1, is_exact=True, share=1.0),), {}, {})
    assert len(explanation_text(why, 1)) < 200
    assert len(explanation_data(why)["terms"][0]["text"]) <= 60

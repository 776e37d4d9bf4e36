"""What a calibration asks is the same every time, and of the kinds it claims to be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.ranking.probes import LONG, PAIRS, QUESTIONS, off_topic, query_for

TEXT = (
    "Boats > Sails\nThe jib is hoisted first, then the mainsail; when the wind is above five "
    "both are reefed before the harbour is left, which takes about ten minutes."
)


def test_queries_that_fit_nothing_are_the_same_every_time() -> None:
    assert off_topic() == off_topic()
    assert len(set(off_topic())) == len(off_topic()) == 48
    assert off_topic()[: len(QUESTIONS)] == QUESTIONS


def test_long_questions_are_three_times_as_long_as_short_ones() -> None:
    assert all(22 <= len(one.split()) <= 32 for one in LONG)
    assert all(4 <= len(one.split()) <= 12 for one in QUESTIONS)


def test_questions_of_pairs_use_other_words_than_their_texts() -> None:
    for pair in PAIRS:
        words = {word.strip(".,;").casefold() for word in pair.text.split()}
        said = {word.casefold() for word in pair.question.split() if len(word) > 4}
        assert not said & words, pair.question


def test_every_second_query_is_a_row_of_words_and_the_others_are_a_few() -> None:
    assert query_for(TEXT, 1) == "the wind is above five both are reefed"
    assert query_for(TEXT, 0) == "hoisted mainsail above reefed"


def test_a_query_has_nothing_of_the_place_of_its_text() -> None:
    assert not {"boats", "sails"} & set(f"{query_for(TEXT, 0)} {query_for(TEXT, 1)}".split())


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(
    ("text", "query"),
    [("Models", "models"), ("Title\n", "title"), ("Title\nso be it", "so be it"), ("", "")],
)
def test_a_short_text_is_its_own_query(text: str, query: str, number: int) -> None:
    assert query in query_for(text, number) or query_for(text, number) in query


@given(st.text(), st.integers(0, 9))
def test_any_text_makes_a_query_of_some_words_of_its_own(text: str, number: int) -> None:
    query = query_for(text, number)
    assert len(query.split()) <= 8

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.model.item_key import item_key
from memoranda.ranking.matching import (
    TermMatches,
    counted,
    distinct,
    inverse_frequency,
    is_in,
    match_items,
    match_notes,
    match_term,
)
from memoranda.text.query import Term

ids = st.lists(st.integers(0, 40), max_size=30).map(sorted)


def keys(*places: tuple[int, int, int]) -> np.ndarray:
    return np.array([item_key(*place) for place in places], np.int64)


def found(word: str, *places: tuple[int, int, int], idf: float, note_idf: float) -> TermMatches:
    return TermMatches(Term(word, (word,)), keys(*places), len(places), idf, note_idf)


CAT = found("cat", (1, 0, 0), (1, 1, 1), (2, 3, 2), idf=2.0, note_idf=1.0)
DOG = found("dog", (2, 1, 1), (2, 3, 2), (3, 0, 0), idf=3.0, note_idf=0.5)


def test_the_rarer_a_term_the_more_it_is_worth() -> None:
    assert inverse_frequency(2, 9) == pytest.approx(math.log(1 + 7.5 / 2.5))
    assert inverse_frequency(0, 9) > inverse_frequency(1, 9) > inverse_frequency(9, 9) > 0
    assert inverse_frequency(10, 9) > 0  # the count is an estimate


def test_a_term_counts_items_and_notes_of_its_own() -> None:
    having = keys((1, 0, 0), (1, 1, 1), (2, 1, 1))
    match = match_term(Term("cat", ("cat",)), having, (30, 7))
    assert (match.items, match.weight) == (3, 1.0)
    assert match.idf == inverse_frequency(3, 30)
    assert match.note_idf == inverse_frequency(2, 7)


def test_items_have_the_sum_of_their_terms_and_a_note_itself_half_as_much_more() -> None:
    match = match_items([CAT, DOG])
    assert (
        match.keys.tolist() == keys((1, 0, 0), (1, 1, 1), (2, 1, 1), (2, 3, 2), (3, 0, 0)).tolist()
    )
    assert match.scores.tolist() == [3.0, 2.0, 3.0, 5.0, 4.5]
    assert match.terms.tolist() == [1, 1, 1, 2, 1]


def test_notes_say_how_many_of_the_terms_they_have_and_how_often() -> None:
    match = match_notes([CAT, DOG])
    assert match.notes.tolist() == [1, 2, 3]
    assert match.terms.tolist() == [1, 2, 1]
    assert match.coverage.tolist() == pytest.approx([1 / 1.5, 1.0, 0.5 / 1.5])
    one, two = (n * 5 / (n + 4) for n in (1, 2))
    assert match.scores.tolist() == pytest.approx(
        [two + 2.5, one + 0.5 * two, 0.5 * (one + 2.5)]  # 2.5: title, tags and headings
    )


def test_a_part_of_a_word_is_worth_its_weight() -> None:
    part = TermMatches(DOG.term, DOG.keys, DOG.items, DOG.idf, DOG.note_idf, weight=0.5)
    assert match_items([part]).scores.tolist() == [1.5, 1.5, 2.25]
    assert match_notes([part]).scores[1] == pytest.approx(match_notes([DOG]).scores[1] / 2)


def test_nothing_matches_nothing() -> None:
    nothing = found("x", idf=1.0, note_idf=1.0)
    for terms in ([], [nothing], [nothing, nothing]):
        assert len(match_items(terms).keys) == len(match_notes(terms).notes) == 0


@given(ids, ids)
def test_membership_is_that_of_sets(values: list[int], wanted: list[int]) -> None:
    mask = is_in(np.array(values, np.int64), np.array(wanted, np.int64))
    assert mask.tolist() == [one in set(wanted) for one in values]


@given(ids)
def test_each_value_once(values: list[int]) -> None:
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


@given(st.lists(st.sets(st.tuples(st.integers(1, 5), st.integers(0, 6), st.just(1))), max_size=5))
def test_scores_are_those_of_a_loop(places: list[set[tuple[int, int, int]]]) -> None:
    terms = [
        found(f"w{n}", *sorted(items), idf=1.0 + n, note_idf=2.0 + n)
        for n, items in enumerate(places)
    ]
    expected: dict[int, float] = {}
    for term in terms:
        for key in term.keys.tolist():
            expected[key] = expected.get(key, 0.0) + term.idf
    match = match_items(terms)
    assert dict(zip(match.keys.tolist(), match.scores.tolist(), strict=True)) == pytest.approx(
        expected
    )
    assert match.keys.tolist() == sorted(expected)


def test_the_words_of_a_date_are_not_missed_beside_others() -> None:
    date = replace(DOG, term=replace(DOG.term, is_date=True))
    assert (counted([CAT, DOG]), counted([CAT, date]), counted([date, date])) == (2, 1, 2)
    match = match_notes([CAT, date])
    assert match.terms.tolist() == [1, 1, 0]
    assert match.coverage.tolist() == [1.0, 1.0, 0.0]
    assert match.scores.tolist() == match_notes([CAT, DOG]).scores.tolist()
    assert match_items([CAT, date]).terms.tolist() == [1, 1, 0, 1, 0]


def test_what_stands_in_for_a_term_covers_only_part_of_it() -> None:
    whole = match_notes([CAT])
    stand_in = match_notes([replace(CAT, weight=0.5)])
    assert whole.coverage.tolist() == [1.0, 1.0]
    assert stand_in.coverage.tolist() == [0.5, 0.5]

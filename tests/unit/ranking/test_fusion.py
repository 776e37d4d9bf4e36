"""Scores of words and of meaning become one score (spec 5.4, 14.5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.model.item_key import NOTE_BITS
from memoranda.ranking.fusion import EVEN, by_both_legs, fuse, joined, ranks
from memoranda.ranking.items import ItemScore
from memoranda.ranking.ordering import ScoredHit

IDS = st.integers(1, 20)
WORDS = st.dictionaries(IDS, st.floats(1e-6, 1e6))
MEANING = st.dictionaries(IDS, st.floats(-1, 1))
SHARES = st.floats(0, 1)

NOTE, OTHER, THIRD = (number << NOTE_BITS for number in (1, 2, 3))


def item(key: int, total: float = 1.0) -> ItemScore:
    """What matters of an item's score here: its key and the sum."""
    return ItemScore(key, total, (), (), (), 0.0)


def hit(key: int, score: float) -> ScoredHit:
    """A note that words have found."""
    return ScoredHit(key >> NOTE_BITS, key, score, (item(key),), {"phrase": 0.5})


@pytest.mark.spec("5.4")
@pytest.mark.spec("14.5")
def test_a_score_is_half_words_and_half_meaning() -> None:
    found = fuse({1: 8.0, 2: 4.0}, {1: 0.5, 3: 0.75})
    assert found == {
        1: pytest.approx(0.5 * 1 + 0.5 * 0.5),  # both
        2: pytest.approx(0.5 * 0.5),  # words alone
        3: pytest.approx(0.5 * 0.75),  # meaning alone
    }


@pytest.mark.spec("14.5")
def test_the_only_hit_of_words_has_their_whole_part() -> None:
    assert fuse({1: 0.003}, {}) == {1: EVEN}
    assert fuse({1: 0.003}, {1: 1.0}) == {1: 1.0}
    assert fuse({1: 2.0, 2: 2.0}, {}) == {1: EVEN, 2: EVEN}


@pytest.mark.spec("14.5")
def test_of_nothing_comes_nothing() -> None:
    assert fuse({}, {}) == {}
    assert fuse({}, {1: 0.5}) == {1: 0.25}


def test_opposite_meaning_takes_nothing_away() -> None:
    assert fuse({1: 1.0}, {1: -0.5, 2: -1.0}) == {1: 0.5, 2: 0.0}


@pytest.mark.parametrize(("share", "score"), [(0.0, 1.0), (0.25, 0.85), (1.0, 0.4)])
def test_the_share_of_meaning_weighs_it(share: float, score: float) -> None:
    assert fuse({1: 3.0}, {1: 0.4}, share) == {1: pytest.approx(score)}


@given(WORDS, MEANING, SHARES)
def test_scores_are_bounded_and_of_all_that_was_found(
    words: dict[int, float], meaning: dict[int, float], share: float
) -> None:
    found = fuse(words, meaning, share)
    assert found.keys() == words.keys() | meaning.keys()
    assert all(0 <= score <= 1 + 1e-9 for score in found.values())


@given(WORDS, MEANING, SHARES, st.floats(0.001, 1000))
def test_the_size_of_word_scores_does_not_matter(
    words: dict[int, float], meaning: dict[int, float], share: float, factor: float
) -> None:
    scaled = {one: score * factor for one, score in words.items()}
    assert fuse(scaled, meaning, share) == pytest.approx(fuse(words, meaning, share), abs=1e-9)


@given(WORDS, MEANING, SHARES, IDS)
def test_more_of_either_is_never_worse(
    words: dict[int, float], meaning: dict[int, float], share: float, one: int
) -> None:
    before = fuse(words, meaning, share).get(one, 0.0)
    nearer = meaning | {one: min(1.0, max(0.0, meaning.get(one, 0.0)) + 0.1)}
    assert fuse(words, nearer, share)[one] >= before - 1e-12
    better = words | {one: 2 * words.get(one, 0.0) + 1}
    assert fuse(better, meaning, share)[one] >= before - 1e-12


def test_joined_hits_keep_what_words_said_and_tell_both_parts() -> None:
    shown = {1: [item(NOTE + 16), item(NOTE)], 2: [item(OTHER)], 3: [item(THIRD)]}
    hits = {1: hit(NOTE, 4.0), 2: hit(OTHER, 1.0)}
    found = {one.entity_id: one for one in joined(hits, {1: 0.5, 3: 0.25}, shown, 0.4)}
    assert {number: one.score for number, one in found.items()} == {
        1: pytest.approx(0.6 + 0.2),
        2: pytest.approx(0.15),
        3: pytest.approx(0.1),
    }
    for one in found.values():
        assert one.boosts["words"] + one.boosts["meaning"] == pytest.approx(one.score)
    assert found[1].boosts["phrase"] == 0.5
    assert "phrase" not in found[3].boosts
    assert (found[1].key, found[1].items) == (NOTE + 16, tuple(shown[1]))
    assert (found[3].key, found[3].items) == (THIRD, tuple(shown[3]))


def test_items_of_a_note_are_ordered_by_both() -> None:
    first, second, third = (NOTE + 16 * place for place in range(3))
    items = [item(third), item(first, 4.0), item(second)]
    order = [one.key for one in by_both_legs(items, {third: 0.8, first: 0.1}, 0.5)]
    assert order == [first, third, second]
    assert [one.key for one in by_both_legs(items, {third: 0.9}, 1.0)] == [third, first, second]
    assert [one.key for one in by_both_legs(items, {}, 0.5)] == [first, second, third]


def test_equal_scores_have_the_order_of_their_ids() -> None:
    assert ranks({7: 0.5, 3: 0.5, 5: 0.9}) == {5: 1, 3: 2, 7: 3}
    assert ranks({}) == {}

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from memoranda.model.item_key import item_key
from memoranda.ranking.items import ItemScore
from memoranda.ranking.matching import Ids, ItemMatches, NoteMatches
from memoranda.ranking.ordering import (
    candidates,
    item_hits,
    note_hits,
    note_promise,
    promise,
    scaled,
    with_surroundings,
)

SECTION = 1


def key(note: int, ordinal: int, kind: int = SECTION) -> int:
    return item_key(note, ordinal, kind)


def items(scores: dict[int, float], terms: int = 1) -> ItemMatches:
    keys = sorted(scores)
    return ItemMatches(
        np.array(keys, np.int64),
        np.array([scores[one] for one in keys]),
        np.full(len(keys), terms, np.int64),
    )


def notes(scores: dict[int, float], coverage: float = 1.0, terms: int = 1) -> NoteMatches:
    ids = sorted(scores)
    return NoteMatches(
        np.array(ids, np.int64),
        np.array([scores[one] for one in ids]),
        np.full(len(ids), coverage),
        np.full(len(ids), terms, np.int64),
    )


def first_by_id(ids: Ids, most: int) -> list[int]:
    return list(map(int, ids[:most]))


def precise(at: int, total: float, phrase: float = 0.0) -> ItemScore:
    return ItemScore(at, total, (total,), (True,), (0.0, 0.0, 0.0, total), phrase)


def test_a_note_promises_what_it_says_and_its_best_item() -> None:
    found = items({key(1, 1): 1.0, key(1, 2): 4.0, key(2, 1): 2.0})
    of_note = note_promise(found, notes({1: 1.0, 2: 3.0}), 1)
    assert of_note.tolist() == [6.0, 8.0]
    assert promise(found, notes({1: 1.0, 2: 3.0}), of_note).tolist() == pytest.approx(
        [1.6, 4.6, 2.8]
    )


def test_of_few_words_each_counts_and_of_many_the_telling_ones() -> None:
    found = items({key(1, 1): 2.0})
    half = notes({1: 1.0}, coverage=0.25, terms=1)
    assert note_promise(found, half, 2).tolist() == pytest.approx([4.0 * 0.375**2])
    assert note_promise(found, half, 8).tolist() == [4.0 / 2]


def test_the_best_items_are_looked_at_few_of_one_note() -> None:
    scores = {key(1, n): 9.0 - n / 100 for n in range(1, 60)} | {key(2, 1): 1.0}
    found = items(scores)
    chosen = candidates(found, found.scores, 8, first_by_id)
    assert chosen.tolist() == [*(key(1, n) for n in range(1, 9)), key(2, 1)]


def test_a_note_with_thousands_of_items_does_not_hide_the_others() -> None:
    others = {key(n, 1): 1.0 for n in range(2, 40)}
    found = items({key(1, n): 5.0 + n for n in range(1, 3000)} | others)
    chosen = candidates(found, found.scores, 8, first_by_id)
    assert chosen.tolist() == [*(key(1, n) for n in range(2992, 3000)), *others]


def test_among_equal_items_paths_decide() -> None:
    best = {key(n, 1): 9.0 for n in range(1, 31)}
    found = items(best | {key(n, m): 1.0 for n in range(31, 1000) for m in (1, 2)})
    chosen = candidates(
        found, found.scores, 8, lambda notes, most: sorted(notes.tolist(), reverse=True)[:most]
    )
    assert chosen.tolist() == [
        *best, *(key(n, m) for n in range(975, 1000) for m in (1, 2)),
    ]  # fmt: skip


def test_not_more_than_80_items_are_looked_at() -> None:
    found = items({key(n, 1): float(n % 500) for n in range(1, 2000)})
    chosen = candidates(found, found.scores, 8, first_by_id)
    assert len(chosen) == 80
    assert chosen.tolist() == sorted(chosen.tolist())
    assert min(found.scores[np.isin(found.keys, chosen)]) >= 470


def test_an_item_gets_part_of_its_neighbours_and_of_its_note() -> None:
    scored = [precise(key(1, 1), 4.0), precise(key(1, 2), 2.0), precise(key(2, 3), 3.0)]
    found = items({one.key: one.total for one in scored})
    finals = with_surroundings(scored, found)
    assert finals[key(1, 1)] == pytest.approx((4.0 + 0.4 + 1.0, 0.4, 1.0))
    assert finals[key(1, 2)] == pytest.approx((2.0 + 0.8 + 1.0, 0.8, 1.0))
    assert finals[key(2, 3)] == pytest.approx((3.0 + 0.5, 0.0, 0.5))


def test_a_neighbour_that_was_not_looked_at_gives_its_cheap_score_in_the_same_scale() -> None:
    scored = [precise(key(1, 1), 4.0)]
    found = items({key(1, 1): 8.0, key(1, 2): 6.0})
    assert with_surroundings(scored, found)[key(1, 1)][1] == pytest.approx(0.2 * 6.0 * 0.5)


def test_another_note_is_no_neighbour() -> None:
    last, first = item_key(1, (1 << 22) - 1, SECTION), item_key(2, 0, SECTION)
    assert first - last == 4
    scored = [precise(last, 1.0), precise(first, 1.0)]
    finals = with_surroundings(scored, items({last: 1.0, first: 1.0}))
    assert [one[1] for one in finals.values()] == [0.0, 0.0]


def test_only_the_three_best_items_speak_for_a_note() -> None:
    scored = [precise(key(1, 2 * n), 3.0) for n in range(1, 6)]
    finals = with_surroundings(scored, items({one.key: 1.0 for one in scored}))
    assert {one[2] for one in finals.values()} == {1.5}


def test_items_as_hits_say_what_they_got() -> None:
    scored = [precise(key(1, 1), 4.0, phrase=1.0), precise(key(1, 2), 2.0)]
    hits = item_hits(scored, items({one.key: one.total for one in scored}))
    assert hits[0].score == pytest.approx(5.4)
    assert hits[0].boosts == pytest.approx({"phrase": 1.0, "neighbours": 0.4, "note": 1.0})
    assert (hits[0].entity_id, hits[0].items) == (1, (scored[0],))


def test_a_note_is_its_whole_text_and_its_three_best_items() -> None:
    scored = [precise(key(1, n), float(n)) for n in (1, 2, 4, 8)] + [precise(key(2, 1), 1.0)]
    hits = note_hits(scored, notes({1: 3.0, 2: 1.0}), 1)
    assert [one.total for one in hits[0].items] == [8.0, 4.0, 2.0]
    assert hits[0].score == pytest.approx(2 * 3.0 + 8.0 + 2.0 + 0.5)
    assert hits[0].key == key(1, 8)
    assert hits[0].boosts["passages"] == pytest.approx(10.5)
    assert hits[1].score == pytest.approx(3.0)


def test_a_note_with_one_of_two_words_counts_less_and_with_the_rarer_one_not_so_much() -> None:
    one = [precise(key(1, 1), 1.0)]
    [whole] = note_hits(one, notes({1: 1.0}, terms=2), 2)
    [rarer] = note_hits(one, notes({1: 1.0}, coverage=0.8, terms=1), 2)
    [other] = note_hits(one, notes({1: 1.0}, coverage=0.2, terms=1), 2)
    assert (whole.boosts["all_terms"], whole.score) == (1.0, 3.0)
    assert rarer.boosts["all_terms"] == pytest.approx(0.65**2)
    assert other.score == pytest.approx(3.0 * 0.35**2)


def test_the_note_whose_title_is_the_query_counts_two_and_a_half_times() -> None:
    plain, titled = precise(key(1, 1), 1.0), replace(precise(key(1, 0, 0), 1.0), title=1.0)
    [without] = note_hits([plain], notes({1: 1.0}), 1)
    [hit] = note_hits([titled], notes({1: 1.0}), 1)
    assert hit.score == pytest.approx(2.5 * without.score)
    assert (without.boosts["title"], hit.boosts["title"]) == (1.0, 2.5)


def test_a_factor_scales_a_hit_and_is_said() -> None:
    [hit] = note_hits([precise(key(1, 1), 1.0)], notes({1: 1.0}), 1)
    lower = scaled(hit, 0.5, "recency")
    assert lower.score == hit.score / 2
    assert lower.boosts["recency"] == 0.5


def test_no_items_are_no_hits() -> None:
    assert note_hits([], notes({}), 1) == []
    assert item_hits([], items({})) == []

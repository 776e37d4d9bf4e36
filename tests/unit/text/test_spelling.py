from __future__ import annotations

from bisect import bisect_left
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text.spelling import NearWord, Speller, allowed_edits, best


def near(word: str, vocabulary: set[str], edits: int, *, fixed: bool = False) -> dict[str, int]:
    """Near words and their edits, found as a sorted vocabulary is: by jumps."""
    words, speller = sorted(vocabulary), Speller(word, edits, is_start_fixed=fixed)
    found: dict[str, int] = {}
    start: str | None = speller.first
    last = ""
    while start is not None and (place := bisect_left(words, start)) < len(words):
        if words[place] >= speller.end:
            break
        assert start > last, "a jump goes forward"
        last = words[place]
        if (away := speller.edits(last)) is not None:
            found[last] = away
        start = speller.after(last)
    return found


@cache
def distance(one: str, other: str) -> int:
    """Optimal string alignment by its definition."""
    if not one or not other:
        return len(one) + len(other)
    shorter = [
        distance(one[:-1], other) + 1,
        distance(one, other[:-1]) + 1,
        distance(one[:-1], other[:-1]) + (one[-1] != other[-1]),
    ]
    if one[-2:] == other[-2:][::-1] and len(one) > 1:
        shorter.append(distance(one[:-2], other[:-2]) + 1)
    return min(shorter)


@pytest.mark.parametrize(
    ("typed", "meant", "edits"),
    [("wharehouse", "warehouse", 1), ("warehose", "warehouse", 1), ("warehouze", "warehouse", 1),
     ("wraehouse", "warehouse", 1), ("awrehouse", "warehouse", 1), ("arehouse", "warehouse", 1),
     ("werehose", "warehouse", 2), ("cafe", "cafés", 2), ("архтектура", "архитектура", 1),
     ("warehouse", "warehouse", 0)],
)  # fmt: skip
def test_edits_are_letters_too_many_missing_wrong_or_swapped(
    typed: str, meant: str, edits: int
) -> None:
    assert near(typed, {meant, "zebra", "aardvark"}, 2) == {meant: edits}
    assert Speller(typed, edits, is_start_fixed=False).edits(meant) == edits
    if edits:
        assert Speller(typed, edits - 1, is_start_fixed=False).edits(meant) is None


def test_a_fixed_start_leaves_other_first_letters_out() -> None:
    words = {"bat", "cat", "cats", "at", "dcat"}
    assert near("cat", words, 1) == {"bat": 1, "cat": 0, "cats": 1, "at": 1, "dcat": 1}
    assert near("cat", words, 1, fixed=True) == {"cat": 0, "cats": 1}


def test_other_scripts_are_not_looked_at() -> None:
    assert near("word", {"word", "wordл", "лord", "三ord"}, 1) == {"word": 0, "wordл": 1}
    assert near("слова", {"слово", "alова"}, 1) == {"слово": 1}


def test_little_of_a_large_vocabulary_is_looked_at() -> None:
    letters = "abcdefghij"
    words = sorted({x + y + z + "tail" for x in letters for y in letters for z in letters})
    speller, jumps = Speller("abctail", 1, is_start_fixed=True), 0
    start: str | None = speller.first
    while start is not None and (place := bisect_left(words, start)) < len(words):
        jumps += 1
        start = speller.after(words[place])
    assert jumps < 50  # of 1,000; 100 begin with a


def test_a_jump_can_be_written_as_utf8() -> None:
    assert Speller("ab", 1, is_start_fixed=True).after("a\ud7ffz") == "a\ue000"  # no surrogate


letters = st.sampled_from("abcd")
short = st.text(letters, min_size=1, max_size=6)


@given(short, st.sets(short | st.text(min_size=1, max_size=4)), st.integers(1, 2), st.booleans())
def test_jumps_find_what_a_look_at_every_word_finds(
    word: str, vocabulary: set[str], edits: int, fixed: bool
) -> None:
    speller = Speller(word, edits, is_start_fixed=fixed)
    expected = {
        other: away
        for other in vocabulary
        if speller.first <= other < speller.end and (away := distance(word, other)) <= edits
    }
    assert near(word, vocabulary, edits, fixed=fixed) == expected


@pytest.mark.parametrize(
    ("word", "edits"),
    [("cat", 0), ("cats", 1), ("library", 1), ("database", 2), ("2025", 0), ("v2beta", 0), ("部署方案", 0),
     ("검색엔진을", 0), ("слово", 1), ("a" * 41, 0), ("", 0), ("c\ue02b\ue02b", 0)],
)  # fmt: skip
def test_short_words_numbers_and_unspaced_scripts_have_no_spelling(word: str, edits: int) -> None:
    assert allowed_edits(word) == edits


def test_the_best_have_few_edits_then_many_items() -> None:
    rare, common, far = NearWord("rare", 1, 2), NearWord("same", 1, 70), NearWord("far", 2, 900)
    assert best([far, rare, common], 2) == [common, rare]
    assert best([NearWord("b", 1, 2), NearWord("a", 1, 2)], 2)[0].word == "a"

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memoranda.embeddings.windows import clean, pieces, unit, whole


@given(st.text(max_size=300), st.integers(1, 40))
def test_pieces_lose_nothing_and_all_fit(text: str, most: int) -> None:
    found = pieces(text, lambda part: len(part) <= most)
    assert "".join(found) == text
    assert all(len(part) <= most for part in found)


def test_a_text_that_fits_is_one_piece() -> None:
    assert pieces("one. two. three", lambda _: True) == ["one. two. three"]


def test_a_text_is_cut_behind_a_sentence_near_its_middle() -> None:
    text = "The first is here and goes on. The second is there and goes on as well"
    assert pieces(text, lambda part: len(part) < 60)[0] == "The first is here and goes on. "


def test_a_paragraph_is_a_better_place_than_a_line() -> None:
    text = "aaaa aaaa aaaa\n\nbbbb\nbbbb bbbb"
    assert pieces(text, lambda part: len(part) < 20)[0] == "aaaa aaaa aaaa\n\n"


def test_the_vector_of_a_long_text_is_the_mean_of_its_pieces_by_length() -> None:
    vectors = np.array([[1, 0], [0, 1], [0, 1]], np.float32)
    found = whole(vectors, [["aaa", "b"], ["c"]])
    assert np.allclose(found, [[3 / 10**0.5, 1 / 10**0.5], [0, 1]])
    assert found.dtype == np.float32


def test_rows_become_unit_length_and_zeros_stay() -> None:
    found = unit(np.array([[3, 4], [0, 0], [1e30, 0]], np.float32))
    assert np.allclose(found, [[0.6, 0.8], [0, 0], [1, 0]])
    assert found.dtype == np.float32


def test_lone_surrogates_are_replaced_and_nothing_else() -> None:
    assert clean("a\ud800b 狗 é") == "a?b 狗 é"

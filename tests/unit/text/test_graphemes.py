from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text.graphemes import graphemes, is_boundary, last_boundary, next_boundary

WHOLE = {
    "combining mark": "e\u0301",
    "several marks": "a\u0323\u0302",
    "emoji with skin": "👍🏽",
    "family": "👩\u200d👩\u200d👧\u200d👦",
    "heart as an emoji": "❤\ufe0f",
    "flag": "🇩🇪",
    "flag of England": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "Hangul in jamo": unicodedata.normalize("NFD", "한"),
    "open syllable and trailing consonant": "하\u11ab",
    "leading consonant and open syllable": "\u1112하",
    "closed syllable and trailing consonant": "한\u11ab",
    "Thai vowel": "ก\u0e33",
    "Devanagari conjunct": "क्ष",
    "half-width voiced sound": "ｶ\uff9e",
    "CR LF": "\r\n",
    "surrogate halves": "\ud83d\ude00",
}


def parts(text: str) -> list[str]:
    return [text[start:stop] for start, stop in graphemes(text)]


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_seen_as_one_character_is_not_cut(name: str) -> None:
    whole = WHOLE[name]
    assert parts(f"x{whole}y") == ["x", whole, "y"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("🇩🇪🇫🇷🇮", ["🇩🇪", "🇫🇷", "🇮"]),
        ("한국", ["한", "국"]),
        ("한하", ["한", "하"]),
        ("\u1112\u11ab", ["\u1112", "\u11ab"]),
        ("中文", ["中", "文"]),
        ("\n\r", ["\n", "\r"]),
        ("अक", ["अ", "क"]),
        ("क्—", ["क्", "—"]),
        ("\u0301e", ["\u0301", "e"]),
    ],
)
def test_what_is_seen_as_several_characters_may_be_cut(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


def test_a_boundary_is_looked_for_in_both_directions() -> None:
    text = "ab" + "e\u0301\u0302" + "cd"
    assert next_boundary(text, 3, len(text)) == 5
    assert last_boundary(text, 4, 0) == 2
    assert (next_boundary(text, 3, 4), last_boundary(text, 4, 3)) == (4, 3)


@given(
    st.text(
        alphabet=st.sampled_from("ae\u0301\u200d👍🏽🇩한\u1112\u1161\u11ab\r\n\u094dक"), max_size=40
    )
)
def test_the_parts_are_the_text_and_their_edges_are_boundaries(text: str) -> None:
    assert "".join(parts(text)) == text
    edges = {start for start, _ in graphemes(text)} | {len(text)}
    assert edges == {at for at in range(len(text) + 1) if is_boundary(text, at)} | {0}

from __future__ import annotations

import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from Stemmer import Stemmer

from memoranda.text import analysis
from memoranda.text.analysis import (
    ENGLISH,
    folded,
    forms,
    index_terms,
    normalized,
    pairs,
    signed_terms,
    stems,
    token,
    word_spans,
    written_words,
)


def added(text: str) -> list[str]:
    return index_terms(text).split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("running runs run", ["run"]),
        ("studies policies", ["polici", "studi"]),
        ("plain word", []),
        ("Straße", ["strasse", "strass"]),
        ("Łódź", ["lodz"]),
        ("café CAFÉ", []),
        ("й ё", ["е", "и"]),
        ("שָׁלוֹם", ["שלום"]),
        ("ﬁne", ["fine"]),
    ],
)
def test_only_what_differs_from_the_words_is_added(text: str, expected: list[str]) -> None:
    assert added(text) == expected


def test_decomposed_text_adds_its_composed_words() -> None:
    assert "й" in added("и\u0306")


def test_pairs_of_unspaced_scripts_come_in_text_order_and_repeat() -> None:
    assert added("東京タ 東京") == ["東京", "京タ", "タ", "東京", "京"]


def test_a_word_inside_an_unspaced_run_is_a_word() -> None:
    assert added("重跑gen-itgc后") == ["重跑", "跑", "gen", "itgc", "后"]


def test_a_query_of_unspaced_script_is_a_phrase_of_what_the_index_holds() -> None:
    assert " ".join(pairs("識グラ")) in index_terms("知識グラフ")


@pytest.mark.parametrize("text", ["C++", "c#", ".net", "F#", "(c++)", "c#;", "C++\n"])
def test_signs_that_make_a_name_are_kept(text: str) -> None:
    [term] = signed_terms(text)
    assert term in added(f"We use {text} daily")


def test_names_with_other_signs_are_other_terms() -> None:
    assert len({*signed_terms("c++"), *signed_terms("c#"), *signed_terms(".c"), "c"}) == 4


@pytest.mark.parametrize(
    "text", ["a+b", "page#anchor", "## H", "#tag", "end. Next", "src/.x", "5.", "1,5", "a1.2b"]
)
def test_other_signs_are_no_terms(text: str) -> None:
    assert signed_terms(text) == []


def test_an_emoji_is_a_term() -> None:
    assert added("plant 🌱") == added("🌱 plant") != []


@pytest.mark.parametrize("sign", ["⏫", "⏳", "⌚", "⬛", "⭐", "✅", "🔁"])
def test_emoji_are_terms_wherever_they_are_in_unicode(sign: str) -> None:
    assert added(sign) == [f"\ue000{ord(sign):x}"]


def test_words_end_where_they_end_in_the_text() -> None:
    text = "Le cafe\u0301, naïve!"
    assert [text[a:b] for a, b in word_spans(text)] == ["Le", "cafe\u0301", "naïve"]


@given(st.text())
def test_analysis_takes_any_text(text: str) -> None:
    index_terms(text)
    for word in written_words(text):
        assert token(word) == token(token(word))
        assert folded(word)


@given(st.text(alphabet=string.ascii_letters + " -'.", max_size=200))
def test_ascii_text_has_the_same_terms_by_both_ways(text: str) -> None:
    other = set(added(f"{text} ж")) - {"ж"}
    assert set(added(text)) == other


def test_numbers_and_hashes_are_not_stemmed() -> None:
    word = "abcdefs" * 10
    assert stems(word) == stems("4s") == ()
    assert stems("cats") == (Stemmer("english").stemWord("cats"),) == ("cat",)


@pytest.mark.parametrize(
    ("word", "languages", "expected"),
    [
        ("häuser", ("german",), ("haus",)),
        ("hauser", ("german",), ("haus",)),
        ("straßen", ("german",), ("strass",)),
        ("entraînements", ("french",), ("entrain",)),
        ("которыми", ("russian",), ("котор",)),
        ("которыми", ("german", "russian"), ("котор",)),
        ("которыми", ENGLISH, ()),
        ("running", ("russian",), ()),
        ("running", ("english", "german"), ("run", "running")),
        ("katzen", ("english", "german"), ("katzen", "katz")),
        ("résumés", ENGLISH, ("resum",)),
        ("donnée", ("french",), ("donne", "don")),
        ("καλημέρας", ("greek",), ("καλημερ",)),
    ],
)
def test_a_word_has_the_stems_of_the_languages_in_its_script(
    word: str, languages: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert stems(word, languages) == expected


@pytest.mark.parametrize(
    ("typed", "written", "languages"),
    [
        ("Häusern", "Das Haus", ("german",)),
        ("entrainement", "Les entraînements", ("french",)),
        ("книга", "Много книг", ("russian",)),
        ("книги", "Читаю книгу", ("english", "russian")),
        ("canción", "las canciones", ("spanish",)),
    ],
)
def test_inflected_words_share_a_form(typed: str, written: str, languages: tuple[str, ...]) -> None:
    [word] = written_words(typed)
    held = {*map(token, written_words(written)), *index_terms(written, languages).split()}
    assert held & {token(word), *forms(word, languages)}


@pytest.mark.parametrize(
    ("text", "versions"),
    [("v1.2 is out", ["1.2"]), ("1.2.3, 3.14.", ["1.2.3", "3.14"]), ("rev10.0-rc", ["10.0"])],
)
def test_a_version_is_a_term_with_its_dots(text: str, versions: list[str]) -> None:
    assert [
        "".join("." if c > "\ue000" else c for c in one) for one in signed_terms(text)
    ] == versions


def test_case_that_changes_length_is_folded() -> None:
    assert token(normalized("İstanbul")) == "istanbul"


def test_every_mark_of_the_first_plane_is_in_a_block_that_is_looked_at() -> None:
    marks = [code for code in range(0x10000) if unicodedata.category(chr(code)) in {"Mn", "Mc"}]
    blocks = analysis._MARK_BLOCKS
    assert [code for code in marks if not any(a <= code < b for a, b in blocks)] == []

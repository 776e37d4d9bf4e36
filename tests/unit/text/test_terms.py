from __future__ import annotations

import pytest

from memoranda.text.terms import Term, read_term


def term(text: str, *languages: str, is_quoted: bool = False) -> Term:
    found = read_term(text, languages or ("english",), is_quoted=is_quoted)
    assert found is not None
    return found


@pytest.mark.parametrize("text", ["", "--", "*", "…", "\x01"])
def test_signs_alone_are_no_term(text: str) -> None:
    assert read_term(text, ("english",)) is None


def test_stems_follow_the_exact_word() -> None:
    assert term("Policies").phrases == ("policies", "polici")
    assert term("Häuser", "english", "german").phrases == ("hauser", "haus")


def test_a_quoted_word_has_no_stems_and_is_required() -> None:
    quoted = term("policies", is_quoted=True)
    assert (quoted.phrases, quoted.loose, quoted.is_required) == (("policies",), (), True)


def test_a_quoted_stop_word_is_looked_for() -> None:
    assert not term("the", is_quoted=True).is_stop


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("machine-learning", "machine learning"),
        ("src/app/main.py", "src app main py"),
        ("kim@example.org", "kim example org"),
        ("https://example.org/a?c=d#e", "https example org a c d e"),
        ("C:\\work\\notes.txt", "c work notes txt"),
        ("node.js", "node js"),
        ("AT&T", "at t"),
        ("R&D", "r d"),
        ("O'Brien", "o brien"),
        ("snake_case", "snake case"),
        ("[[Deep]]", "deep"),
        ("#tag", "tag"),
        ("ＡＢＣ", "ａｂｃ"),
    ],
)
def test_a_word_with_signs_is_a_phrase_of_its_parts(text: str, phrase: str) -> None:
    assert term(text).phrases[0] == phrase


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("v1.2", ["v1 2", "1 2"]),
        ("1.2.3", ["v1 2 3", "1 2 3"]),
        ("U.S.A.", ["usa"]),
        ("USA", ["u s a"]),
        ("e-mail", ["email"]),
        ("getUserName", ["get user name"]),
        ("ＡＢＣ", ["abc"]),
        ("Straße", ["strasse"]),
    ],
)
def test_other_ways_to_write_the_same_are_looked_for_too(text: str, ways: list[str]) -> None:
    assert set(ways) <= set(term(text).phrases[1:])


def test_a_version_is_first_looked_for_with_its_dots() -> None:
    assert term("v1.2").phrases[0] == term("1.2").phrases[0] != term("1.2.3").phrases[0]
    assert " " not in term("1.2").phrases[0]


@pytest.mark.parametrize("text", ["Caroline's", "Caroline’s", "CAROLINE'S", "Caroline's?"])
def test_a_possessive_is_its_word(text: str) -> None:
    assert term(text).phrases == ("caroline", "carolin")


@pytest.mark.parametrize("text", ["teachers'", "Jess'"])
def test_a_possessive_of_an_s_is_its_word(text: str) -> None:
    assert term(text).phrases[0] == text[:-1].lower()


@pytest.mark.parametrize(
    ("text", "language", "word"),
    [
        ("l'école", "french", "école"),
        ("d’été", "french", "été"),
        ("dell'arte", "italian", "arte"),
        ("l'école", "german", "l'école"),
        ("l'école's", "german", "l'école's"),
    ],
)
def test_an_elided_word_stands_for_itself_in_its_language(
    text: str, language: str, word: str
) -> None:
    assert term(text, language).text == word


@pytest.mark.parametrize("text", ["don't", "it’s", "What's", "we'll"])
def test_contractions_of_stop_words_are_stop_words(text: str) -> None:
    assert term(text).is_stop


@pytest.mark.parametrize("text", ["AT&T", "the-who", "O'Brien"])
def test_other_words_with_signs_are_no_stop_words(text: str) -> None:
    assert not term(text).is_stop


def test_stop_words_are_those_of_all_languages() -> None:
    assert term("Über", "english", "german").is_stop
    assert not term("Über", "english").is_stop


def test_the_parts_of_a_word_are_looked_for_when_it_is_nowhere() -> None:
    assert term("the-quick/brown").loose == ("quick", "brown")
    assert term("c++").loose == ("c",)


def test_an_emoji_is_a_term() -> None:
    assert len(term("🌱🌱").phrases) == 2
    assert term("🌱", is_quoted=True).is_required


def test_a_run_of_unspaced_script_is_also_a_phrase_of_pairs() -> None:
    assert term("東京タワー").phrases[1] == "東京 京タ タワ ワー"


def test_in_a_phrase_of_unspaced_words_only_the_last_may_go_on() -> None:
    assert term("東京 タワー", is_quoted=True).phrases[1] == "東京 京 タワ ワー"


def test_the_parts_of_an_unspaced_run_are_its_pairs() -> None:
    assert term("闷蒸多少").loose == ("闷蒸", "蒸多", "多少")
    assert term("手冲").loose == ()
    assert term("서울-부산역").loose == ("서울", "부산", "산역")
    assert term("重跑gen-itgc后").loose == ("重跑", "gen", "itgc")

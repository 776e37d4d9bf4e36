from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.services.term_matches import matches
from memoranda.text.query import parse_query


def found(text: str, query: str, *languages: str) -> list[str]:
    spoken = languages or ("english",)
    return [text[m.start : m.stop] for m in matches(text, parse_query(query, spoken).terms, spoken)]


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("She studied policies", "policy study", ["studied", "policies"]),
        ("Dying stars lie there", "die lying", ["Dying", "lie"]),
        ("un café noir", "cafe", ["café"]),
        ("Straße und Łódź", "strasse lodz", ["Straße", "Łódź"]),
        ("Ещё Ёлка стоит", "елка", ["Ёлка"]),
        ("composting is compost", "compo", ["composting", "compost"]),
        ("C and C++ and c, C#", "C++", ["C++"]),
        ("the .NET runtime of example.net", ".net", [".NET"]),
        ("so 🌱 grows", "🌱", ["🌱"]),
        ("今天讨论了部署方案。", "部署方案", ["部署方案"]),
        ("プロジェクト承認", "プロジェクト", ["プロジェクト"]),
        ("重跑gen-itgc后完成", "itgc", ["itgc"]),
        ("重跑gen-itgcx后完成", "itgc", []),
        ("한국어 검색 테스트", "검색", ["검색"]),
        ("ภาษาไทยง่าย", "ไทย", ["ไทย"]),
        ("version 4.8.1 of it", "4.8.1", ["4.8.1"]),
        ("the e-mail and the email", "e-mail", ["e-mail", "mail", "email"]),
        ("nothing here", "absent", []),
    ],
)
def test_terms_are_found_as_the_index_finds_them(
    text: str, query: str, expected: list[str]
) -> None:
    assert found(text, query) == expected


def test_text_that_is_not_composed_is_found_where_it_is_written() -> None:
    text = unicodedata.normalize("NFD", "メモ: がっこうの話 café 검색어")
    assert [unicodedata.normalize("NFC", one) for one in found(text, "がっこう 검색 cafe")] == [
        "がっこう",
        "café",
        "검색",
    ]


def test_half_width_and_full_width_are_the_same_in_unspaced_script() -> None:
    assert found("新しいﾌﾟﾛｼﾞｪｸﾄ案", "プロジェクト") == ["ﾌﾟﾛｼﾞｪｸﾄ"]


def test_stems_are_those_of_the_configured_languages() -> None:
    assert found("viele Häuser und Bücherregale", "bücherregal", "german") == ["Bücherregale"]
    assert found("les chansons", "chanson", "french") == ["chansons"]
    assert found("die aepfel reifen", "Äpfel ", "german") == ["aepfel"]


@pytest.mark.parametrize(
    ("language", "text", "query", "expected"),
    [
        ("dutch", "we hebben gelopen", "lopen ", ["gelopen"]),
        ("indonesian", "saya membaca novel", "baca ", ["membaca"]),
        ("arabic", "قرأت الكتاب الجديد", "كتاب ", ["الكتاب"]),
    ],
)
def test_a_stem_that_lacks_the_beginning_of_its_word_is_found(
    language: str, text: str, query: str, expected: list[str]
) -> None:
    assert found(text, query, language) == expected


def test_a_phrase_is_found_whole_and_its_telling_words_alone() -> None:
    text = "state of the art; the state; of art"
    assert found(text, '"state of the art"') == ["state of the art", "state", "art", "state", "art"]


def test_words_of_a_phrase_with_others_between_are_no_phrase() -> None:
    assert found("deep and hard work", '"deep work"') == ["deep", "work"]
    assert found("deep, hard work force", '"deep work force"') == ["deep", "work", "force"]
    assert found("Deep\nwork", '"deep work"')[0] == "Deep\nwork"


def test_a_phrase_that_repeats_a_word_is_found() -> None:
    assert found("say bye bye baby", '"bye bye baby"')[0] == "bye bye baby"


def test_a_word_of_a_phrase_may_be_a_term_of_its_own() -> None:
    terms = parse_query('work "deep work"').terms
    text = "deep work"
    assert {m.term for m in matches(text, terms)} == {0, 1}
    assert text in found(text, 'work "deep work"')


def test_a_path_is_found_whole() -> None:
    assert found("see src/app/main.py there", "src/app/main.py")[0] == "src/app/main.py"


def test_an_exact_form_is_worth_more_than_a_stem_and_a_phrase_more_than_its_words() -> None:
    def worth(text: str, query: str) -> int:
        features = {f for m in matches(text, parse_query(query).terms) for f in m.worth}
        return sum(value for _, value in features)

    assert worth("policy", "policy") > worth("policies", "policy") > 0
    assert worth("deep work", '"deep work"') > worth("deep, no work", '"deep work"')
    assert worth("garden heap", "garden heap") > worth("heap garden", "garden heap")


@given(st.text(max_size=200), st.text(max_size=30))
def test_matches_lie_in_the_text_in_order(text: str, query: str) -> None:
    places = [(m.start, m.stop) for m in matches(text, parse_query(query).terms)]
    assert all(0 <= start < stop <= len(text) for start, stop in places)
    assert [start for start, _ in places] == sorted(start for start, _ in places)


def test_another_way_to_write_a_name_is_found() -> None:
    assert found("in the U.S.A. there", "USA") == ["U.S.A"]
    assert found("since v1.2 or 1.2", "1.2") == ["v1.2", "1.2"]


def test_the_end_of_a_very_long_text_is_not_looked_at() -> None:
    assert found("x " * 49_990 + "needle", "needle") == ["needle"]
    assert found("x " * 50_000 + "needle", "needle") == []


def test_a_text_of_nothing_but_matches_is_bounded() -> None:
    terms = parse_query("的").terms
    assert len(matches("的" * 200_000, terms)) <= 4_000


def test_a_phrase_has_no_stems() -> None:
    assert found("deep works", '"deep work"') == ["deep"]
    assert found("le café noir", '"cafe noir"')[0] == "café noir"

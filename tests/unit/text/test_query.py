from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text.query import TextQuery, parse_query


def texts(query: TextQuery) -> list[tuple[list[str], list[str]]]:
    return [([t.text for t in c.required], [t.text for t in c.excluded]) for c in query.clauses]


@pytest.mark.spec("14.3")
def test_hyphenated_word_is_a_phrase_and_last_word_a_prefix() -> None:
    hyphenated, last = parse_query("machine-learning basics").terms
    assert hyphenated.phrases == ("machine learning",)
    assert not hyphenated.is_prefix
    assert last.phrases[0] == "basics"
    assert last.is_prefix


@pytest.mark.spec("5.2")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cats AND dogs", [(["cats", "dogs"], [])]),
        ("cats OR dogs", [(["cats"], []), (["dogs"], [])]),
        ("big cats OR dogs", [(["big", "cats"], []), (["dogs"], [])]),
        ("cats NOT dogs", [(["cats"], ["dogs"])]),
        ("cats -dogs", [(["cats"], ["dogs"])]),
        ('cats -"hot dogs"', [(["cats"], ["hot dogs"])]),
        ("cats and dogs", [(["cats", "dogs"], [])]),
        ("-cats", [(["cats"], [])]),
        ("NOT cats", [(["cats"], [])]),
        ("cats OR", [(["cats"], [])]),
        ("AND OR", [(["AND", "OR"], [])]),
        ("minus -5", [(["minus", "-5"], [])]),
        ("the cats", [(["cats"], [])]),
        ("the who", [(["the", "who"], [])]),
        ('"the who" live', [(["the who", "live"], [])]),
        ("", []),
        ('"" * --', []),
    ],
)
def test_operators(text: str, expected: list[tuple[list[str], list[str]]]) -> None:
    assert texts(parse_query(text)) == expected


def test_stems_follow_the_exact_word() -> None:
    [term] = parse_query("Policies").terms
    assert term.phrases == ("policies", "polici")


def test_a_phrase_has_no_stems_and_no_prefix() -> None:
    [term] = parse_query('"policies"').terms
    assert term.phrases == ("policies",)
    assert not term.is_prefix


def test_stop_words_and_single_letters_are_no_prefix() -> None:
    assert not any(parse_query(text).terms[-1].is_prefix for text in ("x the", "plan b"))


def test_fields_narrow_the_search() -> None:
    query = parse_query('title:"deep work" tag:#x type:concept flow foo:bar title:')
    assert [t.text for t in query.terms] == ["flow", "foo:bar", "title:"]
    assert [(f.title, f.tags, f.note_types) for f in query.filters] == [
        ("deep work", (), ()),
        (None, ("#x",), ()),
        (None, (), ("concept",)),
    ]


@pytest.mark.parametrize(
    "text",
    ["word " * 2000, "x" * 100_000, '"' * 5000, "cats AND " * 500, "(" * 2000,
     " ".join(f"w{i}" for i in range(2000)), '"' + "w " * 5000 + '"'],
)  # fmt: skip
def test_long_queries_are_cut(text: str) -> None:
    terms = parse_query(text).terms
    assert len(terms) <= 64
    assert all(len(phrase) < 5000 for term in terms for phrase in term.phrases)


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60))
def test_any_text_is_a_query(text: str) -> None:
    for clause in parse_query(text).clauses:
        assert clause.required
        for term in (*clause.required, *clause.excluded):
            assert all(phrase.strip() for phrase in term.phrases)
            assert not any("\ud800" <= c <= "\udfff" or c == "\0" for c in term.text)

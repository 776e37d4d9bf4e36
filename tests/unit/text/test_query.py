from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text.query import TextQuery, parse_query

NOW = datetime(2026, 11, 25, 12, 30, tzinfo=UTC)
LANGUAGES = ("english", "german", "russian")


def texts(query: TextQuery) -> list[tuple[list[str], list[str]]]:
    """Wanted and excluded terms of each clause; a required one has a plus."""
    return [
        ([f"{'+' * t.is_required}{t.text}" for t in c.wanted], [t.text for t in c.excluded])
        for c in query.clauses
    ]


def words(text: str) -> list[str]:
    return [term.text for term in parse_query(text, now=NOW).terms]


@pytest.mark.spec("5.2")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cats dogs", [(["cats", "dogs"], [])]),
        ("cats AND dogs", [(["+cats", "+dogs"], [])]),
        ("cats AND dogs birds", [(["+cats", "+dogs", "birds"], [])]),
        ("cats OR dogs", [(["cats"], []), (["dogs"], [])]),
        ("big cats OR dogs", [(["big", "cats"], []), (["dogs"], [])]),
        ("big AND cats OR dogs", [(["+big", "+cats"], []), (["dogs"], [])]),
        ("cats NOT dogs", [(["cats"], ["dogs"])]),
        ("NOT dogs cats", [(["cats"], ["dogs"])]),
        ("cats AND NOT dogs AND birds", [(["+cats", "+birds"], ["dogs"])]),
        ("cats -dogs", [(["cats"], ["dogs"])]),
        ("cats -#dogs", [(["cats"], ["#dogs"])]),
        ('cats -"hot dogs"', [(["cats"], ["hot dogs"])]),
        ("cats OR -dogs", [(["cats"], ["dogs"])]),
        ("-dogs OR cats", [(["cats"], ["dogs"])]),
        ("cats and dogs", [(["cats", "dogs"], [])]),
        ("cats cats AND dogs", [(["+cats", "+dogs"], [])]),
        ("cats OR cats OR dogs", [(["cats"], []), (["dogs"], [])]),
        ("-cats", [(["cats"], [])]),
        ("NOT cats", [(["cats"], [])]),
        ("-cats -the", [(["cats"], [])]),
        ("cats OR", [(["cats"], [])]),
        ("AND cats AND", [(["cats"], [])]),
        ("AND OR", [(["AND", "OR"], [])]),
        ("AND OR NOT are words", [(["words"], [])]),
        ("minus -5", [(["minus", "-5"], [])]),
        ("git commit -v", [(["git", "commit", "-v"], [])]),
        ("ls --color", [(["ls", "--color"], [])]),
        ("the cats", [(["cats"], [])]),
        ("the OR cats", [(["cats"], [])]),
        ("the who", [(["the", "who"], [])]),
        ('"the who" live', [(["+the who", "live"], [])]),
        ("don't panic", [(["panic"], [])]),
        ("", []),
        ('"" * --', []),
    ],
)
def test_operators(text: str, expected: list[tuple[list[str], list[str]]]) -> None:
    assert texts(parse_query(text)) == expected


@pytest.mark.parametrize("text", ["-draft tag:work", "NOT draft path:inbox", "-draft last week"])
def test_exclusions_within_a_filter_stay_exclusions(text: str) -> None:
    query = parse_query(text, now=NOW)
    assert query.clauses == ()
    assert [term.text for term in query.excluded] == ["draft"]
    assert query.filters or query.span


def test_excluded_words_do_not_go_on_unless_that_is_typed() -> None:
    [one] = parse_query("cats -dog").clauses
    [other] = parse_query("cats -dog*").clauses
    assert [one.excluded[0].is_prefix, other.excluded[0].is_prefix] == [False, True]


@pytest.mark.spec("14.3")
@pytest.mark.parametrize(
    ("text", "is_prefix"),
    [
        ("kub", True),
        ("deploy kub", True),
        ("machine-learn", True),
        ("#proj", True),
        ("ku", False),
        ("ku*", True),
        ("the", False),
        ("plan b", False),
        ("note 123", False),
        ("kub ", False),
        ("what is kub?", False),
        ("how do we deploy kub", False),
        ('"kub"', False),
        ("kub tag:x", False),
        ("kub last week", False),
        ("的", True),
    ],
)
def test_the_last_word_goes_on_where_it_may_be_unfinished(text: str, is_prefix: bool) -> None:
    assert parse_query(text, now=NOW).terms[-1].is_prefix is is_prefix


def test_fields_narrow_the_search() -> None:
    query = parse_query(
        'title:"deep work" Tag:#x type:concept path:"my notes/" flow foo:bar title:'
    )
    assert [t.text for t in query.terms] == ["flow", "foo:bar", "title:"]
    assert [(f.title, f.tags, f.note_types, f.path) for f in query.filters] == [
        ("deep work", (), (), None),
        (None, ("#x",), (), None),
        (None, (), ("concept",), None),
        (None, (), (), "my notes/"),
    ]


def test_a_span_in_words_is_a_filter_and_its_words_are_not_looked_for() -> None:
    query = parse_query("budget meeting in the last 3 days", now=NOW)
    assert query.span is not None
    assert query.span.text == "last 3 days"
    assert words("budget meeting in the last 3 days") == ["budget", "meeting"]


def test_a_date_of_the_calendar_is_a_filter_and_looked_for() -> None:
    query = parse_query("budget in March 2025", now=NOW)
    assert query.span is not None
    assert [term.text for term in query.terms] == ["budget", "March", "2025"]


def test_a_question_about_a_span_alone_has_no_words() -> None:
    query = parse_query("what did I do last week?", now=NOW)
    assert query.clauses == ()
    assert query.span is not None


@pytest.mark.parametrize(
    "text",
    [
        '"last week" report',
        "report -yesterday",
        "report NOT yesterday",
        "budget OR yesterday",
        "yesterday OR budget",
        "title:yesterday report",
        'report "since" 2020',
    ],
)
def test_no_date_where_it_is_quoted_excluded_or_one_of_two(text: str) -> None:
    assert parse_query(text, now=NOW).span is None


def test_without_a_time_there_is_no_date() -> None:
    query = parse_query("last week")
    assert query.span is None
    assert [term.text for term in query.terms] == ["last", "week"]


@pytest.mark.parametrize(
    "text",
    ["word " * 2000, "x" * 100_000, '"' * 5000, "cats AND " * 500, "cats OR " * 5000, "(" * 2000,
     " ".join(f"w{i}" for i in range(2000)), '"' + "w " * 5000 + '"', "a OR b c OR -d " * 200,
     " OR ".join(f"w{i} w{i + 1}" for i in range(500)), "-x1 " * 900 + "tag:y", "-ab OR " * 900 + "cd",
     " ".join(f"tag:t{i}" for i in range(2000))],
)  # fmt: skip
def test_long_queries_are_cut(text: str) -> None:
    query = parse_query(text, now=NOW)
    terms = [t for c in query.clauses for t in (*c.wanted, *c.excluded)] + [*query.excluded]
    assert len(terms) <= 64
    assert len(query.filters) <= 32
    assert all(len(phrase) < 5000 for term in terms for phrase in term.phrases)


def test_nothing_is_read_behind_a_thousand_pieces() -> None:
    assert words("the " * 999 + "cats dogs") == ["cats"]


PIECES = st.sampled_from(
    ["AND", "OR", "NOT", "-", '"', "tag:", "title:", "path:x", "type:", "the", "cats", "c++", "v1.2", "*",
     "last week", "2025-03-14", "in", "l'été", "U.S.A.", "東京", "🌱", "(", "NEAR(", "^", "don't", " ", "  "]
)  # fmt: skip


@given(
    st.one_of(
        st.text(alphabet=st.characters(exclude_categories=()), max_size=60),
        st.lists(PIECES, max_size=12).map(" ".join),
        st.lists(PIECES, max_size=12).map("".join),
    )
)
def test_any_text_is_a_query_of_plain_words(text: str) -> None:
    for languages in (("english",), LANGUAGES, ()):
        query = parse_query(text, languages, NOW)
        for clause in query.clauses:
            assert clause.wanted
        terms = [t for c in query.clauses for t in (*c.wanted, *c.excluded)] + [*query.excluded]
        assert len(terms) <= 64
        for term in terms:
            assert term.phrases
            for phrase in (*term.phrases, *term.loose):
                assert phrase == " ".join(phrase.split())
                assert all(c == " " or c.isalnum() or not c.isascii() for c in phrase)
            assert not any("\ud800" <= c <= "\udfff" or c == "\0" for c in term.text)

from __future__ import annotations

import pytest

from memoranda.ports import StoredItem
from memoranda.ranking.items import ItemScore, ItemScorer
from memoranda.ranking.matching import TermMatches
from memoranda.text.analysis import ENGLISH, Languages
from memoranda.text.query import parse_query

NOTHING = TermMatches(parse_query("x").terms[0], None, 0, 0.0, 0.0)  # type: ignore[arg-type]


def score(
    query: str,
    content: str = "",
    *,
    headings_above: tuple[str, ...] = (),
    present: tuple[bool, ...] | None = None,
    languages: Languages = ENGLISH,
    **fields: str,
) -> ItemScore:
    terms = parse_query(query, languages).terms
    found = [TermMatches(term, None, 1, 1.0, 1.0) for term in terms]  # type: ignore[arg-type]
    item = StoredItem(7, content, headings_above, 1, 1, **fields)
    return ItemScorer(found, languages).score(item, present or (True,) * len(terms))


def saturated(count: float, length: float = 0.25 + 0.75 * 40 / 100) -> float:
    return count * 3 / (count + 2 * length)


def test_a_term_in_a_short_text() -> None:
    one = score("zebra", "a zebra in a zoo")
    assert one.total == pytest.approx(1.5 * saturated(1))
    assert one.terms == (one.total,)
    assert one.fields == (0.0, 0.0, 0.0, one.total)
    assert one.is_exact == (True,)
    assert score("zebra", "zebra").total == one.total  # short texts are not told apart


def test_long_text_counts_less() -> None:
    long = "zebra " + "word " * 199
    assert score("zebra", long).total == pytest.approx(1.5 * saturated(1, 0.25 + 0.75 * 2.0))


def test_a_stem_counts_and_the_exact_word_half_as_much_again() -> None:
    stem = score("run zoo", "running zoo")
    assert stem.terms[0] == pytest.approx(saturated(1))
    assert stem.is_exact == (False, True)
    assert score("run zoo", "run zoo").terms[0] == pytest.approx(1.5 * saturated(1))


def test_a_stem_that_lacks_the_beginning_of_its_word_counts_where_it_is() -> None:
    assert score("lopen ", title="gelopen", languages=("dutch",)).fields[0] > 0


def test_more_often_is_more_but_ever_less_so() -> None:
    once, twice, often = (score("zebra", "zebra " * n).total for n in (1, 2, 9))
    assert twice - once > (often - twice) / 7 > 0


def test_title_before_tags_before_headings_before_text() -> None:
    title, tags = score("zebra", title="zebra"), score("zebra", tags="zebra")
    headings, text = score("zebra", headings="zebra"), score("zebra", "zebra")
    assert title.total > tags.total > headings.total > text.total
    assert title.fields[0] == title.total
    assert tags.fields[1] == tags.total
    assert headings.fields[2] == headings.total


def test_shares_of_fields_sum_up() -> None:
    both = score("zebra", "zebra", title="zebra")
    assert sum(both.fields) == pytest.approx(both.total)
    assert both.fields[0] == pytest.approx(8 / 9 * both.total)


def test_a_heading_above_counts_even_for_what_the_text_lacks() -> None:
    above = score("zebra zoo", "in the zoo", headings_above=("Zebras",), present=(False, True))
    assert above.terms[0] == pytest.approx(0.6)
    assert above.fields[2] == pytest.approx(0.6)
    with_both = score("zebra", "zebra", headings_above=("Zebra",))
    assert with_both.total == pytest.approx(score("zebra", "zebra").total + 0.6)


def test_terms_in_a_row_add_once_a_pair() -> None:
    row = score("blue zebra", "blue zebra, blue zebra")
    apart = score("blue zebra", "blue things and zebra things, zebra, blue")
    assert row.phrase == pytest.approx(0.5)
    assert apart.phrase == 0.0
    assert score("blue zebra", "zebra blue").phrase == 0.0
    assert row.total == pytest.approx(sum(row.terms) + row.phrase)


def test_a_term_the_text_hides_counts_once() -> None:
    hidden = score("zebra", "nothing to see")
    assert hidden.terms[0] == pytest.approx(saturated(1))
    assert hidden.is_exact == (False,)
    assert score("zebra", "zebra", present=(False,)).total == 0.0


@pytest.mark.parametrize(
    ("query", "text"),
    [("C++", "templates in C++ and C++17"), (".net", "we use .NET here"), ("東京", "東京カンファレンス"),
     ("src/app/main.py", "see src/app/main.py"), ('"hello world"', "hello, world"), ("🌱", "a 🌱"),
     ("Straße", "STRASSE"), ("café", "cafe\u0301"), ("zeb*", "zebras")],
)  # fmt: skip
def test_terms_of_all_kinds_are_seen_in_the_text(query: str, text: str) -> None:
    twice = score(query, f"{text} and {text}")
    assert twice.total > score(query, text).total > 0


@pytest.mark.parametrize(
    ("query", "title", "share"),
    [("live preview", "Live Preview", 1.0), ("preview", "Live Preview", (7 / 11) ** 2),
     ("live preview editor", "Live Preview", 2 / 3), ("howto", "HOWTO-he", (5 / 5.5) ** 2),
     ("callout", "Callouts", (0.8 * 7 / 8) ** 2), ("Get-Process", "Get-Process", 1.0),
     ("obs", "Obsidian", (0.8 * 3 / 8) ** 2), ("美团", "美团拼饭", 0.25), ("zebra", "Lion", 0.0)],
)  # fmt: skip
def test_how_far_the_query_is_the_title(query: str, title: str, share: float) -> None:
    terms = parse_query(query).terms
    present = tuple(
        any(word in title.lower() for word in term.text.lower().split("-")) for term in terms
    )
    assert score(query, title=title, present=present).title == pytest.approx(share)
    assert score(query, title).title == 0.0

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.services.snippets import Snippet, hits, snippet
from memoranda.text.query import parse_query


def shown(text: str, query: str, width: int = 240) -> Snippet:
    return snippet(text, parse_query(query).terms, width=width)


@pytest.mark.parametrize("query", ["needle", "東京", "needles", "NEEDLE"])
def test_the_line_with_the_hit_is_shown_not_the_beginning(query: str) -> None:
    found = shown("filler text line\n" * 2000 + "needle 東京カンファレンス here\n", query)
    assert "needle 東京カンファレンス here" in found.text
    assert found.last_line == 2000
    assert len(found.text) <= 242


def test_accents_stay_and_are_found_without() -> None:
    assert "café" in shown("x " * 300 + "le café noir" + " y" * 300, "cafe", width=40).text


def test_the_window_with_most_terms_wins() -> None:
    text = "alpha alpha alpha" + " x" * 200 + " alpha beta" + " y" * 200
    assert "alpha beta" in shown(text, "beta alpha", width=60).text


def test_words_are_not_cut() -> None:
    words = "wording " * 100
    found = shown(f"{words}needle {words}", "needle", width=50).text
    assert set(found.strip("…").split()) == {"wording", "needle"}
    assert found.startswith("…")
    assert found.endswith("…")


def test_a_short_text_is_shown_whole() -> None:
    assert shown("one\ntwo", "two") == Snippet("one\ntwo", 0, 1)


def test_without_a_hit_the_beginning_is_shown() -> None:
    assert shown("begin " + "x " * 300, "nothing").text.startswith("begin x")


def test_stems_are_hits() -> None:
    assert [text for a, b, _ in hits("She studied policies", parse_query("policy study").terms)
            if (text := "She studied policies"[a:b])] == ["studied", "policies"]  # fmt: skip


@given(st.text(max_size=300), st.text(max_size=20), st.integers(5, 60))
def test_a_snippet_is_a_part_of_the_text_on_its_lines(text: str, query: str, width: int) -> None:
    found = shown(text, query, width=width)
    inner = found.text.strip("…")
    assert inner in text or inner.strip() in text
    assert len(found.text) <= width + 2
    assert 0 <= found.first_line <= found.last_line <= text.count("\n")


def test_a_cut_is_never_before_a_combining_mark() -> None:
    text = unicodedata.normalize("NFD", "é" * 400)
    for width in (50, 51):
        assert unicodedata.normalize("NFC", shown(text, "zzz", width).text).strip("é…") == ""

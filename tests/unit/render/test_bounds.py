from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memoranda.render.bounds import (
    compact,
    first_that_fit,
    lines_of,
    lines_that_fit,
    one_line,
    page_that_fits,
)


@given(st.text(), st.integers(2, 50))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


def test_one_line_cuts_at_a_word() -> None:
    assert one_line("alpha\n  beta", 20) == "alpha beta"
    assert one_line("alpha beta gamma delta", 18) == "alpha beta gamma…"


@given(st.text(alphabet="a\r\n\f\u2028é"))
def test_lines_hold_the_whole_text_and_break_at_lf_and_cr_only(text: str) -> None:
    lines = lines_of(text)
    assert "".join(lines) == text
    assert len(lines) == len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")) - (
        text == "" or text.endswith(("\n", "\r"))
    )


@given(
    st.lists(st.integers(1, 100), min_size=1, max_size=60),
    st.integers(0, 5),
    st.integers(0, 3000),
)
def test_a_smaller_page_begins_where_the_asked_one_does(
    lengths: list[int], page: int, limit: int
) -> None:
    offset = page * len(lengths)
    shown = page_that_fits(lengths, offset, limit)
    assert 1 <= shown <= len(lengths)
    assert offset % shown == 0
    assert shown == 1 or sum(lengths[:shown]) <= limit


def test_a_page_that_fits_is_whole() -> None:
    assert page_that_fits([5, 5, 5], 9, 15) == 3
    assert page_that_fits([5, 5, 5], 0, 14) == 2
    assert page_that_fits([], 0, 100) == 0


@given(st.lists(st.text(alphabet='ab"\\é\t', min_size=1), max_size=10), st.integers(12, 60))
def test_lines_within_a_json_limit(lines: list[str], limit: int) -> None:
    text, shown = lines_that_fit(lines, limit, as_json=True)
    assert len(compact(text)) - 2 <= limit
    assert "".join(lines).startswith(text)
    assert shown == len(lines) or shown >= 1


def test_a_first_line_that_is_too_long_is_cut() -> None:
    assert lines_that_fit(["abcdef\n", "x\n"], 3) == ("abc", 1)
    assert lines_that_fit(["ab\n", "cdef\n"], 5) == ("ab\n", 1)


def test_how_many_fit_without_a_next_page() -> None:
    assert first_that_fit([3, 3, 3], 7) == 2
    assert first_that_fit([9], 7) == 0

from __future__ import annotations

from typing import Any

import pytest

from memoranda.errors import AmbiguousSection, InvalidArgument, SectionNotFound
from memoranda.markdown.entity_parser import parse_note
from memoranda.model.address import NotePath
from memoranda.services.window import Shown, Window, shown

TEXT = "---\na: b\n---\n# A\r\none\r\n## B\ntwo\n\n# C\nthree"


def lines(text: str = TEXT, **asked: Any) -> Shown:
    return shown(text, parse_note(text, NotePath("n.md")), Window(**asked))


def test_all_lines_by_default() -> None:
    assert lines() == Shown(TEXT, 1, 10, None, 10)
    assert lines("") == Shown("", 1, 0, None, 0)
    assert lines("\r") == Shown("\r", 1, 1, None, 1)


def test_a_range_of_lines() -> None:
    assert lines(start_line=4, end_line=5) == Shown("# A\r\none\r\n", 4, 5, None, 10)
    assert lines(start_line=10) == Shown("three", 10, 10, None, 10)
    assert lines(end_line=99) == Shown(TEXT, 1, 10, None, 10)


@pytest.mark.parametrize(
    ("section", "text", "first", "last"),
    [
        ("A", "# A\r\none\r\n## B\ntwo\n\n", 4, 8),
        ("a > b", "## B\ntwo\n\n", 6, 8),
        ("C", "# C\nthree", 9, 10),
    ],
)
def test_the_lines_of_a_section(section: str, text: str, first: int, last: int) -> None:
    assert lines(section=section) == Shown(text, first, last, None, 10)


def test_a_range_inside_a_section() -> None:
    assert lines(section="A", start_line=5).text == "one\r\n## B\ntwo\n\n"
    assert lines(section="A", start_line=5, end_line=6).text == "one\r\n## B\n"
    assert lines(section="A", end_line=99).last == 8
    cut = lines(section="A", max_chars=10)
    assert (cut.text, cut.next_line) == ("# A\r\none\r\n", 6)
    rest = lines(section="A", start_line=6, max_chars=100)
    assert (rest.text, rest.next_line) == ("## B\ntwo\n\n", None)


def test_the_last_line_of_a_section_is_not_cut() -> None:
    assert lines(section="C", max_chars=9).next_line is None
    assert lines(section="C", max_chars=8).next_line == 10


def test_a_line_that_is_too_long_is_cut_inside() -> None:
    assert lines("abcdef\nx", max_chars=3) == Shown("abc", 1, 1, 2, 2)


@pytest.mark.parametrize(
    ("asked", "parameter"),
    [
        ({"start_line": 0}, "start_line"),
        ({"end_line": 0}, "end_line"),
        ({"max_chars": 0}, "max_chars"),
        ({"start_line": 11}, "start_line"),
        ({"start_line": 5, "end_line": 4}, "end_line"),
        ({"section": "A", "start_line": 3}, "start_line"),
        ({"section": "A", "start_line": 9}, "start_line"),
        ({"section": "A", "end_line": 3}, "end_line"),
    ],
)
def test_lines_that_are_not_there_are_refused(asked: dict[str, Any], parameter: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        lines(**asked)
    assert caught.value.parameter == parameter
    if "section" in asked:
        assert caught.value.hint == "The section is lines 4 to 8."


def test_a_section_that_is_not_there_is_refused() -> None:
    with pytest.raises(SectionNotFound) as caught:
        lines(section="D")
    assert caught.value.headings == ("A", "A > B", "C")
    with pytest.raises(AmbiguousSection):
        lines("# A\n# A\n", section="A")

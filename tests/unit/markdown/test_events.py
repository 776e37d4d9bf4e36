"""What the Markdown reader gets to see, and that offsets hold."""

from __future__ import annotations

import pytest

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.events import as_meant
from memoranda.model.address import NotePath

PATH = NotePath("n.md")


def facts(text: str) -> list[tuple[str, int]]:
    return [(one.category, one.line) for one in parse_note(text, PATH).observations]


def test_a_tabbed_list_directly_below_a_heading_is_a_list() -> None:
    text = "## Use\n\t- [one] a [[A]]\n\t\t- [two] b\n\t- [three] c\n\nend\n"
    assert facts(text) == [("one", 2), ("two", 3), ("three", 4)]
    note = parse_note(text, PATH)
    assert [one.parent for one in note.observations] == ["", "[one] a [[A]]", ""]
    (link,) = note.links
    assert text[link.start : link.end] == "[[A]]"


@pytest.mark.parametrize(
    "text",
    [
        "## Use\n\n\t- [one] a\n",  # a blank line between
        "## Use\n\tx = 1\n\t- [one] a\n",  # begins with code
        "text\n\n\t- [one] a\n",  # no heading
        "```\n## Use\n\t- [one] a\n```\n",
    ],
)
def test_all_else_that_is_indented_by_a_tab_stays_code(text: str) -> None:
    assert facts(text) == []


def test_a_lone_cr_ends_a_line_for_fences_and_quotes_too() -> None:
    note = parse_note("# A\r```\r# c\r- [no] x\r```\r> - [yes] y\r", PATH)
    assert [one.text for one in note.outline] == ["A"]
    assert [(one.category, one.line) for one in note.observations] == [("yes", 6)]


@pytest.mark.parametrize("text", ["## é\n\t- ö\n\t\t- ü\n", "a\rb\r\nc\n", "\r", "# A\n\t- b"])
def test_every_byte_stays_at_its_place(text: str) -> None:
    seen = as_meant(text)
    assert len(seen.encode()) == len(text.encode())
    assert [len(line) for line in seen.splitlines()] == [len(line) for line in text.splitlines()]


def test_no_heading_is_made_in_a_comment() -> None:
    text = "# A\n\n%%\n# b\n\nc\n===\n%%\n\n- [fact] x\n\n## D %% note %%\n"
    note = parse_note(text, PATH)
    assert [(one.text, one.line) for one in note.outline] == [("A", 1), ("D", 12)]
    (fact,) = note.observations
    assert (fact.heading_path, fact.line) == (("A",), 10)


def test_struck_text_in_a_heading_is_text() -> None:
    assert [one.text for one in parse_note("## ~~old~~ new\n", PATH).outline] == ["old new"]


@pytest.mark.parametrize(
    ("text", "source", "line"),
    [
        ("- Yard\n\t- [gate] x\n", "- [gate] x", 2),
        ("- Shed\n    - [roof] x\n", "- [roof] x", 2),
        ("   - [shifted] x\n", "- [shifted] x", 1),
    ],
)
def test_an_item_begins_at_its_bullet(text: str, source: str, line: int) -> None:
    (one,) = parse_note(text, PATH).observations
    assert (text[one.start : one.end], one.line) == (source, line)

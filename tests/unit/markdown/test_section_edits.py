from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.errors import AmbiguousSection, InvalidArgument, SectionNotFound
from memoranda.markdown.edits import apply_edit
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.section_edits import stays_open
from memoranda.model.address import NotePath
from memoranda.model.edit import EditSection, Place
from memoranda.model.outline import sections_of

PATH = NotePath("n.md")
NOTE = "# A\n\none\n\n## B\n\ntwo\n\n# C\n\nthree\n"


def edited(text: str, section: str, new: str, place: Place = Place.INSTEAD) -> str:
    return apply_edit(text, EditSection(section, new, place), PATH)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("text", "section", "new", "expected"),
    [
        pytest.param(NOTE, "A", "x", "# A\n\nx\n\n# C\n\nthree\n", id="subsections belong to it"),
        pytest.param(NOTE, "B", "x\n", "# A\n\none\n\n## B\n\nx\n\n# C\n\nthree\n", id="inner section"),
        pytest.param(NOTE, "C", "x", "# A\n\none\n\n## B\n\ntwo\n\n# C\n\nx\n", id="last section"),
        pytest.param(NOTE, "A > B", "x", "# A\n\none\n\n## B\n\nx\n\n# C\n\nthree\n", id="path"),
        pytest.param(NOTE, "A", "# A\nx", "# A\nx\n\n# C\n\nthree\n", id="begins with the heading"),
        pytest.param(NOTE, "A", "\n\n# a #\n\nx", "# a #\n\nx\n\n# C\n\nthree\n", id="heading written otherwise"),
        pytest.param(NOTE, "A", "## A\n\nx", "# A\n\n## A\n\nx\n\n# C\n\nthree\n", id="heading of another level"),
        pytest.param(NOTE, "A", "x\n\n# A\n", "# A\n\nx\n\n# A\n\n# C\n\nthree\n", id="heading further down"),
        pytest.param(NOTE, "A", "", "# A\n\n# C\n\nthree\n", id="no text empties"),
        pytest.param(NOTE, "C", " \n", "# A\n\none\n\n## B\n\ntwo\n\n# C\n", id="blanks empty the last"),
        pytest.param(NOTE, "A", "\n\nx\n\n\n", "# A\n\n\nx\n\n\n# C\n\nthree\n", id="more blank lines are kept"),
        pytest.param("# A\none\n# C\n", "A", "x", "# A\nx\n# C\n", id="no blank lines"),
        pytest.param("# A\none\n# C\n", "A", "", "# A\n# C\n", id="no blank lines, empty"),
        pytest.param("# A\n\none\n# C\n", "A", "", "# A\n\n# C\n", id="the blank line stays"),
        pytest.param("# A\n\n\n\none\n\n\n\n# C\n", "A", "x", "# A\n\n\n\nx\n\n\n\n# C\n", id="many blank lines"),
        pytest.param("# A\n# C\n", "A", "x", "# A\nx\n# C\n", id="an empty section"),
        pytest.param("# A\n\n# C\n", "A", "x", "# A\n\nx\n\n# C\n", id="a section of one blank line"),
        pytest.param("# A\n\n\n\n# C\n", "A", "x", "# A\n\nx\n\n\n# C\n", id="a section of blank lines"),
        pytest.param("# A\n\n# C\n", "A", "", "# A\n\n# C\n", id="empty stays empty"),
        pytest.param("# A\n# C", "A", "x", "# A\nx\n# C", id="an empty section of a file without the last line ending"),
        pytest.param("# A\n", "A", "x", "# A\nx\n", id="an empty last section"),
        pytest.param("# A\n\n", "A", "x", "# A\n\nx\n", id="a last section of one blank line"),
        pytest.param("# A\n\n", "A", "", "# A\n\n", id="a last section stays empty"),
        pytest.param("# A\n\none", "A", "x", "# A\n\nx", id="no final line ending, with text"),
        pytest.param("# A\n\none", "A", "x\n", "# A\n\nx\n", id="a final line ending is added if given"),
        pytest.param("# A\n\none", "A", "", "# A", id="no final line ending, empty"),
        pytest.param("# A\n\none\n\n\n", "A", "x", "# A\n\nx\n\n\n", id="blank lines at the end"),
        pytest.param("A\n===\n\none\n\nC\n---\nd\n", "A", "x", "A\n===\n\nx\n", id="underlined"),
        pytest.param("A\n===\n\none\n\nC\n===\nd\n", "A", "A\n===\nx", "A\n===\nx\n\nC\n===\nd\n", id="underlined, with heading"),
        pytest.param("# A\nC\n===\n", "A", "x", "# A\nx\n\nC\n===\n", id="a blank line where one is needed"),
        pytest.param("---\na: b\n---\n# A\none\n", "A", "x", "---\na: b\n---\n# A\nx\n", id="header"),
        pytest.param("# Ä 🌱\n\n知識\n\n# C\n", "ä 🌱", "猫", "# Ä 🌱\n\n猫\n\n# C\n", id="scripts"),
        pytest.param("# A\n> # B\n\n- # B\n# C\n", "A", "x", "# A\nx\n# C\n", id="headings in quotes and items are none"),
    ],
)  # fmt: skip
def test_replace_keeps_the_heading_and_the_blank_lines(
    text: str, section: str, new: str, expected: str, ending: str
) -> None:
    result = edited(text.replace("\n", ending), section, new)
    assert result == expected.replace("\n", ending)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("text", "section", "before", "after"),
    [
        pytest.param(NOTE, "B", "# A\n\none\n\nx\n\n## B\n\ntwo\n\n# C\n\nthree\n", "# A\n\none\n\n## B\n\ntwo\n\nx\n\n# C\n\nthree\n", id="inner"),
        pytest.param(NOTE, "A", "x\n\n" + NOTE, "# A\n\none\n\n## B\n\ntwo\n\nx\n\n# C\n\nthree\n", id="first"),
        pytest.param(NOTE, "C", "# A\n\none\n\n## B\n\ntwo\n\nx\n\n# C\n\nthree\n", NOTE + "\nx\n", id="last"),
        pytest.param("a\n# A\n- b\n# C\n", "A", "a\n\nx\n\n# A\n- b\n# C\n", "a\n# A\n- b\n\nx\n\n# C\n", id="no blank lines"),
        pytest.param("# A\nb", "A", "x\n\n# A\nb", "# A\nb\n\nx", id="no final line ending"),
        pytest.param("# A\nb\n\n\n", "A", "x\n\n# A\nb\n\n\n", "# A\nb\n\n\nx\n", id="blank lines at the end"),
        pytest.param("---\na: b\n---\n# A\n", "A", "---\na: b\n---\nx\n\n# A\n", "---\na: b\n---\n# A\n\nx\n", id="header"),
        pytest.param("p\n\nA\n===\nq\nC\n===\n", "A", "p\n\nx\n\nA\n===\nq\nC\n===\n", "p\n\nA\n===\n\nx\n\nq\nC\n===\n", id="underlined"),
        pytest.param("p\n \n# A\n\t\n", "A", "p\n \nx\n\n# A\n\t\n", "p\n \n# A\n\t\nx\n", id="blank lines with blanks"),
    ],
)  # fmt: skip
def test_an_insertion_is_parted_by_one_blank_line(
    text: str, section: str, before: str, after: str, ending: str
) -> None:
    text = text.replace("\n", ending)
    for new in ("x", "\n \nx"):
        assert edited(text, section, new, Place.BEFORE) == before.replace("\n", ending)
        assert edited(text, section, new, Place.AFTER) == after.replace("\n", ending)
    for place in (Place.BEFORE, Place.AFTER):
        assert edited(text, section, " \n\n", place) == text


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("# A\n```\n# B\n```\n# C\n", "x", "# A\nx\n# C\n"),
        ("# A\nb\n# C\n", "```\n# B\n```", "# A\n```\n# B\n```\n# C\n"),
        ("# A\n- b\n# C\n", "<div>", "# A\n<div>\n\n# C\n"),
    ],
)
def test_headings_in_code_are_none_and_html_ends_at_a_blank_line(
    text: str, new: str, expected: str, ending: str
) -> None:
    result = edited(text.replace("\n", ending), "A", new.replace("\n", ending))
    assert result == expected.replace("\n", ending)


def test_a_note_without_line_endings() -> None:
    assert edited("# A", "A", "x") == "# A\nx"
    assert edited("# A", "A", "x\r\ny") == "# A\r\nx\r\ny"
    assert edited("# A", "A", "") == "# A"
    assert edited("# A", "A", "x", Place.BEFORE) == "x\n\n# A"
    assert edited("# A", "A", "x", Place.AFTER) == "# A\n\nx"


def test_the_given_indentation_stays() -> None:
    assert edited(NOTE, "A", "\n    code\n", Place.BEFORE).startswith("    code\n\n# A\n")


def test_an_added_final_line_ending_stays() -> None:
    assert edited("# A\nb", "A", "x\n\n", Place.AFTER) == "# A\nb\n\nx\n"
    assert edited("# A\r\nb", "A", "x\n", Place.AFTER) == "# A\r\nb\r\n\r\nx\r\n"


def test_mixed_line_endings_stay_and_the_commonest_is_added() -> None:
    text = "# A\r\n\r\none\n\r# C\r\nthree"
    assert edited(text, "A", "x\ny") == "# A\r\n\r\nx\r\ny\n\r# C\r\nthree"


CASE = (
    "# Status\n\n## Open #urgent\n\n- a\n\n```\n## Open\n```\n\n### Open\n\nsub\n\n"
    "## Done\n\n- b\n\n## Done\n\n- c\n"
)


def test_mcp_edit_sections() -> None:
    with pytest.raises(AmbiguousSection) as caught:
        edited(CASE, "## Done", "- y\n")
    assert len(caught.value.candidates) == 2
    with pytest.raises(SectionNotFound) as missing:
        edited(CASE, "Missing", "- y\n")
    assert "Status > Open #urgent" in missing.value.headings
    result = edited(CASE, "## Open #urgent", "## Open #urgent\n\n- z\n")
    assert result == "# Status\n\n## Open #urgent\n\n- z\n\n## Done\n\n- b\n\n## Done\n\n- c\n"


def test_each_of_two_equal_headings_can_be_named() -> None:
    with pytest.raises(AmbiguousSection) as caught:
        edited(CASE, "Done", "- y")
    one, two = (edited(CASE, name, "- y") for name in caught.value.candidates)
    assert one == CASE.replace("- b", "- y")
    assert two == CASE.replace("- c", "- y")


@pytest.mark.parametrize("place", list(Place))
@pytest.mark.parametrize(
    "new", ["```", "~~~ x\nmore", "<!-- x", "<pre>", "- x\n  ```\n\n~~~", "<script>\n\n"]
)
def test_a_text_that_swallows_what_is_below_is_refused(new: str, place: Place) -> None:
    with pytest.raises(InvalidArgument, match="outside the section") as caught:
        edited(NOTE, "A", new, place)
    assert caught.value.parameter == "content_updates"
    assert "Close" in caught.value.hint


def test_below_the_last_section_nothing_can_be_swallowed() -> None:
    assert edited("# A\n\none\n", "A", "```\nx") == "# A\n\n```\nx\n"


def test_a_text_in_an_open_fence_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="nothing closes"):
        edited("# A\n\n```\ncode\n", "A", "x", Place.AFTER)
    assert edited("# A\n\n```\ncode\n", "A", "x") == "# A\n\nx\n"


def test_a_section_cannot_become_a_header() -> None:
    with pytest.raises(InvalidArgument, match="header"):
        edited("# A\nb\n", "A", "---\na: b\n---\n", Place.BEFORE)


def test_link_definitions_that_are_used_elsewhere_stay() -> None:
    text = "# A\n\nsee [the page][p]\n\n# C\n\nold\n\n[p]: page.md\n"
    with pytest.raises(InvalidArgument, match="link"):
        edited(text, "C", "new")
    result = edited(text, "C", "new\n\n[p]: page.md\n")
    assert [link.target for link in parse_note(result, PATH).links] == ["page.md"]


@pytest.mark.parametrize(
    ("body", "is_open"),
    [
        ("", False), ("text\n", False), ("- a\n  - b\n", False), ("> q\n", False), ("| a |\n|--|\n", False),
        ("```\nx\n```\n", False), ("<!-- x -->\n", False), ("    code\n", False), ("<div>\n", False),
        ("```\nx\n", True), ("~~~\n```\n", True), ("<!-- x\n", True), ("<pre>\n\nx", True),
        ("- ```\n  x\n", False), ("> ```\n", False), ("---\na: b\n---\n```\n", True), ("\ud800", False),
    ],
)  # fmt: skip
def test_whether_a_text_stays_open(body: str, is_open: bool) -> None:
    assert stays_open(body, PATH) is is_open


_BLOCKS = st.sampled_from(
    [
        "# A\n", "## B\n", "### A\n", "## *C* d ##\n", "E 🌱\n===\n", "text [[L]]\nmore\n", "- [fact] x #t\n- y\n",
        "1. a\n\n   b\n", "```\n# no\n```\n", "> # no\n> q\n", "| a |\n|---|\n| b |\n", "    code\n", "\n", "\n\n", " \t\n",
        "<div>\n# no\n", "知識\n", "[a]: b.md\n", "***\n", "<!-- c -->\n",
    ]
)  # fmt: skip
_NEW = st.lists(
    st.sampled_from(["x\n", "- [fact] new\n", "\n", "```\n# c\n```\n", "> q\n", "text\n", "#### deep\n\ny\n", "知\n"]),
    max_size=4,
).map("".join)  # fmt: skip


@given(
    st.lists(_BLOCKS, min_size=1, max_size=12).map("".join),
    st.sampled_from(["", "---\nt: é # c\n---\n"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    _NEW,
    st.sampled_from(list(Place)),
    st.data(),
)
def test_a_section_edit_changes_nothing_else(
    body: str, head: str, ending: str, ends: bool, new: str, place: Place, data: st.DataObject
) -> None:
    text = (head + body).replace("\n", ending)
    if not ends:
        text = text.rstrip("\r\n")
    note = parse_note(text, PATH)
    sections = sections_of(note)
    if not sections:
        return
    section = data.draw(st.sampled_from(sections))
    try:
        result = edited(text, section.slug, new, place)
    except (AmbiguousSection, InvalidArgument):
        return
    old, now = text.encode(), result.encode()
    heading = section.heading
    start, end = {
        Place.INSTEAD: (heading.end, section.end),
        Place.BEFORE: (heading.start, heading.start),
        Place.AFTER: (section.end, section.end),
    }[place]
    kept = old[:start]
    if place is Place.INSTEAD and not new.strip() and end == len(old):
        kept = kept.rstrip(b"\r\n")  # no line ending at the end of the file stays none
    assert now.startswith(kept)
    assert now.endswith(old[end:])
    assert len(now) >= len(kept) + len(old) - end
    middle = now[len(kept) : len(now) - (len(old) - end)].decode()
    assert middle.split() == new.split()
    after = parse_note(result, PATH)
    shift = len(now) - len(old)
    outside = [(h.level, h.text, h.start) for h in note.outline if h.start < start]
    outside += [(h.level, h.text, h.start + shift) for h in note.outline if h.start >= end]
    inside = range(start, end + shift)
    assert [(h.level, h.text, h.start) for h in after.outline if h.start not in inside] == outside
    facts = [o.content for o in note.observations if not start <= o.start < end]
    assert [o.content for o in after.observations if o.start not in inside] == facts
    assert sum(o.content.startswith("new") for o in after.observations) == new.count("[fact] new")
    names = [one.heading.text for one in sections]
    if place is Place.INSTEAD and names.count(heading.text) == 1:
        assert edited(result, section.slug, new, place) == result

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.passages import MAX_CHARS
from memoranda.model.address import NotePath
from memoranda.model.note import Passage


def passages(text: str) -> tuple[Passage, ...]:
    return parse_note(text, NotePath("n.md")).passages


def test_blank_body_has_no_passage() -> None:
    assert passages("") == passages(" \n\r\n\t") == passages("---\na: b\n---\n\n") == ()


def test_each_section_has_its_own_passage_that_begins_with_its_heading() -> None:
    found = passages("intro\n\n# A\n\none\n\ntwo\n\n## B\n\nthree\n")
    assert [(p.text, p.heading_path, p.start_line, p.end_line) for p in found] == [
        ("intro", (), 1, 1),
        ("# A\n\none\n\ntwo", ("A",), 3, 7),
        ("## B\n\nthree", ("A", "B"), 9, 11),
    ]


def test_a_heading_without_text_is_a_passage() -> None:
    assert [p.text for p in passages("# A\n## B\n\n- [fact] x\n")] == ["# A", "## B"]


def test_lines_of_observations_and_explicit_relations_are_left_out() -> None:
    text = "- plain\n- [fact] x\n  goes on\n- uses [[A]]\n- [[B]]\n\nafter\n"
    (passage,) = passages(text)
    assert passage.text == "- plain\n- [[B]]\n\nafter"
    assert (passage.start_line, passage.end_line) == (1, 7)


def test_second_paragraph_of_an_observation_is_text() -> None:
    (passage,) = passages("- [fact] x\n\n  more words\n")
    assert passage.text.strip() == "more words"


def test_blocks_are_grouped_up_to_the_size() -> None:
    block = "word " * 120 + "end"
    found = passages("\n\n".join([block] * 6))
    assert [p.text for p in found] == [f"{block}\n\n{block}"] * 3


def test_a_large_block_is_cut_at_line_ends_and_begins_with_its_heading() -> None:
    lines = [f"line {i} " + "x" * 80 for i in range(60)]
    found = passages("# H\n```\n" + "\n".join(lines) + "\n```\n")
    assert len(found) > 2
    assert found[0].text.startswith("# H\n```\nline 0 ")
    assert "\n".join(p.text for p in found) == "# H\n```\n" + "\n".join(lines) + "\n```"
    assert [p.end_line + 1 for p in found[:-1]] == [p.start_line for p in found[1:]]


def test_one_huge_line_is_cut_at_blanks() -> None:
    text = " ".join(f"wörd{i}" for i in range(1000))
    found = passages(text)
    assert " ".join(p.text for p in found).split() == text.split()
    assert all(len(p.text) <= MAX_CHARS for p in found)
    assert {(p.start_line, p.end_line) for p in found} == {(1, 1)}


def test_one_huge_word_is_cut_between_characters() -> None:
    found = passages("知" * 4000)
    assert "".join(p.text for p in found) == "知" * 4000


@pytest.mark.parametrize(
    "sign", ["か\u3099", "e\u0301\u0323", "👩\u200d👩\u200d👧\u200d👦", "❤\ufe0f", "🇦🇹"]
)
@pytest.mark.parametrize("before", range(5))
def test_no_cut_parts_a_sign_from_its_marks(sign: str, before: int) -> None:
    found = passages("x" * before + sign * 1500)
    assert len(found) > 1
    assert found[0].text.startswith("x" * before + sign)
    assert all(set(p.text.removeprefix("x" * before).split(sign)) == {""} for p in found)
    assert "".join(p.text for p in found) == "x" * before + sign * 1500


def test_definitions_comments_and_html_stay_searchable() -> None:
    text = "see\n\n[a]: b.md\n\n%% hidden %%\n\n<div>\n- [fact] raw\n</div>\n"
    assert [p.text for p in passages(text)] == [text.rstrip()]


@given(
    st.lists(
        st.sampled_from(
            ["# H", "word", "- [fact] o", "- uses [[A]]", "  more", "", "> q", "```", "| a |", "|-|",
             "- item", "  - [fact] nested", "%%", "<div>", "===", "[a]: b", "1. [x] t", "\tcode"]
        ),
        max_size=14,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
)  # fmt: skip
def test_every_line_is_in_one_passage_or_an_item_of_its_own(lines: list[str], end: str) -> None:
    parsed = parse_note("x" + end + end.join(lines), NotePath("n.md"))
    rows = {row for o in parsed.observations for row in range(o.line, o.end_line + 1)}
    shown = [line for p in parsed.passages for line in re.split(r"\r\n|\r|\n", p.text)]
    # A comment in the item of a relation goes with it, see golden relation-contexts.
    is_in_item = is_in_comment = False
    for number, line in enumerate(["x", *lines], 1):
        is_in_comment ^= line == "%%" and (is_in_item or is_in_comment)
        is_in_item = is_in_comment or "[[" in line or (is_in_item and line == "%%")
        if line.strip() and number not in rows and not is_in_item:
            assert line.rstrip() in [text.rstrip() for text in shown]
    starts = [p.start_line for p in parsed.passages]
    assert starts == sorted(starts)
    assert all(p.start_line <= p.end_line for p in parsed.passages)

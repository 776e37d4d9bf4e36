from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.markdown.near_misses import MAX_CHARS, near_misses
from memoranda.model.address import NotePath

PATH = NotePath("n.md")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("- [fact]Water boils", "- [fact] Water boils"),
        ("-[fact] Water boils", "- [fact] Water boils"),
        ("[fact] Water boils", "- [fact] Water boils"),
        ("* **[fact]** Water boils", "* [fact] Water boils"),
        ("1. __[fact]__Water boils", "1. [fact] Water boils"),
        ("  - [fact]nested", "- [fact] nested"),
        ("- [fact no closing bracket", "- [fact] no closing bracket"),
        ("* [fact see [[Focus]] #tag", "* [fact] see [[Focus]] #tag"),
        ("- [想]無空白", "- [想] 無空白"),
        ("> - [fact]quoted", "> - [fact] quoted"),
    ],
)
def test_a_line_that_is_nearly_an_observation_is_named_with_the_right_form(
    line: str, meant: str
) -> None:
    (warning,) = near_misses(f"# Title\n\n- one\n{line}\n", PATH)
    assert warning == f"Line 4 is not read as an observation; write {meant!r}."


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("- requires [[Focus]] because it helps.", "- requires [[Focus]] (because it helps)"),
        ("- part of [[A]] and [[B]]", "- part of [[A]] (and [[B]])"),
    ],
)
def test_a_link_in_a_list_item_that_is_read_as_prose_says_why(line: str, meant: str) -> None:
    (warning,) = near_misses(f"{line}\n", PATH)
    assert warning.startswith("Line 1: the link is read as prose (links_to), because text follows")
    assert f"{meant!r} would be a relation." in warning


def test_a_link_that_is_not_closed_is_named() -> None:
    (warning,) = near_misses("text\n\nsee [[Focus for more\n", PATH)
    assert warning.startswith("Line 3: [[ is not closed")


@pytest.mark.parametrize(
    "text",
    [
        "- [fact] Water boils #tag (context)",
        "- requires [[Focus]] (because)",
        "- requires [[Focus]]: because",
        "Text with [[Focus]] in the middle of it",
        "- A sentence of many words, which has [[Focus]] in its middle",
        "- [ ] task with [[Focus]] and more",
        "- [f]one Latin letter is a box",
        "- [text of a link over\n  two lines](note.md)",
        "- [link of one word](note.md)",
        "- [ task",
        "- [x] done",
        "- [text](note.md) and more",
        "- [text][reference] and more",
        "- [!note] callout",
        "- [^1]: footnote",
        "- [00:11]text at that time",
        "- [key:: value]text",
        "[reference]: note.md",
        "- [[Focus]]",
        "- [[Focus]] and more",
        "- [fact] with [[Focus]] and more",
        "```\n- [fact]code\n- requires [[A]] more\n[[ open\n```",
        "<!--\n- [fact]comment\n-->",
        "    - [fact]code by its margin",
        "`[[ code`",
        "---\nkey: '[fact] text'\n---\n",
    ],
)
def test_of_what_is_read_as_it_is_meant_nothing_is_said(text: str) -> None:
    assert near_misses(f"{text}\n", PATH) == []


def test_many_lines_of_a_kind_are_one_sentence() -> None:
    (warning,) = near_misses("- [fact]one\n" * 30, PATH)
    assert warning.startswith("Lines 1, 2, 3 and 27 more are not read as observations; ")


def test_of_an_edit_only_new_lines_count() -> None:
    before = "- [fact]old\n"
    assert near_misses(before, PATH, before=before) == []
    (warning,) = near_misses(f"{before}- [fact]new\n", PATH, before=before)
    assert warning.startswith("Line 2 ")


def test_line_ends_do_not_matter() -> None:
    for end in ("\r\n", "\r"):
        (warning,) = near_misses(f"a{end}{end}- [fact]one{end}", PATH)
        assert warning.startswith("Line 3 ")


def test_a_very_large_note_is_not_looked_at() -> None:
    assert near_misses("- [fact]one\n" + "x" * MAX_CHARS, PATH) == []


@given(st.text(st.sampled_from("-*[]() \nfact#|`~>:[[]]\\!^ 1.é")))
def test_whatever_the_text_is_there_is_an_answer(text: str) -> None:
    assert all(isinstance(each, str) and len(each) < 400 for each in near_misses(text, PATH))


def test_where_not_every_line_is_looked_at_the_number_is_a_lower_bound() -> None:
    (warning,) = near_misses("- [fact]a\n" * 5_000, PATH)
    assert warning.startswith("Lines 1, 2, 3 and at least 47 more are not read as observations")
    (warning,) = near_misses("- [fact]a\n" * 50, PATH)
    assert warning.startswith("Lines 1, 2, 3 and 47 more are")
    (warning,) = near_misses("- [fact]a\n" + "- [code x\n  ](y)\n" + "text [[a]]\n" * 60, PATH)
    assert warning.startswith("Line 1 is not")

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.errors import EditMismatch, InvalidArgument
from memoranda.markdown.edits import apply_edit
from memoranda.markdown.entity_parser import parse_note
from memoranda.model.address import NotePath
from memoranda.model.edit import (
    AddItem,
    Append,
    Edit,
    EditSection,
    FactText,
    FindReplace,
    Place,
    Prepend,
    RemoveItem,
    Replace,
    ReplaceItem,
    RetargetLink,
    SetMetadata,
)

PATH = NotePath("n.md")


@pytest.mark.parametrize(
    ("text", "added", "expected"),
    [
        ("a\n", "b\n", "a\nb\n"),
        ("a\n", "b", "a\nb\n"),
        ("a", "b", "a\nb"),
        ("a", "b\n", "a\nb\n"),
        ("a\r\nb\r\n", "c\nd\n", "a\r\nb\r\nc\r\nd\r\n"),
        ("a\r\nb", "c\n", "a\r\nb\r\nc\r\n"),
        ("a\rb\r", "c\n", "a\rb\rc\r"),
        ("", "b\n", "b\n"),
        ("a\n", "", "a\n"),
        ("a\n", "\nb\n", "a\n\nb\n"),
        ("---\nx: y: z\n---", "b\n", "---\nx: y: z\n---\nb\n"),
        ("---\na: b\n---\n", "b", "---\na: b\n---\nb\n"),
        ("a\n\n\n", "b", "a\n\n\nb\n"),
        ("a", "b\r\nc", "a\r\nb\r\nc"),
        ("a\r\nb\nc\r\nd", "e\n\rf", "a\r\nb\nc\r\nd\r\ne\r\n\r\nf"),
        ("知識 🌱", "é\n", "知識 🌱\né\n"),
        ("- a\n", "- b", "- a\n- b\n"),
        ("| a |\n|---|\n", "| b |", "| a |\n|---|\n| b |\n"),
        ("```\ncode\n", "b", "```\ncode\nb\n"),
    ],
)
def test_append(text: str, added: str, expected: str) -> None:
    assert apply_edit(text, Append(added), PATH) == expected


@pytest.mark.parametrize(
    ("text", "added", "expected"),
    [
        ("---\na: b\n---\nbody\n", "new", "---\na: b\n---\nnew\nbody\n"),
        ("---\na: b: c\n---\nbody\n", "new\n", "---\na: b: c\n---\nnew\nbody\n"),
        ("body\r\n", "new\n", "new\r\nbody\r\n"),
        ("---\na: b\n---", "new", "---\na: b\n---\nnew"),
        ("", "new", "new"),
        ("---\na: b\n---\n\nbody", "new", "---\na: b\n---\nnew\n\nbody"),
        ("---\r\na: b\r\n---", "new\n", "---\r\na: b\r\n---\r\nnew\r\n"),
        ("---\na: b\n---\nbody\n", "", "---\na: b\n---\nbody\n"),
        ("body\n", "---\na: b\n---\n", "---\na: b\n---\nbody\n"),
    ],
)
def test_prepend_goes_after_the_header(text: str, added: str, expected: str) -> None:
    assert apply_edit(text, Prepend(added), PATH) == expected


@pytest.mark.parametrize(
    ("text", "body", "expected"),
    [
        ("---\na: b # c\n---\n\nold\n", "new", "---\na: b # c\n---\n\nnew\n"),
        ("---\r\na: b\r\n---\r\nold", "new\nx", "---\r\na: b\r\n---\r\nnew\r\nx"),
        ("old\n", "new", "new\n"),
        ("---\na: b\n---\nold\n", "", "---\na: b\n---\n"),
        ("---\na: b\n---", "new", "---\na: b\n---\nnew"),
        ("---\na: b\n---\n\nold\n", "\n\nnew", "---\na: b\n---\n\n\nnew\n"),
        ("---\na: b\n---\nold\n", "old\n", "---\na: b\n---\nold\n"),
        ("", "new\n", "new\n"),
        ("old\n", "", ""),
    ],
)
def test_replace_keeps_the_header(text: str, body: str, expected: str) -> None:
    assert apply_edit(text, Replace(body), PATH) == expected


@pytest.mark.parametrize("edit", [Replace("---\nx: y\n---\nb"), Prepend("---\nx: y\n---\nb")])
def test_a_second_header_is_refused(edit: Replace | Prepend) -> None:
    with pytest.raises(InvalidArgument, match="already has frontmatter"):
        apply_edit("---\na: b\n---\nbody\n", edit, PATH)


def test_an_append_cannot_turn_the_note_into_a_header() -> None:
    with pytest.raises(InvalidArgument):
        apply_edit("---\n\na rule, and prose\n", Append("---\nmore"), PATH)


def test_a_prepend_cannot_turn_the_note_into_a_header() -> None:
    with pytest.raises(InvalidArgument, match="prepend would turn"):
        apply_edit("a line\n---\nprose\n", Prepend("---\nmore\n"), PATH)


def test_find_replace_counts_first() -> None:
    text = "one two one\r\n"
    assert apply_edit(text, FindReplace("one", "1\n", 2), PATH) == "1\r\n two 1\r\n\r\n"
    with pytest.raises(EditMismatch) as caught:
        apply_edit(text, FindReplace("one", "1"), PATH)
    assert (caught.value.found, caught.value.expected) == (2, 1)
    with pytest.raises(EditMismatch):
        apply_edit(text, FindReplace("three", "3"), PATH)


def test_find_replace_takes_the_text_literally() -> None:
    assert apply_edit("a.c abc\n", FindReplace("a.c", r"\1"), PATH) == "\\1 abc\n"


def test_a_line_ending_to_find_matches_any() -> None:
    assert apply_edit("a\r\nb\r\n", FindReplace("a\nb", "c"), PATH) == "c\r\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_are_found_and_replaced_in_any_file(ending: str) -> None:
    text = "a\n\nb é\nc".replace("\n", ending)
    result = apply_edit(text, FindReplace("\r\n\nb é\r", "x\ny"), PATH)
    assert result == "ax\nyc".replace("\n", ending)
    assert apply_edit(text, FindReplace("\n", "\n", 3), PATH) == text
    with pytest.raises(EditMismatch):
        apply_edit(text, FindReplace("a\nb", "x"), PATH)


def test_found_places_do_not_overlap() -> None:
    assert apply_edit("aaaa", FindReplace("aa", "a", 2), PATH) == "aa"


@pytest.mark.parametrize("edit", [FindReplace("", "x"), FindReplace("a", "x", 0)])
def test_nothing_to_find_is_refused(edit: FindReplace) -> None:
    with pytest.raises(InvalidArgument):
        apply_edit("a", edit, PATH)


BODY = st.text(alphabet="ab é#[]-\n\r:", max_size=60)


@given(BODY, BODY)
def test_what_stood_before_an_append_stands_still(text: str, added: str) -> None:
    try:
        result = apply_edit(text, Append(added), PATH)
    except InvalidArgument:
        return
    assert result.startswith(text)
    assert re.sub(r"\s", "", result) == re.sub(r"\s", "", text + added)


@given(BODY, BODY, st.sampled_from(["", "---\na: b\n---\n", "---\r\na: [\r\n---\r\n"]))
def test_what_stood_around_a_prepend_stands_still(text: str, added: str, header: str) -> None:
    if header:
        text = header + text
    try:
        result = apply_edit(text, Prepend(added), PATH)
    except InvalidArgument:
        return
    start = parse_note(text, PATH).body_start
    data, after = text.encode(), result.encode()
    assert after.startswith(data[:start])
    assert after.endswith(data[start:])


@given(BODY, st.text(alphabet="ab é#", min_size=1, max_size=3), BODY)
def test_what_find_replace_does_not_match_stands_still(text: str, find: str, added: str) -> None:
    count = text.count(find)
    if count == 0:
        return
    result = apply_edit(text, FindReplace(find, added, count), PATH)
    kept = text.split(find)
    at = 0
    for piece in kept:
        at = result.index(piece, at) + len(piece)


@pytest.mark.parametrize(
    ("text", "find", "new", "count", "expected"),
    [
        ("a\nb\r\nc\r\nd\r\n", "a\nb", "a\nB", 1, "a\nB\r\nc\r\nd\r\n"),
        ("a\rb\n\nc\n", "a\nb\n", "A\nB\n", 1, "A\rB\n\nc\n"),
        ("a\nb\r\nc\r\n", "a\nb\n", "a\nx\nb\n", 1, "a\nx\r\nb\r\nc\r\n"),
        ("a\nb\r\nc\r\n", "a\n", "a\nx\ny\n", 1, "a\nx\r\ny\r\nb\r\nc\r\n"),
        ("a\nb\na\r\nb\n", "a\nb", "a\r\nB", 2, "a\nB\na\r\nB\n"),
        ("a\nb\r\nc\r\n", "a\nb", "ab", 1, "ab\r\nc\r\n"),
        ("ab", "ab", "a\nb", 1, "a\nb"),
    ],
)
def test_a_replaced_line_keeps_its_line_ending(
    text: str, find: str, new: str, count: int, expected: str
) -> None:
    assert apply_edit(text, FindReplace(find, new, count), PATH) == expected


@given(st.text(alphabet="ab\n\r", max_size=12), BODY)
def test_what_is_found_and_put_back_is_the_same_in_any_file(before: str, after: str) -> None:
    found = "x\ny\r\rz\r\n"
    text = f"{before}{found}{after.lstrip()}"
    assert apply_edit(text, FindReplace("x\ny\n\nz\n", "x\ny\n\nz\n"), PATH) == text


MIXED = (
    "---\r\ntitle: T\nn: 1\r---\r\n# H\n\r- [aa] x\r\n- [bb] y\n- uses [[A]]\r"
    "- needs [[B]]\n\r\n## S\rtext\none\r\ntwo\r\n"
)


@pytest.mark.parametrize(
    ("edit", "old", "new"),
    [
        (Append("e\nf"), "", "e\r\nf\r\n"),
        (Prepend("e\nf\n"), "# H", "e\r\nf\r\n# H"),
        (Replace("e\nf\n"), MIXED[MIXED.index("# H") :], "e\r\nf\r\n"),
        (FindReplace("text\none\n", "e\nf\n"), "text\none\r\n", "e\nf\r\n"),
        (EditSection("S", "e\nf\n", Place.INSTEAD), "text\none\r\ntwo\r\n", "e\r\nf\r\n"),
        (EditSection("S", "e\n\n", Place.BEFORE), "## S", "e\r\n\r\n## S"),
        (EditSection("S", "e\n", Place.AFTER), "", "\r\ne\r\n"),
        (SetMetadata({"n": 2}), "n: 1", "n: 2"),
        (AddItem(FactText("cc", "z")), "y\n", "y\n- [cc] z\n"),
        (ReplaceItem(8, FactText("cc", "z")), "[bb] y", "[cc] z"),
        (RemoveItem(8), "- [bb] y\n", ""),
        (RetargetLink(parse_note(MIXED, PATH).links[0], "C"), "[[A]]", "[[C]]"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_line_endings_outside_an_edit_stay_in_a_mixed_file(edit: Edit, old: str, new: str) -> None:
    head, _, tail = MIXED.partition(old) if old else (MIXED, "", "")
    assert apply_edit(MIXED, edit, PATH) == head + new + tail


def test_every_kind_of_edit_is_tried_on_a_mixed_file() -> None:
    (mark,) = test_line_endings_outside_an_edit_stay_in_a_mixed_file.pytestmark
    assert {type(edit) for edit, _, _ in mark.args[1]} == set(get_args(Edit))


@given(BODY)
def test_an_edited_note_is_parsed_with_its_new_fact(text: str) -> None:
    result = apply_edit("# H\n\n" + text, Append("\n\n# New\n\n- [fact] added here\n"), PATH)
    assert [o.content for o in parse_note(result, PATH).observations][-1:] == ["added here"]


def test_a_text_that_is_not_there_is_to_be_copied_from_the_note() -> None:
    with pytest.raises(EditMismatch) as caught:
        apply_edit("abc\n", FindReplace("x", "y"), PATH)
    assert caught.value.hint == "Copy it from read_note, letter by letter."
    with pytest.raises(EditMismatch) as caught:
        apply_edit("aa\n", FindReplace("a", "y"), PATH)
    assert "longer find_text" in caught.value.hint

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.errors import EditMismatch, InvalidArgument
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.writer import apply_edit, diff, new_note
from memoranda.model.address import NotePath
from memoranda.model.edit import Append, FindReplace, Prepend, Replace
from memoranda.model.note import ParsedNote

PATH = NotePath("n.md")
CLEAN = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=40)


def make(
    title: str = "T",
    content: str = "body\n",
    tags: list[str] | None = None,
    note_type: str = "note",
    **metadata: object,
) -> tuple[str, ParsedNote]:
    text = new_note(
        title=title, content=content, note_type=note_type, tags=tags or [], metadata=metadata
    )
    return text, parse_note(text, PATH)


@pytest.mark.spec("6.2.1")
def test_new_note_is_frontmatter_blank_line_content() -> None:
    text, _ = make("Deep Work", "# Deep Work\n", ["a", "b/c"], "concept", status="open")
    assert text == (
        "---\ntitle: Deep Work\ntype: concept\ntags:\n  - a\n  - b/c\nstatus: open\n---\n\n# Deep Work\n"
    )


@pytest.mark.parametrize(
    "value",
    ["a: b", "007", "true", "NO", "# x", "@x", "~", "", " pad ", "a\nb", "- x", "[[A]]", "{a}", "x #y", "'q'", '"q"',
     "2025-01-15", "2025-1-5", "1.10", "é 知 🌱", "a\tb", "\x85\u2028\ufeff", "null", "!t", "*a", "a:", "key: [x"],
)  # fmt: skip
def test_texts_read_back_as_they_were_given(value: str) -> None:
    text, note = make(value=value, list=[value, value])
    assert note.problems == ()
    assert note.frontmatter["value"] == value
    assert note.frontmatter["list"] == [value, value]
    assert text.startswith("---\ntitle: T\n")


@given(CLEAN, CLEAN, st.lists(CLEAN, max_size=3), st.dictionaries(CLEAN, CLEAN, max_size=3))
def test_any_title_and_metadata_read_back(
    title: str, value: str, items: list[str], nested: dict[str, str]
) -> None:
    text = new_note(
        title=title,
        content="body",
        note_type="note",
        tags=[],
        metadata={"value": value, "items": items},
    )
    note = parse_note(text, PATH)
    assert note.problems == ()
    assert note.frontmatter["title"] == title
    assert note.frontmatter["value"] == value
    assert note.frontmatter["items"] == items
    assert note.content == "\nbody"


def test_metadata_of_all_kinds() -> None:
    _, note = make(
        n=42,
        f=1.5,
        yes=True,
        gone=None,
        day=date(2025, 1, 15),
        empty=[],
        deep={"a": {"b": [1, "x: y"]}},
    )
    assert note.frontmatter["n"] == "42"
    assert note.frontmatter["f"] == "1.5"
    assert note.frontmatter["yes"] == "True"
    assert "gone" not in note.frontmatter
    assert note.frontmatter["day"] == "2025-01-15"
    assert note.frontmatter["empty"] == []
    assert note.frontmatter["deep"] == '{"a": {"b": ["1", "x: y"]}}'


def test_metadata_cannot_replace_title_and_type() -> None:
    text = new_note(
        title="T", content="", note_type="x", tags=[], metadata={"title": "U", "type": "y"}
    )
    assert text == "---\ntitle: T\ntype: x\n---\n\n"


@pytest.mark.parametrize(
    "metadata",
    [{"k": object()}, {"k": float("nan")}, {"": "x"}, {"a\nb": "x"}, {1: "x"}, {"k": "\ud800"}],
)
def test_what_frontmatter_cannot_hold_is_refused(metadata: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        new_note(title="T", content="", note_type="note", tags=[], metadata=metadata)


def test_metadata_that_contains_itself_is_refused() -> None:
    loop: dict[str, object] = {}
    loop["k"] = loop
    with pytest.raises(InvalidArgument):
        new_note(title="T", content="", note_type="note", tags=[], metadata=loop)


def test_header_of_the_content_is_merged_and_arguments_win() -> None:
    content = "---\ntitle: Old\nauthor: Kim # me\nstatus: open\ntags: [x]\n---\n\n# Body\n"
    text, note = make("New", content, status="done")
    assert text.count("---\n") == 2
    assert "author: Kim # me\n" in text
    assert (note.title, note.tags) == ("New", ("x",))
    assert note.frontmatter["status"] == "done"
    assert text.endswith("---\n\n# Body\n")


def test_given_tags_win_over_those_of_the_content() -> None:
    _, note = make(content="---\ntags:\n  - x\n---\nbody", tags=["y"])
    assert note.tags == ("y",)


def test_a_flow_header_of_the_content_is_merged_by_value() -> None:
    _, note = make(content="---\n{title: Old, a: b, c: [d, e]}\n---\nbody")
    assert (note.title, note.problems) == ("T", ())
    assert (note.frontmatter["a"], note.frontmatter["c"]) == ("b", ["d", "e"])


def test_a_broken_header_of_the_content_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="line 2"):
        make(content="---\na: b: c\n---\nbody")


def test_a_rule_in_the_content_is_no_header() -> None:
    text, _ = make(content="---\n\nonly a rule\n")
    assert text.endswith("---\n\n---\n\nonly a rule\n")


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


@given(BODY)
def test_an_edited_note_is_parsed_with_its_new_fact(text: str) -> None:
    result = apply_edit("# H\n\n" + text, Append("\n\n# New\n\n- [fact] added here\n"), PATH)
    assert [o.content for o in parse_note(result, PATH).observations][-1:] == ["added here"]


def test_diff_shows_what_changed_with_true_lines() -> None:
    old = "".join(f"line {i}\n" for i in range(1, 101))
    shown = diff(old, old.replace("line 50\n", "line fifty\n"), PATH)
    assert "@@ -47,7 +47,7 @@" in shown
    assert "-line 50\n+line fifty\n" in shown
    assert diff(old, old, PATH) == ""


def test_diff_tells_of_a_missing_final_line_ending() -> None:
    assert "\\ No newline at end of file" in diff("a\n", "b", PATH)


def test_diff_is_bounded_and_says_so() -> None:
    old = "".join(f"line {i}\n" for i in range(500))
    shown = diff(old, old.replace("line", "word"), PATH, max_chars=300)
    assert len(shown) < 400
    assert re.search(r"\.\.\. \d+ more lines of the diff are not shown\n\Z", shown)


def test_diff_of_a_huge_change_is_a_summary() -> None:
    shown = diff("a\n" * 5000, "b\n" * 4000, PATH)
    assert "5000 lines replaced by 4000 from line 1" in shown

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.errors import InvalidArgument
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.writer import new_note
from memoranda.model.address import NotePath
from memoranda.model.note import ParsedNote

PATH = NotePath("n.md")
CLEAN = st.text(
    alphabet=st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40
)


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
    [
        {"k": object()},
        {"k": float("nan")},
        {"": "x"},
        {"a\nb": "x"},
        {1: "x"},
        {"k": "\ud800"},
        {"k": ["a\0"]},
    ],
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

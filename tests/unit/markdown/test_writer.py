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
    note_type: str | None = "note",
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


@pytest.mark.parametrize(
    ("own", "tags", "metadata", "expected"),
    [
        ("tags:\n  - x\n", ["y"], {}, ("y", "x")),
        ("tags: [x, y]\n", ["y", "z"], {}, ("y", "z", "x")),
        ("tags: '#x, w'\n", ["#y"], {}, ("y", "x", "w")),
        ("tags: [x]\n", ["y"], {"tags": ["m", "y"]}, ("y", "m", "x")),
        ("tags: [x]\n", [], {"tags": "m x"}, ("m", "x")),
        ("tags: [x]\n", [], {"tags": []}, ("x",)),
        ("tags: [x]\n", [], {"tags": None}, ()),
        ("tags: [x]\n", ["y"], {"tags": None}, ("y",)),
        ("tag: x\n", ["y"], {}, ("y", "x")),
        ("", ["t"], {"tags": ["m"]}, ("t", "m")),
        ("", [], {"tags": ["m"]}, ("m",)),
    ],
)
def test_tags_are_those_of_arguments_metadata_and_content(
    own: str, tags: list[str], metadata: dict[str, object], expected: tuple[str, ...]
) -> None:
    content = f"---\n{own}---\nbody" if own else "body"
    text = new_note(title="T", content=content, note_type=None, tags=tags, metadata=metadata)
    assert parse_note(text, PATH).tags == expected


@pytest.mark.parametrize(
    ("own", "note_type", "metadata", "expected"),
    [
        ("type: concept # c\n", None, {}, "concept"),
        ("type: concept\n", "person", {}, "person"),
        ("type: concept\n", "note", {}, "note"),
        ("type: concept\n", None, {"type": "m"}, "m"),
        ("type: concept\n", None, {"type": None}, "concept"),
        ("type: concept\n", "person", {"type": "m"}, "person"),
        ("type:\n", None, {}, "note"),
        ("a: b\n", None, {}, "note"),
        ("", None, {"type": "m"}, "m"),
        ("", None, {"type": None}, "note"),
    ],
)
def test_the_default_type_wins_over_nothing(
    own: str, note_type: str | None, metadata: dict[str, object], expected: str
) -> None:
    content = f"---\n{own}---\nbody" if own else "body"
    text, note = make(content=content, note_type=note_type, **metadata)
    assert (note.frontmatter["type"], note.problems) == (expected, ())
    assert text.count("type:") == 1


def test_a_type_that_is_not_given_stays_as_the_content_has_it() -> None:
    text, _ = make(content="---\ntype: concept # c\ntags: [keep]\n---\nx", note_type=None)
    assert text == "---\ntitle: T\ntype: concept # c\ntags: [keep]\n---\n\nx"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_comments_in_the_header_of_the_content_stay(ending: str) -> None:
    own = "---\n# my comment\ntitle: Z # gone\n# about foo\nfoo: 1 # c\nl:\n  - a # d\n\n# end\n---\nx"
    text, _ = make(content=own.replace("\n", ending))
    assert text == (
        "---\ntitle: T\ntype: note\n# my comment\n# about foo\nfoo: 1 # c\nl:\n  - a # d\n\n# end\n---\n\nx"
    )


def test_a_given_key_that_an_anchor_needs_is_merged_by_value() -> None:
    _, note = make(content="---\ntitle: &t Old\nother: *t\n---\nbody")
    assert (note.title, note.frontmatter["other"], note.problems) == ("T", "Old", ())


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

from __future__ import annotations

import re

import pyromark
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.source import decode
from memoranda.model.address import NotePath

PATH = NotePath("a/n.md")
PIECES = st.lists(
    st.sampled_from(
        ["---\n", "title: x\n", "up: [[A]]\n", "# H", "\n", "\r\n", "\r", "- ", "> ", "  ", "[fact] ", "[[", "]]",
         "[", "]", "|", "#t", "(c)", "[k:: v]", "^id", "`", "```\n", "$", "$$", "%%", "<!--", "-->", "<div>", "![",
         "](a.md)", "](", ")", "\\", "é", "知", "\ud800", "\x00", "\x0c", "\x85", "\u2028", "*", "**", "_", "1. ",
         "[a]: b.md\n", "[^1]: ", "[^1]", "word", "\t", "&amp;", "[ ] ", "===\n", "|-|\n", "~~~"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


def check(text: str) -> None:
    note = parse_note(text, PATH)
    clean = re.sub("[\ud800-\udfff]", "\ufffd", text)
    data = clean.encode()
    assert data[note.body_start :].decode() == note.content
    lines = len(re.findall(r"\r\n|\r|\n", clean)) + 1
    for observation in note.observations:
        assert 1 <= observation.line <= observation.end_line <= lines
        assert "[" in data[observation.start : observation.end].decode()
    for link in note.links:
        assert 1 <= link.line <= lines
        assert 0 <= link.start < link.end <= len(data)
        data[link.start : link.end].decode()
    for heading in note.outline:
        before = data[: heading.start].decode()
        assert len(re.findall(r"\r\n|\r|\n", before)) + 1 == heading.line
    for passage in note.passages:
        assert passage.text.strip()
        assert 1 <= passage.start_line <= passage.end_line <= lines
    assert repr(note).encode()  # no lone surrogate is left


@given(st.text(max_size=200))
def test_any_text_is_parsed(text: str) -> None:
    check(text)


@given(PIECES)
@example("- [fact] a\n%%\n\n- [fact] b")
def test_any_mixture_of_markup_is_parsed(text: str) -> None:
    check(text)


@given(st.binary(max_size=200))
def test_any_bytes_are_parsed(data: bytes) -> None:
    check(decode(data).text)


@given(st.text(max_size=60))
def test_any_header_is_parsed(header: str) -> None:
    check(f"---\n{header}\n---\n- [fact] body\n")


@pytest.mark.spec("12.1")
@pytest.mark.parametrize("text", ["", "  \n\n"])
def test_an_empty_note_has_its_file_name_and_nothing_else(text: str) -> None:
    note = parse_note(text, PATH)
    assert (note.title, note.note_type) == ("n", "note")
    assert (note.observations, note.links, note.passages, note.outline) == ((), (), (), ())
    assert note.problems == ()


def test_outline_has_plain_texts_lines_and_bytes() -> None:
    text = (
        "é\n\n## **Bold** `code` [[A|b]]\n\n- # in a list\n\n> # in a quote\n\n Two\nlines\n===\n"
    )
    note = parse_note(text, PATH)
    assert [(h.level, h.text, h.line) for h in note.outline] == [
        (2, "Bold code b", 3),
        (1, "Two lines", 9),
    ]
    assert text.encode()[note.outline[1].start :].startswith(b" Two")


def test_lone_surrogates_are_replaced_and_ranges_stay_true() -> None:
    note = parse_note("\ud800 [[A]]", PATH)
    assert note.content == "\ufffd [[A]]"
    assert (note.links[0].start, note.links[0].end) == (4, 9)


def test_a_panic_of_the_library_leaves_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panic(*_: object, **__: object) -> None:
        raise PanicException

    monkeypatch.setattr(pyromark, "events_with_range", panic)
    note = parse_note("---\ntitle: T\n---\n- [fact] x\n", PATH)
    assert note.title == "T"
    assert [p.text for p in note.passages] == ["- [fact] x"]
    assert note.problems


def test_an_interrupt_is_not_taken_for_a_panic(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pyromark, "events_with_range", interrupt)
    with pytest.raises(KeyboardInterrupt):
        parse_note("x", PATH)


@pytest.mark.parametrize(
    "text",
    [
        "x " + "[" * 100_000,
        "[[" * 20_000 + "x",
        "- uses " + "[[" * 20_000 + "]]" * 20_000,
        "- [fact] x " + "(" * 50_000 + ")" * 50_000,
        "- [fact] x [" + " " * 200_000 + "y",
        "word " * 200_000,
        "a" * 1_000_000,
        "%% a " * 50_000,
        "%%\n\n- [fact] x %% [[a]] %%\n\n" * 30_000,
        "- [fact] x " + "<!-- a --> " * 80_000,
        "---\nx: " + "[" * 5_000 + "\n---\nb",
        "---\nup:\n" + '  - "[[\\u0041]]"\n' * 80_000 + "---\n",
        ">" * 20_000 + " - [fact] x",
        "- [fact] `a" + " " * 200_000 + "\n" + " " * 200_000 + "b`",
    ],
    ids=str.__len__,
)
@pytest.mark.timeout(20)
def test_hostile_text_ends(text: str) -> None:
    parse_note(text, PATH)


@pytest.mark.parametrize(
    "text", ["- %%c%% [cat] fact\n", "- %%c%%[cat] fact\n", "- %%c%% <!-- d -->[cat] fact\n"]
)
def test_a_comment_in_front_of_a_fact_is_as_if_it_were_not_there(text: str) -> None:
    (fact,) = parse_note(text, PATH).observations
    assert (fact.category, fact.content, fact.start) == ("cat", "fact", 0)


def test_a_comment_in_front_of_a_relation_is_as_if_it_were_not_there() -> None:
    (link,) = parse_note("- %%c%% needs [[A]]\n", PATH).links
    assert link.relation_type == "needs"


@pytest.mark.parametrize(
    ("above", "parent"),
    [
        ("- Milk and\n  honey\n", "Milk and honey"),
        ("- [ ] buy milk\n", "buy milk"),
        ("- [fact] milk %% no %%\n", "[fact] milk"),
        ("- " + "word " * 100 + "\n", ("word " * 40)[:199] + "…"),
        ("- ```\n  code\n  ```\n", ""),
    ],
)
def test_a_nested_fact_knows_the_item_above_it(above: str, parent: str) -> None:
    (fact,) = (
        one
        for one in parse_note(f"text\n\n{above}  - [in] x\n", PATH).observations
        if one.category == "in"
    )
    assert (fact.parent, fact.parent_line) == (parent, 3)


def test_a_fact_at_the_top_has_no_parent_and_each_level_has_its_own() -> None:
    text = "- [aa] one\n  - [bb] two\n    - [cc] three\n  - [dd] four\n> - quote\n>   - [ee] five\n"
    assert [(one.category, one.parent) for one in parse_note(text, PATH).observations] == [
        ("aa", ""),
        ("bb", "[aa] one"),
        ("cc", "[bb] two"),
        ("dd", "[aa] one"),
        ("ee", "quote"),
    ]

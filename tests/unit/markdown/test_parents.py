from __future__ import annotations

import pytest

from memoranda.markdown.entity_parser import MAX_PARENT_CHARS, parse_note
from memoranda.model.address import NotePath


def parents(text: str) -> list[tuple[str, int]]:
    note = parse_note(text, NotePath("n.md"))
    return [(one.parent, one.parent_line) for one in note.observations]


def test_an_item_at_the_top_has_no_parent() -> None:
    assert parents("- [fact] a\n\n> - [fact] in a quote\n") == [("", 0), ("", 0)]


def test_the_parent_is_the_next_item_outside() -> None:
    text = "- Install\n  - Linux\n    - [fact] a\n  - [fact] b\n- [fact] c\n"
    assert parents(text) == [("Linux", 2), ("Install", 1), ("", 0)]


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ("[decision] use it #db (why)", "[decision] use it #db (why)"),
        ("[ ] open task", "open task"),
        ("[x] done task", "done task"),
        ("[/] half done", "half done"),
        ("[[A|b]] and *more* `code`", "[[A|b]] and *more* `code`"),
        ("two\n  lines", "two lines"),
        ("a <!-- no --> b %% no %% c", "a b c"),
        ("%% all hidden %%", ""),
        ("# Heading", "Heading"),
        ("```\n  code\n  ```", ""),
        ("<div>\n  html", ""),
        ("> quote", ""),
        ("first\n\n  second", "first"),
        ("\\[fact] not", "\\[fact] not"),
    ],
)
def test_the_text_of_a_parent(item: str, text: str) -> None:
    assert parents(f"- {item}\n\n  - [fact] a\n")[-1] == (text, 1)


def test_what_stands_between_does_not_matter() -> None:
    text = "- p\n  - [fact] a\n\n  see [[B]] %% c %%\n\n  - [fact] b\n  > 1. [fact] c\n"
    assert parents(text) == [("p", 1)] * 3


@pytest.mark.parametrize("item", ["- [ ]", "-", "- -"])
def test_an_item_without_text_gives_its_line(item: str) -> None:
    assert parents(f"{item}\n    - [fact] a\n") == [("", 1)]


def test_lines_are_those_of_the_file() -> None:
    assert parents("---\na: b\n---\r\n\r\n- é\r\n  - [fact] a\r\n") == [("é", 5)]


def test_a_long_text_ends_at_a_word() -> None:
    ((parent, _),) = parents("- " + "word " * 100 + "\n  - [fact] a\n")
    assert parent == "word " * 39 + "word…"
    assert len(parent) == MAX_PARENT_CHARS
    fits = "x" * MAX_PARENT_CHARS
    assert parents(f"- {fits}\n  - [fact] a\n") == [(fits, 1)]


def test_a_long_text_without_blanks_is_cut_anywhere() -> None:
    ((parent, _),) = parents("- " + "知" * 300 + "\n  - [fact] a\n")
    assert parent == "知" * (MAX_PARENT_CHARS - 1) + "…"

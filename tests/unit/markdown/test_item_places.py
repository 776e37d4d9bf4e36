from __future__ import annotations

import pytest

from memoranda.errors import AmbiguousSection, InvalidArgument, SectionNotFound
from memoranda.markdown.edits import apply_edit
from memoranda.markdown.item_edits import add_item
from memoranda.model.address import NotePath
from memoranda.model.edit import AddItem, FactText, RelationText

PATH = NotePath("n.md")
FACT = FactText("new", "fact")
RELATION = RelationText("part of", "B")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # behind the last of its kind, with its bullet and indentation
        ("- [aa] x\n- [bb] y\n\nText\n", "- [aa] x\n- [bb] y\n- [new] fact\n\nText\n"),
        ("* [aa] x\n* plain\n", "* [aa] x\n* [new] fact\n* plain\n"),
        ("-   [aa] x\n", "-   [aa] x\n-   [new] fact\n"),
        ("-\t[aa] x\n", "-\t[aa] x\n-\t[new] fact\n"),
        ("-\n  [aa] x\n", "-\n  [aa] x\n- [new] fact\n"),
        (" + [aa] x\n   y\n", " + [aa] x\n   y\n + [new] fact\n"),
        ("- [aa] x\ny\n", "- [aa] x\ny\n- [new] fact\n"),
        ("- [ ] task\n- [aa] x\n- [ ] task\n", "- [ ] task\n- [aa] x\n- [new] fact\n- [ ] task\n"),
        # after what is nested in it, and on its level
        ("- [aa] x\n  - [bb] y\n\nText\n", "- [aa] x\n  - [bb] y\n- [new] fact\n\nText\n"),
        ("- plain\n  - [bb] y\n", "- plain\n  - [bb] y\n  - [new] fact\n"),
        ("- - [bb] y\n", "- - [bb] y\n  - [new] fact\n"),
        ("- a\n\t- [bb] y\n\t- z\n", "- a\n\t- [bb] y\n\t- [new] fact\n\t- z\n"),
        ("* [aa] x\n\n  more\n* z\n", "* [aa] x\n\n  more\n* [new] fact\n* z\n"),
        ("- [aa] x\n  ```\n  code\n- z\n", "- [aa] x\n  ```\n  code\n- [new] fact\n- z\n"),
        ("- [aa] x\n  ```\n  ```\nText\n", "- [aa] x\n  ```\n  ```\n- [new] fact\n\nText\n"),
        # numbers go on, or stay if all are one
        ("1. [aa] x\n2. [bb] y\n", "1. [aa] x\n2. [bb] y\n3. [new] fact\n"),
        ("9) [aa] x\n", "9) [aa] x\n10) [new] fact\n"),
        ("1. [aa] x\n1. [bb] y\n", "1. [aa] x\n1. [bb] y\n1. [new] fact\n"),
        ("1. [aa] x\n1. plain\n", "1. [aa] x\n1. [new] fact\n1. plain\n"),
        ("01. [aa] x\n", "01. [aa] x\n02. [new] fact\n"),
        ("999999999. [aa] x\n", "999999999. [aa] x\n999999999. [new] fact\n"),
        # a list with blank lines between its items keeps them
        ("- [aa] x\n\n- [bb] y\n\n\nText\n", "- [aa] x\n\n- [bb] y\n\n- [new] fact\n\n\nText\n"),
        ("- [aa] x\n\n- plain\n", "- [aa] x\n\n- [new] fact\n\n- plain\n"),
        ("- [aa] x\n\n  more\n- [bb] y\n", "- [aa] x\n\n  more\n- [bb] y\n- [new] fact\n"),
        # never behind an item in a quote
        ("> - [aa] x\n", "> - [aa] x\n\n- [new] fact\n"),
        ("- [aa] x\n\n> - [bb] y\n", "- [aa] x\n- [new] fact\n\n> - [bb] y\n"),
        # in the section of that name, before its subsections
        ("# Observations\n\n# B\n\ntext\n", "# Observations\n\n- [new] fact\n\n# B\n\ntext\n"),
        ("# A\n### OBSERVATIONS:\n# B\n", "# A\n### OBSERVATIONS:\n\n- [new] fact\n\n# B\n"),
        ("# Observations\ntext\n## B\n", "# Observations\ntext\n\n- [new] fact\n\n## B\n"),
        ("Observations\n===\nB\n===\n", "Observations\n===\n\n- [new] fact\n\nB\n===\n"),
        ("## Observations\n# Observations\n", "## Observations\n# Observations\n\n- [new] fact\n"),
        ("```\n# Observations\n```\n", "```\n# Observations\n```\n\n- [new] fact\n"),
        # at the end of the note, apart from a paragraph, in a list if one is there
        ("", "- [new] fact\n"),
        ("\n\n", "\n\n- [new] fact\n"),
        (" ", " \n- [new] fact\n"),
        ("text", "text\n\n- [new] fact"),
        ("text\n", "text\n\n- [new] fact\n"),
        ("text\n\n\n", "text\n\n- [new] fact\n\n\n"),
        ("# A", "# A\n\n- [new] fact"),
        ("a\n\n    code", "a\n\n    code\n\n- [new] fact"),
        ("- plain\n", "- plain\n- [new] fact\n"),
        ("* plain\n  * more\n", "* plain\n  * more\n* [new] fact\n"),
        ("- [ ] task\n", "- [ ] task\n- [new] fact\n"),
        ("1. step\n", "1. step\n\n- [new] fact\n"),
        ("* a\n\ntext\n", "* a\n\ntext\n\n* [new] fact\n"),
        ("- uses [[A]]\n", "- uses [[A]]\n- [new] fact\n"),
        ("<div>\nx\n", "<div>\nx\n\n- [new] fact\n"),
        ("[^1]: note\n", "[^1]: note\n\n- [new] fact\n"),
        # behind a header
        ("---\na: 1\n---\n", "---\na: 1\n---\n\n- [new] fact\n"),
        ("---\na: 1\n---", "---\na: 1\n---\n\n- [new] fact"),
        ("---\na: 1\n---\n\n\n", "---\na: 1\n---\n\n- [new] fact\n\n\n"),
        # line endings
        ("- [aa] x\r\n\r\ntext\r\n", "- [aa] x\r\n- [new] fact\r\n\r\ntext\r\n"),
        ("text\rtext", "text\rtext\r\r- [new] fact"),
        ("a\n\n- [aa] x\r\n- y\n", "a\n\n- [aa] x\r\n- [new] fact\r\n- y\n"),
        ("é \ud800\n- [aa] é\n", "é \ud800\n- [aa] é\n- [new] fact\n"),
    ],
)  # fmt: skip
def test_place_of_a_new_observation(before: str, after: str) -> None:
    assert apply_edit(before, AddItem(FACT), PATH) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- uses [[A]] (x)\n- [[C]]\n", "- uses [[A]] (x)\n- part of [[B]]\n- [[C]]\n"),
        ("- [aa] x\n\n## Relations\n", "- [aa] x\n\n## Relations\n\n- part of [[B]]\n"),
        ("- [aa] on [[A]]\n\ntext [[A]]\n", "- [aa] on [[A]]\n\ntext [[A]]\n\n- part of [[B]]\n"),
        ("> - uses [[A]]\n\ntext\n", "> - uses [[A]]\n\ntext\n\n- part of [[B]]\n"),
        ("- links to [[A]]\n\ntext\n", "- links to [[A]]\n\ntext\n\n- part of [[B]]\n"),
    ],
)
def test_place_of_a_new_relation(before: str, after: str) -> None:
    assert add_item(before, RELATION, PATH) == after


@pytest.mark.parametrize(
    ("section", "after"),
    [
        ("A", "# A\nt\n## A1\n- [aa] x\n- [new] fact\n# B\n## Observations\n\n# C\n- [cc] x\n\nt\n"),
        ("A1", "# A\nt\n## A1\n- [aa] x\n- [new] fact\n# B\n## Observations\n\n# C\n- [cc] x\n\nt\n"),
        ("B", "# A\nt\n## A1\n- [aa] x\n# B\n## Observations\n\n- [new] fact\n\n# C\n- [cc] x\n\nt\n"),
        ("C", "# A\nt\n## A1\n- [aa] x\n# B\n## Observations\n\n# C\n- [cc] x\n- [new] fact\n\nt\n"),
    ],
)  # fmt: skip
def test_a_section_is_meant_with_its_own_text_first(section: str, after: str) -> None:
    before = "# A\nt\n## A1\n- [aa] x\n# B\n## Observations\n\n# C\n- [cc] x\n\nt\n"
    assert add_item(before, FACT, PATH, section=section) == after


def test_a_section_that_is_not_there_or_there_twice() -> None:
    with pytest.raises(SectionNotFound):
        add_item("# A\n", FACT, PATH, section="B")
    with pytest.raises(AmbiguousSection):
        add_item("# A\n# A\n", FACT, PATH, section="A")


def test_the_own_text_of_a_section_comes_before_its_subsections() -> None:
    before = "# A\n- [aa] x\n## A1\n- [bb] y\n"
    after = "# A\n- [aa] x\n- [new] fact\n## A1\n- [bb] y\n"
    assert add_item(before, FACT, PATH, section="A") == after
    other = "# A\nt\n# Observations\n"
    assert add_item(other, FACT, PATH, section="A") == "# A\nt\n\n- [new] fact\n\n# Observations\n"
    assert add_item("# A\nt\n## A1\nt\n", FACT, PATH, section="A") == (
        "# A\nt\n\n- [new] fact\n\n## A1\nt\n"
    )


@pytest.mark.parametrize(
    "text", ["```\ncode\n", "text\n\n<!-- open\n", "# A\n\n~~~\n\ncode", "<script>\nx"]
)
def test_nothing_is_added_to_open_code_html_or_comments(text: str) -> None:
    with pytest.raises(InvalidArgument, match="nothing was changed") as raised:
        add_item(text, FACT, PATH)
    assert raised.value.parameter == "section"
    assert raised.value.hint

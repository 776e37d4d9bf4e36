"""No word of a note is lost for the search, whatever kind of row holds it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.source import decode
from memoranda.model.address import NotePath
from memoranda.services.items import indexed_note, note_terms

GOLDEN = Path(__file__).parents[2] / "vaults" / "golden"
NOW = (datetime(2026, 1, 1, tzinfo=UTC),) * 2
WORD = re.compile(r"[^\W\d]\w+")
HIDDEN = re.compile(r"[^\r\n]*(?:%%|<!--)[^\r\n]*|\s\^[\w-]+")
"""Lines with a comment, which an item leaves out, and block ids."""


def rows(text: str) -> list[str]:
    note = parse_note(text, NotePath("n.md"))
    items = indexed_note(1, note, range(len(note.observations)), NOW).items
    return [item.content for item in items[1:]]


def test_a_relation_is_searched_with_its_label_anchor_and_context_wherever_it_stands() -> None:
    text = "- part of [[Port#Quay|the port]] (north)\n- part of [[Port]] (south)\n"
    assert rows(text) == ["part_of [[Port#Quay|the port]] (north)", "part_of [[Port]] (south)"]


def test_the_fields_of_a_fact_are_searched() -> None:
    (row,) = rows("- [runtime] Runs on .NET [source:: PR 412] ^b2\n")
    assert row == "[runtime] Runs on .NET [source:: PR 412]"


def test_the_texts_of_a_header_are_searched_nested_ones_too() -> None:
    text = (
        "---\ntitle: T\nsummary: '[WIP] zebra plan'\nlist: ['[x] okapi', '{y} quokka']\n"
        "sources:\n  - {title: numbat paper, last_modified: 2026-01-01}\ngenerated: {by: wombat}\n"
        "up: '[[Link]]'\ndone: true\nnumber: 12\n---\n"
    )
    note = parse_note(text, NotePath("n.md"))
    header = indexed_note(1, note, (), NOW).items[0].content
    assert header.split("\n") == [
        "[WIP] zebra plan",
        "[x] okapi",
        "{y} quokka",
        "numbat paper",
        "wombat",
    ]


def test_an_attachment_is_no_row_of_its_own() -> None:
    assert rows("- shows [[chart.png]]\n") == ["- shows [[chart.png]]"]


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.md")))
def test_no_word_of_a_golden_note_is_lost(name: str) -> None:
    text = decode((GOLDEN / f"{name}.md").read_bytes()).text
    found = set(WORD.findall(" ".join(rows(text)).replace("_", " ").lower()))
    body = HIDDEN.sub(" ", parse_note(text, NotePath("n.md")).content)
    words = WORD.findall(body.replace("_", " ").lower())
    assert [word for word in words if word not in found] == []


def test_the_terms_of_a_note_are_those_of_its_rows_in_their_order() -> None:
    text = "---\ntitle: Running\ntags: [jumping]\n---\n# Walking\n\nflying\n\n- [fact] swimming\n"
    note = parse_note(text, NotePath("n.md"))
    terms = note_terms(note)
    assert len(terms) == len(indexed_note(1, note, (7,), NOW).items)
    assert {"run", "jump", "walk"} <= set(terms[0].split())
    assert ("fli" in terms[1], "swim" in terms[-1]) == (True, True)

"""A text that was just parsed is not parsed again, and is never taken for another."""

from __future__ import annotations

from memoranda.markdown.entity_parser import parse_note
from memoranda.model.address import NotePath

TEXT = "# Of {}\n\n- [fact] A thing\n- needs [[Other]]\n"
HERE = NotePath("here.md")


def test_the_same_text_is_parsed_once() -> None:
    assert parse_note(TEXT.format("one"), HERE) is parse_note(TEXT.format("one"), HERE)


def test_another_text_or_another_path_is_another_note() -> None:
    first = parse_note(TEXT.format("one"), HERE)

    assert parse_note(TEXT.format("two"), HERE).outline != first.outline
    assert parse_note(TEXT.format("one"), NotePath("there.md")).title == "there"


def test_only_a_few_short_texts_are_remembered() -> None:
    first = parse_note(TEXT.format("first"), HERE)
    for number in range(100):
        parse_note(TEXT.format(number), HERE)
    long = "x" * 100_000

    assert parse_note(TEXT.format("first"), HERE) is not first
    assert parse_note(long, HERE) is not parse_note(long, HERE)

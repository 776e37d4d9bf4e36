from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.model.item_key import KINDS, item_key
from memoranda.model.search import ItemType
from memoranda.ports import StoredItem
from memoranda.text.chunks import MAX_CHARS, chunks_of, content_key, parts
from memoranda.text.graphemes import is_boundary

NOTE, SECTION = ItemType.NOTE, ItemType.SECTION
OBSERVATION, RELATION = ItemType.OBSERVATION, ItemType.RELATION


def item(kind: ItemType, content: str, *path: str, ordinal: int = 1, **fields: Any) -> StoredItem:
    return StoredItem(item_key(7, ordinal, KINDS[kind]), content, path, 1, 1, **fields)


OWN = item(NOTE, "", ordinal=0, title="Title")


def texts(*items: StoredItem) -> list[str]:
    return [chunk.text for chunk in chunks_of([OWN, *items])][1:]


def test_the_note_itself_is_its_title_tags_and_header() -> None:
    own = item(NOTE, "status: draft", ordinal=0, title="My note", tags="a b", headings="Head")
    [chunk] = chunks_of([own])
    assert (chunk.item_key, chunk.part) == (own.key, 0)
    assert chunk.text == "My note\na b\nstatus: draft"


def test_an_item_says_where_it_stands() -> None:
    assert texts(item(SECTION, "Words.", "One", "Two")) == ["Title > One > Two\nWords."]
    assert texts(item(OBSERVATION, "[fact] Words #tag", "One")) == [
        "Title > One\n[fact] Words #tag"
    ]
    assert texts(item(SECTION, "Words.")) == ["Title\nWords."]


@pytest.mark.parametrize(
    "line", ["## Two", "## **Two** ##", "Two\n---", "  ### two:"], ids=lambda line: line[:6]
)
def test_a_heading_that_opens_the_passage_is_said_once(line: str) -> None:
    text = f"{line}\nWords."
    assert texts(item(SECTION, text, "One", "Two")) == [f"Title > One\n{text.strip()}"]


def test_a_first_heading_that_is_the_title_is_said_once() -> None:
    assert texts(item(SECTION, "Words.", "TITLE", "Two")) == ["TITLE > Two\nWords."]
    assert texts(item(SECTION, "# Title\n\nWords.", "Title")) == ["# Title\n\nWords."]


def test_only_the_part_that_has_the_heading_leaves_it_out() -> None:
    first, second = texts(item(SECTION, "# Some\n" + "Some words. " * 100, "Some"))
    assert first.startswith("Title\n# Some\nSome words.")
    assert second.startswith("Title > Some\nSome words.")


def test_a_relation_needs_a_context() -> None:
    assert texts(item(RELATION, "depends_on [[Other]]")) == []
    assert texts(item(RELATION, "depends_on [[Other (old)]]")) == []
    assert texts(item(RELATION, "depends_on [[Other]] (it is faster)")) == [
        "Title\ndepends_on [[Other]] (it is faster)"
    ]


def test_a_long_context_without_a_word_is_no_trouble() -> None:
    assert texts(item(RELATION, f"depends_on [[Other]] ({'`]](!`' * 100_000})")) == []


@pytest.mark.parametrize("text", ["", "---", "* * *\n\n!", "🙂"])
def test_an_item_without_letter_or_digit_gives_nothing(text: str) -> None:
    assert texts(item(SECTION, text, "Head")) == []
    assert chunks_of([item(NOTE, text, ordinal=0, title="?")]) == ()
    assert chunks_of([]) == ()


def test_a_script_without_case_has_letters() -> None:
    assert texts(item(SECTION, "記憶")) == ["Title\n記憶"]


def test_places_stay_short_and_in_one_line() -> None:
    [text] = texts(item(SECTION, "Words.", "x" * 500, *["y" * 150] * 5, "last\nheading"))
    place, words = text.split("\n")
    assert len(place) < 420
    assert place.startswith("Title > ")
    assert place.endswith(" > last heading")
    assert words == "Words."
    own = item(NOTE, "", ordinal=0, title="long " * 1000)
    chunks = chunks_of([own, item(SECTION, "Words.")])
    assert "".join(chunk.text for chunk in chunks[:-1]).count("long") == 1000
    assert len(chunks[-1].text) < 220


def test_the_same_text_has_the_same_key() -> None:
    one, two, other = chunks_of(
        [OWN, item(SECTION, "Words."), item(SECTION, "Words.", ordinal=2), item(SECTION, "Word.")]
    )[1:]
    assert one.content_key == two.content_key == content_key("Title\nWords.")
    assert one.content_key != other.content_key
    assert len(one.content_key) == 16
    assert content_key("\ud800") != content_key("")


def blocks(separator: str, count: int, words: int = 40) -> str:
    return separator.join(f"Block{n} " + "and " * words + "end" for n in range(count))


@pytest.mark.parametrize(
    ("text", "start"),
    [
        pytest.param(blocks("\n\n", 9), "Block", id="paragraphs"),
        pytest.param(blocks("\n \t\r\n", 9), "Block", id="blank lines with blanks"),
        pytest.param("- " + blocks("\n  " + "more " * 30 + "\n- ", 9), "- Block", id="list items"),
        pytest.param(
            "1. " + blocks("\n   " + "more " * 30 + "\n2) ", 9), ("1. ", "2) "), id="numbered items"
        ),
        pytest.param(blocks("\n", 9), "Block", id="lines"),
        pytest.param(blocks(". ", 9), "Block", id="sentences"),
        pytest.param("これは文です。" * 400, "これは", id="sentences without blanks"),
        pytest.param("word " * 400, "word", id="words"),
    ],
)
def test_parts_begin_at_the_best_border(text: str, start: str) -> None:
    found = list(parts(text))
    assert len(found) > 1
    assert all(part.startswith(start) for part in found)
    assert all(len(part) <= MAX_CHARS for part in found)


def test_a_better_border_wins_over_a_later_one() -> None:
    first, second = parts("Sentence one. " * 30 + "\n\n" + "Sentence two.\n" * 60)
    assert first.endswith("one.")
    assert second.startswith("Sentence two.")


def test_a_border_at_the_very_start_is_no_border() -> None:
    found = list(parts("Short.\n\n" + "word " * 300))
    assert len(found) == 2
    assert found[0].startswith("Short.\n\nword word")


def test_the_last_part_is_not_a_crumb() -> None:
    assert min(map(len, parts("word " * 184))) >= 190


def test_no_character_is_cut_in_two() -> None:
    family = "👩\u200d👩\u200d👧\u200d👦"
    assert all(part == family * (len(part) // len(family)) for part in parts(family * 500))
    assert "".join(parts("e" + "\u0301" * 5000)) == "e" + "\u0301" * 5000


BLOCK = st.sampled_from(
    ["\n\n", "\n", " ", ". ", "\n- ", "。", "word", "Sentence", "é", "🇩🇪", "\r\n", "x" * 300]
)
LONG = st.lists(BLOCK | st.text(max_size=20), max_size=200).map("".join)


@given(LONG)
def test_parts_have_all_of_the_text(text: str) -> None:
    found = list(parts(text))
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(0 < len(part) <= MAX_CHARS for part in found)
    assert all(part == part.strip() for part in found)
    at = 0
    for before, after in pairwise(found):
        at = text.index(before, at) + len(before)
        assert is_boundary(text, text.index(after, at))


@given(LONG, st.text(max_size=50), st.lists(st.text(max_size=50), max_size=3))
def test_the_chunks_of_an_item_are_its_parts(text: str, title: str, path: list[str]) -> None:
    own = item(NOTE, text, ordinal=0, title=title)
    section = item(SECTION, text, *path)
    chunks = chunks_of([own, section])
    assert chunks == chunks_of([own, section])
    of_note = [chunk for chunk in chunks if chunk.item_key == own.key]
    of_section = [chunk for chunk in chunks if chunk.item_key == section.key]
    assert list(chunks) == of_note + of_section
    assert [chunk.part for chunk in of_section] == list(range(len(of_section)))
    if any(map(str.isalnum, text)):
        said = "".join("".join(chunk.text for chunk in of_note).split())
        assert said == "".join((title + text).split())
        for chunk, part in zip(of_section, parts(text), strict=True):
            assert chunk.text.endswith(part)


@pytest.mark.parametrize("unit", ["\n", "\n\n", " ", "- x\n", "e\u0301", "🇩🇪", "\u0301", "a", ". "])
def test_the_work_grows_with_the_text(unit: str) -> None:
    text = "word" + unit * (200_000 // len(unit)) + "word"
    assert "".join("".join(parts(text)).split()) == "".join(text.split())

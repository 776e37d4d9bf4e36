"""An edit changes what it was asked to change and nothing else, in the bytes and in what is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.fuzz.edit_checks import check_edit
from tests.fuzz.edit_choice import edit_of
from tests.fuzz.note_checks import PATH
from tests.property.markup import BODIES, CLOSED_NOTES, INLINE, NOTES, SOAK_TIMEOUT_S, counted

from memoranda.markdown.entity_parser import parse_note
from memoranda.model.edit import (
    AddItem,
    Append,
    Edit,
    EditSection,
    FactText,
    FindReplace,
    Place,
    Prepend,
    RelationText,
    RemoveItem,
    Replace,
    ReplaceItem,
    RetargetLink,
    SetMetadata,
)
from memoranda.model.note import Observation, ParsedNote
from memoranda.model.outline import sections_of

pytestmark = pytest.mark.timeout(SOAK_TIMEOUT_S)

NEW: Final = "# Added here\n\n- [added] new fact #fresh ^zz9\n- follows [[Somewhere else]]\n"
FACTS: Final = st.builds(
    FactText,
    st.sampled_from(["fact", "two words", "事"]),
    st.sampled_from(["plain words", "with `code`", "see [[Other]]", "x: y", "- dash", "1. one", "# no heading"]),
    st.sampled_from([(), ("t",), ("a/b", "标签")]),
    st.sampled_from([None, "why", "since (May)"]),
    st.sampled_from([{}, {"by": "Ada"}, {"occurred": "2026-03-01", "source": "PR 4"}]),
    st.sampled_from([None, "b9"]),
)  # fmt: skip
RELATIONS: Final = st.builds(
    RelationText,
    st.sampled_from(["needs", "part of", "is one of the causes of", "依赖"]),
    st.sampled_from(["Tank", "a b#Part", "x/y|label", "知識"]),
    st.sampled_from([None, "why"]),
)
ITEMS: Final = st.one_of(FACTS, RELATIONS)
VALUES: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**12),
    st.sampled_from(["x", "a: b", "007", "no", "it's", '"q"', "# c", "- i", "[[A]]", "two\nlines", " lead", "知识", "1.10", "a" * 300]),
    st.lists(st.sampled_from(["a", "b c", "[[X]]", "#t", "'", "1"]), min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(["k", "two words"]), st.sampled_from(["v", "[[D]]", 3]), min_size=1),
)  # fmt: skip
KEYS: Final = st.sampled_from(
    ["title", "tags", "n", "up", "a", "text", "last", "new key", "ключ", "status"]
)


@counted(150, 8_000)
@given(
    NOTES, st.integers(0, 11), st.integers(0, 40), st.lists(st.one_of(INLINE, BODIES), max_size=3)
)
def test_any_edit_of_any_note_changes_nothing_else(
    text: str, kind: int, number: int, arguments: list[str]
) -> None:
    edit = edit_of(text, kind, number, arguments)
    if edit is not None:
        check_edit(text, edit)


@counted(25, 1_500)
@given(CLOSED_NOTES)
def test_an_append_shows_behind_all_that_was_there(text: str) -> None:
    before, after = both(text, Append("\n" + NEW))
    assert after.observations[:-1] == before.observations
    assert after.links[:-1] == before.links
    assert titles(after)[:-1] == titles(before)
    assert is_new(after.observations[-1])
    assert header(after) == header(before)


@counted(25, 1_500)
@given(CLOSED_NOTES)
def test_a_prepend_shows_before_all_that_was_there(text: str) -> None:
    before, after = both(text, Prepend(NEW + "\n"))
    assert is_new(after.observations[0])
    assert says(after.observations[1:]) == says(before.observations)
    assert targets(after) == targets(before)
    assert titles(after)[1:] == titles(before)
    assert header(after) == header(before)


@counted(25, 1_500)
@given(CLOSED_NOTES)
def test_a_replaced_body_is_all_there_is_below_the_header(text: str) -> None:
    before, after = both(text, Replace(NEW))
    assert is_new(*after.observations)
    assert titles(after) == [(1, "Added here")]
    assert header(after) == header(before)


@counted(30, 1_500)
@given(CLOSED_NOTES, st.integers(0, 20), st.sampled_from(Place))
def test_a_text_at_a_section_leaves_all_other_sections(
    text: str, number: int, place: Place
) -> None:
    sections = sections_of(parse_note(text, PATH))
    assume(sections)
    section = sections[number % len(sections)]
    new = NEW.replace("# Added", f"{'#' * section.heading.level} Added")
    before, after = both(text, EditSection(section.slug, new, place))
    inside = [
        one for one in before.observations if section.heading.start <= one.start < section.end
    ]
    gone = inside if place is Place.INSTEAD else []
    left = [one for one in before.observations if one not in gone]
    assert sum(map(is_new, after.observations)) == 1
    assert says(one for one in after.observations if not is_new(one)) == says(left)
    assert header(after) == header(before)


@counted(25, 1_500)
@given(
    CLOSED_NOTES,
    st.sampled_from(["fact", "one", "[[", "goes on", "word\n", "\n\n", "知识", "T"]),
    INLINE,
)
def test_what_is_found_is_replaced_everywhere(text: str, find: str, new: str) -> None:
    count = text.replace("\r\n", "\n").replace("\r", "\n").count(find)
    assume(count)
    assert check_edit(text, FindReplace(find, new, count)) is not None
    assert check_edit(text, FindReplace(find, new, count + 1)) is None


@counted(40, 3_000)
@given(CLOSED_NOTES, st.dictionaries(KEYS, VALUES, min_size=1, max_size=3))
def test_set_keys_have_their_values_and_all_else_its_bytes(
    text: str, values: dict[str, object]
) -> None:
    before, after = both(text, SetMetadata(values))
    assert says(after.observations) == says(before.observations)
    assert titles(after) == titles(before)


@counted(30, 1_500)
@given(CLOSED_NOTES, ITEMS, st.integers(0, 20))
def test_an_added_item_is_read_and_nothing_else_is(
    text: str, item: FactText | RelationText, number: int
) -> None:
    sections = [None, *(one.slug for one in sections_of(parse_note(text, PATH)))]
    assert check_edit(text, AddItem(item, sections[number % len(sections)])) is not None


@counted(30, 1_500)
@given(CLOSED_NOTES, ITEMS, st.integers(0, 20))
def test_a_replaced_item_is_read_in_its_place(
    text: str, item: FactText | RelationText, number: int
) -> None:
    observations = parse_note(text, PATH).observations
    assume(observations)
    one = observations[number % len(observations)]
    assert check_edit(text, ReplaceItem(one.line, item)) is not None


@counted(30, 1_500)
@given(CLOSED_NOTES, st.integers(0, 20))
def test_a_removed_item_is_gone_and_nothing_else_is(text: str, number: int) -> None:
    observations = parse_note(text, PATH).observations
    assume(observations)
    number %= len(observations)
    one = observations[number]
    result = check_edit(text, RemoveItem(one.line))
    assert (result is None) == (one.content == "outer"), "only what holds other items is refused"
    if result is not None:
        left = [*observations[:number], *observations[number + 1 :]]
        assert says(parse_note(result, PATH).observations) == says(left)


@counted(30, 1_500)
@given(
    CLOSED_NOTES,
    st.integers(0, 30),
    st.sampled_from(["Other", "a b/c", "知識", "x#y", "p(q).md", "n.md"]),
)
def test_a_link_points_at_the_new_name_and_all_others_stay(
    text: str, number: int, target: str
) -> None:
    links = parse_note(text, PATH).links
    assume(links)
    check_edit(text, RetargetLink(links[number % len(links)], target))


def both(text: str, edit: Edit) -> tuple[ParsedNote, ParsedNote]:
    """The note before and after an edit that must not be refused."""
    result = check_edit(text, edit)
    assert result is not None, "refused"
    return parse_note(text, PATH), parse_note(result, PATH)


def header(note: ParsedNote) -> object:
    """What the header says."""
    return note.frontmatter, note.tags, note.aliases, note.title, note.problems


def is_new(one: Observation) -> bool:
    """Whether this is the fact of `NEW`, read rightly."""
    return (one.category, one.content, one.tags, one.block_id, one.heading_path[-1:]) == (
        ("added", "new fact", ("fresh",), "zz9", ("Added here",))
    )


def says(observations: Iterable[Observation]) -> list[tuple[object, ...]]:
    """What observations say, without places and headings."""
    return [(one.category, one.content, one.tags, one.context, one.block_id, one.parent) for one in observations]  # fmt: skip


def targets(note: ParsedNote) -> list[str]:
    """Where the links lead, without that of `NEW`."""
    return [one.target for one in note.links if one.target != "Somewhere else"]


def titles(note: ParsedNote) -> list[tuple[int, str]]:
    """Level and text of the headings."""
    return [(one.level, one.text) for one in note.outline]

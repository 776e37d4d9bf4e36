"""Filters answer the same on SQLite and on PostgreSQL, whatever signs are in notes and in filters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete
from sqlalchemy.engine import Connection
from tests.filter_world import Writing, add_row, opened

from memoranda.db.tables import entity, observation
from memoranda.markdown.frontmatter import read_frontmatter, split_frontmatter
from memoranda.model.search import MetadataCondition, MetadataOperator, SearchFilters
from memoranda.repositories.filters import allowed
from memoranda.repositories.note_filters import FilteredNote

DAY = datetime(2026, 1, 5, tzinfo=UTC)
SIGNS = "aAbBéÉe\u0301ßſK\u212aİıΣς東😀👩\u200d👧 \t\u00a0%_\\\"'*?/#.,:{}[]()<>|&!-+0129\ufffd"
DATES = (
    "2026-01-05", "2026-01-05T23:30", "2026-01-05T23:30:00Z", "2026-01-06T01:30:00+02:00",
    "2026-01-04 22:00:00-05:00", "2026-13-01",
)  # fmt: skip
NUMBERS = ("1", "1.0", "01", "-0", "0.0", ".5", "0.50", "-3", "10", "9", "1e3", "123456789012345678",
           "1234567890123456789", "123456789012345678.0", "+2", "２")  # fmt: skip
PLAIN = (
    "open",
    "Open",
    "done",
    "a",
    "b",
    "a/b",
    "a.b",
    '{"a": "\\u017f"}',
    '{"b": [1, "x"]}',
    "x" * 3000,
)

words = st.one_of(
    st.text(SIGNS, max_size=4), st.sampled_from(DATES), st.sampled_from(NUMBERS), st.sampled_from(PLAIN)
)  # fmt: skip
keys = st.one_of(
    st.sampled_from(("a", "b", "a.b", "a.b.a", "A", "due", 'a"b', "a\\b", "", ".", "a.", ".a")),
    st.text(SIGNS, max_size=3),
)
nested = st.recursive(
    st.one_of(words, st.none(), st.integers(-2, 2), st.booleans()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=2),
    max_leaves=5,
)
names = st.text(SIGNS, min_size=1, max_size=5)
moments = st.integers(-3, 3).map(lambda hours: DAY + timedelta(hours=hours, microseconds=1))


@dataclass(frozen=True)
class Note:
    """A note as its rows say it."""

    filtered: FilteredNote
    item_tags: tuple[str, ...]
    changed: datetime


@st.composite
def notes(draw: st.DrawFn, word: st.SearchStrategy[str]) -> Note:
    values = draw(st.dictionaries(keys, st.one_of(word, word, nested), max_size=4))
    header = read_frontmatter(split_frontmatter(f"---\n{json.dumps(values)}\n---\n"))
    path = "/".join(draw(st.lists(names, min_size=1, max_size=3)))
    filtered = FilteredNote(
        0, path, draw(names) + path, draw(names), draw(word), tuple(draw(st.lists(word, max_size=2))),
        header.values,
    )  # fmt: skip
    return Note(filtered, tuple(draw(st.lists(word, max_size=2))), draw(moments))


def filters(word: st.SearchStrategy[str], written: list[Note]) -> st.SearchStrategy[SearchFilters]:
    """Most are made of what a note has."""
    said = [text for note in written for text in _texts(note)]
    had = [key for note in written for key in note.filtered.metadata]
    text = st.one_of(word, st.sampled_from(said), st.sampled_from(said).flatmap(_part))
    key = st.sampled_from(had) | keys if had else keys
    below = st.tuples(key, keys).map(".".join)
    operators = st.sampled_from([each for each in MetadataOperator if each != "$exists"])
    conditions = st.one_of(
        st.builds(MetadataCondition, key | below, operators, st.tuples(text)),
        st.builds(
            MetadataCondition, key, st.just(MetadataOperator.IN), st.lists(text, max_size=3).map(tuple)
        ),
        st.builds(
            MetadataCondition, key | below, st.just(MetadataOperator.EXISTS),
            st.sampled_from([("true",), ("false",)]),
        ),
    )  # fmt: skip
    many = st.lists(conditions, min_size=1, max_size=2).map(tuple)
    return st.one_of(
        st.builds(SearchFilters, metadata=many),
        st.builds(SearchFilters, metadata=many),
        st.builds(SearchFilters, tags=st.lists(text, min_size=1, max_size=2).map(tuple)),
        st.builds(SearchFilters, note_types=st.lists(text, min_size=1, max_size=2).map(tuple)),
        st.builds(SearchFilters, title=text),
        st.builds(SearchFilters, path=text | text.map(lambda one: f"/{one}")),
        st.builds(SearchFilters, path=st.tuples(text, text).map("*".join)),
        st.builds(SearchFilters, permalink=text),
        st.builds(SearchFilters, permalink_match=text),
        st.builds(SearchFilters, permalink_match=st.tuples(text, text).map("*".join)),
        st.builds(SearchFilters, after_date=moments),
    )


def _texts(note: Note) -> list[str]:
    one = note.filtered
    values = [text for value in one.metadata.values()
              for text in ([value] if isinstance(value, str) else value)]  # fmt: skip
    return [one.title, one.path, one.permalink, one.note_type, *one.tags, *note.item_tags, *values]


def _part(text: str) -> st.SearchStrategy[str]:
    places = st.integers(0, len(text))
    return st.tuples(places, places).map(lambda two: text[min(two) : max(two)].swapcase())


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Writing]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(opened(name, tmp_path_factory)) for name in ("sqlite", "postgresql")
        ]


@settings(max_examples=60)
@given(st.data())
def test_both_databases_give_the_same_notes(both: list[Writing], data: st.DataObject) -> None:
    word = st.sampled_from(data.draw(st.lists(words, min_size=1, max_size=4)))
    written = data.draw(st.lists(notes(word), min_size=1, max_size=5, unique_by=_place))
    asked = data.draw(st.lists(filters(word, written), min_size=1, max_size=8))
    answers: list[list[list[int] | None]] = []

    def work(conn: Connection) -> None:
        store(conn, written)
        found = [allowed(conn, 1, [one]) for one in asked] + [allowed(conn, 1, asked[:2])]
        found += [allowed(conn, 1, [one], [1, 3]) for one in asked]
        answers.append([None if ids is None else ids.tolist() for ids in found])

    for writing in both:
        writing(work)
    lite, postgres = answers
    each = [*([one] for one in asked), asked[:2], *([one] for one in asked)]
    assert [pair for pair in zip(each, lite, postgres, strict=True) if pair[1] != pair[2]] == []


def _place(note: Note) -> str:
    return note.filtered.path


def store(conn: Connection, written: list[Note]) -> None:
    conn.execute(delete(observation))
    conn.execute(delete(entity))
    for number, note in enumerate(written, 1):
        for project_id, row in ((1, number), (2, number + 1000)):
            one = note.filtered
            filtered = FilteredNote(
                row, one.path, one.permalink, one.title, one.note_type, one.tags, one.metadata
            )
            add_row(conn, project_id, filtered, note.item_tags, note.changed, DAY)


def test_more_values_and_keys_than_a_statement_has_parameters(both: list[Writing]) -> None:
    numbers = [str(number) for number in range(40_000)]
    note = FilteredNote(1, "a.md", "a", "A", "t", tuple(numbers), {"a": numbers, "b.c": "é"})
    other = FilteredNote(2, "b.md", "b", "B", "t", ("x" * 20_000,), {"a": "y" * 20_000, "c": "1"})
    long_key = ".".join(["b", *islice(numbers, 2000)])

    def meta(key: str, operator: MetadataOperator, *values: str) -> SearchFilters:
        return SearchFilters(metadata=(MetadataCondition(key, operator, values),))

    asked: list[tuple[list[SearchFilters], list[int]]] = [
        ([meta("c", MetadataOperator.IN, *numbers)], [2]),
        ([meta("a", MetadataOperator.IN, *numbers, "2026-01-05")], [1]),
        ([SearchFilters(note_types=(*numbers, "T"))], [1, 2]),
        ([SearchFilters(note_types=tuple(numbers))], []),
        ([SearchFilters(note_types=("t", str(number))) for number in range(1000)], [1, 2]),
        ([SearchFilters(tags=tuple(numbers[:3000]))], [1]),
        ([SearchFilters(tags=("X" * 20_000,))], [2]),
        ([meta("a", MetadataOperator.EQ, "Y" * 20_000)], [2]),
        ([meta("a", MetadataOperator.CONTAINS, "Y" * 20_000)], [2]),
        ([meta("a", MetadataOperator.GT, "39998")], [1, 2]),
        ([meta("a", MetadataOperator.GT, "z")], []),
        ([meta(long_key, MetadataOperator.EXISTS, "false")], [1, 2]),
        ([meta(f"k{number}.x", MetadataOperator.EXISTS, "false") for number in range(50)], [1, 2]),
        ([meta("b.c", MetadataOperator.CONTAINS, "É"), *(meta(f"{n}", MetadataOperator.NE, "1") for n in range(30)),
          *(meta(f"{n}", MetadataOperator.NE, "2026-01-01") for n in range(30))], [1]),
        ([meta("c", MetadataOperator.NE, "1"), meta("d", MetadataOperator.NE, "1")], [1]),
        ([SearchFilters(path="a*")] * 2 + [SearchFilters(path=f"*{'*' * n}a*d") for n in range(500)], [1]),
        ([SearchFilters(permalink="a"), SearchFilters(permalink="b")], []),
    ]  # fmt: skip

    def work(conn: Connection) -> None:
        store(conn, [])
        for one in (note, other):
            add_row(conn, 1, one, (), DAY, DAY)
        for one_asked, expected in asked:
            found = allowed(conn, 1, one_asked)
            assert found is not None
            assert found.tolist() == expected, str(one_asked)[:200]

    for writing in both[1:]:
        writing(work)


def test_a_letter_in_a_map_may_be_written_as_its_number(both: list[Writing]) -> None:
    values = {"m": '{"a": "\\u017f", "b": "x\\/y"}', "n": "{}"}
    note = FilteredNote(1, "a.md", "a", "A", "t", (), values)
    asked = [("m.a", "$eq", "S"), ("m.a", "$contains", "s"), ("m.b", "$in", "X/Y"), ("m.b", "$contains", "x/")]  # fmt: skip

    def work(conn: Connection) -> None:
        store(conn, [])
        add_row(conn, 1, note, (), DAY, DAY)
        for key, operator, value in asked:
            condition = MetadataCondition(key, MetadataOperator(operator), (value,))
            found = allowed(conn, 1, [SearchFilters(metadata=(condition,))])
            assert found is not None
            assert found.tolist() == [1], condition

    for writing in both:
        writing(work)

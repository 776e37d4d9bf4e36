"""Filters find the notes that a plain reading of the same notes finds, on either database."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select
from sqlalchemy.engine import Connection
from tests.filter_world import Writing, add_row, opened

from memoranda.db.tables import entity, observation
from memoranda.markdown.frontmatter import read_frontmatter, split_frontmatter
from memoranda.model.search import DateSpan, MetadataCondition, MetadataOperator, SearchFilters
from memoranda.repositories.filters import allowed, in_span
from memoranda.repositories.note_filters import FilteredNote

DAY: Final = datetime(2026, 1, 5, tzinfo=UTC)
NAMES: Final = (
    "a", "ab", "a b", "A_B", "a%b", "É", "e\u0301", "Straße", "STRASSE", "東京", "\u212a", "k", "ſ",
)  # fmt: skip
TEXTS: Final = (
    "Open", "open", " open\t", "open late", "1", "1.0", "01", "-2", "+.5", "10", "9", "9a", "1e1",
    "12345678901234567890", "12345678901234567891", "2026-01-05", "2026-01-05T00:00:00",
    "2026-01-05 10:30", "2026-01-05T10:30:00+02:00", "2026-01-05T23:59:59.5Z", "2026-01-06",
    "0001-01-01T00:00:00+14:00", "9999-12-31", "2026-02-30", "", "%", "_", '"', "\\", "{", "[]",
    '{"a": "1"}', "True", "nul\0l", *NAMES,
)  # fmt: skip
KEYS: Final = ("a", "b", "a.b", "a.b.c", "A", "b.a", 'it\'s "a"', "ключ", "back\\slash", "")
TAGS: Final = (
    "a",
    "ab",
    "a/b",
    "A/b/c",
    "É",
    "é/x",
    "e\u0301",
    "\u212a",
    "k/x",
    "2024",
    "a_b",
    'q"',
)
PATHS: Final = tuple(
    f"{folder}{name}.md" for folder in ("", "a/", "É/A_B/", "x/a%b/") for name in NAMES
)

PLACES: Final = (
    "a/",
    "/a",
    "/a*",
    "/",
    "./a",
    "*",
    "a*",
    "*b.md",
    "*b",
    "A*/**b*",
    "memory://a",
    "x/*",
)

Value = str | list[Any] | dict[str, Any] | None


@dataclass(frozen=True)
class Written:
    """A note as its author sees it."""

    path: str
    title: str
    note_type: str
    values: dict[str, Value]
    tags: tuple[str, ...]
    item_tags: tuple[str, ...]
    changed: datetime
    created: datetime

    @property
    def permalink(self) -> str:
        return self.path.removesuffix(".md")


moments: Final = st.integers(-36, 36).map(lambda hours: DAY + timedelta(hours=hours, seconds=1))


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Written], list[SearchFilters]]:
    """Notes, and filters made of the same few words, so that they often meet."""
    texts = draw(few(TEXTS))
    keys, names, tags, paths = (
        draw(few(KEYS)),
        draw(few(NAMES)),
        draw(few(TAGS)),
        st.sampled_from(PATHS),
    )
    values = st.recursive(
        st.one_of(texts, texts, texts, st.none()),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
        max_leaves=4,
    )
    notes = st.builds(
        Written,
        path=paths,
        title=names,
        note_type=names,
        values=st.dictionaries(keys, st.one_of(texts, values), min_size=1, max_size=3),
        tags=st.lists(tags, max_size=2).map(tuple),
        item_tags=st.lists(tags, max_size=1).map(tuple),
        changed=moments,
        created=moments,
    )
    operators = st.sampled_from([each for each in MetadataOperator if each != "$exists"])
    exists = st.just(MetadataOperator.EXISTS)
    conditions = st.one_of(
        st.builds(MetadataCondition, keys, operators, st.tuples(texts)),
        st.builds(MetadataCondition, keys, operators, st.tuples(st.sampled_from(TEXTS))),
        st.builds(
            MetadataCondition,
            keys,
            st.just(MetadataOperator.IN),
            st.lists(texts, max_size=3).map(tuple),
        ),
        st.builds(MetadataCondition, keys, exists, st.sampled_from([("true",), ("false",)])),
    )
    places = st.one_of(names, paths, paths.map(lambda path: path[:4]), st.sampled_from(PLACES))
    asked_values = st.lists(conditions, min_size=1, max_size=2).map(
        lambda found: SearchFilters(metadata=tuple(found))
    )
    asked = st.one_of(
        asked_values,
        asked_values,
        asked_values,
        st.builds(
            SearchFilters, tags=st.lists(tags | st.sampled_from(TAGS), max_size=2).map(tuple)
        ),
        st.builds(SearchFilters, path=places),
        st.builds(SearchFilters, permalink=paths.map(lambda path: path[:-3])),
        st.builds(SearchFilters, permalink_match=places),
        st.builds(SearchFilters, title=names | st.sampled_from(NAMES)),
        st.builds(SearchFilters, note_types=st.lists(names, min_size=1, max_size=2).map(tuple)),
        st.builds(SearchFilters, after_date=moments),
    )
    return (
        draw(st.lists(notes, min_size=2, max_size=6, unique_by=lambda note: note.path)),
        [*draw(st.lists(asked, min_size=1, max_size=3)), draw(asked_values)],
    )


def few(words: Sequence[str]) -> st.SearchStrategy[st.SearchStrategy[str]]:
    chosen = st.lists(st.sampled_from(words), min_size=1, max_size=3)
    return chosen.map(st.sampled_from)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def writing(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Writing]:
    with opened(request.param, tmp_path_factory) as writing:
        yield writing


@settings(deadline=None, max_examples=60)
@given(worlds())
def test_filters_find_what_a_plain_reading_finds(
    writing: Writing, world: tuple[list[Written], list[SearchFilters]]
) -> None:
    written, filters = world

    def work(conn: Connection) -> None:
        store(conn, written)
        for asked in (*([one] for one in filters), filters):
            check(conn, written, asked)

    writing(work)


def test_every_word_is_compared_with_every_other(writing: Writing) -> None:
    written = [
        Written(
            path=path,
            title=NAMES[at % len(NAMES)],
            note_type=NAMES[at % len(NAMES)],
            values={
                "a": TEXTS[at % len(TEXTS)],
                "b": {"a": [*TEXTS[at % 7 :: 7]]},
                KEYS[2 + at % (len(KEYS) - 2)]: {"c": "Open"} if at % 3 else "open",
            },
            tags=TAGS[at % len(TAGS) :][:1],
            item_tags=TAGS[at % 5 :: 5] if at % 3 else (),
            changed=DAY,
            created=DAY,
        )
        for at, path in enumerate(PATHS)
    ]
    written.append(Written("z.md", "z", "z", {"a.b": {"c": "open"}}, (), (), DAY, DAY))
    operators = [each for each in MetadataOperator if each != "$exists"]
    names = [*NAMES, *PATHS[::3], *PLACES]
    bare = [
        Written(f"{at}.md", "", "", {"a": text}, (), (), DAY, DAY) for at, text in enumerate(TEXTS)
    ]

    def work(conn: Connection) -> None:
        store(conn, bare)
        for text in TEXTS:
            for operator in operators:
                condition = MetadataCondition("a", operator, (text,))
                check(conn, bare, [SearchFilters(metadata=(condition,))])
        store(conn, written)
        for text in TEXTS:
            condition = MetadataCondition("b.a", MetadataOperator.CONTAINS, (text,))
            check(conn, written, [SearchFilters(metadata=(condition,))])
        for key in (*KEYS, "a.b.c.d", "back\\slash.c"):
            for name, text in (("$exists", "true"), ("$exists", "false"), ("$eq", "open")):
                condition = MetadataCondition(key, MetadataOperator(name), (text,))
                check(conn, written, [SearchFilters(metadata=(condition,))])
        for hours in (-1, 0, 1):
            after = DAY + timedelta(hours=hours)
            check(conn, written, [SearchFilters(after_date=after)])
        for tag in (*TAGS, "#a", " a/", "#"):
            check(conn, written, [SearchFilters(tags=(tag,))])
        for name in names:
            check(conn, written, [SearchFilters(path=name)])
            check(conn, written, [SearchFilters(title=name)])
            check(conn, written, [SearchFilters(note_types=(name,))])
            check(conn, written, [SearchFilters(permalink=name)])
            check(conn, written, [SearchFilters(permalink_match=name)])

    writing(work)


def test_a_span_has_what_was_created_or_changed_in_it(writing: Writing) -> None:
    hours = [DAY + timedelta(hours=number) for number in range(4)]
    written = [
        Written(f"{created:%H}{changed:%H}.md", "", "", {}, (), (), changed, created)
        for created in hours
        for changed in hours
    ]
    spans = [(start, end) for start in hours for end in hours if start < end]
    spans.append((hours[1] + timedelta(microseconds=1), hours[2] + timedelta(microseconds=1)))

    def work(conn: Connection) -> None:
        store(conn, written)
        for start, end in spans:
            condition = in_span(DateSpan("then", start, end))
            found = conn.execute(
                select(entity.c.file_path).where(entity.c.project_id == 1, condition)
            ).scalars()
            # Rows hold whole seconds: what is a part of one later counts for both.
            first = start.replace(microsecond=0)
            assert sorted(found) == [
                note.path
                for note in written
                if first <= note.created < end or first <= note.changed < end
            ]

    writing(work)


def test_more_filters_than_a_statement_can_hold(writing: Writing) -> None:
    written = [Written("a.md", "a b", "", {}, (), (), DAY, DAY)]

    def work(conn: Connection) -> None:
        store(conn, written)
        check(conn, written, [SearchFilters(title=f"{number}") for number in range(1200)])
        times = [SearchFilters(after_date=DAY - timedelta(hours=each)) for each in range(1, 1200)]
        for path in ("a", "b"):
            check(conn, written, [*times, SearchFilters(title="b", path=path)])

    writing(work)


def check(conn: Connection, written: Sequence[Written], filters: list[SearchFilters]) -> None:
    found = allowed(conn, 1, filters)
    if any(map(says_anything, filters)):
        wanted = [
            number
            for number, note in enumerate(written, 1)
            if all(passes(note, one) for one in filters)
        ]
        assert found is not None
        assert found.tolist() == wanted, filters
    else:
        assert found is None


def store(conn: Connection, written: Sequence[Written]) -> None:
    """The rows of the notes, as the index has them, and the same in another project."""
    conn.execute(delete(observation))
    conn.execute(delete(entity))
    for number, note in enumerate(written, 1):
        for project_id, row in ((1, number), (2, number + 1000)):
            add(conn, note, project_id, row)


def add(conn: Connection, note: Written, project_id: int, row: int) -> None:
    header = read_frontmatter(split_frontmatter(f"---\n{json.dumps(note.values)}\n---\n"))
    assert not header.raw, header.problems
    filtered = FilteredNote(
        row, note.path, note.permalink, note.title, note.note_type, note.tags, header.values
    )
    add_row(conn, project_id, filtered, note.item_tags, note.changed, note.created)


# The plain reading


def says_anything(one: SearchFilters) -> bool:
    tags = any(tag.strip("#/") for tag in one.tags)
    others = (one.path, one.permalink, one.permalink_match, one.title, one.after_date)
    return tags or bool(one.metadata or one.note_types) or any(each is not None for each in others)


def passes(note: Written, one: SearchFilters) -> bool:
    tags = [blind(tag) for tag in (*note.tags, *note.item_tags)]
    return (
        (one.permalink is None or note.permalink == one.permalink.removeprefix("memory://"))
        and (one.permalink_match is None or is_named(note.permalink, one.permalink_match))
        and (one.path is None or is_at(note.path, one.path))
        and (one.title is None or blind(one.title) in blind(note.title))
        and (not one.note_types or blind(note.note_type) in map(blind, one.note_types))
        and (one.after_date is None or note.changed > one.after_date)
        and all(
            any(tag == wanted or tag.startswith(f"{wanted}/") for tag in tags)
            for wanted in (blind(each).strip(" #/") for each in one.tags)
            if wanted
        )
        and all(meets(note, each) for each in one.metadata)
    )


def blind(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def is_named(permalink: str, wanted: str) -> bool:
    wanted = wanted.removeprefix("memory://")
    pattern = ".*".join(map(re.escape, blind(wanted).split("*"))) + ("\\Z" if "*" in wanted else "")
    return bool(re.match(pattern, blind(permalink), re.DOTALL))


def is_at(path: str, wanted: str) -> bool:
    path, wanted = blind(path), blind(wanted).removeprefix("./")
    if "*" in wanted:
        pattern = ".*".join(map(re.escape, wanted.removeprefix("/").split("*")))
        return bool(re.fullmatch(pattern, path) or re.fullmatch(f"{pattern}\\.md", path))
    if wanted.startswith("/"):
        return path.startswith(wanted[1:])
    return path.startswith(wanted) or f"/{wanted}" in path


def meets(note: Written, wanted: MetadataCondition) -> bool:
    value = under(note.values, wanted.key)
    elements = value if isinstance(value, list) else [] if value is None else [value]
    one = wanted.values[0] if wanted.values else ""
    compare: dict[str, Callable[[], bool]] = {
        "$exists": lambda: (value is not None) == (one == "true"),
        "$eq": lambda: any(equal(each, one) for each in elements),
        "$ne": lambda: not any(equal(each, one) for each in elements),
        "$in": lambda: any(equal(each, any_of) for each in elements for any_of in wanted.values),
        "$contains": lambda: (
            trimmed(one) in trimmed(value)
            if isinstance(value, str)
            else any(equal(each, one) for each in elements)
        ),
        "$gt": lambda: any(order(each, one) > 0 for each in elements),
        "$gte": lambda: any(order(each, one) >= 0 for each in elements),
        "$lt": lambda: any(order(each, one) < 0 for each in elements),
        "$lte": lambda: any(order(each, one) <= 0 for each in elements),
    }
    return compare[wanted.operator]()


def under(values: Any, key: str) -> str | list[str] | None:
    """The value at a dotted key; texts of JSON are maps as well, since a row cannot tell them apart."""
    if isinstance(values, str) and values.startswith("{"):
        try:
            values = json.loads(values)
        except ValueError:
            return None
    if isinstance(values, list):
        below = [found for each in values if (found := under(each, key)) is not None]
        flat = [one for each in below for one in (each if isinstance(each, list) else [each])]
        return flat if below else None
    if not isinstance(values, dict):
        return None
    if values.get(key) is not None:
        value = values[key]
        return [as_text(one) for one in value if one is not None] if isinstance(value, list) else as_text(value)  # fmt: skip
    names = key.split(".")
    for size in range(len(names) - 1, 0, -1):
        inner, rest = values.get(".".join(names[:size])), ".".join(names[size:])
        if (found := under(inner, rest)) is not None:
            return found
    return None


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def trimmed(text: str) -> str:
    return blind(text.strip(" \t\n\r"))


def equal(value: str, wanted: str) -> bool:
    return order(value, wanted) == 0


def order(value: str, wanted: str) -> int:
    value, wanted = trimmed(value), trimmed(wanted)
    pair = as_numbers(value, wanted) or as_moments(value, wanted)
    if pair is None:
        return (value > wanted) - (value < wanted)
    one, (first, last) = pair
    return int(one > last) - int(one < first)


def as_numbers(value: str, wanted: str) -> tuple[Any, tuple[Any, Any]] | None:
    if not all(re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", each) for each in (value, wanted)):
        return None
    if any(len(each) > 18 for each in (value, wanted)):
        return None
    return Decimal(value), (Decimal(wanted),) * 2


def as_moments(value: str, wanted: str) -> tuple[Any, tuple[Any, Any]] | None:
    try:
        one, other = (local(each) for each in (value, wanted))
    except ValueError:
        return None
    whole_day = timedelta(days=1) - timedelta(microseconds=1)
    return one, (other, other + whole_day if len(wanted) == 10 else other)


def local(text: str) -> datetime:
    if not re.match(r"\d{4}-\d\d-\d\d(\Z|[t ]\d\d:\d\d)", text):
        raise ValueError(text)
    moment = datetime.fromisoformat(text.upper())
    try:
        return (moment.astimezone() if moment.tzinfo else moment).replace(tzinfo=None)
    except OverflowError:
        return moment.replace(tzinfo=None)

"""The contract of the repositories of notes, their parts, links, names and failures: the same on both back ends.

What is in order is in the order of code points: PostgreSQL is not asked for an alphabet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from sqlalchemy import delete, insert, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from memoranda.db.tables import entity
from memoranda.model.address import NotePath, Permalink
from memoranda.model.sync import FORGOTTEN_NS, UNSURE_NS, FailureKind, FileFailure, FileState
from memoranda.repositories.directory import DirectoryRepository
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.failure import FailureRepository
from memoranda.repositories.names import NameRepository
from memoranda.repositories.observation import ObservationRepository
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.relation import RelationRepository
from memoranda.repositories.store import Tx

DAY = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001 - stored naive
TITLE, OTHER_KIND = 4, 2
LONG = "".join(chr(0x4E00 + number * 7 % 20_000) for number in range(10_000))
"""No index of PostgreSQL holds it, however it is pressed together."""
SCRIPTS = ["A", "B", "Z", "a", "a1", "a10", "a2", "b", "e\u0301", "z", "É", "ß", "é", "Ω", "ё", "文", "\uff21",
           "\U0001f426", "\U0001f9ff"]  # fmt: skip
"""Names in the order of their code points; some are equal without case or accents."""


_numbers = count()


class Bench:
    """The repositories of a project, and rows for them."""

    def __init__(self, conn: Connection, project_id: int = 1) -> None:
        self.conn = conn
        self.project_id = project_id
        tx = Tx(conn, project_id, DAY)
        self.entities, self.observations = EntityRepository(tx), ObservationRepository(tx)
        self.relations, self.names = RelationRepository(tx), NameRepository(tx)
        self.failures, self.refs = FailureRepository(tx), NoteRefRepository(tx)
        self.folders = DirectoryRepository(tx)

    def note(self, path: str, i: int, **columns: Any) -> dict[str, Any]:
        values = {
            "id": i, "external_id": f"note {i}", "project_id": self.project_id, "title": path,
            "note_type": "note", "file_path": path, "permalink": path, "content": f"text of {path}",
            "checksum": f"sha of {path}", "size": 5, "created_at": DAY, "updated_at": DAY,
            "mtime_ns": 1 << 60, "ctime_ns": 7, "inode": (1 << 63) - 1, "note_created": DAY,
            "note_modified": DAY, "wanted_permalink": path, "permalink_class": 0,
            "hashed_permalink": f"{path}-hash", "links_dirty": False,
        }  # fmt: skip
        return values | columns

    def add(self, *paths: str, **columns: Any) -> list[int]:
        """Add notes in one statement, with ids in a row."""
        first = self.entities.allocate_ids("entity", len(paths))
        ids = list(range(first, first + len(paths)))
        self.entities.insert(
            [self.note(path, i, **columns) for path, i in zip(paths, ids, strict=True)]
        )
        return ids

    def paths(self, ids: Collection[int]) -> set[str]:
        return {one.path for one in self.entities.stored(paths=(), ids=ids)}

    def observed(self, note: int, *contents: str, **columns: Any) -> list[dict[str, Any]]:
        first = self.entities.allocate_ids("observation", len(contents))
        values = {
            "entity_id": note, "project_id": self.project_id, "category": "fact", "context": None,
            "tags": "[]", "permalink": "p", "created_at": DAY, "updated_at": DAY, "end_line": 3,
            "line": 3, "block_id": None, "attributes": None, "heading_path": None, "parent": None,
            "parent_line": None,
        }  # fmt: skip
        return [
            values | {"id": i, "external_id": f"o{i}", "content": content, "ordinal": nth} | columns
            for nth, (i, content) in enumerate(zip(count(first), contents, strict=False))
        ]

    def link(self, note: int, ordinal: int, key: str, **columns: Any) -> dict[str, Any]:
        values = {
            "entity_id": note, "ordinal": ordinal, "project_id": self.project_id, "to_id": None,
            "key": key, "root_key": None, "slug_key": f"slug {key}", "form": "wiki", "target": key,
            "anchor": None, "label": None, "relation_type": "links_to", "context": None,
            "is_attachment": False, "line": 1, "start": 0, "end": 1,
        }  # fmt: skip
        return values | columns

    def relate(self, note: int, to_name: str, **columns: Any) -> dict[str, Any]:
        values = {
            "external_id": f"r{next(_numbers)}", "from_id": note, "to_id": None,
            "to_name": to_name, "relation_type": "links_to", "context": None, "permalink": "p",
            "project_id": self.project_id, "created_at": DAY, "updated_at": DAY, "target": to_name,
            "line": 1,
        }  # fmt: skip
        return values | columns

    def refused(self, write: Callable[[], object]) -> bool:
        """Whether a unique rule forbids it; all else is as before then."""
        try:
            with self.conn.begin_nested():
                write()
        except IntegrityError:
            return True
        return False


@pytest.fixture
def bench(conn: Connection) -> Bench:
    return Bench(conn)


@pytest.fixture
def other(conn: Connection) -> Bench:
    """Another project of the same database."""
    return Bench(conn, 2)


def test_a_note_comes_back_as_it_was_put(bench: Bench, other: Bench) -> None:
    [i] = bench.add("a/é.md", aliases='["x", "文"]', title="T\u0301", permalink_class=2)
    other.add("a/é.md")
    [stored] = bench.entities.stored(paths=["a/é.md", "none.md"], ids=[i, i + 999])
    assert bench.entities.all_stored() == [stored]
    assert (stored.entity_id, stored.title, stored.aliases, stored.strength) == (
        i,
        "T\u0301",
        ("x", "文"),
        2,
    )
    assert (stored.permalink, stored.hashed, stored.checksum) == ("a/é.md", "a/é.md-hash", "sha of a/é.md")  # fmt: skip
    [file] = bench.entities.known_files()
    assert bench.entities.known_at(["a/é.md", "A/É.md", "a/e\u0301.md"]) == [file]
    assert (file.path, file.size, file.mtime_ns, file.inode) == (
        "a/é.md",
        5,
        1 << 60,
        (1 << 63) - 1,
    )
    bench.entities.rewrite([{**_changes(bench.note("b.md", i, title="New")), "id": i}])
    [again] = bench.entities.all_stored()
    assert (again.entity_id, again.path, again.title) == (i, "b.md", "New")
    assert [one.path for one in other.entities.all_stored()] == ["a/é.md"]


def _changes(row: dict[str, Any]) -> dict[str, Any]:
    """All that `rewrite` asks for."""
    kept = (
        "id",
        "external_id",
        "project_id",
        "created_at",
        "created_by",
        "content_type",
        "last_updated_by",
    )
    return {
        column.name: row.get(column.name, "[]" if column.name in {"tags", "aliases", "problems"} else None)
        for column in entity.c
        if column.name not in kept
    } | {"encoding": "utf-8"}  # fmt: skip


def test_paths_and_permalinks_are_unique_in_a_project_as_they_are_written(
    bench: Bench, other: Bench
) -> None:
    spellings = ["é.md", "É.md", "e\u0301.md", "e.md", "E.md", "ss.md", "ß.md", "e.md "]
    bench.add(*spellings)
    other.add(*spellings)
    bench.add("n1.md", "n2.md", permalink=None)
    for path in spellings:
        assert bench.refused(lambda path=path: bench.add(path, permalink=None)), path
        assert bench.refused(lambda path=path: bench.add("new.md", permalink=path)), path
    bench.add("long.md", permalink=LONG, wanted_permalink=LONG, hashed_permalink=f"{LONG}-1")
    assert bench.refused(lambda: bench.add("new.md", permalink=LONG))
    assert not bench.refused(lambda: bench.add("new.md", permalink=f"{LONG[:-1]}x"))


def test_ids_are_in_a_row_and_never_given_twice(bench: Bench) -> None:
    ids = [i for many in (3, 1, 1200) for i in bench.add(*(f"{many}-{n}.md" for n in range(many)))]
    assert ids == sorted(set(ids))
    bench.entities.delete(ids[-2:])
    [loose] = bench.add("loose.md")
    assert loose > ids[-1]
    values = bench.note("auto.md", 0)
    del values["id"]
    done = bench.conn.execute(insert(entity).values(**values))
    [automatic] = done.inserted_primary_key or [0]
    first = bench.entities.allocate_ids("entity", 2)
    assert first > automatic > loose
    assert bench.entities.allocate_ids("observation", 5) > 0
    bench.conn.execute(delete(entity))
    assert bench.entities.allocate_ids("entity", 2) >= first


def test_as_many_are_written_and_asked_for_as_there_are(bench: Bench) -> None:
    """More than a statement has parameters, in more than one part."""
    paths = [f"{number:03}.md" for number in range(300)]
    ids = bench.add(*paths)
    asked = [*(f"none {number}" for number in range(33_000)), *paths]
    numbers = [*range(-33_000, 0), *ids]
    assert {file.path for file in bench.entities.known_at(asked)} == set(paths)
    assert {one.entity_id for one in bench.entities.stored(paths=asked, ids=numbers)} == set(ids)
    assert {one.entity_id for one in bench.entities.claims(asked)} == set(ids)
    bench.names.add((ids[0], key, TITLE) for key in asked)
    assert bench.names.with_keys(asked).keys() == set(asked)
    bench.relations.replace_links(
        numbers, [bench.link(ids[nth], 0, asked[5_000 * nth]) for nth in range(6)]
    )
    assert {link.entity_id for link in bench.relations.links_of(numbers)} == set(ids[:6])
    assert bench.relations.sources_of_names(asked) == set(ids[:6])
    assert bench.relations.mark_dirty(keys=asked, targets=numbers) == set(ids[:6])
    bench.relations.clear_dirty(numbers[:-299])
    assert list(bench.relations.dirty()) == ids[1:6]
    failures = [FileFailure(NotePath(path), "why", FailureKind.IO) for path in asked[-6_000:]]
    bench.failures.replace(asked, failures)
    bench.failures.replace(asked[-5_500:], [])
    assert len(bench.failures.all()) == 500
    bench.entities.delete(numbers)
    assert bench.entities.all_stored() == []


def test_no_rows_are_no_statement(bench: Bench) -> None:
    bench.entities.insert([])
    bench.entities.rewrite([])
    bench.entities.delete([])
    bench.names.add([])
    bench.relations.replace_links([], [])
    bench.failures.replace([], [])
    assert bench.entities.stored(paths=(), ids=()) == bench.relations.links_of([]) == []


def test_notes_may_change_places(bench: Bench) -> None:
    one, two = bench.add("one.md", "two.md")
    bench.entities.vacate([one, two], paths=True)
    swapped = {one: "two.md", two: "one.md"}
    rows = [{**_changes(bench.note(path, i)), "id": i} for i, path in swapped.items()]
    bench.entities.rewrite(rows)
    assert {row.entity_id: row.permalink for row in bench.entities.all_stored()} == swapped
    bench.entities.vacate([one, two], paths=False)
    assert {row.path for row in bench.entities.all_stored()} == {"one.md", "two.md"}
    bench.entities.set_permalinks({one: Permalink("one.md"), two: Permalink("two.md")})
    assert {row.entity_id: row.permalink for row in bench.entities.all_stored()} == {one: "one.md", two: "two.md"}  # fmt: skip


def test_claims_are_by_the_wish_or_the_hashed_form(bench: Bench, other: Bench) -> None:
    bench.add("a.md", wanted_permalink="é", hashed_permalink="é-1")
    bench.add("b.md", wanted_permalink="x", hashed_permalink="É")
    bench.add("c.md", wanted_permalink=LONG, hashed_permalink=f"{LONG}-1")
    other.add("d.md", wanted_permalink="é")

    def claimed(*permalinks: str) -> set[str]:
        return {one.path for one in bench.entities.claims([Permalink(one) for one in permalinks])}

    assert claimed("é") == {"a.md"}
    assert claimed("É", "é") == {"a.md", "b.md"}
    assert claimed(LONG) == claimed(f"{LONG}-1") == {"c.md"}
    assert claimed(LONG[:-1], "X", "e", "e\u0301", "É-1") == set()


def test_a_state_is_remembered_unless_the_file_is_to_be_read_again(bench: Bench) -> None:
    ids = bench.add("a.md", "b.md", "c.md", "d.md", mtime_ns=1)
    files = {file.path: file for file in bench.entities.known_files()}
    a, b, c, d = (files[NotePath(f"{name}.md")] for name in "abcd")
    fresh = FileState(c.path, 5, 1, 20, 30, is_fresh=True)
    bench.conn.execute(text("UPDATE entity SET checksum = 'new' WHERE id = :of"), {"of": ids[1]})
    bench.entities.restate([(a, FileState(a.path, 5, 1, 20, 30)), (b, fresh), (c, fresh)])
    times = {file.path: (file.ctime_ns, file.inode) for file in bench.entities.known_files()}
    assert times == {"a.md": (20, 30), "b.md": (7, b.inode), "c.md": (UNSURE_NS, 30), "d.md": (7, d.inode)}  # fmt: skip
    bench.entities.forget_contents()
    bench.entities.restate([(a, FileState(a.path, 5, 1, 20, 30))])
    assert {file.ctime_ns for file in bench.entities.known_files()} == {FORGOTTEN_NS}
    bench.entities.miss(ids[:2], DAY)
    bench.entities.miss(ids[2:3], DAY - timedelta(days=1))
    bench.entities.miss(ids[1:2], None)
    assert bench.entities.missing_count() == 2
    since = DAY.replace(tzinfo=UTC)
    expected = [("c.md", since - timedelta(days=1)), ("a.md", since)]
    assert bench.entities.missing(9) == expected
    assert bench.entities.missing(1) == expected[:1]


def test_paths_are_in_the_order_of_code_points(bench: Bench, other: Bench) -> None:
    assert sorted(SCRIPTS) == SCRIPTS
    paths = [f"{name}.md" for name in SCRIPTS]
    ids = bench.add(*reversed(paths), problems='["one"]')
    other.add(*reversed(paths))
    assert bench.folders.paths_below("") == sorted(paths)
    assert [ref.file_path for ref in bench.refs.with_problems()] == sorted(paths)
    assert [title for title, _ in bench.refs.titles(ids)] == sorted(paths)
    bench.entities.miss(ids, DAY)
    assert [path for path, _ in bench.entities.missing(99)] == sorted(paths)
    bench.names.add((i, "name", TITLE) for i in ids)
    assert [ref.file_path for _, _, ref in bench.names.notes_named(["name"])] == sorted(paths)
    bench.failures.replace([], [FileFailure(NotePath(p), "why", FailureKind.IO) for p in paths])
    assert list(bench.failures.all()) == sorted(paths)
    hub = bench.add("hub.md")[0]
    bench.relations.insert_relations([bench.relate(i, "hub", to_id=hub) for i in ids])
    assert [one.from_path for one in bench.relations.incoming(hub)] == sorted(paths)
    bench.relations.insert_relations([bench.relate(hub, name) for name in reversed(SCRIPTS)])
    assert [one.to_name for one in bench.relations.outgoing(hub)] == SCRIPTS


def test_folders_are_ranges_of_paths_in_any_script(bench: Bench, other: Bench) -> None:
    for name in SCRIPTS:
        bench.add(f"{name}/one.md", f"{name}/two/three.md", f"{name}!.md", f"{name}0.md")
    other.add("文/other.md", "none/other.md")
    folders, notes = bench.folders.level("")
    assert folders == dict.fromkeys(SCRIPTS, 2)
    assert notes == sorted(f"{name}{end}.md" for name in SCRIPTS for end in "!0")
    for name in SCRIPTS:
        assert bench.folders.level(name) == ({f"{name}/two": 1}, [f"{name}/one.md"])
        assert bench.folders.paths_below(name) == [f"{name}/one.md", f"{name}/two/three.md"]
        assert bench.entities.has_below(name)
        assert not bench.entities.has_below(f"{name}/one.md")
    assert not bench.entities.has_below("none")
    assert not bench.entities.has_below("%")
    assert list(bench.folders.notes_at(["é!.md", "É!.md/"])) == ["é!.md"]


def test_names_are_found_as_they_are_written(bench: Bench, other: Bench) -> None:
    a, b, c = bench.add("a.md", "b.md", "c.md")
    [foreign] = other.add("a.md")
    rows = [
        (b, "é", TITLE),
        (a, "é", TITLE),
        (c, "é", OTHER_KIND),
        (a, "É", TITLE),
        (a, LONG, TITLE),
    ]
    bench.names.add([*rows, (a, f"{LONG}x", TITLE)])
    other.names.add([(foreign, "é", TITLE)])
    bench.names.add([(c, "x", TITLE)])
    found = bench.names.with_keys(["é", LONG, "e\u0301", "X"])
    assert {key: sorted(notes) for key, notes in found.items()} == {
        "é": sorted([(b, TITLE, "b.md"), (a, TITLE, "a.md"), (c, OTHER_KIND, "c.md")]),
        LONG: [(a, TITLE, "a.md")],
    }
    named = [(kind, ref.file_path) for _, kind, ref in bench.names.notes_named(["é"])]
    assert named == [(OTHER_KIND, "c.md"), (TITLE, "a.md"), (TITLE, "b.md")]
    for row in rows:
        assert bench.refused(lambda row=row: bench.names.add([row])), row
    bench.names.remove(
        [(c, "X", TITLE), (a, "é", TITLE), (a, LONG, TITLE), (c, "é", TITLE), (a, "none", TITLE)]
    )
    assert sorted(bench.names.with_keys(["é"])["é"]) == [
        (b, TITLE, "b.md"),
        (c, OTHER_KIND, "c.md"),
    ]
    assert LONG not in bench.names.with_keys([LONG, f"{LONG}x"])
    assert "x" in bench.names.with_keys(["x"])
    bench.names.clear()
    assert not bench.names.with_keys(["é", "É", f"{LONG}x"])
    assert "é" in other.names.with_keys(["é"])


@pytest.mark.parametrize("start", ["", "x" * 245])
def test_names_have_neighbours_in_the_order_of_code_points(bench: Bench, start: str) -> None:
    ids = dict(zip(SCRIPTS, bench.add(*SCRIPTS), strict=True))
    bench.names.add((i, f"{start}{name}", TITLE) for name, i in reversed(ids.items()))
    bench.names.add((i, f"{start}{name}", OTHER_KIND) for name, i in ids.items())
    for at, name in enumerate(SCRIPTS):
        near = bench.names.neighbours(f"{start}{name}", TITLE, 2)
        expected = [*SCRIPTS[at : at + 2], *reversed(SCRIPTS[max(0, at - 2) : at])]
        assert near == [ids[one] for one in expected], name
    assert bench.names.neighbours("\U0010ffff", TITLE, 1) == [ids[SCRIPTS[-1]]]
    bench.names.add([(ids["A"], LONG, TITLE)])
    assert bench.names.neighbours(LONG, TITLE, 1)[0] == ids["A"]


def test_observations_are_in_the_order_of_the_note(bench: Bench) -> None:
    a, b = bench.add("a.md", "b.md")
    one, two, three = rows = bench.observed(a, "one", "zwei é", LONG, category=LONG, tags='["文"]')
    bench.observations.insert([three, two, one])
    bench.observations.insert(bench.observed(b, "other"))
    stored = bench.observations.stored([b, a])
    assert [row.content for row in stored] == ["one", "zwei é", LONG, "other"]
    assert {row.category for row in stored} == {LONG, "fact"}
    bench.observations.rewrite([two | {"content": "two", "ordinal": 9, "category": "É"}])
    bench.observations.set_permalinks({one["id"]: LONG})
    stored = bench.observations.stored([a])
    assert [(row.content, row.category) for row in stored] == [
        ("one", LONG),
        (LONG, LONG),
        ("two", "É"),
    ]
    assert [row.permalink for row in stored] == [LONG, "p", "p"]
    bench.observations.delete([rows[2]["id"], 999_999_999])
    assert [row.content for row in bench.observations.stored([a, b])] == ["one", "two", "other"]
    bench.entities.delete([a])
    assert [row.content for row in bench.observations.stored([a, b])] == ["other"]


def test_links_are_those_of_the_last_text(bench: Bench) -> None:
    a, b = bench.add("a.md", "b.md")
    bench.relations.replace_links([], [bench.link(a, 1, "two"), bench.link(a, 0, "one")])
    bench.relations.replace_links([], [bench.link(b, 0, LONG, root_key=LONG, target=LONG)])
    assert bench.refused(lambda: bench.relations.replace_links([], [bench.link(a, 1, "again")]))
    bench.relations.point_links([(a, 0, b), (a, 1, b), (b, 0, a)])
    bench.relations.point_links([(a, 1, None)])
    links = bench.relations.links_of([b, a])
    assert [(one.entity_id, one.key, one.to_id) for one in links] == [(a, "one", b), (a, "two", None), (b, LONG, a)]  # fmt: skip
    bench.entities.delete([b])
    [one, _] = bench.relations.links_of([a, b])
    assert one.to_id is None
    bench.relations.replace_links([a], [bench.link(a, 0, "new")])
    assert [link.key for link in bench.relations.links_of([a])] == ["new"]


def test_notes_are_marked_whose_links_may_mean_something_else(bench: Bench, other: Bench) -> None:
    a, b, c, d = bench.add("a.md", "b.md", "c.md", "d.md")
    [foreign] = other.add("f.md")
    other.relations.replace_links([], [other.link(foreign, 0, "é")])
    bench.relations.replace_links(
        [],
        [bench.link(a, 0, "é"), bench.link(b, 0, "x", root_key=LONG), bench.link(b, 1, "é"),
         bench.link(c, 0, "y", slug_key="É"), bench.link(d, 0, "z", to_id=c)],
    )  # fmt: skip
    assert bench.relations.sources_of_names(["é"]) == {a, b}
    assert bench.relations.sources_of_names([LONG, "É"]) == {b, c}
    assert bench.relations.sources_of_names([LONG[:-1], "X", "SLUG x", "e\u0301"]) == set()
    assert bench.relations.mark_dirty(keys=[LONG], targets=[]) == {b}
    assert bench.relations.mark_dirty(keys=["é", LONG], targets=[c, a]) == {a, d}
    assert bench.relations.dirty() == {
        i: (p, p) for i, p in ((a, "a.md"), (b, "b.md"), (d, "d.md"))
    }
    assert list(bench.relations.dirty(2)) == [a, b]
    assert set(bench.relations.dirty_among([c, d])) == {d}
    assert bench.relations.has_clean_notes()
    bench.relations.mark_dirty(keys=["É"], targets=[])
    assert not bench.relations.has_clean_notes()
    bench.relations.clear_dirty([a, b])
    assert list(bench.relations.dirty()) == [c, d]
    assert other.relations.dirty() == {}


def test_a_relation_stands_once_for_a_type_and_a_target(bench: Bench) -> None:
    a, b = bench.add("a.md", "b.md")

    def refused(to_name: str, kind: str, to: int | None = None) -> bool:
        row = bench.relate(a, to_name, relation_type=kind, to_id=to)
        return bench.refused(lambda: bench.relations.insert_relations([row]))

    spellings = ["e", "E", "é", "É", "e\u0301", LONG, f"{LONG[:-1]}x"]
    for name in spellings:
        assert [refused("b", name, b), refused("other name", name, b)] == [False, True]
        assert [refused("b", name), refused("b", name)] == [False, True]
        assert [refused(name, "to"), refused(name, "to")] == [False, True]
    assert len(bench.relations.relations_of([a])) == 3 * len(spellings)
    bench.relations.delete_pointing_at([b])
    assert {row.to_id for row in bench.relations.relations_of([a, b])} == {None}
    bench.relations.delete_relations([row.row_id for row in bench.relations.relations_of([a])])
    assert bench.relations.relations_of([a]) == []


def test_relations_are_read_from_both_ends(bench: Bench) -> None:
    a, b, c = bench.add("a.md", "É.md", "é.md")
    bench.relations.insert_relations(
        [bench.relate(b, "a", to_id=a, line=9), bench.relate(b, "a", to_id=a, line=2, relation_type="z"),
         bench.relate(c, "a", to_id=a), bench.relate(a, "a", to_id=a), bench.relate(a, "none", line=5),
         bench.relate(a, "É", to_id=b, line=5, relation_type="Z")]
    )  # fmt: skip
    assert [(one.from_path, one.line) for one in bench.relations.incoming(a)] == [("É.md", 2), ("É.md", 9), ("é.md", 1)]  # fmt: skip
    assert len(bench.relations.incoming(a, 1)) == 1
    out = [(one.line, one.relation_type, one.to_name) for one in bench.relations.outgoing(a)]
    assert out == [(1, "links_to", "a"), (5, "Z", "É"), (5, "links_to", "none")]
    assert bench.relations.neighbours([b]) == [(b, a, "<- Z"), (b, a, "z"), (b, a, "links_to")]
    bench.relations.rewrite_prefix([b], {b: Permalink("new")})
    assert {row.permalink for row in bench.relations.relations_of([b])} == {"new/z/a", "new/links_to/a"}  # fmt: skip
    bench.entities.delete([b])
    [gone] = [row for row in bench.relations.relations_of([a, b]) if row.to_name == "É"]
    assert gone.to_id is None
    assert [one.from_path for one in bench.relations.incoming(a)] == ["é.md"]


def test_failures_are_the_last_of_each_file(bench: Bench, other: Bench) -> None:
    def failure(path: str, reason: str, count: int = 1) -> FileFailure:
        return FileFailure(NotePath(path), reason, FailureKind.FAULT, "sha", count)

    long = f"{LONG}.md"
    other.failures.replace([], [failure("é.md", "other")])
    bench.failures.replace([], [failure("é.md", "one"), failure("É.md", "two"), failure(long, "x")])
    bench.failures.replace(["É.md", "none.md"], [failure("é.md", "again", 2), failure(long, LONG)])
    found = bench.failures.all()
    assert {path: (one.reason, one.count) for path, one in found.items()} == {
        "é.md": ("again", 2), long: (LONG, 1),
    }  # fmt: skip
    assert (found[NotePath("é.md")].at, found[NotePath("é.md")].kind) == (DAY.replace(tzinfo=UTC), FailureKind.FAULT)  # fmt: skip
    bench.failures.clear()
    assert (bench.failures.all(), len(other.failures.all())) == ({}, 1)


def test_notes_are_found_by_the_end_of_their_permalink(bench: Bench, other: Bench) -> None:
    permalinks: Sequence[str] = [
        "a/x",
        "b/A/X",
        "x",
        "ax",
        "a/x_y",
        "a/xzy",
        "É/x",
        f"d/{LONG}",
        "q/a_/y",
        "q/ab/y",
    ]
    ids = [bench.add(f"{nth}.md", permalink=one)[0] for nth, one in enumerate(permalinks)]
    [foreign] = other.add("a/x")
    other.names.add([(foreign, "x", TITLE)])
    bench.names.add((i, p.rpartition("/")[2].lower(), TITLE) for i, p in zip(ids, permalinks, strict=True))  # fmt: skip

    def tails(tail: str) -> list[str]:
        return [ref.permalink for ref in bench.refs.with_permalink_tail(tail, TITLE)]

    assert tails("a/x") == ["a/x", "b/A/X"]  # LIKE is blind to the case of ASCII, and of that alone
    assert tails("x") == ["a/x", "b/A/X", "x", "É/x"]
    assert tails("x_y") == ["a/x_y"]
    assert tails("a_/y") == ["q/a_/y"]
    assert tails("é/x") == []
    assert tails(LONG) == [f"d/{LONG}"]


@pytest.mark.parametrize("many", [1, 2])
def test_nul_is_kept_from_no_column(bench: Bench, many: int) -> None:
    """One row goes another way to PostgreSQL than several do, and there it is U+FFFD."""
    ids = bench.add(*"ab"[:many], title="a\0b", content="c\0d", note_type="\0", tags='["\ufffd"]')
    bench.relations.replace_links(
        [], [bench.link(i, 0, "k\0", target="t\0", context="\0") for i in ids]
    )
    bench.relations.insert_relations([bench.relate(i, "n\0", relation_type="r\0") for i in ids])
    bench.observations.insert(bench.observed(ids[0], *["o\0"] * many, category="\0"))
    bench.names.add((i, "n\0", TITLE) for i in ids)
    failures = [FileFailure(NotePath(f"{i}\0"), "\0", FailureKind.IO) for i in ids]
    bench.failures.replace([failure.path for failure in failures], failures)

    def written(text: str) -> str:
        return text.replace("\0", "\ufffd")

    assert {written(one.title) for one in bench.entities.all_stored()} == {"a\ufffdb"}
    assert {written(one.target) for one in bench.relations.links_of(ids)} == {"t\ufffd"}
    assert {written(one.relation_type) for one in bench.relations.relations_of(ids)} == {"r\ufffd"}
    stored = [written(one.content) for one in bench.observations.stored(ids)]
    assert stored == ["o\ufffd"] * many
    assert {written(one.reason) for one in bench.failures.all().values()} == {"\ufffd"}


def test_links_are_marked_soon_in_tables_that_were_empty_when_they_were_looked_at(
    conn: Connection,
) -> None:
    """A planner that knows of no rows looks at all of them for each of them: past any time-out here."""
    bench = Bench(conn)
    ids = bench.add(*(f"{number:05}.md" for number in range(5_500)))
    bench.relations.replace_links(ids, [bench.link(i, 0, f"key {i}") for i in ids])
    bench.entities.delete(ids)
    conn.exec_driver_sql("ANALYZE")
    ids = bench.add(*(f"{number:05}.md" for number in range(5_500)))
    bench.relations.replace_links(ids, [bench.link(i, 0, f"key {i}") for i in ids])
    assert bench.relations.mark_dirty(keys=[f"key {i}" for i in ids], targets=[]) == set(ids)

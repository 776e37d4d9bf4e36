"""Reads that are the same on SQLite and on PostgreSQL, and how PostgreSQL finds what they ask for."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Connection

from memoranda.errors import DatabaseBusy
from memoranda.model.search import DateSpan, SearchFilters
from memoranda.repositories import driver, filters, filters_postgres
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.failure import FailureRepository
from memoranda.repositories.names import NameRepository
from memoranda.repositories.neighbours import NeighbourRepository
from memoranda.repositories.note_sets import NoteSets
from memoranda.repositories.recent import RecentRepository
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.relation import RelationRepository
from memoranda.repositories.store import Tx

NOW = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001 - as stored
SINCE = datetime(2000, 1, 1, tzinfo=UTC)
LATELY = datetime(2064, 1, 1, tzinfo=UTC)
_ADD_NOTES = (
    """
    INSERT INTO project (id, external_id, name, path, permalink, created_at, updated_at)
    SELECT n, n, n, n, n, now(), now() FROM generate_series(1, 2) n
    """,
    """
    INSERT INTO entity (id, external_id, title, note_type, file_path, permalink, project_id, created_at,
        updated_at, mtime_ns, ctime_ns, inode, note_created, note_modified, wanted_permalink,
        permalink_class, hashed_permalink, content)
    SELECT n, n, n, 'note', n, n, 1 + n % 2, now(), now(), n * 10^15, 1, 1,
        to_timestamp(n * 10^6), to_timestamp(n * 10^6), n, 1, n, repeat('text ', 200)
    FROM generate_series(1, 3000) n
    """,
    """
    INSERT INTO note_filter SELECT id, project_id, title, file_path, permalink, '{}', '{}' FROM entity
    """,
    """
    INSERT INTO link (entity_id, ordinal, project_id, key, root_key, slug_key, form, target, relation_type,
        is_attachment, line, start, "end")
    SELECT id, 1, project_id, id, id, id, 'wiki', id, 'links_to', false, 1, 1, 2 FROM entity
    """,
    "INSERT INTO note_name SELECT project_id, permalink, 1, id FROM entity",
    "INSERT INTO file_failure SELECT project_id, id, id, 'decode', '', 1, now() FROM entity",
    *(f"ANALYZE {name}" for name in ("entity", "note_filter", "link", "note_name", "file_failure")),
)
_IDS_HELD = """
    SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
    AND classid::bigint = hashtext('memoranda ids')::bigint & 4294967295
"""


async def test_which_links_are_looked_at_depends_on_the_notes_not_on_the_history_of_their_rows(
    index,
):
    for name in "abcd":
        index.write(f"{name}.md", "[[hub]] [[e]]\n")
    index.write("hub.md", "[[a]] [[b]] [[c]]\n")
    index.write("e.md", "text\n")
    await index.sync.full_sync()
    index.write("a.md", "[[hub]] [[e]] and more\n")
    index.write("hub.md", "[[a]] [[b]] [[c]] and more\n")
    await index.sync.full_sync()
    ids = dict(index.rows("SELECT file_path, id FROM entity"))

    def ends(note: str, most: int) -> set[tuple[str, bool]]:
        found = index.store.read_now(
            lambda tx: NeighbourRepository(tx).links_around([ids[note]], most)
        )
        return {(one.path, one.is_own) for one in found}

    assert ends("e.md", 2) == {("a.md", False), ("b.md", False)}
    assert ends("hub.md", 1) == {("a.md", True), ("a.md", False)}


@pytest.mark.parametrize("asked", ["Übung", "übung", "ÜBUNG", "U\u0308bung"])
async def test_types_are_found_whatever_their_case_in_any_script(index, asked):
    for name, kind in (("a", "Übung"), ("b", "ÜBUNG"), ("c", "übung"), ("d", "ubung"), ("e", "")):
        index.write(f"{name}.md", f"---\ntype: {kind}\n---\ntext of {name}\n")
    await index.sync.full_sync()
    activity = await index.browse.recent_activity(SINCE, note_types=[asked])
    assert {note.file_path for note in activity.results} == {"a.md", "b.md", "c.md"}
    assert activity.total == 3
    newest = index.store.read_now(lambda tx: RecentRepository(tx).newest([asked]))
    assert newest is not None
    assert newest.ref.file_path in {"a.md", "b.md", "c.md"}


async def test_pages_of_some_types_hold_what_is_counted(index):
    for number in range(7):
        file = index.write(f"{number}.md", f"---\ntype: {'Todo' if number % 2 else 'TODO'}\n---\n")
        os.utime(file, (1_700_000_000 + number,) * 2)
    file = index.write("other.md", "text\n")
    os.utime(file, (1_700_000_100,) * 2)
    await index.sync.full_sync()
    found = [
        await index.browse.recent_activity(SINCE, note_types=["todo"], page=page, page_size=3)
        for page in (1, 2, 3)
    ]
    assert [one.total for one in found] == [7] * 3
    assert [note.file_path for one in found for note in one.results] == [
        f"{number}.md" for number in range(6, -1, -1)
    ]
    nothing = await index.browse.recent_activity(SINCE, note_types=["", "\0", "\ud800"])
    assert (nothing.total, nothing.newest) == (0, None)


async def test_names_longer_than_a_row_of_an_index_are_found(index):
    long = "so very long a name " * 400
    index.write("a.md", f"---\ntitle: A\naliases: ['{long}']\n---\n")
    index.write("b.md", f"[[{long}]]\n")
    await index.sync.full_sync()
    assert index.rows(
        "SELECT t.file_path FROM relation JOIN entity t ON t.id = to_id WHERE relation_type = 'links_to'"
    ) == [("a.md",)]
    index.write("a.md", "---\ntitle: A\n---\n")
    await index.sync.full_sync()
    assert index.rows("SELECT to_id FROM relation") == [(None,)]


def _statements(
    conn: Connection, ask: Callable[[], object]
) -> list[tuple[str, tuple[object, ...]]]:
    """What a function asks of a connection, with the parameters."""
    said: list[tuple[str, tuple[object, ...]]] = []

    def hear(_conn: object, _cursor: object, sql: str, values: tuple[object, ...], *_: object):
        said.append((sql, values))

    event.listen(conn, "before_cursor_execute", hear)
    ask()
    event.remove(conn, "before_cursor_execute", hear)
    return said


def _add_notes(conn: Connection) -> None:
    """So many that it matters how they are read."""
    for sql in _ADD_NOTES:
        conn.exec_driver_sql(sql)


@pytest.mark.parametrize(
    ("ask", "indexes"),
    [
        (
            lambda tx: RelationRepository(tx).sources_of_names(["a", "b"]),
            ["ix_link_key", "ix_link_root_key", "ix_link_slug_key"],
        ),
        (lambda tx: NameRepository(tx).with_keys(["a", "b"]), ["uq_note_name"]),
        (lambda tx: NameRepository(tx).notes_named({"a"}), ["uq_note_name"]),
        (lambda tx: NoteRefRepository(tx).with_permalink_tail("x/a", 1), ["uq_note_name"]),
        (lambda tx: EntityRepository(tx).claims(["a"]), ["ix_entity_wanted", "ix_entity_hashed"]),
        (lambda tx: FailureRepository(tx).replace(["a"], []), ["uq_file_failure_path"]),
    ],
)
def test_a_name_is_looked_up_among_those_of_its_project(shared_lane, ask, indexes):
    """Many projects of one database have a `readme`."""
    with shared_lane.writing() as conn:
        _add_notes(conn)
        [(sql, values)] = _statements(conn, lambda: ask(Tx(conn, 1, NOW)))
        plan = "\n".join(line for (line,) in conn.exec_driver_sql(f"EXPLAIN {sql}", values))
        conn.rollback()
    for name in indexes:
        assert name in plan
    assert plan.count("(project_id = 1) AND (md5(") >= len(indexes), plan


@pytest.mark.parametrize(
    ("filters", "steps"),
    [
        (SearchFilters(permalink="a"), ["using uq_entity_permalink", "(project_id = 1) AND (md5("]),
        (SearchFilters(permalink="a", after_date=LATELY), ["using uq_entity_permalink"]),
        (SearchFilters(after_date=LATELY), ["Index Only Scan using ix_entity_mtime"]),
    ],
)
def test_filters_look_up_permalinks_and_times_without_reading_notes(
    shared_lane, monkeypatch, filters, steps
):
    plans: list[str] = []

    def explained(conn: Connection, sql: str, *values: object) -> list[Any]:
        plans.append("\n".join(step for (step,) in driver.rows(conn, f"EXPLAIN {sql}", *values)))
        return driver.rows(conn, sql, *values)

    monkeypatch.setattr(filters_postgres, "rows", explained)
    with shared_lane.writing() as conn:
        _add_notes(conn)
        found = filters_postgres.allowed(conn, 1, [filters], None)
        conn.rollback()
    assert found is not None
    [plan] = plans
    assert "SubPlan" not in plan  # which servers before 17 would run for each note
    assert [step for step in steps if step not in plan] == [], plan


async def test_notes_after_a_date_are_those_that_pass_whatever_else_is_asked(index):
    for number in range(6):
        file = index.write(f"{number}.md", f"---\ntitle: {'odd' if number % 2 else 'even'}\n---\n")
        os.utime(file, (SINCE.timestamp() + number,) * 2)
    await index.sync.full_sync()
    paths = dict(index.rows("SELECT id, file_path FROM entity"))

    def passing(among: list[str] | None = None, **asked: str) -> list[str]:
        after = SearchFilters(after_date=SINCE + timedelta(seconds=2), **asked)
        ids = [i for i, path in paths.items() if path in among] if among is not None else None
        found = index.store.read_now(
            lambda tx: filters.allowed(tx.conn, tx.project_id, [after, SearchFilters()], ids)
        )
        assert list(found) == sorted(found)
        return sorted(paths[int(i)] for i in found)

    assert passing() == ["3.md", "4.md", "5.md"]
    assert passing(["1.md", "4.md"]) == ["4.md"]
    assert passing([]) == []
    assert passing(title="odd") == ["3.md", "5.md"]
    assert passing(["1.md", "4.md", "5.md"], title="odd") == ["5.md"]


def test_notes_of_a_time_are_found_by_an_index(shared_lane):
    span = DateSpan("then", LATELY, LATELY + timedelta(days=1))
    with shared_lane.writing() as conn:
        _add_notes(conn)
        [(sql, values)] = _statements(conn, lambda: NoteSets(Tx(conn, 1, NOW)).of_span(span))
        plan = "\n".join(line for (line,) in conn.exec_driver_sql(f"EXPLAIN {sql}", values))
        conn.rollback()
    assert "ix_entity_dates" in plan


def test_lists_of_all_lengths_are_one_statement(shared_lane):
    """Each other one would be written and read by itself."""
    with shared_lane.reading() as conn:
        tx = Tx(conn, 1, NOW)
        for ask in (
            lambda length: NoteRefRepository(tx).by_ids(range(length)),
            lambda length: NameRepository(tx).with_keys([f"name {n}" for n in range(length)]),
        ):
            asked = [sql for n in range(1, 9) for sql, _ in _statements(conn, partial(ask, n))]
            assert len(asked) == 8
            assert len(set(asked)) == 1


def test_a_list_may_be_longer_than_the_parameters_of_a_statement(shared_lane):
    with shared_lane.reading() as conn:
        names = [f"name {number}\0" for number in range(40_000)]
        assert NameRepository(Tx(conn, 1, NOW)).notes_named(names) == []
        assert NeighbourRepository(Tx(conn, 1, NOW)).degrees(range(40_000))[7] == 0


def test_who_is_stopped_while_reserving_ids_keeps_no_lock(lane):
    """Somebody's change of the sequence makes it wait behind the lock."""
    with lane.writing(1) as one:
        one.exec_driver_sql("ALTER SEQUENCE entity_id_seq CACHE 1")
        with pytest.raises(DatabaseBusy), lane.writing(2) as other:  # noqa: PT012
            other.exec_driver_sql("SET LOCAL lock_timeout = '50ms'")
            EntityRepository(Tx(other, 2, NOW)).allocate_ids("entity", 5)
        assert one.exec_driver_sql(_IDS_HELD).scalar() == 0
        one.rollback()
    with lane.writing(2) as again:
        assert EntityRepository(Tx(again, 2, NOW)).allocate_ids("entity", 5) == 1


def test_ids_are_reserved_in_a_row_while_others_are_being_written(lane):
    with lane.writing(1) as one, lane.writing(2) as other:
        firsts = [
            EntityRepository(Tx(conn, project, NOW)).allocate_ids("entity", 3)
            for _ in range(2)
            for conn, project in ((one, 1), (other, 2))
        ]
        assert firsts == [1, 4, 7, 10]
        assert one.exec_driver_sql(_IDS_HELD).scalar() == 0
        one.rollback()
    with lane.writing(1) as conn:  # no id is given twice, whatever came of it
        assert EntityRepository(Tx(conn, 1, NOW)).allocate_ids("entity", 1) == 13

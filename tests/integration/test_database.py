"""Connections, transactions, what errors mean, and what becomes of a database that cannot be used."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, func, insert, select
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from memoranda.db import fts, health, migrate, tables
from memoranda.db.engine import begin_read, begin_write, identify, open_engine, translate
from memoranda.errors import DatabaseBusy, DatabaseDamaged, DatabaseProblem, DiskFull
from memoranda.model.item_key import item_key
from memoranda.repositories.project import INDEX_VERSION

pytestmark = pytest.mark.usefixtures("real_migrations")

NOW = datetime(2026, 1, 2, tzinfo=UTC).replace(tzinfo=None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "project" / "memory.db"
    assert health.prepare(path) == health.Prepared("created")
    return path


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    engine = open_engine(path, busy_timeout_ms=50)
    yield engine
    engine.dispose()


def add_project(conn: Connection, name: str = "Notes") -> int:
    row = {"external_id": name, "name": name, "path": "/n", "created_at": NOW, "updated_at": NOW}
    (key,) = conn.execute(insert(tables.project).values(row)).inserted_primary_key or (0,)
    return int(key)


def add_entity(conn: Connection, project_id: int, title: str) -> int:
    row = {
        "external_id": title,
        "title": title,
        "file_path": f"{title}.md",
        "permalink": title,
        "project_id": project_id,
        "created_at": NOW,
        "updated_at": NOW,
        "mtime_ns": 0,
        "ctime_ns": 0,
        "inode": 0,
        "note_created": NOW,
        "note_modified": NOW,
        "wanted_permalink": title,
        "permalink_class": 0,
        "hashed_permalink": title,
    }
    (key,) = conn.execute(insert(tables.entity).values(row)).inserted_primary_key or (0,)
    return int(key)


def projects(engine: Engine) -> list[str]:
    with begin_read(engine) as conn:
        return list(conn.execute(select(tables.project.c.name)).scalars())


# --- connections and transactions


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("foreign_keys", 1),
        ("journal_mode", "wal"),
        ("synchronous", 1),
        ("temp_store", 2),
        ("busy_timeout", 50),
    ],
)
def test_every_connection_is_configured(engine: Engine, pragma: str, value: object) -> None:
    with begin_read(engine) as one, begin_read(engine) as two:
        for conn in (one, two):
            assert conn.exec_driver_sql(f"PRAGMA {pragma}").scalar() == value


def test_a_write_gives_its_large_cache_back(engine: Engine) -> None:
    def cache(conn: Connection) -> object:
        return conn.exec_driver_sql("PRAGMA cache_size").scalar()

    with begin_read(engine) as conn:
        small = cache(conn)
    with begin_write(engine) as conn:
        assert cache(conn) == 4 * small
    with pytest.raises(ZeroDivisionError), begin_write(engine) as conn:
        raise ZeroDivisionError
    for _ in range(2):
        with begin_read(engine) as conn:
            assert cache(conn) == small


def test_a_write_is_committed_at_its_end(engine: Engine) -> None:
    with begin_write(engine) as conn:
        add_project(conn)
        assert projects(engine) == []
    assert projects(engine) == ["Notes"]


def test_an_exception_rolls_a_write_back(engine: Engine) -> None:
    def fail(conn: Connection) -> None:
        add_project(conn)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), begin_write(engine) as conn:
        fail(conn)
    assert projects(engine) == []


def test_tables_made_in_a_write_are_rolled_back_too(engine: Engine) -> None:
    def fail(conn: Connection) -> None:
        conn.exec_driver_sql("CREATE TABLE extra(x)")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), begin_write(engine) as conn:
        fail(conn)
    with begin_read(engine) as conn:
        found = conn.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = 'extra'")
        assert found.fetchall() == []


def test_a_read_sees_one_state_of_the_database(engine: Engine) -> None:
    count = select(func.count()).select_from(tables.project)
    with begin_read(engine) as reader:
        assert reader.execute(count).scalar() == 0
        with begin_write(engine) as writer:
            add_project(writer)
        assert reader.execute(count).scalar() == 0
    assert projects(engine) == ["Notes"]


def test_a_write_takes_the_lock_when_it_begins(engine: Engine) -> None:
    with begin_write(engine):
        with pytest.raises(DatabaseBusy) as caught, begin_write(engine):
            pytest.fail("two writers at once")
        assert caught.value.hint
    with begin_write(engine) as conn:
        add_project(conn)
    assert projects(engine) == ["Notes"]


def test_a_reader_is_not_held_off_by_a_writer(engine: Engine) -> None:
    with begin_write(engine) as conn:
        add_project(conn)
        assert projects(engine) == []


def test_a_second_writer_waits_for_the_first(path: Path) -> None:
    engine = open_engine(path)
    inside, waiting = threading.Event(), threading.Event()

    def first() -> None:
        with begin_write(engine) as conn:
            inside.set()
            waiting.wait(10)
            add_project(conn, "first")

    thread = threading.Thread(target=first)
    thread.start()
    assert inside.wait(10)
    waiting.set()
    with begin_write(engine) as conn:
        add_project(conn, "second")
    thread.join()
    assert projects(engine) == ["first", "second"]
    engine.dispose()


def test_a_transaction_may_run_in_any_thread(engine: Engine) -> None:
    with begin_write(engine) as conn:
        add_project(conn)
    answers: list[list[str]] = []
    for _ in range(3):
        thread = threading.Thread(target=lambda: answers.append(projects(engine)))
        thread.start()
        thread.join()
    assert answers == [["Notes"]] * 3


def test_statements_are_compiled_once(engine: Engine) -> None:
    for number in range(5):
        with begin_write(engine) as conn:
            add_project(conn, str(number))
        projects(engine)
    assert len(engine._compiled_cache or ()) == 2


def test_a_read_only_engine_refuses_writes(path: Path) -> None:
    engine = open_engine(path, read_only=True)
    assert projects(engine) == []
    with pytest.raises(DatabaseProblem) as caught, begin_write(engine) as conn:
        add_project(conn)
    assert str(path) in caught.value.message
    assert "writable" in caught.value.hint
    engine.dispose()


def test_opening_never_makes_a_database(tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "memory.db")
    with pytest.raises(DatabaseDamaged, match="is gone"), begin_read(engine):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a b", "100%41?x#y", "señal", "it's"])
def test_any_folder_name_will_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "memory.db"
    health.prepare(path)
    engine = open_engine(path)
    with begin_write(engine) as conn:
        add_project(conn)
    engine.dispose()
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert health.prepare(path).status == "current"


def test_note_contents_are_not_in_error_messages(engine: Engine) -> None:
    with begin_write(engine) as conn:
        add_project(conn, "secret diary")
    with pytest.raises(IntegrityError) as caught, begin_write(engine) as conn:
        add_project(conn, "secret diary")
    assert "secret diary" not in str(caught.value)


# --- foreign keys


@pytest.mark.spec("2.1.3")
@pytest.mark.spec("2.1.4")
def test_deleting_an_entity_deletes_its_rows_and_frees_what_points_to_it(engine: Engine) -> None:
    with begin_write(engine) as conn:
        project_id = add_project(conn)
        gone, kept = (add_entity(conn, project_id, title) for title in ("gone", "kept"))
        stamps = {"project_id": project_id, "created_at": NOW, "updated_at": NOW}
        for entity_id in (gone, kept):
            conn.execute(
                insert(tables.observation).values(
                    external_id=f"o{entity_id}",
                    content="fact",
                    entity_id=entity_id,
                    ordinal=0,
                    line=1,
                    end_line=1,
                    **stamps,
                )
            )
        for source, target in ((gone, kept), (kept, gone)):
            conn.execute(
                insert(tables.relation).values(
                    external_id=f"r{source}",
                    from_id=source,
                    to_id=target,
                    to_name="name",
                    relation_type="links_to",
                    target="Name",
                    line=1,
                    **stamps,
                )
            )
            conn.execute(
                insert(tables.link).values(
                    entity_id=source,
                    ordinal=0,
                    project_id=project_id,
                    to_id=target,
                    key="name",
                    slug_key="name",
                    form="wiki",
                    target="Name",
                    relation_type="links_to",
                    is_attachment=False,
                    line=1,
                    start=0,
                    end=8,
                )
            )
        chunk = insert(tables.search_vector_chunks)
        place = {"chunk_index": 0, "item_key": gone << 24, "part": 0, "content_key": b"key"}
        conn.execute(chunk.values(id=1, entity_id=gone, chunk_text="text", **place))
        conn.execute(
            insert(tables.search_vector_embeddings).values(
                chunk_id=1, embedding=b"\0" * 4, dimensions=1, model="m"
            )
        )
        version = {"checksum": "c", "title": "t", "indexed_at": NOW}
        conn.execute(
            insert(tables.search_vector_notes).values(
                entity_id=gone, project_id=project_id, space="m", vectors=1, **version
            )
        )
    with begin_write(engine) as conn:
        conn.execute(delete(tables.entity).where(tables.entity.c.id == gone))
    with begin_read(engine) as conn:
        assert list(conn.execute(select(tables.observation.c.entity_id)).scalars()) == [kept]
        relation, link = tables.relation.c, tables.link.c
        assert list(conn.execute(select(relation.from_id, relation.to_id))) == [(kept, None)]
        assert list(conn.execute(select(link.entity_id, link.to_id))) == [(kept, None)]
        for table in (
            tables.search_vector_chunks,
            tables.search_vector_embeddings,
            tables.search_vector_notes,
        ):
            assert conn.execute(select(func.count()).select_from(table)).scalar() == 0


def test_a_row_of_no_project_is_refused(engine: Engine) -> None:
    with pytest.raises(IntegrityError), begin_write(engine) as conn:
        add_entity(conn, 99, "lost")


@pytest.mark.spec("2.1.2")
@pytest.mark.parametrize("column", ["permalink", "file_path", "external_id"])
def test_two_entities_share_no_name(engine: Engine, column: str) -> None:
    entity = tables.entity
    with begin_write(engine) as conn:
        project_id = add_project(conn)
        first = add_entity(conn, project_id, "first")
        add_entity(conn, project_id, "second")
    same = select(entity.c[column]).where(entity.c.id == first).scalar_subquery()
    with pytest.raises(IntegrityError, match=column), begin_write(engine) as conn:
        conn.execute(entity.update().where(entity.c.id != first).values({column: same}))


# --- what errors mean


def test_a_full_disk_is_named_and_nothing_is_changed(engine: Engine) -> None:
    with begin_read(engine) as conn:  # the pool hands the same connection out again
        pages = conn.exec_driver_sql("PRAGMA page_count").scalar()
        conn.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(DiskFull), begin_write(engine) as conn:
        add_project(conn, "x" * 100_000)
    assert projects(engine) == []


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (sqlite3.SQLITE_BUSY, DatabaseBusy),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, DatabaseBusy),
        (sqlite3.SQLITE_LOCKED, DatabaseBusy),
        (sqlite3.SQLITE_CORRUPT, DatabaseDamaged),
        (sqlite3.SQLITE_CORRUPT_VTAB, DatabaseDamaged),
        (sqlite3.SQLITE_NOTADB, DatabaseDamaged),
        (sqlite3.SQLITE_FULL, DiskFull),
        (sqlite3.SQLITE_READONLY, DatabaseProblem),
        (sqlite3.SQLITE_CANTOPEN, DatabaseProblem),
        (sqlite3.SQLITE_IOERR_WRITE, DatabaseProblem),
        (sqlite3.SQLITE_ERROR, DatabaseProblem),
        (None, DatabaseProblem),
    ],
)
def test_result_codes_have_a_meaning(code: int | None, error: type[Exception]) -> None:
    cause = sqlite3.OperationalError("as SQLite says it")
    if code is not None:
        cause.sqlite_errorcode = code
    meaning = translate(OperationalError("SELECT 1", {}, cause))
    assert type(meaning) is error
    assert meaning.hint


def test_a_mistake_in_sql_stays_a_mistake(engine: Engine) -> None:
    with pytest.raises(DBAPIError, match="no such table"), begin_read(engine) as conn:
        conn.exec_driver_sql("SELECT * FROM absent")


def test_damage_met_in_use_is_named(path: Path) -> None:
    fill(path)
    damage_middle(path)
    engine = open_engine(path)

    def read_everything(conn: Connection) -> None:
        for name in sorted(migrate.TABLES - set(fts.SHADOW_TABLES)):
            conn.exec_driver_sql(f"SELECT * FROM {name}").fetchall()

    with pytest.raises(DatabaseDamaged) as caught, begin_read(engine) as conn:
        read_everything(conn)
    assert str(path) in caught.value.message
    engine.dispose()


# --- databases that cannot be used


def fill(path: Path) -> None:
    """Enough rows that the middle of the file holds them."""
    engine = open_engine(path)
    with begin_write(engine) as conn:
        project_id = add_project(conn)
        for number in range(400):
            entity_id = add_entity(conn, project_id, f"note {number} {'long title ' * 20}")
            conn.exec_driver_sql(
                "INSERT INTO search_index(rowid, title, content) VALUES (?, ?, ?)",
                (item_key(entity_id, 0, 0), f"title {number}", f"words {number} " * 200),
            )
    engine.dispose()


def cut_to_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def cut_into_first_page(path: Path) -> None:
    os.truncate(path, 60)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def text_file(path: Path) -> None:
    path.write_text("shopping list\n" * 500)


def zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def damage_middle(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\xff" * 4096)


def damage_schema(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 3996)


def sql(*statements: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as db:
            for statement in statements:
                db.execute(statement)
                db.commit()

    return change


def other_program(path: Path) -> None:
    path.unlink()
    sql("CREATE TABLE entity(id INTEGER PRIMARY KEY, name)", "INSERT INTO entity VALUES (1, 'x')")(
        path
    )


UNUSABLE = [
    (cut_to_half, "damaged"),
    (cut_into_first_page, "foreign"),
    (empty, "damaged"),
    (text_file, "foreign"),
    (zeros, "foreign"),
    (damage_schema, "damaged"),
    (sql("DROP TABLE relation"), "damaged"),
    (sql("DROP TABLE relation", "DROP TABLE search_index"), "damaged"),
    (sql("DROP TABLE alembic_version"), "damaged"),
    (sql("DELETE FROM alembic_version"), "damaged"),
    (sql("UPDATE alembic_version SET version_num = 'abc'"), "damaged"),
    (sql("PRAGMA user_version = 99"), "newer"),
    (sql("PRAGMA application_id = 7"), "foreign"),
    (sql("PRAGMA application_id = 0"), "foreign"),
    (other_program, "foreign"),
]


@pytest.mark.parametrize(
    ("break_it", "kind"),
    UNUSABLE,
    ids=[
        "half",
        "60 bytes",
        "empty",
        "text",
        "zeros",
        "schema page",
        "no relation table",
        "no relation table and no full text",
        "no version table",
        "no version",
        "other version",
        "newer",
        "other application",
        "no application",
        "other program",
    ],
)
def test_an_unusable_database_is_set_aside_whole_and_replaced(
    path: Path, break_it: Callable[[Path], None], kind: str
) -> None:
    fill(path)
    break_it(path)
    before = path.read_bytes()

    prepared = health.prepare(path)

    assert prepared.status == "rebuilt"
    assert prepared.reason
    assert prepared.set_aside is not None
    assert prepared.set_aside.parent == path.parent
    assert prepared.set_aside.name.startswith(f"memory.{kind}-")
    assert prepared.set_aside.suffix == ".db"
    assert prepared.set_aside.read_bytes() == before
    assert_fresh_and_usable(path)


NO_FULL_TEXT = {
    "no table": sql("DROP TABLE search_index"),
    "another form": sql(
        "DROP TABLE search_index", "CREATE VIRTUAL TABLE search_index USING fts5(content)"
    ),
} | {
    table: sql("PRAGMA writable_schema = ON", f"DROP TABLE {table}") for table in fts.SHADOW_TABLES
}
BAD_FULL_TEXT = {
    "altered text": sql(
        f"UPDATE search_index_content SET c3 = 'other' WHERE id = {item_key(400, 0, 0)}"
    ),
    "lost text": sql("DELETE FROM search_index_content"),
    "bad blocks": sql("UPDATE search_index_data SET block = zeroblob(40) WHERE id > 10"),
}


def remember_version(path: Path) -> None:
    sql("INSERT INTO index_meta(project_id, key, value) VALUES (1, 'index_version', '7')")(path)


def assert_mended(path: Path, prepared: health.Prepared) -> None:
    """The full-text index is new and empty, all else is as it was, and will be read again."""
    assert prepared.status == "mended"
    assert prepared.reason
    assert prepared.set_aside is None
    assert list(path.parent.glob("memory.*-*.db")) == []
    assert health.prepare(path).status == "current"
    engine = open_engine(path)
    assert health.full_check(engine) == []
    with begin_read(engine) as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM entity").scalar() == 400
        assert conn.exec_driver_sql("SELECT count(*) FROM search_index").scalar() == 0
        [version] = conn.exec_driver_sql("SELECT value FROM index_meta").scalars()
        assert version == "0"
    engine.dispose()


def test_the_version_that_makes_a_sync_read_everything_has_one_name() -> None:
    assert health.INDEX_VERSION == INDEX_VERSION


@pytest.mark.parametrize("break_it", NO_FULL_TEXT.values(), ids=NO_FULL_TEXT)
def test_a_missing_full_text_index_alone_is_made_anew(
    path: Path, break_it: Callable[[Path], None]
) -> None:
    fill(path)
    remember_version(path)
    break_it(path)
    assert_mended(path, health.prepare(path))


@pytest.mark.parametrize("break_it", BAD_FULL_TEXT.values(), ids=BAD_FULL_TEXT)
def test_a_damaged_full_text_index_alone_is_made_anew(
    path: Path, break_it: Callable[[Path], None]
) -> None:
    fill(path)
    remember_version(path)
    break_it(path)
    opened = identify(path)
    assert_mended(path, health.reopen(path, opened, damage="for the test"))


def test_a_full_text_index_that_cannot_be_made_anew_takes_the_database_with_it(path: Path) -> None:
    fill(path)
    with closing(sqlite3.connect(path)) as db:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'search_index_content'"
        (page,) = db.execute(query).fetchone()
    sql("PRAGMA writable_schema = ON", "DROP TABLE search_index_config")(path)
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)
    prepared = health.prepare(path)
    assert prepared.status == "rebuilt"
    assert prepared.set_aside
    assert_fresh_and_usable(path)


def test_a_full_text_index_is_not_mended_where_other_tables_are_damaged(path: Path) -> None:
    fill(path)
    BAD_FULL_TEXT["lost text"](path)
    with closing(sqlite3.connect(path)) as db:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'link'"
        (page,) = db.execute(query).fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)
    prepared = health.reopen(path, identify(path), damage="for the test")
    assert prepared.status == "rebuilt"
    assert_fresh_and_usable(path)


def test_an_older_database_that_cannot_be_upgraded_is_set_aside(path: Path) -> None:
    sql(
        "UPDATE alembic_version SET version_num = '0001'",
        "PRAGMA user_version = 1",
        "DROP TABLE entity",
    )(path)
    prepared = health.prepare(path)
    assert prepared.status == "rebuilt"
    assert prepared.set_aside
    assert_fresh_and_usable(path)


def assert_fresh_and_usable(path: Path) -> None:
    assert health.prepare(path) == health.Prepared("current")
    engine = open_engine(path)
    assert projects(engine) == []
    with begin_write(engine) as conn:
        add_project(conn)
    assert health.full_check(engine) == []
    assert projects(engine) == ["Notes"]
    engine.dispose()


def test_what_is_set_aside_is_never_overwritten(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.gmtime", lambda: datetime(2026, 5, 4, 3, 2, 1).timetuple())  # noqa: DTZ001
    kept = []
    for text in ("one", "two", "three"):
        path.write_text(text)
        kept.append(health.prepare(path).set_aside)
    assert [(file.name, file.read_text()) for file in kept if file] == [
        ("memory.foreign-20260504T030201Z.db", "one"),
        ("memory.foreign-20260504T030201Z-2.db", "two"),
        ("memory.foreign-20260504T030201Z-3.db", "three"),
    ]


def test_the_log_goes_with_its_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as held:
        held.execute("PRAGMA wal_autocheckpoint = 0")
        held.execute("PRAGMA user_version = 99")
        log = path.with_name("memory.db-wal").read_bytes()
        assert log
        aside = health.prepare(path).set_aside
    assert aside
    assert_fresh_and_usable(path)
    with closing(sqlite3.connect(aside)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (99,)


def test_a_log_without_its_database_is_not_applied_to_a_new_one(path: Path) -> None:
    log = path.with_name("memory.db-wal")
    with closing(sqlite3.connect(path)) as held:
        held.execute("PRAGMA wal_autocheckpoint = 0")
        held.execute("PRAGMA user_version = 99")
        kept = log.read_bytes()
    path.unlink()
    log.write_bytes(kept)

    prepared = health.prepare(path)

    assert prepared.status == "rebuilt"
    assert prepared.set_aside
    assert prepared.set_aside.read_bytes() == kept
    assert_fresh_and_usable(path)


def test_damage_that_opening_does_not_notice_is_found_by_the_full_check(path: Path) -> None:
    fill(path)
    damage_middle(path)
    before = path.read_bytes()
    assert health.prepare(path).status == "current"
    engine = open_engine(path)
    findings = health.full_check(engine)
    engine.dispose()
    assert findings

    prepared = health.reopen(path, identify(path), damage=findings[0])

    assert prepared.status == "rebuilt"
    assert prepared.reason == findings[0]
    assert prepared.set_aside
    assert prepared.set_aside.read_bytes() == before
    assert_fresh_and_usable(path)


@pytest.mark.parametrize(
    "break_it",
    [*BAD_FULL_TEXT.values(), sql("DROP TABLE search_index_idx")],
    ids=[*BAD_FULL_TEXT, "no table of words"],
)
def test_a_full_text_index_that_lies_is_found_by_the_full_check(
    path: Path, break_it: Callable[[Path], None]
) -> None:
    fill(path)
    break_it(path)
    engine = open_engine(path)
    assert health.full_check(engine) != []
    engine.dispose()


def test_damage_outside_the_full_text_is_found_by_the_full_check(path: Path) -> None:
    declare = "UPDATE sqlite_master SET sql = replace(sql, '{}', '{}') WHERE name = 'project'"
    strict, loose = "path TEXT NOT NULL", "path TEXT"
    unlock = "PRAGMA writable_schema = ON"
    sql(unlock, declare.format(strict, loose))(path)
    sql(
        "INSERT INTO project(external_id, name, created_at, updated_at) VALUES ('x', 'n', '', '')",
        unlock,
        declare.format(loose, strict),
    )(path)
    engine = open_engine(path)
    assert "NULL value in project.path" in health.full_check(engine)
    engine.dispose()


def test_the_full_check_of_a_sound_database_finds_and_changes_nothing(path: Path) -> None:
    fill(path)
    before = path.read_bytes()
    engine = open_engine(path)
    assert health.full_check(engine) == []
    engine.dispose()
    assert path.read_bytes() == before


def test_an_engine_stays_with_its_file(path: Path, engine: Engine) -> None:
    with begin_write(engine) as conn:
        add_project(conn, "old")
    assert projects(engine) == ["old"]
    health.reopen(path, identify(path), damage="for the test")  # as another process would
    for _ in range(2):
        with pytest.raises(DatabaseDamaged, match="replaced by another file"):
            projects(engine)
        with pytest.raises(DatabaseDamaged), begin_write(engine):
            pytest.fail("written into a file that another process made")


def test_a_new_connection_of_an_engine_stays_with_its_file(path: Path, engine: Engine) -> None:
    with begin_read(engine):
        health.reopen(path, identify(path), damage="for the test")
        with pytest.raises(DatabaseDamaged, match="replaced by another file"):
            projects(engine)


def test_a_file_replaced_while_it_is_opened_is_not_taken_for_its_successor(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_engine(path)
    connect = sqlite3.connect

    def replaced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        copy = path.with_name("copy")
        copy.write_bytes(path.read_bytes())
        copy.replace(path)
        return connection

    monkeypatch.setattr("memoranda.db.engine.sqlite3.connect", replaced)
    with pytest.raises(DatabaseDamaged, match="replaced by another file"):
        projects(engine)
    engine.dispose()


def test_the_end_of_an_engine_takes_nothing_from_the_file_in_its_place(
    path: Path, engine: Engine
) -> None:
    with begin_write(engine) as conn:
        add_project(conn, "old")
    health.reopen(path, identify(path), damage="for the test")
    newer = open_engine(path)
    with begin_write(newer) as conn:
        add_project(conn, "new")
    engine.dispose()  # as the last user of the old file it would delete a log of its own name
    assert path.with_name("memory.db-wal").stat().st_size
    assert projects(newer) == ["new"]
    newer.dispose()
    after = open_engine(path)
    assert projects(after) == ["new"]
    after.dispose()


def test_one_damaged_file_is_set_aside_once(path: Path) -> None:
    opened = identify(path)
    first = health.reopen(path, opened, damage="for the test")
    second = health.reopen(path, opened, damage="for the test")
    assert (first.status, second.status) == ("rebuilt", "current")
    assert health.kept_aside(path) == [first.set_aside]


def test_a_copy_put_beside_the_log_of_another_file_is_not_mixed_with_it(
    path: Path, engine: Engine
) -> None:
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    with begin_write(engine) as conn:
        add_project(conn, "in the log")
    opened = identify(path)
    copy.replace(path)
    engine.dispose()

    prepared = health.reopen(path, opened)

    assert prepared.status == "rebuilt"
    assert_fresh_and_usable(path)


def test_a_copy_put_back_without_a_log_is_opened_as_it_is(path: Path, engine: Engine) -> None:
    with begin_write(engine) as conn:
        add_project(conn, "kept")
    opened = identify(path)
    engine.dispose()
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    copy.replace(path)
    assert health.reopen(path, opened).status == "current"
    after = open_engine(path)
    assert projects(after) == ["kept"]
    after.dispose()


@pytest.mark.parametrize("table", ["relation", "search_index_idx"])
def test_a_table_that_went_missing_in_use_is_damage(path: Path, engine: Engine, table: str) -> None:
    fill(path)
    sql("PRAGMA writable_schema = ON", f"DROP TABLE {table}")(path)
    statement = "DELETE FROM relation" if table == "relation" else "DELETE FROM search_index"
    with pytest.raises(DatabaseDamaged, match=table), begin_write(engine) as conn:
        conn.exec_driver_sql(statement)


def test_an_abandoned_check_ends(path: Path, engine: Engine) -> None:
    fill(path)
    with pytest.raises(DatabaseProblem, match="abandoned"):
        health.full_check(engine, lambda: True)
    assert health.full_check(engine) == []


def test_a_database_that_vanished_is_reported(path: Path, engine: Engine) -> None:
    assert projects(engine) == []
    for file in path.parent.iterdir():
        file.unlink()
    with pytest.raises(DatabaseDamaged, match="is gone"):
        projects(engine)
    assert list(path.parent.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseProblem) as caught:
        health.prepare(tmp_path / "file" / "project" / "memory.db")
    assert str(tmp_path / "file" / "project") in caught.value.message
    assert "BASIC_MEMORY_CONFIG_DIR" in caught.value.hint


def test_a_read_only_folder_is_a_clear_error(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write everywhere")
    with pytest.raises(DatabaseProblem, match="cannot be kept"):
        health.prepare(folder / "memory.db")


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_in_place_of_the_database_is_a_clear_error(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "memory.db")
    with pytest.raises(DatabaseProblem, match="is not a file") as caught:
        health.prepare(tmp_path / "memory.db")
    assert str(tmp_path / "memory.db") in caught.value.message
    assert caught.value.hint


def test_several_processes_replace_a_broken_database_once(path: Path) -> None:
    text_file(path)
    code = (
        "import sys; from pathlib import Path; from memoranda.db.health import prepare\n"
        "import alembic.command, memoranda.db.engine\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "print(prepare(Path(sys.argv[1])).status)"
    )
    children = [start(code, path) for _ in range(3)]
    for child in children:
        tell(child)
    answers = sorted(child.communicate()[0].strip() for child in children)
    assert answers == ["current", "current", "rebuilt"]
    assert len(list(path.parent.glob("memory.foreign-*.db"))) == 1


def test_a_killed_writer_leaves_the_old_state(path: Path) -> None:
    fill(path)
    code = (
        "import sys; from pathlib import Path\n"
        "from memoranda.db.engine import begin_write, open_engine\n"
        "engine = open_engine(Path(sys.argv[1]))\n"
        "with begin_write(engine) as conn:\n"
        "    conn.exec_driver_sql('PRAGMA cache_size = 10')\n"  # pages spill before the commit
        "    conn.exec_driver_sql(\"UPDATE entity SET title = 'changed', content = zeroblob(9000)\")\n"
        "    conn.exec_driver_sql('DELETE FROM search_index')\n"
        "    print('ready', flush=True); sys.stdin.readline()\n"
    )
    child = start(code, path)
    assert path.with_name("memory.db-wal").stat().st_size > 100_000, "the write reached the disk"
    child.send_signal(signal.SIGKILL)
    child.communicate()

    assert health.prepare(path).status == "current"
    engine = open_engine(path, busy_timeout_ms=50)
    assert health.full_check(engine) == []
    with begin_read(engine) as conn:
        changed = select(func.count()).where(tables.entity.c.title == "changed")
        assert conn.execute(changed).scalar() == 0
        assert conn.exec_driver_sql("SELECT count(*) FROM search_index").scalar() == 400
    engine.dispose()


def start(code: str, path: Path) -> subprocess.Popen[str]:
    """A Python process, once it has printed that it is ready."""
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout
    assert child.stdout.readline() == "ready\n"
    return child


def tell(child: subprocess.Popen[str]) -> None:
    assert child.stdin
    child.stdin.write("\n")
    child.stdin.flush()

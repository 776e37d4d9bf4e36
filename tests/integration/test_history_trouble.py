"""What the history does with a file that is damaged, foreign, newer, older, gone or full. Nothing is deleted."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.integration.history_world import CLAUDE, NOTE, DrivenClock, World

from memoranda.errors import DiskFull, FileProblem
from memoranda.files.file_service import checksum
from memoranda.history import database, place, schema
from memoranda.history.database import HistoryFile
from memoranda.history.salvage import salvage
from memoranda.history.settle import settle
from memoranda.model.address import NotePath
from memoranda.model.history import ChangeState, HistoryLimits

PAGE = 4096


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path, DrivenClock(), HistoryLimits())
    yield world
    world.close()


def fill(world: World, number: int = 60) -> None:
    """Changes with contents of a page and more each, all in the file itself."""
    for each in range(number):
        world.write(os.urandom(5_000).hex().encode(), NotePath(f"{each}.md"))
    world.store.close()
    assert {file.name for file in world.folder.iterdir()} == {"history.db", "history.db.lock"}


def aside(world: World) -> Path:
    (path,) = world.store.summary().set_aside
    return Path(path)


def overwrite(file: Path, start: int, data: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(start)
        opened.write(data)


def works(world: World) -> None:
    """The history records, in its file, for the owner alone."""
    world.write(b"it goes on\n")
    assert world.store.content(checksum(b"it goes on\n")) == b"it goes on\n"
    assert world.store.changes()[0].state is ChangeState.DONE
    assert world.sqlite("PRAGMA integrity_check") == [("ok",)]
    assert stat.S_IMODE(world.database.stat().st_mode) == 0o600


@pytest.mark.parametrize("write_first", [True, False], ids=["met by a change", "met by a question"])
@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"this is no database at all" * 500, "damaged"),
        (b"", "foreign"),
        (b"SQLite format 3\0" + bytes(5000), "damaged"),
    ],
    ids=["other bytes", "empty", "broken header"],
)
def test_what_is_no_history_is_set_aside(
    world: World, data: bytes, word: str, write_first: bool
) -> None:
    world.folder.mkdir(parents=True)
    world.database.write_bytes(data)
    if not write_first:
        assert world.store.changes() == []
    works(world)
    assert aside(world).name.startswith(f"history.{word}-2026")
    assert aside(world).read_bytes() == data


def test_a_database_of_another_program_is_set_aside_whole(world: World) -> None:
    world.folder.mkdir(parents=True)
    with closing(sqlite3.connect(world.database)) as other:
        other.execute("CREATE TABLE theirs (x)")
        other.execute("INSERT INTO theirs VALUES (1)")
        other.commit()
    works(world)
    with closing(sqlite3.connect(aside(world))) as other:
        assert other.execute("SELECT * FROM theirs").fetchall() == [(1,)]


def test_a_truncated_file_is_set_aside_and_what_can_be_read_is_kept(world: World) -> None:
    fill(world)
    size = world.database.stat().st_size
    os.truncate(world.database, size * 2 // 3 // PAGE * PAGE)
    works(world)
    assert aside(world).stat().st_size == size * 2 // 3 // PAGE * PAGE


@pytest.mark.parametrize("table", ["change", "content"])
def test_one_bad_page_costs_only_what_is_on_it(world: World, table: str) -> None:
    fill(world, 200)
    pages = [
        int(str(row[0]))
        for row in world.sqlite(
            f"SELECT pageno FROM dbstat WHERE name = '{table}' AND pagetype = 'leaf' ORDER BY pageno"
        )
    ]
    overwrite(world.database, (pages[len(pages) // 2] - 1) * PAGE, b"\xff" * 2000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, "BUSY_TIMEOUT_S", 1.0)
        for number in range(200):
            world.store.changes(paths=[NotePath(f"{number}.md")])
        for number in range(1, 201):
            change = world.store.change(number)
            if change and change.after:
                world.store.content(change.after)
    works(world)
    kept = world.store.changes(limit=1000)
    assert aside(world).exists()
    assert 120 < len(kept) <= 201
    whole = [change for change in kept if change.after and world.store.content(change.after)]
    assert 120 < len(whole) <= 201
    assert kept[0].change_id == 201, "ids go on"


def test_of_several_processes_one_sets_the_damaged_file_aside(world: World) -> None:
    other = world.opened()
    fill(world, 5)
    assert len(other.changes()) == 5
    other.close()
    overwrite(world.database, 0, b"\0" * PAGE)
    for store in (world.store, other, world.opened()):
        assert store.changes() == []
        assert len(store.summary().set_aside) == 1
        store.close()
    works(world)


def test_a_file_that_another_process_set_aside_meanwhile_is_not_set_aside_again(
    world: World,
) -> None:
    fill(world, 5)
    slow, looks = HistoryFile(world.folder, world.clock), []

    def look(conn: sqlite3.Connection) -> object:
        looks.append(conn)
        if len(looks) == 1:
            overwrite(world.database, 0, b"\0" * PAGE)
            with closing(world.opened()) as other:
                assert other.changes() == []  # the other process meets it as well
            works(world)
            error = sqlite3.DatabaseError("malformed")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error
        return conn.execute("SELECT count(*) FROM change").fetchone()

    assert slow.read(look, None) == (1,)
    assert aside(world).exists(), "one alone"
    slow.close()


def test_damage_under_an_open_connection_is_noticed(world: World) -> None:
    other = world.opened()
    world.write(b"one\n")
    assert len(other.changes()) == 1
    world.store.close()
    other.close()
    assert len(other.changes()) == 1
    overwrite(world.database, 0, b"\0" * (PAGE * 4))
    works(world)
    assert other.changes(limit=1)[0].path == NOTE
    other.close()


def test_a_content_whose_bytes_were_changed_is_refused(world: World) -> None:
    world.write(b"one\n")
    world.sqlite("UPDATE content SET data = x'00'")
    with pytest.raises(FileProblem, match="damaged"):
        world.store.content(checksum(b"one\n"))
    assert len(world.store.changes()) == 1


@pytest.mark.parametrize("damage", ["kind = 'odd'", "at = 'never'"])
def test_a_damaged_row_costs_only_itself(world: World, damage: str) -> None:
    world.note("a.md", "a\n")
    world.note("b.md", "b\n")
    world.sqlite(f"UPDATE change SET state = 'pending', {damage} WHERE path = 'a.md'")
    settle(world.store, world.files)
    assert [change.path for change in world.store.changes()] == ["b.md"]
    works(world)


def test_a_newer_format_is_refused_and_not_touched(world: World) -> None:
    fill(world, 3)
    world.sqlite(f"PRAGMA user_version = {schema.VERSION + 1}")
    before = world.database.read_bytes()
    for attempt in (
        lambda: world.write(b"x"),
        world.store.changes,
        world.store.summary,
        world.store.trim,
        world.store.purge,
    ):
        with pytest.raises(FileProblem, match=r"newer version.*format 3.*knows 2") as raised:
            attempt()
        assert "newer version" in raised.value.hint
    world.store.close()
    assert world.database.read_bytes() == before
    assert world.current() is None, "the note was not written"


def test_a_format_that_becomes_newer_while_it_is_open_is_refused(world: World) -> None:
    world.write(b"one\n")
    world.sqlite(f"PRAGMA user_version = {schema.VERSION + 1}")
    with pytest.raises(FileProblem, match="newer version"):
        world.write(b"two\n")
    assert world.current() == b"one\n"


def test_an_older_format_is_migrated_with_what_it_holds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(world, 3)
    steps = (*schema.STEPS, ("ALTER TABLE change ADD COLUMN reason TEXT",))
    real = schema.bring_up
    monkeypatch.setattr(database, "VERSION", schema.VERSION + 1)
    monkeypatch.setattr(database, "bring_up", lambda conn: real(conn, steps))
    assert len(world.store.changes()) == 3
    assert world.sqlite("PRAGMA user_version") == [(schema.VERSION + 1,)]
    assert world.sqlite("SELECT DISTINCT reason FROM change") == [(None,)]
    assert world.store.summary().set_aside == ()


def test_a_migration_that_fails_changes_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(world, 3)
    steps = (*schema.STEPS, ("ALTER TABLE change ADD COLUMN reason TEXT", "no SQL"))
    real = schema.bring_up
    monkeypatch.setattr(database, "VERSION", schema.VERSION + 1)
    monkeypatch.setattr(database, "bring_up", lambda conn: real(conn, steps))
    with pytest.raises(FileProblem):
        world.store.changes()
    monkeypatch.undo()
    assert len(world.store.changes()) == 3


@pytest.mark.parametrize("what", ["the file", "the file without its log", "the folder"])
def test_a_history_that_is_deleted_while_it_is_open_begins_anew(world: World, what: str) -> None:
    other = world.opened()
    world.write(b"one\n")
    assert len(other.changes()) == 1
    match what:
        case "the file":
            for file in world.folder.glob("history.db*"):
                file.unlink()
        case "the file without its log":
            world.database.unlink()
        case _:
            shutil.rmtree(world.folder)
    assert other.changes() == []
    works(world)
    assert len(other.changes()) == 1
    other.close()
    assert world.sqlite("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("with_log", [True, False])
def test_a_history_that_is_replaced_while_it_is_open_is_the_new_one(
    world: World, with_log: bool
) -> None:
    fill(world, 4)
    shutil.copy(world.database, world.place / "copy.db")
    (world.place / "copy.db").chmod(0o600)
    for number in range(5):
        world.note(f"more {number}.md", "more")
    stale = world.opened()
    assert len(stale.changes()) == 9
    if not with_log:
        for end in ("-wal", "-shm"):
            world.database.with_name(f"history.db{end}").unlink()
    (world.place / "copy.db").rename(world.database)
    assert len(stale.changes()) == 4
    works(world)
    assert len(stale.changes()) == 5
    stale.close()
    assert len(world.store.changes()) == 5
    kept = [file for file in world.folder.iterdir() if "orphaned" in file.name]
    assert bool(kept) == with_log


def test_a_log_without_its_file_is_not_played_into_the_new_one(world: World) -> None:
    for number in range(5):
        world.note(f"{number}.md", str(number))
    log = world.database.with_name("history.db-wal")
    data = log.read_bytes()
    world.store.close()
    world.database.unlink()
    log.write_bytes(data)
    works(world)
    assert len(world.store.changes()) == 1
    (kept,) = world.folder.glob("history.orphaned-*.db-wal")
    assert kept.read_bytes() == data


def test_only_whole_contents_are_read_out_of_a_damaged_history(world: World) -> None:
    world.write(b"one\n")
    world.write(b"two\n")
    damaged = checksum(b"one\n")
    world.sqlite(f"UPDATE content SET data = x'00' WHERE checksum = x'{damaged}'")
    world.store.close()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as into:
        schema.bring_up(into)
        assert salvage(world.database, into) == 2
        found = into.execute("SELECT hex(checksum) FROM content").fetchall()
    assert found == [(checksum(b"two\n").upper(),)]


def test_what_a_process_left_that_died_while_making_it_is_no_hindrance(world: World) -> None:
    world.folder.mkdir(parents=True)
    (world.folder / "history.db.new").write_bytes(b"half")
    (world.folder / "history.db.new-wal").write_bytes(b"half")
    works(world)
    assert not (world.folder / "history.db.new").exists()


def test_on_a_full_disk_nothing_happens(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write(b"one\n")
    world.store.close()
    (pages,) = world.sqlite("PRAGMA page_count")[0]
    real = place.connect

    def connect(path: Path) -> sqlite3.Connection:
        conn = real(path)
        conn.execute(f"PRAGMA max_page_count = {pages}")
        return conn

    monkeypatch.setattr(place, "connect", connect)
    with pytest.raises(DiskFull):
        world.write(os.urandom(100_000))
    assert world.current() == b"one\n"
    assert len(world.store.changes()) == 1
    world.store.close()
    monkeypatch.undo()
    works(world)
    assert world.store.summary().set_aside == ()


def test_a_change_whose_end_cannot_be_recorded_is_settled_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "BUSY_TIMEOUT_S", 0.01)
    with world.store.recording(
        NOTE, before=None, after=b"new\n", by=CLAUDE, current=world.current
    ) as token:
        world.files.create(NOTE, b"new\n", token=token)
        writer = sqlite3.connect(world.database, isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
    writer.close()
    assert [each.token for each in world.store.pending()] == [token]
    assert world.store.resolve(NOTE, world.current) == [ChangeState.DONE]


def test_another_writer_that_does_not_end_is_said(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "BUSY_TIMEOUT_S", 0.01)
    world.write(b"one\n")
    with closing(sqlite3.connect(world.database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(FileProblem, match="keep writing"):
            world.write(b"two\n")
        assert len(world.store.changes()) == 1, "readers do not wait"
    world.write(b"two\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_said(world: World) -> None:
    world.folder.mkdir(parents=True)
    world.folder.chmod(0o500)
    with pytest.raises(FileProblem, match="cannot be"):
        world.write(b"x")
    world.folder.chmod(0o700)


def test_a_folder_that_cannot_be_made_is_said(world: World) -> None:
    (world.place / "config").write_text("a file\n")
    assert world.store.changes() == []
    with pytest.raises(FileProblem, match="cannot be made"):
        world.store.recording(
            NOTE, before=None, after=b"x", by=CLAUDE, current=lambda: None
        ).__enter__()

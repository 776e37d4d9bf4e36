"""The history of what tools changed: what is recorded, given back, bounded and purged."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path

import pytest
from tests.integration.history_world import CLAUDE, NOTE, START, DrivenClock, World

from memoranda.errors import Conflict, FileProblem
from memoranda.files.file_service import FileService, checksum
from memoranda.history import contents, place, trim
from memoranda.history.contents import Packed
from memoranda.history.database import HistoryFile
from memoranda.history.settle import settle
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.file_change import NoteChange
from memoranda.model.history import Author, ChangeKind, ChangeState, HistoryLimits, HistorySummary

MEGABYTE = 1_000_000


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[Callable[[HistoryLimits], World]]:
    """Makes one with these limits."""
    with ExitStack() as made:
        yield lambda limits: made.enter_context(closing(World(tmp_path, DrivenClock(), limits)))


@pytest.fixture
def world(make_world: Callable[[HistoryLimits], World]) -> World:
    return make_world(HistoryLimits())


def states(world: World) -> list[ChangeState]:
    return [change.state for change in reversed(world.store.changes(limit=1000))]


def content_count(world: World) -> int:
    (row,) = world.sqlite("SELECT count(*) FROM content")
    return int(str(row[0]))


def test_a_change_is_known_with_everything_about_it(world: World) -> None:
    world.write(b"one\n")
    world.write(b"two, longer\n", by=Author("codex", "0.9", "write_note"))
    world.write(None)
    deleted, updated, created = world.store.changes()
    assert [created.kind, updated.kind, deleted.kind] == [
        ChangeKind.CREATED,
        ChangeKind.UPDATED,
        ChangeKind.DELETED,
    ]
    assert [created.author, updated.author] == [CLAUDE, Author("codex", "0.9", "write_note")]
    assert (updated.path, updated.root) == (NOTE, str(world.root))
    assert (updated.before, updated.after) == (checksum(b"one\n"), checksum(b"two, longer\n"))
    assert (updated.before_bytes, updated.after_bytes) == (4, 12)
    assert (created.before, created.before_bytes) == (None, 0)
    assert (deleted.after, deleted.after_bytes) == (None, 0)
    assert START < created.at < updated.at < deleted.at
    assert created.at.tzinfo is not None
    assert states(world) == [ChangeState.DONE] * 3
    assert world.store.change(updated.change_id) == updated
    assert world.store.change(99) is None


@pytest.mark.parametrize(
    "data",
    [b"", b"\0\xff\xfe binary \r\n", os.urandom(5 * MEGABYTE), b"text " * MEGABYTE],
    ids=["empty", "binary", "5 MB at random", "5 MB of text"],
)
def test_contents_come_back_byte_by_byte(world: World, data: bytes) -> None:
    world.write(data)
    world.write(b"after\n")
    after, before = world.store.changes()
    assert before.after == after.before == checksum(data)
    assert world.store.content(checksum(data)) == data
    assert world.store.content(checksum(b"never there")) is None
    stored = world.sqlite("SELECT codec, size, length(data) FROM content ORDER BY size DESC")
    if len(data) == 5 * MEGABYTE and data[:4] != b"text":
        assert stored[0] == (0, len(data), len(data)), "no larger than it was"
    assert world.database.stat().st_size < len(data) + 200_000


def test_equal_contents_are_stored_once_and_compressed(world: World) -> None:
    for number in range(20):
        world.note(f"{number}.md", "the same words again\n" * 5_000)
    assert content_count(world) == 1
    assert world.store.summary().size_bytes < 100_000 + 20 * 40_000


def test_a_change_is_pending_while_its_file_changes(world: World) -> None:
    other = world.opened()
    with world.store.recording(
        NOTE, before=None, after=b"new\n", by=CLAUDE, current=lambda: None
    ) as token:
        (pending,) = other.pending()
        assert (pending.token, pending.change.state) == (token, ChangeState.PENDING)
        assert other.content(checksum(b"new\n")) == b"new\n"
    assert len(token) == 16
    int(token, 16)
    assert other.pending() == []
    other.close()


@pytest.mark.parametrize("error", [Conflict(NOTE, "0" * 64), KeyboardInterrupt()])
def test_a_change_that_fails_leaves_nothing(world: World, error: BaseException) -> None:
    world.write(b"one\n")
    with (
        pytest.raises(type(error)),
        world.store.recording(
            NOTE, before=b"one\n", after=b"two\n", by=CLAUDE, current=world.current
        ),
    ):
        raise error
    assert [change.kind for change in world.store.changes()] == [ChangeKind.CREATED]
    assert world.store.content(checksum(b"one\n")) == b"one\n"
    assert world.store.content(checksum(b"two\n")) is None


def test_a_failure_after_the_file_changed_does_not_lose_the_change(world: World) -> None:
    world.write(b"one\n")

    def interrupted() -> None:
        with world.store.recording(
            NOTE, before=b"one\n", after=b"two\n", by=CLAUDE, current=world.current
        ):
            world.files.replace(NOTE, b"two\n", expected_checksum=None)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert states(world) == [ChangeState.DONE, ChangeState.DONE]


def test_a_failure_whose_file_cannot_be_read_stays_pending(world: World) -> None:
    def unreadable() -> bytes:
        raise FileProblem(NOTE, "no access")

    with (
        pytest.raises(Conflict),
        world.store.recording(NOTE, before=None, after=b"1", by=CLAUDE, current=unreadable),
    ):
        raise Conflict(NOTE, "")
    assert states(world) == [ChangeState.PENDING]


def test_no_change_is_refused(world: World) -> None:
    with (
        pytest.raises(ValueError, match="changes nothing"),
        world.store.recording(NOTE, before=b"1", after=b"1", by=CLAUDE, current=world.current),
    ):
        pass
    assert not world.folder.exists()


@pytest.mark.parametrize(
    ("now", "becomes"),
    [
        (b"new\n", [ChangeState.DONE, ChangeState.DONE]),
        (b"old\n", [ChangeState.DONE]),
        (b"another\n", [ChangeState.UNSURE, ChangeState.DONE]),
        (None, [ChangeState.UNSURE, ChangeState.DONE]),
    ],
)
def test_the_next_change_of_a_file_settles_the_one_whose_process_died(
    world: World, now: bytes | None, becomes: list[ChangeState]
) -> None:
    dead = world.opened()
    dying = dead.recording(NOTE, before=b"old\n", after=b"new\n", by=CLAUDE, current=world.current)
    token = world.die_in(dying)
    gone: list[str] = []
    with world.store.recording(
        NOTE, before=now, after=b"next\n", by=CLAUDE, current=lambda: now, leftover=gone.append
    ):
        pass
    assert states(world) == becomes
    assert gone == [token]
    assert (world.store.content(checksum(b"new\n")) is None) == (now == b"old\n")


def test_a_pending_change_that_cannot_be_told_does_not_stop_the_next(world: World) -> None:
    def unreadable() -> bytes:
        raise FileProblem(NOTE, "no access")

    dying = world.store.recording(NOTE, before=None, after=b"1", by=CLAUDE, current=world.current)
    world.die_in(dying)
    with world.store.recording(NOTE, before=b"1", after=b"2", by=CLAUDE, current=unreadable):
        pass
    assert states(world) == [ChangeState.PENDING, ChangeState.DONE]


def test_changes_of_another_file_or_folder_are_not_settled(world: World) -> None:
    elsewhere = world.opened(Path("/elsewhere"))
    dying = [
        store.recording(path, before=None, after=b"1", by=CLAUDE, current=world.current)
        for store, path in ((world.store, NotePath("other.md")), (elsewhere, NOTE))
    ]
    for each in dying:
        world.die_in(each)
    world.write(b"mine\n")
    assert states(world) == [ChangeState.PENDING, ChangeState.PENDING, ChangeState.DONE]
    assert [each.change.path for each in world.store.pending()] == ["other.md"]


def test_changes_are_found_by_file_client_and_time(world: World) -> None:
    codex = Author("Codex", "1", "write_note")
    for number in range(6):
        by = codex if number % 2 else CLAUDE
        world.write(str(number).encode(), NotePath(f"{number % 3}.md"), by=by)
    find = world.store.changes
    assert [change.change_id for change in find()] == [6, 5, 4, 3, 2, 1]
    assert [change.change_id for change in find(paths=[NotePath("1.md")])] == [5, 2]
    assert [change.change_id for change in find(client="codex")] == [6, 4, 2]
    assert [change.change_id for change in find(limit=2)] == [6, 5]
    assert [change.change_id for change in find(before_id=3)] == [2, 1]
    fifth = world.store.change(5)
    assert fifth is not None
    assert [change.change_id for change in find(since=fifth.at)] == [6, 5]
    assert find(paths=[NotePath("1.md")], client="claude", limit=9)[0].change_id == 5


def test_half_characters_in_names_are_no_hindrance(world: World) -> None:
    strange = world.opened(Path("/notes \udcff"))
    dying = strange.recording(
        NOTE,
        before=None,
        after=b"1",
        by=Author("cl\ud800", "\udc80", "\udfff"),
        current=lambda: b"1",
    )
    world.die_in(dying)
    assert strange.changes(client="cl\ud800")[0].author == Author("cl?", "?", "?")
    assert strange.resolve(NOTE, lambda: b"1") == [ChangeState.DONE]


def test_reading_makes_no_file(world: World) -> None:
    assert world.store.changes() == []
    assert world.store.change(1) is None
    assert world.store.content("00" * 32) is None
    assert world.store.pending() == []
    assert world.store.resolve(NOTE, world.current) == []
    assert world.store.summary() == HistorySummary()
    assert world.store.trim() == 0
    assert world.store.purge().changes == 0
    assert not world.folder.exists()


def test_only_the_owner_may_read_it(world: World) -> None:
    old = os.umask(0)
    try:
        world.write(b"private\n")
    finally:
        os.umask(old)
    assert stat.S_IMODE(world.folder.stat().st_mode) == 0o700
    names = {file.name for file in world.folder.iterdir()}
    assert {"history.db", "history.db-wal", "history.db-shm"} <= names
    for file in world.folder.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_threads_share_a_store(world: World) -> None:
    def work(name: int) -> None:
        for number in range(10):
            world.write(f"{name} {number}".encode(), NotePath(f"{name}.md"))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    changes = world.store.changes(limit=100)
    assert states(world) == [ChangeState.DONE] * 40
    for name in range(4):
        mine = [change for change in reversed(changes) if change.path == f"{name}.md"]
        assert [change.after for change in mine] == [
            checksum(f"{name} {number}".encode()) for number in range(10)
        ]


def test_processes_record_at_once(world: World) -> None:
    program = """
sys.stdin.readline()
for number in range(100):
    data = f"{sys.argv[2]} {number}".encode()
    with store.recording(
        NotePath(f"{sys.argv[2]}/{number}.md"), before=None, after=data,
        by=Author(sys.argv[2], "1", "write_note"), current=lambda: None,
    ):
        pass
"""
    processes = [world.python(program, f"client {number}") for number in range(3)]
    for process in processes:  # none has made the file yet
        process.stdin and process.stdin.write("go\n")
        process.stdin and process.stdin.flush()
    for process in processes:
        process.communicate(timeout=50)
        assert process.returncode == 0
    assert world.store.summary().changes == 300
    assert states(world) == [ChangeState.DONE] * 300
    assert len(world.store.changes(client="client 1", limit=1000)) == 100
    assert world.store.summary().set_aside == ()


def test_the_oldest_changes_go_when_it_is_too_large(
    make_world: Callable[[HistoryLimits], World],
) -> None:
    world = make_world(HistoryLimits(days=0, megabytes=1))
    for number in range(40):
        world.note(f"{number}.md", os.urandom(50_000).hex())  # compresses to a half
        assert len(world.store.changes(limit=100)) >= min(number, 12), "not more than needed"
    left = world.store.changes(limit=100)
    assert [change.change_id for change in left] == list(range(40, 40 - len(left), -1))
    assert len(left) <= 23
    for change in left:
        assert change.after
        assert world.store.content(change.after) is not None
    assert content_count(world) == len(left)
    world.store.close()
    assert world.database.stat().st_size <= 1.3 * MEGABYTE


def test_with_a_lower_bound_the_space_is_given_back(world: World) -> None:
    for number in range(100):
        world.note(f"{number}.md", os.urandom(50_000).hex())
    world.store.close()
    assert world.database.stat().st_size > 5 * MEGABYTE
    world.limits = HistoryLimits(megabytes=1)
    world.store = world.opened()
    assert 75 < world.store.trim() < 90
    world.store.close()
    assert world.database.stat().st_size <= 1 * MEGABYTE


def test_space_is_given_back_many_pages_at_a_time(world: World) -> None:
    world.write(os.urandom(8 * MEGABYTE))
    file, statements = HistoryFile(world.folder, world.clock), list[str]()
    trim.forget_all(file)
    file.outside(lambda conn: conn.set_trace_callback(statements.append), None)
    trim.give_back(file, at_once=True)
    file.close()
    assert 1 <= sum("incremental_vacuum" in each for each in statements) <= 4
    assert world.database.stat().st_size < 100_000


def test_one_change_larger_than_the_bound_is_kept_until_the_next(
    make_world: Callable[[HistoryLimits], World],
) -> None:
    world = make_world(HistoryLimits(megabytes=1))
    large = os.urandom(3 * MEGABYTE)
    world.note("small.md", "small")
    world.write(large)
    assert [change.change_id for change in world.store.changes()] == [2]
    assert world.store.content(checksum(large)) == large
    world.write(b"small again")
    assert world.store.trim() == 1
    (kept,) = world.store.changes()
    assert (kept.change_id, kept.before) == (3, checksum(large))
    assert world.store.content(checksum(large)) == large
    world.write(b"and again")
    world.store.trim()
    assert [change.change_id for change in world.store.changes()] == [4]
    assert world.store.content(checksum(large)) is None


def test_old_changes_go_with_what_only_they_had(world: World) -> None:
    for text in ("1", "2", "3"):
        world.write(text.encode())
        world.clock.time += timedelta(days=200)
    assert world.store.trim() == 2
    (kept,) = world.store.changes()
    assert (kept.before, kept.after) == (checksum(b"2"), checksum(b"3"))
    assert world.store.content(checksum(b"1")) is None
    assert world.store.content(checksum(b"2")) == b"2"
    assert world.store.trim() == 0


def test_many_old_changes_go_in_one_trim(world: World) -> None:
    for number in range(130):
        world.write(str(number).encode(), NotePath(f"{number}.md"))
    world.clock.time += timedelta(days=366)
    assert world.store.trim() == 130
    assert world.store.summary().changes == 0


def test_without_limits_nothing_goes(make_world: Callable[[HistoryLimits], World]) -> None:
    world = make_world(HistoryLimits(days=0, megabytes=0))
    world.write(os.urandom(2 * MEGABYTE))
    world.clock.time += timedelta(days=10_000)
    world.write(os.urandom(2 * MEGABYTE))
    assert world.store.trim() == 0
    assert world.store.summary().changes == 2


def test_a_change_under_way_is_not_trimmed_for_its_size(
    make_world: Callable[[HistoryLimits], World],
) -> None:
    world = make_world(HistoryLimits(megabytes=1))
    with world.store.recording(
        NOTE, before=None, after=os.urandom(2 * MEGABYTE), by=CLAUDE, current=world.current
    ):
        for number in range(3):
            world.note(f"{number}.md", os.urandom(100_000).hex())
        world.store.trim()
        assert {change.path for change in world.store.changes()} == {NOTE, "2.md"}


def test_a_purge_leaves_no_trace_on_the_disk(world: World) -> None:
    for number in range(30):
        world.note(f"{number}.md", f"the secret word {os.urandom(8_000).hex()}")
    raw = world.note("raw.md", "sesame!")  # too short to be compressed
    done = world.store.purge()
    assert (done.changes, done.left.changes) == (31, 0)
    assert done.freed_bytes > 200_000
    assert world.store.changes() == []
    everything = b"".join(file.read_bytes() for file in world.folder.iterdir())
    assert raw not in everything
    assert b"claude" not in everything
    assert world.store.summary().size_bytes < 60_000
    with closing(place.connect(world.database)) as conn:  # some builds of SQLite do so by default
        assert conn.execute("PRAGMA secure_delete").fetchone() == (2,)
    world.note("new.md", "ids are not used again")
    assert [change.change_id for change in world.store.changes()] == [32]


def test_a_purge_of_what_is_old_leaves_the_rest(world: World) -> None:
    world.write(b"old secret")
    world.clock.time += timedelta(days=10)
    border = world.clock.time
    world.write(b"younger")
    world.write(b"youngest")
    assert world.store.purge(older_than=border).changes == 1
    assert len(world.store.changes()) == 2
    assert world.store.content(checksum(b"old secret")) == b"old secret"  # before of the next
    assert world.store.purge(older_than=world.clock.now()).changes == 2
    assert b"old secret" not in b"".join(file.read_bytes() for file in world.folder.iterdir())


def test_a_content_that_goes_while_a_change_is_prepared_is_stored_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write(b"one")

    def packed(key: bytes, data: bytes) -> Packed:
        if data == b"two":  # "one" was found, and need not be compressed
            world.opened().purge()
        return contents.packed(key, data)

    monkeypatch.setattr("memoranda.history.recording.packed", packed)
    world.write(b"two")
    (change,) = world.store.changes()
    assert change.before == checksum(b"one")
    assert world.store.content(checksum(b"one")) == b"one"


def test_a_change_under_way_survives_a_purge_without_harm(world: World) -> None:
    with world.store.recording(NOTE, before=None, after=b"1", by=CLAUDE, current=world.current):
        assert world.opened().purge().changes == 0
        assert world.opened().purge(older_than=world.clock.now()).changes == 0
    assert states(world) == [ChangeState.DONE]
    world.write(b"2")
    assert states(world) == [ChangeState.DONE, ChangeState.DONE]


def test_a_purge_keeps_the_contents_of_what_is_under_way(world: World) -> None:
    world.note("done.md", "done\n")
    one, other = NotePath("a.md"), NotePath("b.md")
    plan = [NoteChange(one, b"a\n", b"A\n"), NoteChange(other, b"b\n", b"B\n")]
    with world.store.recording_all(plan, by=CLAUDE):
        assert world.opened().purge().changes == 1
        assert len(world.store.pending()) == 2
        for data in (b"a\n", b"A\n", b"b\n", b"B\n"):
            assert world.store.content(checksum(data)) == data
        assert world.store.content(checksum(b"done\n")) is None
    assert world.store.purge().changes == 2
    assert world.store.content(checksum(b"a\n")) is None


def test_a_folder_whose_name_is_no_text_is_one_folder(tmp_path: Path) -> None:
    root = tmp_path / os.fsdecode(b"notes\xff")
    root.mkdir()
    (root / "a.md").write_bytes(b"1")
    files = FileService(root, tmp_path / "locks")
    path = NotePath("a.md")
    store = HistoryStore(tmp_path / "history", root, DrivenClock(), HistoryLimits())
    with closing(store), ExitStack() as dying:
        dying.enter_context(
            store.recording(path, before=b"0", after=b"1", by=CLAUDE, current=lambda: b"1")
        )
        (change,) = store.changes()
        assert change.root == store.root
        assert settle(store, files).done == 1

"""Locks of notes that several machines share: each `PostgresLocks` here stands for a process somewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest
from tools.postgres_server import databases

from memoranda.db import postgres_locks as module
from memoranda.db.postgres import address_of
from memoranda.db.postgres_locks import PostgresLocks, slot_of
from memoranda.errors import DatabaseAway, DatabaseProblem, NotReady
from memoranda.files.file_service import FileService

_OURS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'memoranda locks'"
_HELD = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"


@pytest.fixture
def process(postgres_url) -> Iterator[Callable[..., PostgresLocks]]:
    """Makes the locks of another process."""
    made: list[PostgresLocks] = []

    def make(**how: str) -> PostgresLocks:
        made.append(PostgresLocks(address_of(postgres_url, **how)))
        return made[-1]

    yield make
    for locks in made:
        locks.close()


@pytest.fixture
def ask(postgres_url) -> Callable[[str], list[tuple[object, ...]]]:
    """Asks the database of the test."""
    return lambda sql: databases().execute(sql, postgres_url)


@contextmanager
def refused(locks: PostgresLocks, *keys: str, project_id: int = 1) -> Iterator[None]:
    """Somebody else has one of them."""
    with pytest.raises(TimeoutError), locks.hold(project_id, keys, 0):
        pass
    yield


def cut(ask: Callable[[str], object]) -> None:
    """The server ends every connection for locks."""
    ask(f"SELECT pg_terminate_backend(pid) FROM ({_OURS}) AS ours")


def test_one_at_a_time_holds_a_note(process):
    one, other = process(), process()
    with one.hold(1, ["a.md"], 0), refused(other, "a.md"):
        pass
    with other.hold(1, ["a.md"], 5):
        pass


def test_other_notes_projects_and_schemas_are_free(process):
    one, other = process(), process()
    with one.hold(1, ["a.md"], 0):
        with other.hold(1, ["b.md"], 0), other.hold(2, ["a.md"], 0):
            pass
        with process(schema="another").hold(1, ["a.md"], 0):
            pass


def test_what_cannot_be_had_whole_is_not_held_in_part(process, ask):
    one, other = process(), process()
    keys = [f"{n}.md" for n in range(20)]
    slots = list(map(slot_of, keys))
    with one.hold(1, [next(key for key in keys[5:] if slots.count(slot_of(key)) == 1)], 0):
        with refused(other, *keys):
            pass
        assert ask(_HELD) == [(1,)]
    with other.hold(1, keys, 5):
        assert ask(_HELD) == [(len(set(slots)),)]


def test_a_large_folder_takes_no_more_locks_than_a_server_has(process, ask):
    with process().hold(1, [f"{n}.md" for n in range(20_000)], 5):
        assert ask(_HELD) == [(256,)]


def test_nothing_is_left_when_all_is_given_back(process, ask):
    one = process()
    for _ in range(5):
        with pytest.raises(ValueError, match="odd"), one.hold(1, ["a", "b", "a"], 0):
            raise ValueError("odd")
    with one.hold(2, [], 0):
        pass
    assert ask(_HELD) == [(0,)]


def test_who_waits_gets_it(process):
    one, other = process(), process()
    is_held, was_free_at = threading.Event(), 0.0

    def hold() -> None:
        nonlocal was_free_at
        with one.hold(1, ["a.md"], 0):
            is_held.set()
            time.sleep(0.1)
            was_free_at = time.monotonic()

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    with other.hold(1, ["a.md"], 5):
        assert time.monotonic() >= was_free_at > 0
    thread.join()


def test_many_who_want_several_do_not_wait_in_a_circle(process):
    processes = [process() for _ in range(4)]
    inside: dict[str, int] = {"a": 0, "b": 0, "c": 0}

    def work(locks: PostgresLocks, keys: str) -> None:
        for _ in range(8):
            with locks.hold(1, list(keys), 20):
                for key in keys:
                    inside[key] += 1
                    assert inside[key] == 1
                for key in keys:
                    inside[key] -= 1

    with ThreadPoolExecutor(4) as threads:
        work_of = zip(processes, ("ab", "bc", "ca", "cba"), strict=True)
        for done in [threads.submit(partial(work, *each)) for each in work_of]:
            done.result()


def test_locks_end_with_their_connection_and_the_next_one_is_made(process, ask):
    one, other = process(), process()
    with one.hold(1, ["a.md"], 0):
        cut(ask)
        with other.hold(1, ["a.md"], 5), refused(one, "a.md"):
            pass
    with one.hold(1, ["a.md"], 5):
        assert ask(_HELD) == [(1,)]
    assert len(ask(_OURS)) == 2


def test_who_waits_goes_on_when_its_connection_is_cut(process, ask):
    one, other = process(), process()
    first, second = sorted("ab", key=lambda key: one._number(1, slot_of(key)))
    with ThreadPoolExecutor(1) as thread, ExitStack() as held:
        held.enter_context(one.hold(1, [second], 0))
        waiting = thread.submit(held_then_asked, other, [first, second], lambda: ask(_HELD))
        while ask(_HELD) != [(2,)]:
            time.sleep(0.01)
        ask(f"SELECT pg_terminate_backend({backend(other)})")
        time.sleep(0.1)
        held.close()
        assert waiting.result(5) == [(2,)]


def held_then_asked(
    locks: PostgresLocks, keys: list[str], question: Callable[[], object]
) -> object:
    """The answer while they are held."""
    with locks.hold(1, keys, 5):
        return question()


def backend(locks: PostgresLocks) -> int:
    """The process of the server that has them."""
    return int(locks.connection.get_server_pid())


def test_a_lock_of_a_lost_connection_is_not_given_back_on_the_next(process, ask):
    one = process()
    with one.hold(1, ["a.md"], 0):
        cut(ask)
        with one.hold(1, ["b.md"], 5):
            pass
        held = one.hold(1, ["a.md"], 5)
        held.__enter__()
    with refused(process(), "a.md"):
        pass
    held.__exit__(None, None, None)


def test_a_server_that_does_not_answer_is_away(process, monkeypatch):
    monkeypatch.setattr(module, "ANSWER_S", 0.1)
    monkeypatch.setattr(module, "_TRY", "SELECT pg_sleep(30)")
    one = process()
    with pytest.raises(DatabaseAway), one.hold(1, ["a.md"], 0):
        pass
    assert one.connection is None


def test_where_there_is_no_server_nothing_is_held(monkeypatch):
    locks = PostgresLocks(address_of("postgresql://127.0.0.1:1/nothing"))
    for _ in range(2):
        with pytest.raises(DatabaseAway, match="cannot be reached"), locks.hold(1, ["a.md"], 5):
            pass
    locks.close()
    with pytest.raises(DatabaseProblem, match="closed"), locks.hold(1, ["a.md"], 5):
        pass


def test_a_user_without_access_is_told_so(postgres_url):
    locks = PostgresLocks(address_of(postgres_url.rpartition("/")[0] + "/nothing"))
    with pytest.raises(DatabaseProblem, match="does not exist"), locks.hold(1, ["a.md"], 5):
        pass
    locks.close()


def test_files_are_locked_for_all_machines(process, tmp_path):
    """Each machine has lock files of its own."""
    root = tmp_path / "notes"
    root.mkdir()
    one, other = (
        FileService(root, tmp_path / name, path_locks=process().of_project(1)) for name in "ab"
    )
    with one.locked("A.md"):
        with pytest.raises(NotReady, match="in use"), other.locked("a.md", timeout_s=0):
            pass
        with (
            pytest.raises(NotReady, match="in use"),
            other.locked_all(["b.md", "a.md"], timeout_s=0),
        ):
            pass
        with other.locked("b.md", timeout_s=0):
            pass
    with other.locked_all(["a.md", "b.md"]):
        pass


def test_a_time_out_inside_is_not_one_of_the_lock(process, tmp_path):
    files = FileService(tmp_path, tmp_path / "locks", path_locks=process().of_project(1))
    with pytest.raises(TimeoutError, match="mine"), files.locked("a.md"):
        raise TimeoutError("mine")


def test_without_the_database_no_file_is_locked(tmp_path):
    locks = PostgresLocks(address_of("postgresql://127.0.0.1:1/nothing"))
    files = FileService(tmp_path, tmp_path / "locks", path_locks=locks.of_project(1))
    with pytest.raises(NotReady, match="cannot be reached") as refusal, files.locked("a.md"):
        raise AssertionError
    assert "back" in refusal.value.hint
    locks.close()
    again = FileService(tmp_path, tmp_path / "locks")
    with again.locked("a.md", timeout_s=0):  # the lock file was given back
        pass

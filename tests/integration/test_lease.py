"""One process leads; what it says of itself; what others make of it when it dies or hangs."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoranda.model.live import EventKind, FileEvent, WatchMode, WatchState
from memoranda.model.sync import Progress, SyncPhase, SyncState
from memoranda.sync.lease import ALIVE_S, Lease

MOMENT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
SYNC = SyncState(
    SyncPhase.INDEXING, Progress(3, 9, 1.5), MOMENT, "full", held=4, held_reason="gone"
)
WATCH = WatchState(
    mode=WatchMode.POLLING,
    reason="a network drive",
    running=True,
    start_time=MOMENT,
    folders=7,
    error_count=2,
    last_error="no",
    last_error_at=MOMENT,
    synced_files=5,
    recent_events=(FileEvent(MOMENT, EventKind.DELETED, "é.md"),),
)
HOLDER = """
import sys, time
from pathlib import Path
from memoranda.model.live import WatchState
from memoranda.model.sync import SyncState
from memoranda.sync.lease import Lease
lease = Lease(Path(sys.argv[1]), "9", 1)
assert lease.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "main"


def lease_in(folder: Path) -> Lease:
    return Lease(folder, "1.2", 2002)


def test_only_one_leads_until_it_lets_go(folder):
    one, other = lease_in(folder), lease_in(folder)
    assert one.acquire()
    assert one.acquire()
    assert not other.acquire()
    assert (one.is_held, other.is_held) == (True, False)
    one.release()
    one.release()
    assert other.acquire()
    other.release()


def test_others_hear_what_the_leader_says(folder):
    one, other = lease_in(folder), lease_in(folder)
    one.acquire()
    one.say(SYNC, WATCH)
    heard = other.leader()
    assert (heard.pid, heard.version, heard.index_version) == (os.getpid(), "1.2", 2002)
    assert (heard.sync, heard.watch) == (SYNC, WATCH)
    assert (heard.is_alive, heard.is_me, heard.is_watching) == (True, False, False)
    assert one.leader().is_me
    assert (heard.embedding_error, heard.embedding_space) == ("", "")
    one.say(SYNC, WATCH, "no key", "static:m@1/8")
    heard = other.leader()
    assert (heard.embedding_error, heard.embedding_space) == ("no key", "static:m@1/8")
    one.say(SyncState(SyncPhase.READY), replace(WATCH, mode=WatchMode.EVENTS))
    assert other.leader().sync.phase is SyncPhase.READY
    assert other.leader().is_watching
    one.release()


def test_whoever_leads_says_so_at_once(folder):
    one = lease_in(folder)
    one.acquire()
    assert lease_in(folder).leader().sync.phase is SyncPhase.STARTING
    one.release()


def test_whoever_cannot_say_so_leads_all_the_same(folder):
    (folder / "leader.json" / "in the way").mkdir(parents=True)
    one, other = lease_in(folder), lease_in(folder)
    assert one.acquire()
    assert one.is_held
    assert not other.acquire()
    one.release()
    assert other.acquire()
    other.release()


def test_nobody_leads_when_the_leader_let_go(folder):
    one = lease_in(folder)
    assert lease_in(folder).leader() is None
    one.acquire()
    one.release()
    assert lease_in(folder).leader() is None
    assert not (folder / "leader.json").exists()


def test_a_heartbeat_of_the_same_words_writes_none(folder):
    one, other = lease_in(folder), lease_in(folder)
    one.acquire()
    one.say(SYNC, WATCH)
    place = folder / "leader.json"
    os.utime(place, (1, 1))
    inode = place.stat().st_ino
    one.say(SYNC, WATCH)
    assert place.stat().st_ino == inode
    assert time.time() - other.leader().heartbeat.timestamp() < ALIVE_S
    place.unlink()
    one.say(SYNC, WATCH)
    assert other.leader().sync == SYNC
    one.release()


def test_a_leader_without_a_heartbeat_is_not_alive(folder):
    one, other = lease_in(folder), lease_in(folder)
    one.acquire()
    old = time.time() - ALIVE_S - 1
    os.utime(folder / "leader.json", (old, old))
    assert not other.leader().is_alive
    assert one.leader().is_alive
    assert not other.acquire()
    one.release()


def test_a_heartbeat_far_ahead_is_none(folder):
    """The clock was set back since: it would be a sign of life for as long."""
    one, other = lease_in(folder), lease_in(folder)
    one.acquire()
    ahead = time.time() + 3600
    os.utime(folder / "leader.json", (ahead, ahead))
    assert not other.leader().is_alive
    one.release()


def test_words_that_the_disk_takes_in_part_are_not_said(folder):
    one, other = lease_in(folder), lease_in(folder)
    one.acquire()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            one.say(SYNC, WATCH)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert other.leader().sync.phase is SyncPhase.STARTING
    one.say(SYNC, WATCH)
    assert other.leader().sync == SYNC
    one.release()


@pytest.mark.parametrize("said", [b"", b"{", b"[]", b"{}", b'{"pid": 1}', b"\xff\xfe", b"null"])
def test_what_nobody_understands_is_no_leader(folder, said):
    folder.mkdir()
    (folder / "leader.json").write_bytes(said)
    assert lease_in(folder).leader() is None


def test_words_of_a_later_version_are_no_leader(folder):
    one = lease_in(folder)
    one.acquire()
    place = folder / "leader.json"
    said = json.loads(place.read_bytes())
    said["watch"]["mode"] = "telepathy"
    place.write_text(json.dumps(said))
    assert lease_in(folder).leader() is None
    one.release()


def test_a_lock_file_that_was_taken_away_is_noticed(folder):
    one, other = lease_in(folder), lease_in(folder)
    one.acquire()
    assert not one.is_lost()
    (folder / "leader.lock").unlink()
    assert one.is_lost()
    assert other.acquire()
    one.release()
    assert other.leader().is_me
    other.release()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_lock_file_that_was_renamed_is_lost_as_well(folder, replaced):
    one, other = lease_in(folder), lease_in(folder)
    one.acquire()
    (folder / "leader.lock").rename(folder / "x.lock")
    if replaced:
        assert other.acquire()
    assert one.is_lost()
    one.release()
    assert (other.leader() is not None) is replaced
    other.release()


@pytest.mark.parametrize("said", ["{", '{"pid": 1}', ""])
def test_a_leader_repairs_what_others_did_to_its_words(folder, said):
    one, other = lease_in(folder), lease_in(folder)
    one.acquire()
    one.say(SYNC, WATCH)
    (folder / "leader.json").write_text(said)
    one.say(SYNC, WATCH)
    assert other.leader().sync == SYNC
    one.release()


def test_a_leader_that_lost_its_lock_takes_its_words_along(folder):
    one, other = lease_in(folder), lease_in(folder)
    one.acquire()
    (folder / "leader.lock").unlink()
    one.release()
    assert other.leader() is None


def test_what_cannot_be_said_any_more_is_taken_back(folder):
    one, other = lease_in(folder), lease_in(folder)
    one.acquire()
    one.hush()
    assert other.leader() is None
    one.say(SYNC, WATCH)
    assert other.leader().sync == SYNC
    one.release()


def test_words_that_cannot_be_written_leave_no_file(folder):
    one = lease_in(folder)
    one.acquire()
    one.hush()
    (folder / "leader.json").mkdir()
    with pytest.raises(OSError, match="directory"):
        one.say(SYNC, WATCH)
    assert {path.name for path in folder.iterdir()} == {"leader.json", "leader.lock"}
    (folder / "leader.json").rmdir()
    one.release()


@pytest.mark.parametrize("pid", [2**40, 2**70, -(2**70)])
def test_a_number_that_is_no_process_is_not_alive(folder, pid):
    one = lease_in(folder)
    one.acquire()
    place = folder / "leader.json"
    place.write_text(json.dumps(json.loads(place.read_bytes()) | {"pid": pid}))
    assert not lease_in(folder).leader().is_alive
    one.release()


def test_words_without_an_end_are_no_leader(folder):
    folder.mkdir()
    (folder / "leader.json").write_text("[" * 100_000)
    assert lease_in(folder).leader() is None


def test_files_are_private(folder):
    one = lease_in(folder)
    one.acquire()
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {"leader.lock": 0o600, "leader.json": 0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    one.release()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_leader_that_is_killed_frees_the_lock_and_is_not_alive(folder):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"held\n"
        one = lease_in(folder)
        assert one.leader().pid == process.pid
        assert one.leader().is_alive
        assert not one.acquire()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not one.leader().is_alive
    assert one.acquire()
    assert one.leader().pid == os.getpid()
    one.release()

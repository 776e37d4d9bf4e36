"""A server that is killed while tools write leaves whole files, and nothing that was accepted is lost.

Real servers and SIGKILL, at moments of several kinds: after some processor time, while a temporary file
is there, when a file has just changed, when an answer has just come.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from enum import StrEnum
from pathlib import Path

import pytest
from tests.live.client import Server
from tests.live.home import Home, until
from tests.live.written import Note, SharedNote

from memoranda.files.clock import SystemClock
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.history import ChangeState, HistoryLimits

SOAK = bool(os.environ.get("MEMORANDA_SOAK"))
KILLS = 200 if SOAK else 10
NOTES = 5
MOST_ANSWERS = 12
MOST_SPENT_S = 0.3
PATIENCE_S = 60

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600 if SOAK else 300),
    pytest.mark.skipif(sys.platform != "linux", reason="reads the clock of another process"),
]


class Moment(StrEnum):
    """When the kill comes."""

    SPENT = "the server used some processor time"
    TEMPORARY = "a temporary file is there"
    CHANGED = "a file is not what it was"
    ANSWERED = "a call was answered"


class Burst:
    """Calls to one server, many at once, until it is killed."""

    def __init__(self, root: Path, server: Server, notes: list[Note], shared: SharedNote) -> None:
        self._root = root
        self._server = server
        self._notes = notes
        self._shared = shared

    def kill(self, moment: Moment, chance: random.Random) -> None:
        """Let them run, and kill the server in their middle."""
        answers = self._answers() + chance.randrange(MOST_ANSWERS)
        with ThreadPoolExecutor(NOTES + 1) as threads:
            running = [threads.submit(note.change, self._server) for note in self._notes]
            running.append(threads.submit(self._shared.append, self._server))
            try:
                match moment:
                    case Moment.SPENT:
                        limit_s = spent(self._server.pid) + chance.uniform(0, MOST_SPENT_S)
                        wait(lambda: spent(self._server.pid) >= limit_s, running)
                    case Moment.TEMPORARY:
                        wait(lambda: self._answers() >= answers, running)
                        wait(self._has_temporary_file, running)
                    case Moment.CHANGED:
                        wait(lambda: self._answers() >= answers, running)
                        old = self._files()
                        wait(lambda: self._files() != old, running)
                    case Moment.ANSWERED:
                        wait(lambda: self._answers() > answers, running)
            finally:
                self._server.kill()
        for one in running:
            one.result()

    def _answers(self) -> int:
        return sum(note.answered for note in self._notes) + len(self._shared.answered)

    def _has_temporary_file(self) -> bool:
        return any(name.endswith(".tmp") for _, _, names in os.walk(self._root) for name in names)

    def _files(self) -> list[tuple[int, int]]:
        return [number_and_size(self._root / note.path) for note in self._notes]


def spent(pid: int) -> float:
    """The processor time that a process used."""
    return time.clock_gettime((~pid << 3) | 2)  # CPUCLOCK_SCHED, as clock_getcpuclockid makes it


def number_and_size(file: Path) -> tuple[int, int]:
    """The inode and the size of a file, zeros if there is none."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return 0, 0
    return status.st_ino, status.st_size


def wait(condition: Callable[[], bool], running: list[Future[None]]) -> None:
    """Until it is so, looking as often as the machine can; fails when a call failed."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        for one in running:
            if one.done():
                one.result()
                raise AssertionError("the server is gone")
        os.sched_yield()


def assert_history_tells(home: Home, notes: list[Note], shared: SharedNote) -> None:
    """The history has each change that happened, in order, whole, and no other."""
    folder = home.config / "main" / "history"
    with closing(HistoryStore(folder, home.root, SystemClock(), HistoryLimits())) as history:
        until(lambda: not history.pending(), "the history has settled what was under way")
        for note in notes:
            changes = history.changes(paths=[NotePath(note.path)], limit=1_000_000)[::-1]
            told = [(c.author.client, c.author.tool, c.before, c.after) for c in changes]
            assert told == [write.record for write in note.happened]
            assert {change.state for change in changes} <= {ChangeState.DONE}
            if note.happened:
                last, before = changes[-1], note.happened[-1].before
                assert (last.before and history.content(last.before)) == before
        changes = history.changes(paths=[NotePath(shared.path)], limit=1_000_000)[::-1]
        text = None
        for number, change in enumerate(changes):
            assert change.state is ChangeState.DONE
            assert (change.before and history.content(change.before)) == text
            text = (shared.head + "".join(shared.found[:number])).encode()
            assert change.after is not None
            assert history.content(change.after) == text
        assert text == (home.root / shared.path).read_bytes()


def assert_settled(home: Home, notes: list[Note], shared: SharedNote) -> None:
    """A server that was just started puts in order what a killed one left."""
    until(lambda: not home.temporary_files(), "no temporary file is left")
    home.assert_agrees_in_the_end()
    assert_history_tells(home, notes, shared)


@pytest.mark.spec("12.2")
def test_a_killed_server_tears_no_file_and_loses_no_accepted_write(home: Home) -> None:
    chance = random.Random(os.environ.get("MEMORANDA_SEED", "1"))
    notes = [Note(f"note-{n}", f"folder {n % 3}", random.Random(n)) for n in range(NOTES)]
    shared = SharedNote("shared")
    server, spare = home.start("maker"), home.start("client 0")
    server.greet()
    shared.create(server)
    server.kill()
    for number in range(KILLS):
        server, spare = spare, home.start(f"client {number + 1}")  # it loads modules meanwhile
        server.greet()
        assert not server.call("list_memory_projects").code  # its storage is open
        if number % 3:  # else it writes while it puts things in order
            assert_settled(home, notes, shared)
        Burst(home.root, server, notes, shared).kill(list(Moment)[number % len(Moment)], chance)
        for note in notes:
            note.check(home.root)
        shared.check(home.root)
        there = {note.path for note in notes if note.content is not None} | {shared.path}
        found = {file.relative_to(home.root).as_posix() for file in home.root.rglob("*.md")}
        assert found == there
    spare.greet()
    assert_settled(home, notes, shared)
    assert spare.close() == 0
    home.assert_nothing_bad_was_logged()
    happened = sum(len(note.happened) for note in notes)
    unanswered = happened - sum(note.answered for note in notes)
    print(
        f"{KILLS} kills: {happened} changes ({unanswered} of them not answered) "
        f"and {len(shared.found)} appended lines ({len(shared.asked)} asked for)"
    )

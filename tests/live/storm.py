"""Eight servers that write at once: what is done to them on either back end, and what must be true then."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from tests.integration.conftest import Index
from tests.live.crowd import SERVERS, Crowd
from tests.live.home import Home, until

SOAK = bool(os.environ.get("MEMORANDA_SOAK"))
WRITES = 50 if SOAK else 6
ASK_EVERY = 10 if SOAK else 3
TIMEOUT_S = 900 if SOAK else 180

Record = Callable[[str, object], None]


def none_yet(*_: object) -> Index:
    """For a home of a module: each test gives its own."""
    raise AssertionError("each test gives its own")


def crowd_in(home: Home) -> None:
    """Start servers until eight have opened the project."""
    alive = [server for server in home.servers if server.process.poll() is None]
    for dead in set(home.servers) - set(alive):
        dead.kill()  # its pipes are closed with it
    new = [home.start(f"client {number}") for number in range(len(alive), SERVERS)]
    for server in new:
        server.greet()
    for server in new:
        assert not server.call("list_directory").code
    home.servers[:] = [*alive, *new]


def writes_at_once(home: Home, record: Record) -> None:
    """All is there with the last answer."""
    crowd = Crowd(home, "calm", WRITES, ASK_EVERY)
    crowd.create_shared(home.servers[0])
    crowd.run(home.servers)
    home.assert_agrees_now()  # the index was complete with the last answer
    assert len(crowd.accepted) == crowd.wanted
    assert_all_is_there(home, crowd)
    record("writes_per_s", round(crowd.rate, 1))
    print(f"{len(crowd.accepted)} of {crowd.wanted} writes, {crowd.rate:.1f} a second")


def leader_is_killed(home: Home, record: Record) -> float:
    """Another one leads, and nothing is lost; returns after how many seconds."""
    crowd = Crowd(home, "killed", WRITES, ASK_EVERY)
    crowd.create_shared(home.servers[0])
    leader = until(home.leader, "somebody leads")
    took_s = 0.0

    def kill_the_leader() -> None:
        nonlocal took_s
        until(lambda: len(crowd.accepted) >= crowd.wanted / 3, "a third is written")
        os.kill(leader, signal.SIGKILL)
        killed_at = time.monotonic()
        until(lambda: home.leader() not in (0, leader), "another leads")
        took_s = time.monotonic() - killed_at

    crowd.run(home.servers, meanwhile=kill_the_leader)
    assert leader in {server.pid for server in home.servers}
    assert len(crowd.unanswered) <= 2  # each of its clients had one call under way
    assert_all_is_there(home, crowd)
    save_by_hand(home)
    home.assert_agrees_in_the_end()
    assert_all_is_there(home, crowd)
    record("takeover_s", round(took_s, 2))
    record("writes_per_s", round(crowd.rate, 1))
    print(f"led again after {took_s:.2f} s; {crowd.rate:.1f} writes a second")
    return took_s


def assert_all_is_there(home: Home, crowd: Crowd) -> None:
    """Nothing was refused, nothing is lost, nothing came late."""
    assert crowd.refused == []
    assert crowd.unseen == []
    assert crowd.lost() == []
    assert crowd.doubled() == []
    home.assert_nothing_bad_was_logged()


def save_by_hand(home: Home) -> None:
    """A user saves a file; no server is asked anything until the index knows it."""
    (home.root / "by hand.md").write_text("# Saved in an editor\n\nwordofaneditor\n")
    until(
        lambda: home.rows("SELECT 1 FROM entity WHERE file_path = 'by hand.md'"),
        "the new leader sees what is saved in an editor",
    )

"""Eight servers on one project do not disturb each other, and the end of one disturbs none of the others."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest
from tests.integration.conftest import Index
from tests.live.crowd import SERVERS, Crowd
from tests.live.home import Home, until

SOAK = bool(os.environ.get("MEMORANDA_SOAK"))
WRITES = 50 if SOAK else 6
ASK_EVERY = 10 if SOAK else 3

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900 if SOAK else 180)]

Record = Callable[[str, object], None]


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One home for this module: eight servers take a while to start."""

    def none_yet(*_: object) -> Index:
        raise AssertionError("each test gives its own")

    home = Home(tmp_path_factory.mktemp("eight"), none_yet)
    home.configure()
    yield home
    home.stop()


@pytest.fixture
def home(shared_home: Home, make_index: Callable[..., Index]) -> Home:
    """The same, with eight living servers that have opened the project."""
    shared_home.make_index = make_index
    alive = [server for server in shared_home.servers if server.process.poll() is None]
    new = [shared_home.start(f"client {number}") for number in range(len(alive), SERVERS)]
    for server in new:
        server.greet()
    for server in new:
        assert not server.call("list_directory").code
    shared_home.servers[:] = [*alive, *new]
    return shared_home


def leader_of(home: Home) -> int:
    """The process that leads the project now, 0 if none says so."""
    try:
        return int(json.loads((home.config / "main" / "leader.json").read_text())["pid"])
    except (FileNotFoundError, ValueError):
        return 0


def assert_all_is_there(home: Home, crowd: Crowd) -> None:
    """Nothing was refused, nothing is lost, nothing came late."""
    assert crowd.refused == []
    assert crowd.unseen == []
    assert crowd.lost() == []
    assert crowd.doubled() == []
    home.assert_nothing_bad_was_logged()


@pytest.mark.spec("12.2")
def test_eight_servers_write_at_once_and_all_is_there_at_once(
    home: Home, record_property: Record
) -> None:
    crowd = Crowd(home, "calm", WRITES, ASK_EVERY)
    crowd.create_shared(home.servers[0])
    crowd.run(home.servers)
    home.assert_agrees_now()  # the index was complete with the last answer
    assert len(crowd.accepted) == crowd.wanted
    assert_all_is_there(home, crowd)
    record_property("writes_per_s", round(crowd.rate, 1))
    print(f"{len(crowd.accepted)} of {crowd.wanted} writes, {crowd.rate:.1f} a second")


@pytest.mark.spec("12.2")
def test_another_server_leads_when_the_leader_is_killed_among_writes(
    home: Home, record_property: Record
) -> None:
    crowd = Crowd(home, "killed", WRITES, ASK_EVERY)
    crowd.create_shared(home.servers[0])
    leader = until(lambda: leader_of(home), "somebody leads")
    took_s = 0.0

    def kill_the_leader() -> None:
        nonlocal took_s
        until(lambda: len(crowd.accepted) >= crowd.wanted / 3, "a third is written")
        os.kill(leader, signal.SIGKILL)
        killed_at = time.monotonic()
        until(lambda: leader_of(home) not in (0, leader), "another leads")
        took_s = time.monotonic() - killed_at

    crowd.run(home.servers, meanwhile=kill_the_leader)
    assert leader in {server.pid for server in home.servers}
    assert len(crowd.unanswered) <= 2  # each of its clients had one call under way
    assert_all_is_there(home, crowd)
    save_by_hand(home)
    home.assert_agrees_in_the_end()
    assert_all_is_there(home, crowd)
    record_property("takeover_s", round(took_s, 2))
    record_property("writes_per_s", round(crowd.rate, 1))
    print(f"led again after {took_s:.2f} s; {crowd.rate:.1f} writes a second")


def save_by_hand(home: Home) -> None:
    """A user saves a file; no server is asked anything until the index knows it."""
    (home.root / "by hand.md").write_text("# Saved in an editor\n\nwordofaneditor\n")
    until(
        lambda: home.rows("SELECT 1 FROM entity WHERE file_path = 'by hand.md'"),
        "the new leader sees what is saved in an editor",
    )

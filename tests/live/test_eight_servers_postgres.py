"""Eight servers with folders of their own share one PostgreSQL: nothing is lost, whatever ends or is cut."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.conftest import Index, indexes
from tests.live.crowd import SERVERS, Crowd
from tests.live.home import until
from tests.live.postgres_home import PostgresHome
from tests.live.test_eight_servers import assert_all_is_there, save_by_hand
from tools.postgres_server import Databases, Server, why_not

SOAK = bool(os.environ.get("MEMORANDA_SOAK"))
WRITES = 50 if SOAK else 6
ASK_EVERY = 10 if SOAK else 3
TAKEOVER_S = 5.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900 if SOAK else 180),
    pytest.mark.skipif(
        bool(why_not()) or "MEMORANDA_TEST_POSTGRES" in os.environ, reason="stops its server"
    ),
]

Record = Callable[[str, object], None]
_LEADER = "SELECT (said::json->>'pid')::int FROM project_leader"
_CUT = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE 'memoranda%'"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that may be killed: it keeps what it said it has."""
    server = Server.made(fsync="on", full_page_writes="on")
    server.start()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def shared_home(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresHome]:
    """One home for this module: eight servers take a while to start."""

    def none_yet(*_: object) -> Index:
        raise AssertionError("each test gives its own")

    url = Databases(server.url("postgres"), server).create()
    home = PostgresHome(tmp_path_factory.mktemp("eight"), none_yet, url)
    home.configure()
    yield home
    home.stop()


@pytest.fixture
def home(shared_home: PostgresHome, tmp_path: Path) -> Iterator[PostgresHome]:
    """The same, with eight living servers that have opened the project."""
    with indexes(tmp_path, "postgres") as shared_home.make_index:
        yield _crowded(shared_home)


def _crowded(shared_home: PostgresHome) -> PostgresHome:
    alive = [server for server in shared_home.servers if server.process.poll() is None]
    for dead in set(shared_home.servers) - set(alive):
        dead.kill()  # its pipes are closed with it
    new = [shared_home.start(f"client {number}") for number in range(len(alive), SERVERS)]
    for one in new:
        one.greet()
    for one in new:
        assert not one.call("list_directory").code
    shared_home.servers[:] = [*alive, *new]
    return shared_home


def leader_of(home: PostgresHome) -> int:
    """The process that leads the project now, 0 if none says so."""
    found = home.rows(_LEADER)
    return int(str(found[0][0])) if found and found[0][0] is not None else 0


@pytest.mark.spec("12.2")
def test_eight_servers_write_at_once_and_all_is_there_at_once(
    home: PostgresHome, record_property: Record
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
    home: PostgresHome, record_property: Record
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
    assert took_s <= TAKEOVER_S
    assert_all_is_there(home, crowd)
    save_by_hand(home)
    home.assert_agrees_in_the_end()
    record_property("takeover_s", round(took_s, 2))
    print(f"led again after {took_s:.2f} s; {crowd.rate:.1f} writes a second")


def test_nothing_is_lost_when_connections_are_cut_among_writes(home: PostgresHome) -> None:
    crowd = Crowd(home, "cut", WRITES, ASK_EVERY, may_be_away=True)
    crowd.create_shared(home.servers[0])
    cuts = 0

    def cut() -> None:
        nonlocal cuts
        for part in range(1, 5):
            until(
                lambda part=part: _answered(crowd) >= crowd.wanted * part / 6, "a part is written"
            )
            [(number,)] = home.rows(_CUT)
            cuts += int(str(number))

    crowd.run(home.servers, meanwhile=cut)
    assert cuts >= SERVERS
    _assert_nothing_lost(home, crowd)


def test_nothing_is_lost_when_the_database_is_killed_among_writes(
    home: PostgresHome, server: Server
) -> None:
    crowd = Crowd(home, "away", WRITES, ASK_EVERY, may_be_away=True)
    crowd.create_shared(home.servers[0])
    nobody_sets_it = threading.Event()

    def kill_the_database() -> None:
        until(lambda: _answered(crowd) >= crowd.wanted / 4, "a part is written")
        server.stop(signal.SIGKILL)
        nobody_sets_it.wait(1.0)
        server.start()

    crowd.run(home.servers, meanwhile=kill_the_database)
    _assert_nothing_lost(home, crowd)
    until(lambda: leader_of(home), "somebody leads again")
    save_by_hand(home)


def _answered(crowd: Crowd) -> int:
    return len(crowd.accepted) + len(crowd.excused) + len(crowd.refused)


def _assert_nothing_lost(home: PostgresHome, crowd: Crowd) -> None:
    """Every answer told the truth, and in the end the index is that of the folder, by itself."""
    print(f"{len(crowd.accepted)} of {crowd.wanted} accepted, {len(crowd.excused)} told to wait")
    assert crowd.refused == []
    assert crowd.unseen == []
    assert crowd.lost() == []
    assert crowd.doubled() == []
    assert len(crowd.accepted) + len(crowd.excused) == crowd.wanted
    home.assert_agrees_in_the_end()
    assert "Traceback" not in home.logged()

"""Eight servers with folders of their own share one PostgreSQL: nothing is lost, whatever ends or is cut."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.conftest import indexes
from tests.live.crowd import SERVERS, Crowd
from tests.live.home import until
from tests.live.postgres_home import PostgresHome
from tests.live.storm import (
    ASK_EVERY,
    TIMEOUT_S,
    WRITES,
    Record,
    crowd_in,
    leader_is_killed,
    none_yet,
    save_by_hand,
    writes_at_once,
)
from tools.postgres_server import Databases, Server, why_not

TAKEOVER_S = 5.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(TIMEOUT_S),
    pytest.mark.skipif(
        bool(why_not()) or "MEMORANDA_TEST_POSTGRES" in os.environ, reason="stops its server"
    ),
]

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
    url = Databases(server.url("postgres"), server).create()
    home = PostgresHome(tmp_path_factory.mktemp("eight"), none_yet, url)
    home.configure()
    yield home
    home.stop()


@pytest.fixture
def home(shared_home: PostgresHome, tmp_path: Path) -> Iterator[PostgresHome]:
    """The same, with eight living servers that have opened the project."""
    with indexes(tmp_path, "postgres") as shared_home.make_index:
        crowd_in(shared_home)
        yield shared_home


@pytest.mark.spec("12.2")
def test_eight_servers_write_at_once_and_all_is_there_at_once(
    home: PostgresHome, record_property: Record
) -> None:
    writes_at_once(home, record_property)


@pytest.mark.spec("12.2")
def test_another_server_leads_when_the_leader_is_killed_among_writes(
    home: PostgresHome, record_property: Record
) -> None:
    assert leader_is_killed(home, record_property) <= TAKEOVER_S


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
    until(home.leader, "somebody leads again")
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

"""Who leads a project on PostgreSQL: each `Machine` here stands for a process with a connection of its own."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.integration.conftest import until
from tests.integration.test_lease import SYNC, WATCH
from tools.postgres_server import Server, databases

from memoranda.db import postgres, postgres_leaders, postgres_locks
from memoranda.db.postgres import address_of
from memoranda.db.postgres_leaders import Leadership
from memoranda.db.postgres_locks import PostgresLocks
from memoranda.errors import DatabaseProblem
from memoranda.model.live import EventKind, FileEvent, WatchMode, WatchState
from memoranda.model.sync import SyncPhase, SyncState
from memoranda.sync.lease import ALIVE_S
from memoranda.sync.shared_lease import SharedLease

PROJECT = 7
HOLDER = """
import sys, time
from memoranda.db.postgres import address_of
from memoranda.db.postgres_leaders import Leadership
from memoranda.db.postgres_locks import PostgresLocks
from memoranda.sync.shared_lease import SharedLease
lease = SharedLease(Leadership(PostgresLocks(address_of(sys.argv[1])), 7), "9", 1)
while not lease.acquire():
    time.sleep(0.01)
print("held", flush=True)
sys.stdin.read()
"""
_OURS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'memoranda locks'"


@dataclass
class Machine:
    """A process somewhere, with one project."""

    locks: PostgresLocks
    lease: SharedLease

    async def leads(self) -> bool:
        """Try to, and wait for the answer."""
        return self.lease.acquire() or await self.lease.answered(5)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(postgres_leaders, "LOOK_S", 0.05)


@pytest.fixture
def ask(postgres_url) -> Callable[[str], list[tuple[object, ...]]]:
    """Asks the database of the test, in a thread: it runs a loop of its own."""

    def asked(sql: str) -> list[tuple[object, ...]]:
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(databases().execute, sql, postgres_url).result()

    return asked


@pytest.fixture
def machine(postgres_url, ask) -> Iterator[Callable[..., Machine]]:
    """Makes another machine."""
    ask(
        "INSERT INTO memoranda.project (id, name, permalink, path, external_id, is_default, is_active,"
        f" created_at, updated_at) VALUES ({PROJECT}, 'Main', 'main', '/', 'x', true, true, now(), now())"
    )
    made: list[PostgresLocks] = []

    def make(url: str = postgres_url, project_id: int = PROJECT, **how: Any) -> Machine:
        made.append(PostgresLocks(address_of(url)))
        leadership = Leadership(made[-1], project_id)
        leadership.watch()
        return Machine(made[-1], SharedLease(leadership, "1.2", 2002, **how))

    yield make
    for locks in made:
        locks.close()


def cut(ask: Callable[[str], object]) -> None:
    """The server ends every connection for locks."""
    ask(f"SELECT pg_terminate_backend(pid) FROM ({_OURS}) AS ours")


async def test_only_one_leads_until_it_lets_go(machine):
    one, other = machine(), machine()
    assert await one.leads()
    assert await one.leads()
    assert not await other.leads()
    assert (one.lease.is_held, other.lease.is_held) == (True, False)
    one.lease.release()
    one.lease.release()
    assert not one.lease.is_held
    await until(other.lease.acquire, within_s=5)


async def test_projects_are_led_apart(machine):
    one, other = machine(), machine(project_id=8)
    assert await one.leads()
    assert await other.leads()


async def test_asking_waits_for_nothing(machine, monkeypatch):
    """The database hangs: the event loop does not."""
    monkeypatch.setattr(postgres_leaders, "_TRY", "SELECT pg_sleep(3), $1::int, $2::int")
    one = machine()
    began = time.monotonic()
    assert not one.lease.acquire()
    assert not one.lease.acquire()
    assert one.lease.leader() is None
    assert not await one.lease.answered(0.05)
    one.lease.release()
    assert time.monotonic() - began < 0.5


async def test_who_lets_go_before_the_answer_does_not_lead(machine, monkeypatch):
    slow = "SELECT pg_try_advisory_lock($1, $2) FROM pg_sleep(0.2)"
    monkeypatch.setattr(postgres_leaders, "_TRY", slow)
    one, other = machine(), machine()
    one.lease.acquire()
    one.lease.release()
    await asyncio.sleep(0.3)
    await until(other.lease.acquire, within_s=5)
    assert not one.lease.is_held


async def test_others_hear_what_the_leader_says(machine):
    one, other = machine(), machine()
    await one.leads()
    await until(other.lease.leader)
    assert other.lease.leader().sync.phase is SyncPhase.STARTING
    one.lease.say(SYNC, WATCH)
    await until(lambda: other.lease.leader().sync == SYNC)
    heard = other.lease.leader()
    assert (heard.pid, heard.version, heard.index_version) == (os.getpid(), "1.2", 2002)
    assert (heard.host, heard.watch) == (platform.node(), WATCH)
    assert (heard.is_alive, heard.is_me, heard.is_watching) == (True, False, False)
    assert abs(heard.heartbeat.timestamp() - time.time()) < 5
    assert one.lease.leader().is_me
    one.lease.say(
        SyncState(SyncPhase.READY), replace(WATCH, mode=WatchMode.EVENTS), "no key", "space"
    )
    await until(lambda: other.lease.leader().is_watching)
    heard = other.lease.leader()
    assert (heard.embedding_error, heard.embedding_space) == ("no key", "space")


async def test_who_comes_later_knows_at_once_who_leads(machine):
    await machine().leads()
    assert machine().lease.leader().is_alive


async def test_names_that_are_no_text_are_said_all_the_same(machine):
    one, other = machine(), machine()
    await one.leads()
    event = FileEvent(WATCH.start_time, EventKind.CREATED, "odd\udcff\0.md")
    one.lease.say(SYNC, replace(WATCH, recent_events=(event,)))
    await until(lambda: other.lease.leader() and other.lease.leader().sync == SYNC)
    assert other.lease.leader().watch.recent_events[0].path == "odd?\0.md"
    assert not one.lease.is_lost()


async def test_nobody_leads_when_the_leader_let_go(machine, ask):
    one, other = machine(), machine()
    assert other.lease.leader() is None
    await one.leads()
    await until(other.lease.leader)
    one.lease.release()
    await until(lambda: other.lease.leader() is None)
    assert ask("SELECT * FROM memoranda.project_leader") == []


async def test_a_server_that_ends_takes_its_words_along(machine, ask):
    one = machine()
    await one.leads()
    one.lease.say(SYNC, WATCH)
    one.lease.release()
    one.locks.close()
    one.lease.release()
    assert ask("SELECT * FROM memoranda.project_leader") == []
    await until(lambda: one.lease.leader() is None)


async def test_what_is_not_true_any_more_is_taken_back(machine):
    one, other = machine(), machine()
    await one.leads()
    await until(other.lease.leader)
    one.lease.hush()
    await until(lambda: other.lease.leader() is None)
    assert not await other.leads()
    one.lease.say(SYNC, WATCH)
    await until(other.lease.leader)


async def test_a_leader_without_a_heartbeat_is_not_alive_and_not_replaced(machine, ask):
    one, other = machine(), machine()
    await one.leads()
    await until(other.lease.leader)
    old = f"clock_timestamp() - interval '{ALIVE_S + 1} seconds'"
    ask(f"UPDATE memoranda.project_leader SET at = {old}")
    await until(lambda: not other.lease.leader().is_alive)
    assert one.lease.leader().is_alive
    assert not await other.leads()


async def test_words_without_a_leader_are_no_sign_of_life(machine, ask):
    """It was killed, and could not take them back."""
    one, other = machine(), machine()
    await one.leads()
    await until(lambda: other.lease.leader() and other.lease.leader().is_alive)
    cut(ask)
    await until(lambda: other.lease.leader() and not other.lease.leader().is_alive)
    assert await other.leads()
    assert other.lease.leader().is_me


@pytest.mark.parametrize("said", ["", "{", "[]", '{"pid": 1}', "null"])
async def test_what_nobody_understands_is_no_leader(machine, ask, said):
    one, other = machine(), machine()
    await one.leads()
    await until(other.lease.leader)
    ask(f"UPDATE memoranda.project_leader SET said = '{said}'")
    await until(lambda: other.lease.leader() is None)
    assert not await other.leads()


async def test_words_of_a_later_version_are_no_leader(machine, ask):
    one, other = machine(), machine()
    await one.leads()
    await until(other.lease.leader)
    ((said,),) = ask("SELECT said FROM memoranda.project_leader")
    words = json.loads(said)
    words["watch"]["mode"] = "telepathy"
    ask(f"UPDATE memoranda.project_leader SET said = '{json.dumps(words)}'")
    await until(lambda: other.lease.leader() is None)


async def test_a_leader_whose_connection_is_cut_knows_at_once(machine, ask):
    one = machine()
    await one.leads()
    assert not one.lease.is_lost()
    cut(ask)
    await until(one.lease.is_lost, within_s=1)
    assert not one.lease.leader() or not one.lease.leader().is_me
    one.lease.say(SYNC, WATCH)  # does no harm
    one.lease.release()
    await until(one.lease.acquire, within_s=5)
    assert not one.lease.is_lost()


async def test_who_is_cut_off_looks_again_at_once(machine, ask, monkeypatch):
    monkeypatch.setattr(postgres_leaders, "LOOK_S", 60.0)
    one, other = machine(), machine()
    await one.leads()
    other.lease._leadership.watch()
    assert other.lease.leader().is_alive
    before = other.locks.connection
    cut(ask)
    await until(lambda: other.locks.connection not in (before, None), within_s=2)
    await until(lambda: other.lease.leader() and not other.lease.leader().is_alive, within_s=2)


async def test_a_leader_that_lost_its_lock_takes_nobody_elses_words_along(machine, ask):
    one, other = machine(), machine()
    await one.leads()
    ((mine,),) = ask(
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND objsubid = 2"
    )
    ask(f"SELECT pg_terminate_backend({mine})")
    await until(one.lease.is_lost, within_s=1)
    await until(other.lease.acquire, within_s=5)
    other.lease.say(SYNC, WATCH)
    one.lease.say(SyncState(), WatchState())
    one.lease.hush()
    one.lease.release()
    await until(lambda: one.lease.leader() and one.lease.leader().sync == SYNC)
    assert not await one.leads()
    assert not other.lease.is_lost()


async def test_a_leader_that_cannot_speak_leads_all_the_same(machine, ask):
    ask("DROP TABLE memoranda.project_leader")
    one, other = machine(), machine()
    assert await one.leads()
    assert not await other.leads()
    assert other.lease.leader() is None
    one.lease.say(SYNC, WATCH)
    await asyncio.sleep(0.1)
    assert not one.lease.is_lost()


async def test_why_nobody_can_lead_is_said(machine, monkeypatch):
    monkeypatch.setattr(postgres_leaders, "_TRY", "SELECT pg_read_file('x'), $1::int, $2::int")
    one = machine()
    assert not await one.leads()
    one.lease._leadership.trouble = DatabaseProblem("not allowed")
    with pytest.raises(DatabaseProblem, match="not allowed"):
        one.lease.acquire()
    assert not one.lease.acquire()


async def test_nobody_looks_when_nobody_asks(machine, monkeypatch):
    monkeypatch.setattr(postgres_leaders, "_ASKED_S", 0.1)
    one = machine()
    watching = one.lease._leadership._watching
    await until(watching.done, within_s=2)
    assert one.lease.leader() is None
    await machine().leads()
    await until(one.lease.leader, within_s=2)


async def test_a_leader_that_is_killed_is_replaced_at_once(machine, postgres_url):
    with subprocess.Popen(  # noqa: ASYNC220 - nobody else waits
        [sys.executable, "-c", HOLDER, postgres_url], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"held\n"
        one = machine()
        assert one.lease.leader().pid == process.pid
        assert one.lease.leader().is_alive
        assert not await one.leads()
        process.send_signal(signal.SIGKILL)
        process.wait()
    await until(one.lease.acquire, within_s=2)
    assert one.lease.leader().pid == os.getpid()


class Wire:
    """A way to the server on which nothing arrives any more once it is `cut`, and nobody is told."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.is_cut = False

    async def begin(self) -> int:
        self._server = await asyncio.start_server(self._joined, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def end(self) -> None:
        self._server.close()

    async def _joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, here = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(self._carry(reader, here), self._carry(there, writer))

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            if not self.is_cut:
                sink.write(data)
        sink.close()


async def test_a_leader_nobody_answers_any_more_knows_soon(machine, postgres_url, monkeypatch):
    monkeypatch.setattr(postgres_locks, "ANSWER_S", 0.3)
    monkeypatch.setattr(postgres, "CONNECT_S", 0.3)
    server, _, name = postgres_url.rpartition("/")
    wire = Wire(int(server.rpartition(":")[2]))
    port = await wire.begin()
    url = f"{server.rpartition(':')[0]}:{port}/{name}"
    one = await asyncio.to_thread(machine, url)
    assert await one.leads()
    wire.is_cut = True
    await until(one.lease.is_lost, within_s=2)
    await until(lambda: one.lease.leader() is None)
    assert not await one.leads()
    wire.is_cut = False
    await until(one.lease.acquire, within_s=5)
    await asyncio.to_thread(one.locks.close)
    await wire.end()


async def test_a_server_that_crashes_and_comes_back_is_led_again(logs):
    server = Server.made()
    try:
        await asyncio.to_thread(server.start)
        locks = [PostgresLocks(address_of(server.url("postgres"))) for _ in range(2)]
        leases = [SharedLease(Leadership(each, PROJECT), "1", 1) for each in locks]
        await until(leases[0].acquire, within_s=5)
        server.stop(signal.SIGKILL)
        await until(leases[0].is_lost, within_s=1)
        for _ in range(30):  # servers go on asking
            assert not any(lease.is_held and not lease.is_lost() for lease in leases)
            for lease in leases:
                lease.acquire()
            await asyncio.sleep(0.01)
        await asyncio.to_thread(server.start)
        await until(lambda: any(lease.acquire() for lease in leases), within_s=5)
        for each in locks:
            each.close()
    finally:
        server.remove()
    said = [line for line in logs if "cannot be reached" in line or "answers again" in line]
    assert sum("cannot be reached" in line for line in said) <= 2  # one of each process
    assert any("answers again" in line for line in said)


@pytest.fixture
def logs() -> Iterator[list[str]]:
    """Every line that is logged at the usual level."""
    from loguru import logger

    lines: list[str] = []
    number = logger.add(lines.append, level="INFO", format="{message}")
    yield lines
    logger.remove(number)

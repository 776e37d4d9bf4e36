"""The hard cases of kind mcp that need real server processes: their end, several at once, the wire.

See README.md in this folder.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.live.client import PATIENCE_S, Answer, Server, answer_of
from tests.live.home import Home, until

from memoranda.sync.lease import Lease

pytestmark = pytest.mark.slow

GONE_S = 5
"""The bound of the case."""
MANY = 1500
TRIES = 5
WRITES = 100 if os.environ.get("MEMORANDA_SOAK") else 10
Record = Callable[[str, object], None]


def told(home: Home, project: str = "main") -> dict[str, Any]:
    """What the process that leads the project says of itself; nothing when nobody does."""
    try:
        said: dict[str, Any] = json.loads((home.config / project / "leader.json").read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return said


def notes(home: Home) -> int:
    """How many notes the index has."""
    found = home.rows("SELECT count(*) FROM entity")
    return int(str(found[0][0])) if found else 0


def start(home: Home, count: int) -> list[Server]:
    """Processes that load modules and wait to be greeted; the loading takes most of a server's start."""
    return [home.start(f"client {n}", BASIC_MEMORY_SYNC_DELAY="50") for n in range(count)]


def lead(home: Home, server: Server) -> None:
    """Let a server open the project; it leads at once, because no other one left a lock."""
    server.greet()
    until(lambda: told(home).get("pid") == server.pid, "it leads")


def assert_no_lock_is_left(home: Home) -> None:
    """Nobody leads, and whoever comes may."""
    assert told(home) == {}
    lease = Lease(home.config / "main", "test", 1)
    assert lease.acquire()
    lease.release()


def see_by_hand(home: Home, path: str) -> None:
    """Save a note by hand, and wait until the watcher of the server has seen it."""
    (home.root / path).write_text(f"{path} by hand\n")
    seen = "SELECT 1 FROM entity WHERE file_path = ?"
    until(lambda: home.rows(seen, path), "the watcher has seen it")


# --- the end of a server


def terminate(server: Server) -> None:
    os.kill(server.pid, signal.SIGTERM)


def interrupt(server: Server) -> None:
    os.kill(server.pid, signal.SIGINT)


def hang_up(server: Server) -> None:
    assert server.process.stdin is not None
    server.process.stdin.close()


def end(server: Server, how: Callable[[Server], None], record: Record) -> None:
    """End a server, which is gone in time and says that all is well."""
    began = time.monotonic()
    how(server)
    assert server.process.wait(GONE_S) == 0
    record(f"gone after {how.__name__}, s", round(time.monotonic() - began, 2))


def test_mcp_disconnect(live_home: Home, record_property: Record) -> None:
    """A server that watches is gone with its client, and leaves no lock to the next one.

    Seen in: modelcontextprotocol/python-sdk#2231, cyanheads/obsidian-mcp-server#100,
    codefuturist/email-mcp#60, buildingjoshbetter/TrueMemory#401.
    """
    ways = (hang_up, terminate, interrupt)
    for how, server in zip(ways, start(live_home, len(ways)), strict=True):
        lead(live_home, server)
        see_by_hand(live_home, f"{how.__name__}.md")
        end(server, how, record_property)
        assert_no_lock_is_left(live_home)
    live_home.assert_nothing_bad_was_logged()


def test_mcp_disconnect_during_the_first_sync(live_home: Home, record_property: Record) -> None:
    """The sync is left in its middle. Tried again when it was over before."""
    for number in range(MANY):
        (live_home.root / f"{number}.md").write_text(f"- [fact] of [[{number + 1}]]\n" * 5)

    def is_cut() -> bool:
        for file in (live_home.config / "main").glob("memory.db*"):
            file.unlink()
        [server] = start(live_home, 1)
        lead(live_home, server)
        until(lambda: notes(live_home) > 0, "the first notes are indexed")
        end(server, hang_up, record_property)
        assert_no_lock_is_left(live_home)
        return notes(live_home) < MANY

    assert any(is_cut() for _ in range(TRIES))
    live_home.assert_nothing_bad_was_logged()


PARENT = """
import sys
from pathlib import Path
from tests.live.client import Server
sys.executable = sys.argv[1]
server = Server(Path(sys.argv[2]), Path(sys.argv[3]), "child of another process")
server.greet()
print("ready", flush=True)
sys.stdin.read()
"""


def test_mcp_disconnect_of_a_killed_parent(live_home: Home, record_property: Record) -> None:
    """The client dies by SIGKILL and cannot say that it goes."""
    home = live_home
    code, script = home.place / "code", home.place / "server"
    script.write_text(
        f'#!/bin/sh\n"{sys.executable}" "$@"\necho $? > {code}.new\nmv {code}.new {code}\n'
    )
    script.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(script), str(home.config), str(home.errors)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        see_by_hand(home, "n.md")
        began = time.monotonic()
        parent.kill()
        until(code.exists, "the server is gone", within_s=GONE_S)
        record_property("gone after its parent, s", round(time.monotonic() - began, 2))
    assert code.read_text() == "0\n"
    assert_no_lock_is_left(home)
    home.assert_nothing_bad_was_logged()


def test_mcp_disconnect_of_the_output(live_home: Home, record_property: Record) -> None:
    """Nobody reads any more: the first answer that cannot be written is the end, though the input stays open."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "deaf", "version": "1"},
    }
    with subprocess.Popen(
        [sys.executable, "-m", "memoranda", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"BASIC_MEMORY_CONFIG_DIR": str(live_home.config)},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        words = process.stdin

        def say(**message: Any) -> None:
            words.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
            words.flush()

        try:
            say(id=1, method="initialize", params=hello)
            assert process.stdout.readline()
            say(method="notifications/initialized")
            see_by_hand(live_home, "n.md")
            began = time.monotonic()
            process.stdout.close()
            say(id=2, method="tools/list", params={})  # so that it writes; nothing more comes
            assert process.wait(GONE_S) == 0
            record_property("gone after its output, s", round(time.monotonic() - began, 2))
            assert b"Traceback" not in process.stderr.read()
        finally:
            process.kill()
    assert_no_lock_is_left(live_home)


# --- several servers


def test_mcp_two_servers(live_home: Home) -> None:
    """Three start at the same moment where there is no index, and all write while files are edited.

    Better, taken: one of them is the watcher; tests/live has what follows when it dies.

    Seen in: basicmachines-co/basic-memory#759, mksglu/context-mode#218, kenn-io/msgvault#226,
    buildingjoshbetter/TrueMemory#449.
    """
    home = live_home
    (home.root / "n.md").write_text("n\n")
    servers = start(home, 3)
    turns = threading.Semaphore(0)

    def work(server: Server) -> set[str]:
        server.greet()
        calls = [
            server.begin("write_note", title=f"{server.name} {number}", content=f"[[n]] {number}")
            for number in range(WRITES)
        ]
        for call in calls:
            call.add_done_callback(lambda _: turns.release())
        return {answer_of(call).code for call in calls}

    with ThreadPoolExecutor(len(servers)) as threads:
        writing = [threads.submit(work, server) for server in servers]
        for number in range(len(servers) * WRITES):
            assert turns.acquire(timeout=60)
            (home.root / f"hand {number % 5}.md").write_text(f"[[n]] by hand {number}\n")
        assert [one.result() for one in writing] == [{""}] * 3
    assert {server.call("search_notes", query="n").code for server in servers} == {""}
    home.assert_agrees_in_the_end()
    assert notes(home) == 1 + len(servers) * WRITES + 5
    assert told(home)["pid"] in {server.pid for server in servers}
    assert home.temporary_files() == []
    home.assert_nothing_bad_was_logged()


def test_mcp_parallel(live_home: Home) -> None:
    """Many calls at once on one connection: each has its answer, and no change is lost.

    Seen in: openclaw/openclaw#103400, bytedance/deer-flow#4599.
    """
    home = live_home
    [server] = start(home, 1)
    lead(home, server)

    def together(*calls: tuple[str, dict[str, Any]]) -> list[Answer]:
        begun = [server.begin(tool, **arguments) for tool, arguments in calls]
        return [answer_of(one) for one in begun]

    def write(title: str, content: str, **where: str) -> tuple[str, dict[str, Any]]:
        return "write_note", {"title": title, "content": content} | where

    made = together(*(write(f"P {i}", "p", folder="p") for i in range(50)))
    assert {one.code for one in made} == {""}
    assert len(list((home.root / "p").glob("*.md"))) == 50
    assert notes(home) == 50

    same = together(*(write("Same", f"{i} " * 1000) for i in range(20)))
    assert sorted(one.code for one in same) == ["", *["NOTE_EXISTS"] * 19]
    [winner] = [i for i, one in enumerate(same) if not one.code]
    assert (home.root / "same.md").read_text().split()[-1000:] == [str(winner)] * 1000
    assert (home.root / "same.md").read_text().count(f"{winner} ") in {999, 1000}

    p1, p2 = (one.data["file_path"] for one in made[1:3])
    edit = [("edit_note", {"path": p1, "content_updates": f"line {i}\n"}) for i in range(20)]
    assert {one.code for one in together(*edit)} == {""}
    lines = (home.root / p1).read_text().splitlines()
    assert sorted(lines[-20:]) == sorted(f"line {i}" for i in range(20))

    mixed = together(
        *itertools.chain.from_iterable(
            (
                ("read_note", {"path": p2}),
                ("search_notes", {"query": "p"}),
                ("list_directory", {"path": "p"}),
                ("delete_note", {"path": p2}),
                write("P 2", f"again {i}", folder="p"),
            )
            for i in range(8)
        )
    )
    assert {one.code for one in mixed} <= {"", "NOTE_NOT_FOUND", "NOTE_EXISTS"}
    assert {one.code for one in mixed[1::5] + mixed[2::5]} == {""}
    home.assert_agrees_in_the_end()
    assert server.lines_that_are_no_json_rpc == []
    home.assert_nothing_bad_was_logged()


# --- the wire


def test_mcp_stdout_clean(live_home: Home) -> None:
    """Nothing but JSON-RPC on the output, from the first start on, while everything is logged.

    Seen in: hurttlocker/o8#1541, s-stefanov/actual-mcp#161, microsoft/azure-devops-mcp#147,
    modelcontextprotocol.io on transports.
    """
    home = live_home
    (home.root / "bad.md").write_text("---\ntitle: a: b\n---\n")
    noisy = {
        "BASIC_MEMORY_LOG_LEVEL": "TRACE",
        "BASIC_MEMORY_SYNC_DELAY": "50",
        "PYTHONWARNINGS": "always",
    }
    names = ("first start.md", "second start.md")
    for name, server in [(name, home.start(name, **noisy)) for name in names]:
        server.greet()
        (home.root / "bad.md").write_text(f"---\ntitle: [\n---\n{name}\n")
        see_by_hand(home, name)
        assert server.call("search_notes", query="hand").data["results"]
        assert server.close() == 0
        assert server.lines_that_are_no_json_rpc == []
    assert "bad.md is indexed, but not read whole" in home.logged()


def test_mcp_unicode(live_home: Home) -> None:
    """Half a surrogate pair comes as an escape in JSON: it is replaced, and the server lives and answers.

    Seen in: oven-sh/bun#32841, viggy28/recall#29, frappe/frappe#41128.
    """
    home = live_home
    [server] = start(home, 1)
    server.greet()
    for arguments in (
        {"title": "half", "content": "x", "\ud83d": 1},
        {"title": "nul\0", "content": "x"},
    ):
        assert server.call("write_note", **arguments).code == "INVALID_ARGUMENT", arguments
    assert files(home.root) == set()
    whole = {"title": "東京 🗼", "content": "half \ud83d, whole \U0001f5fc, text \\ud83d"}
    assert not server.call("write_note", **whole, metadata={"\udc00": "\ud83d"}).code
    assert files(home.root) == {"東京-🗼.md"}
    text = (home.root / "東京-🗼.md").read_text("utf-8")
    assert text.endswith("half \ufffd, whole \U0001f5fc, text \\ud83d")
    assert server.call("search_notes", query="\ud83d half").data["results"]
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    answer = server.begin("write_note", title="deep", content="x", metadata=deep)
    assert "error" in answer.result(PATIENCE_S)
    assert not server.call("read_note", path="東京 🗼").code
    home.assert_nothing_bad_was_logged()


# --- projects


def test_mcp_project_precedence(live_home: Home) -> None:
    """A named project is the one, a wrong name is none, and one made at run time is watched at once.

    Seen in: Gentleman-Programming/engram#334, the specification's chapter on projects.
    """
    home = live_home
    p1, p2, p3 = (home.place / name for name in ("p1", "p2", "p3"))
    for folder, name, text in ((p1, "a.md", "one\n"), (p2, "b.md", "two\n")):
        folder.mkdir()
        (folder / name).write_text(text)
    projects = {"First": {"path": str(p1)}, "Second": {"path": str(p2)}}
    settings = {"projects": projects, "default_project": "First"}
    (home.config / "config.json").write_text(json.dumps(settings))
    server, again = start(home, 2)
    server.greet()

    assert not server.call("write_note", title="In Second", content="x", project="Second").code
    assert files(p2) == {"b.md", "in-second.md"}
    assert files(p1) == {"a.md"}
    typo = server.call("write_note", title="Typo", content="x", project="Secnd")
    assert typo.code == "PROJECT_NOT_FOUND"
    said = typo.data["error"]["message"] + typo.data["error"]["hint"]
    assert "First" in said
    assert "Second" in said
    assert files(p1) | files(p2) == {"a.md", "b.md", "in-second.md"}
    assert not server.call("write_note", title="Blank", content="x", project="").code
    assert files(p1) == {"a.md", "blank.md"}
    found = server.call("search_notes", query="two", search_type="fts", project="second")
    assert [hit["file_path"] for hit in found.data["results"]] == ["b.md"]
    assert server.call("search_notes", query="two", search_type="fts").data["results"] == []

    assert not server.call("create_memory_project", name="Third", path=str(p3)).code
    assert not server.call("write_note", title="T", content="x", project="Third").code
    assert files(p3) == {"t.md"}
    (p3 / "by hand.md").write_text("hand\n")
    database = home.config / "third" / "memory.db"
    until(lambda: has(database, "by hand.md"), "the watcher has seen it")
    assert server.close() == 0

    again.greet()
    (p3 / "by hand.md").unlink()
    (p3 / "once more.md").write_text("hand\n")
    until(lambda: has(database, "once more.md"), "it is watched again, though no tool asks for it")
    found = again.call("search_notes", query="hand", search_type="fts", project="Third")
    assert [hit["file_path"] for hit in found.data["results"]] == ["once more.md"]
    home.assert_nothing_bad_was_logged()


def files(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def has(database: Path, path: str) -> bool:
    """Whether a note is in an index."""
    with closing(sqlite3.connect(database)) as db:
        return bool(db.execute("SELECT 1 FROM entity WHERE file_path = ?", [path]).fetchall())

"""The hard cases of kind crash with a server that watches: lost and locked indexes, no watches left.

`test_crash.py` has the others. See README.md in this folder.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.cases.test_crash import locked
from tests.integration import conftest
from tests.live.client import Server
from tests.live.home import Home, until

from memoranda.cli.main import run
from memoranda.db.engine import open_engine
from memoranda.model.live import WatchMode, WatchState
from memoranda.model.sync import SyncPhase, SyncState
from memoranda.sync import leader
from memoranda.sync.lease import Lease
from memoranda.sync.sync_service import INDEX_VERSION

FOLDERS = 500
COUNTED = "/proc/sys/user/max_inotify_watches"


@pytest.fixture
def start_with(live_home: Home, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Server]:
    """Starts a server from a shell script, in which `$python "$@"` is the server."""

    def start(script: str) -> Server:
        file = live_home.place / "python"
        file.write_text(f"#!/bin/sh\npython='{sys.executable}'\n{script}\n")
        file.chmod(0o755)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", str(file))
            server = live_home.start(BASIC_MEMORY_SYNC_DELAY="50")
        server.greet()
        return server

    return start


def make_folders(home: Home, count: int) -> None:
    for number in range(count):
        (home.root / f"d{number:03}").mkdir()
        (home.root / f"d{number:03}/n.md").write_text(f"n {number}\n")


def is_indexed(home: Home, path: str, text: str) -> bool:
    return home.rows("SELECT content FROM entity WHERE file_path = ?", path) == [(text,)]


def watch_of(server: Server) -> dict[str, Any]:
    """What the resource says of the watcher."""
    read = server.ask("resources/read", {"uri": "memory://project_info"}).result(60)
    leader = json.loads(read["contents"][0]["text"])["leader"]
    return dict(leader["watch"]) if leader else {"mode": "off"}


# --- limits


@pytest.mark.slow
def test_crash_many_open_files(live_home: Home, start_with: Callable[[str], Server]) -> None:
    """500 folders are watched, and searched by many at once, with 64 file descriptors.

    Seen in: the watchfiles documentation on limits, emcrisostomo/fswatch#111.
    """
    home = live_home
    make_folders(home, FOLDERS)
    server = start_with('ulimit -n 64\nexec "$python" "$@"')
    until(lambda: home.rows("SELECT count(*) FROM entity") == [(FOLDERS,)], "all are indexed")
    until(lambda: watch_of(server)["mode"] == "events", "it watches")
    assert watch_of(server)["folders"] == FOLDERS + 1
    (home.root / "d499/n.md").write_text("seen\n")
    until(lambda: is_indexed(home, "d499/n.md", "seen\n"), "the watcher has seen it")
    asked = [server.begin("search_notes", query="n") for _ in range(20)]
    assert not any(one.result(60)["isError"] for one in asked)
    assert server.close() == 0
    home.assert_nothing_bad_was_logged()


NO_WATCHES = """
import memoranda.sync.leader as leader
import watchfiles._rust_notify as native

def refuse(paths, *_):
    raise OSError(f'OS file watch limit reached. about ["{paths[-1]}"] (Error {{ kind: MaxFilesWatch }})')

leader.POLL_S = leader.POLL_SHARE = 0.1
native.RustNotify = refuse
from memoranda.mcp.server import run_stdio
run_stdio()
"""
FEW_WATCHES = """
exec unshare --user --map-root-user sh -c \
    'echo 20 > /proc/sys/user/max_inotify_watches && exec "$@"' sh "$python" "$@"
"""


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["injected", "of the system"])
def test_crash_many_open_files_without_watches(
    limit: str,
    live_home: Home,
    start_with: Callable[[str], Server],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The system has no watch left: that is said, with the way out, and the folder is scanned instead."""
    home, hint = live_home, "fs.inotify.max_user_watches"
    make_folders(home, FOLDERS // 10)
    if limit == "injected":
        (home.place / "no_watches.py").write_text(NO_WATCHES)
        script = f'exec "$python" {home.place}/no_watches.py'
    elif subprocess.run(["unshare", "-U", "-r", "test", "-w", COUNTED], check=False).returncode:
        pytest.skip("no namespace with a limit of its own can be made here")
    else:
        script = FEW_WATCHES
    server = start_with(script)
    until(lambda: watch_of(server)["mode"] == "polling", "it does not watch")
    watch = watch_of(server)
    assert watch["running"]
    assert hint in watch["reason"]
    assert watch["error_count"] == 1
    assert hint in home.logged()
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(home.config))
    until(
        lambda: run(["status"]) == 0 and hint in capsys.readouterr().out, "status says it as well"
    )
    assert server.call("search_notes", query="n").data["total"] == FOLDERS // 10
    if limit == "injected":  # and quick to poll
        (home.root / "new").mkdir()
        for path in ("d049/n.md", "new/n.md"):
            (home.root / path).write_text("seen\n")
        until(lambda: is_indexed(home, "new/n.md", "seen\n"), "it is found, though nobody asks")
        assert is_indexed(home, "d049/n.md", "seen\n")
    assert watch_of(server)["error_count"] == 1
    assert server.close() == 0
    assert home.logged().count("is scanned instead of watched") == 2, "once in each log"


# --- a lost database


@pytest.mark.slow
def test_crash_db_deleted(live_home: Home) -> None:
    """Two servers lose the index while they run: nobody need ask, the folder is watched as before.

    A restart after it is in `test_crash.py`.

    Seen in: the specification (the database is derived), tobi/qmd#585.
    """
    home = live_home
    files = {"a.md": "a [[b]]\n", "b.md": "b\n"}
    for path, text in files.items():
        (home.root / path).write_text(text)
    servers = [home.start(name, BASIC_MEMORY_SYNC_DELAY="50") for name in ("one", "other")]
    for server in servers:
        server.greet()
        assert hits(server, "a") == ["a.md"]
    delete_database(home.config / "main")
    (home.root / "c.md").write_text("c [[a]]\n")
    until(lambda: is_indexed(home, "c.md", "c [[a]]\n"), "the watcher has seen it")
    home.assert_agrees_in_the_end()
    assert [hits(server, "c") for server in servers] == [["c.md"], ["c.md"]]
    assert [server.close() for server in servers] == [0, 0]
    assert {path: (home.root / path).read_text() for path in files} == files
    home.assert_nothing_bad_was_logged()


async def test_crash_db_deleted_while_another_one_leads(vault: Any) -> None:
    """The new, empty index is not taken for complete because the leader says that the lost one was."""
    vault.write("a.md", "alpha\n")
    await vault.watch()
    database, serves = await vault.database(), vault.leader_now().serves
    await vault.restart()
    folder = database.parent
    lease = Lease(folder, "1", INDEX_VERSION, serves=serves)
    assert lease.acquire()
    lease.say(SyncState(SyncPhase.READY), WatchState(mode=WatchMode.EVENTS, running=True))
    vault.write("b.md", "alpha as well\n")
    assert await vault.search("alpha") == ["a.md"], "the one who leads is trusted"
    with database.open("rb"):  # as the one who leads has it open
        delete_database(folder)
        [found] = await vault.ask("search_notes", {"query": "alpha"})
    lease.release()
    assert found["total"] == 2 or "index" in found


def delete_database(folder: Path) -> None:
    for file in folder.glob("memory.db*"):
        file.unlink()


def hits(server: Server, query: str) -> list[str]:
    answer = server.call("search_notes", query=query, search_type="fts")
    assert not answer.code
    return sorted(str(one["file_path"]) for one in answer.data["results"])


# --- a lock


async def test_crash_db_locked(vault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program holds the database for a moment: what is saved meanwhile is indexed after it.

    Seen in: mksglu/context-mode#218, the specification on conflicts.
    """
    monkeypatch.setenv("BASIC_MEMORY_SYNC_DELAY", "50")
    vault.write("a.md", "alpha\n")
    await vault.watch()
    with locked(await vault.database()) as let_go:
        vault.write("b.md", "by hand\n")
        writing = asyncio.create_task(vault.make(".", "write_note", title="L", content="later"))
        await conftest.until((vault.root / "l.md").exists)
        [found] = await vault.ask("search_notes", {"query": "alpha"})
        assert [hit["file_path"] for hit in found["results"]] == ["a.md"]
        assert not writing.done()
        await asyncio.to_thread(let_go)
        await writing
    await conftest.until(lambda: set(vault.notes()) == {"a.md", "b.md", "l.md"})


async def test_crash_db_locked_for_too_long(vault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool gives up in bounded time; nothing asks for a sync, and all is indexed when the lock is gone."""
    monkeypatch.setenv("BASIC_MEMORY_SYNC_DELAY", "50")
    monkeypatch.setattr(leader, "LONGEST_RETRY_S", 0.1)
    monkeypatch.setattr(
        "memoranda.places.sqlite.open_engine", partial(open_engine, busy_timeout_ms=20)
    )
    vault.write("a.md", "alpha\n")
    await vault.watch()
    busy = "Another process is writing"
    with locked(await vault.database()) as let_go:
        vault.write("b.md", "by hand\n")
        await conftest.until(lambda: busy in (vault.leader_now().watch.last_error or ""))
        error = await vault.failed("write_note", "l.md", title="L", content="later words")
        assert error["code"] == "NOT_INDEXED"
        assert busy in error["message"]
        assert await vault.search("alpha") == ["a.md"]
        assert set(vault.notes()) == {"a.md"}
        await asyncio.to_thread(let_go)
    await conftest.until(lambda: set(vault.notes()) == {"a.md", "b.md", "l.md"})
    assert await vault.search("later") == ["l.md"]
    assert vault.rows("SELECT * FROM file_failure") == []

"""Full disks, lost and damaged databases, locks and limits, seen by scans and tools. See README.md in this folder.

`test_crash_live.py` has what concerns the watcher, and servers of their own process.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from sqlalchemy import event
from sqlalchemy.pool import Pool

from memoranda.cli.main import run
from memoranda.config import load_settings
from memoranda.container import Container
from memoranda.db import fts
from memoranda.db.engine import open_engine
from memoranda.files.clock import SystemClock
from memoranda.mcp.server import build_server
from memoranda.mcp.session import Session

VAULTS = (
    "academicops-specs",
    "dendron-site",
    "foam-docs",
    "free-programming-books",
    "kepano-template",
    "logseq-docs",
    "obsidian-tasks",
    "oldwinter-garden",
    "powershell-docs",
    "silverbullet-docs",
)
SHARED = Path(os.environ.get("MEMORANDA_SHARED", Path(__file__).parents[3] / "shared"))


def set_aside(database: Path) -> list[str]:
    """The names under which lost databases are kept."""
    return sorted(file.name for file in database.parent.glob("memory.*-*.db"))


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for a condition; the test's own limit of time ends it if it never comes."""
    while not is_so():  # noqa: ASYNC110 - it is a file that is waited for
        await asyncio.sleep(0.001)


# --- a full disk


@dataclass
class Disk:
    """A file system that can be full for files, or for the index."""

    is_full: bool = False


@pytest.fixture
def disk_of_notes(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """While it is full, a write to a file writes a few bytes and then fails, as it would."""
    disk = Disk()
    real = os.write

    def write(file: int, data: bytes) -> int:
        if not disk.is_full:
            return real(file, data)
        real(file, data[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.write", write)
    return disk


@pytest.fixture
def disk_of_index() -> Iterator[Disk]:
    """While it is full, no connection of SQLite may add a page to its database."""
    disk = Disk()

    def limit(connection: sqlite3.Connection, _record: Any, _proxy: Any) -> None:
        connection.execute(f"PRAGMA max_page_count = {1 if disk.is_full else 2**30}")

    event.listen(Pool, "checkout", limit)
    yield disk
    event.remove(Pool, "checkout", limit)


async def test_crash_disk_full(vault: Any, disk_of_notes: Disk) -> None:
    """A full disk is named, nothing is torn, and the server works when there is space again.

    Seen in: gsantner/markor#2516, microsoft/vscode#97213, vshulcz/deja-vu#808.
    """
    vault.write("n.md", "keep me\n")
    await vault.sync()
    disk_of_notes.is_full = True
    error = await vault.failed("edit_note", ".", path="n", content_updates="x" * 1_000_000)
    assert error["code"] == "IO_ERROR"
    assert "disk is full" in error["message"]
    assert vault.bytes("n.md") == b"keep me\n"
    assert vault.paths() == {".", "n.md"}
    await vault.sync()
    disk_of_notes.is_full = False
    await vault.sync()
    await vault.tool("edit_note", ("n.md",), path="n", content_updates="ok\n")
    assert vault.bytes("n.md") == b"keep me\nok\n"
    assert vault.rows("SELECT count(*) FROM file_failure") == [(0,)]


async def test_crash_disk_full_for_the_index(vault: Any, disk_of_index: Disk) -> None:
    """The file is written, the index follows when there is space; no file is blamed."""
    vault.write("n.md", "keep me\n")
    await vault.sync()
    disk_of_index.is_full = True
    vault.expect_error("disk is full")
    error = await vault.failed("edit_note", "n.md", path="n", content_updates="x" * 1_000_000)
    assert error["code"] == "NOT_INDEXED"
    assert "disk is full" in error["message"]
    assert len(vault.bytes("n.md")) > 1_000_000
    vault.write("m.md", "y" * 1_000_000)
    for _ in range(4):
        assert "disk is full" in (await vault.state()).last_error
    disk_of_index.is_full = False
    await vault.sync()
    assert set(vault.notes()) == {"m.md", "n.md"}
    assert vault.rows("SELECT count(*) FROM file_failure") == [(0,)]
    await vault.tool("edit_note", ("n.md",), path="n", content_updates="ok\n")


async def test_crash_disk_full_for_the_history(vault: Any) -> None:
    """What could not be taken back is not done: the tool refuses, and the note is whole."""
    vault.write("n.md", "keep me\n")
    await vault.tool("edit_note", ("n.md",), path="n", content_updates="before\n")
    words = "".join(f"{number * 7919 % 1_000_003:x} " for number in range(100_000)) + "\n"
    with await vault.full_history():
        for name, arguments in (
            ("edit_note", {"path": "n", "content_updates": words}),
            ("write_note", {"title": "new", "content": words}),
        ):
            error = await vault.refused(name, **arguments)
            assert error["code"] == "IO_ERROR"
            assert "disk is full" in error["message"]
            assert "history" in error["message"]
    assert vault.bytes("n.md") == b"keep me\nbefore\n"
    await vault.tool("edit_note", ("n.md",), path="n", content_updates=words)
    assert vault.bytes("n.md") == b"keep me\nbefore\n" + words.encode()
    assert vault.rows("SELECT count(*) FROM file_failure") == [(0,)]


# --- a lost database


async def test_crash_db_deleted(vault: Any) -> None:
    """A database deleted under the server is built again, with the permalinks as before.

    Seen in: the specification (the database is derived), tobi/qmd#585.
    """
    vault.write_all({"a.md": "a [[b]]\n", "b.md": "b\n"})
    await vault.sync()
    before = vault.permalinks()
    database = await vault.database()
    for file in database.parent.glob("memory.db*"):
        file.unlink()
    assert await vault.search("a") == ["a.md"]
    assert vault.permalinks() == before
    await vault.restart()
    assert await vault.search("a") == ["a.md"]
    assert vault.permalinks() == before
    assert [edge.to for edge in vault.edges("a.md")] == ["b.md"]


async def test_crash_db_deleted_while_a_note_is_written(vault: Any) -> None:
    """What a tool writes after the loss is in the new database."""
    vault.write("a.md", "a\n")
    await vault.sync()
    (await vault.database()).unlink()
    path, _ = await vault.make(".", "write_note", title="new", content="words of mine")
    assert await vault.search("words") == [path]
    assert set(vault.notes()) == {"a.md", path}


# --- a damaged database


def cut_to_half(database: Path) -> None:
    os.truncate(database, database.stat().st_size // 2)


def fill_middle(database: Path) -> None:
    with database.open("r+b") as file:
        file.seek(database.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\xff" * 4096)


def fill_contents(database: Path) -> None:
    """The page that holds the notes: one that a sync cannot miss."""
    with closing(sqlite3.connect(database)) as db:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'entity'"
        (page,) = db.execute(query).fetchone()
    with database.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)


def empty(database: Path) -> None:
    database.write_bytes(b"")


def text_file(database: Path) -> None:
    database.write_text("shopping list\n" * 500)


@pytest.mark.parametrize(
    "break_it",
    [cut_to_half, fill_middle, fill_contents, empty, text_file],
    ids=lambda f: f.__name__,
)
async def test_crash_db_corrupt(vault: Any, break_it: Callable[[Path], None]) -> None:
    """A damaged database is put aside under a new name, and the index is built from the notes.

    Seen in: Intuition-Lab/personal-model#30, MemPalace/mempalace#2278 and #1517, ChuckPa/DBRepair#269.
    Better, taken: where only the full-text index is damaged, only that is built anew (the test below);
    nothing is put aside then. What no question touches is found by the check, once a day.
    """
    vault.write("a.md", "alpha\n")
    await vault.sync()
    database = await vault.database()
    await vault.restart()
    break_it(database)
    if break_it is fill_contents:
        vault.expect_error("cannot be synced")
    if break_it is fill_middle:  # a page that only the check reads
        vault.expect_error("the check found its index damaged")
        assert await vault.search("alpha") == ["a.md"]
        await vault.check_index()

    assert await vault.search("alpha") == ["a.md"]
    [kept] = set_aside(database)
    assert kept in await vault.notice()
    assert len(vault.warnings(kept)) == 1
    await vault.check_index()
    assert set_aside(database) == [kept]


@pytest.mark.parametrize("table", fts.SHADOW_TABLES)
async def test_crash_db_corrupt_in_the_full_text_index_alone(vault: Any, table: str) -> None:
    """Notes and ids stay; only the words are read again."""
    vault.write("a.md", "alpha\n- [fact] beta\n")
    await vault.sync()
    [(before,)] = vault.rows("SELECT external_id FROM entity")
    [fact] = vault.facts("a.md")
    database = await vault.database()
    await vault.restart()
    with closing(sqlite3.connect(database)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute(f"DROP TABLE {table}")
        db.commit()
    assert await vault.search("alpha") == ["a.md"]
    assert set_aside(database) == []
    assert len(vault.warnings("full-text index")) == 1
    assert vault.rows("SELECT external_id FROM entity") == [(before,)]
    assert [one.external_id for one in vault.facts("a.md")] == [fact.external_id]


# --- a lock


@contextmanager
def locked(database: Path) -> Iterator[Callable[[], None]]:
    """Another process holds the database; the value lets go of it."""
    code = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute('BEGIN EXCLUSIVE'); print('ready', flush=True); sys.stdin.readline()\n"
        "db.execute('COMMIT')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        try:
            yield lambda: holder.communicate("\n") and None
        finally:
            holder.kill()


async def test_crash_db_locked(vault: Any) -> None:
    """Who writes waits for the other program, and who reads does not.

    Seen in: mksglu/context-mode#218, the specification on conflicts.
    """
    vault.write("a.md", "alpha\n")
    await vault.sync()
    with locked(await vault.database()) as let_go:
        assert await vault.search("alpha") == ["a.md"]
        writing = asyncio.create_task(
            vault.make(".", "write_note", title="L", content="later words")
        )
        await until((vault.root / "l.md").exists)
        assert not writing.done()
        await asyncio.to_thread(let_go)
        path, _ = await writing
    assert await vault.search("later") == [path]


async def test_crash_db_locked_for_too_long(vault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error comes in bounded time; the file is there, and indexed when the lock is gone."""
    monkeypatch.setattr(
        "memoranda.places.sqlite.open_engine", partial(open_engine, busy_timeout_ms=20)
    )
    vault.write("a.md", "alpha\n")
    await vault.sync()
    vault.expect_error("Another process is writing")
    with locked(await vault.database()) as let_go:
        error = await vault.failed("write_note", "l.md", title="L", content="later words")
        assert error["code"] == "NOT_INDEXED"
        assert "Another process is writing" in error["message"]
        assert b"later words" in vault.bytes("l.md")
        assert await vault.search("alpha") == ["a.md"]
        assert "Another process is writing" in (await vault.state()).last_error
        assert set(vault.notes()) == {"a.md"}
        await asyncio.to_thread(let_go)
    await vault.sync()  # unless the server itself was the first
    assert set(vault.notes()) == {"a.md", "l.md"}
    assert await vault.search("later") == ["l.md"]


# --- the configuration folder


@dataclass(frozen=True)
class Home:
    """A configuration folder, and a command started over it."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    @property
    def file(self) -> Path:
        return self.folder / "config.json"

    def start(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, stdout, stderr; the settings of the user are as they were."""
        before = self.file.read_bytes()
        self.capsys.readouterr()
        code = run(list(arguments) or ["status"])
        said = self.capsys.readouterr()
        assert self.file.read_bytes() == before
        assert "Traceback" not in said.err
        return code, said.out, said.err


@pytest.fixture
def home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Home:
    folder = tmp_path / "config"
    folder.mkdir()
    for name in list(os.environ):
        if name.startswith("BASIC_MEMORY_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(folder))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("alpha\n")
    return Home(folder, capsys)


def settings(home: Home, **more: Any) -> str:
    """A good config.json with one project."""
    notes = {"path": str(home.folder.parent / "notes")}
    return json.dumps({"projects": {"notes": notes}, "default_project": "notes"} | more)


@pytest.mark.parametrize("text", ["", '{"projects": {', "shopping list", "[1, 2]", "\x00"])
def test_crash_home_problems(home: Home, text: str) -> None:
    """A config.json that cannot be read is named, and never written over.

    Seen in: ooples/token-optimizer-mcp#400, the specification's chapter on configuration.
    """
    home.file.write_text(text)
    code, out, err = home.start()
    assert (code, out) == (1, "")
    assert str(home.file) in err


def test_crash_home_problems_that_leave_good_parts(home: Home) -> None:
    """What is understood works; a byte order mark and unknown keys are no faults."""
    home.file.write_bytes(b"\xef\xbb\xbf" + settings(home, shoe_size=43).encode())
    code, out, _ = home.start("search", "alpha")
    assert code == 0
    assert "alpha" in out


def test_crash_home_problems_of_one_project(home: Home) -> None:
    """A project whose path is a file is named; the other one works."""
    file = home.folder.parent / "file"
    file.write_text("no folder\n")
    values = json.loads(settings(home))
    values["projects"]["odd"] = {"path": str(file)}
    home.file.write_text(json.dumps(values))
    assert home.start("search", "alpha")[0] == 0
    code, out, err = home.start("sync", "--project", "odd")
    assert code == 1
    assert str(file) in err + out


def test_crash_home_problems_of_a_value(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is named, in the file and in the environment; the environment wins over the file."""
    home.file.write_text(settings(home, sync_delay="soon"))
    code, _, err = home.start()
    assert code == 1
    assert "sync_delay" in err
    monkeypatch.setenv("BASIC_MEMORY_SYNC_DELAY", "7")
    assert home.start()[0] == 0
    home.file.write_text(settings(home, sync_delay=5))
    monkeypatch.setenv("BASIC_MEMORY_SYNC_DELAY", "soon")
    code, _, err = home.start()
    assert code == 1
    assert "BASIC_MEMORY_SYNC_DELAY" in err
    monkeypatch.setenv("BASIC_MEMORY_DEFAULT_PROJECT", "elsewhere")
    monkeypatch.delenv("BASIC_MEMORY_SYNC_DELAY")
    assert "elsewhere" in "".join(home.start()[1:])


def test_crash_home_problems_two_defaults(home: Home) -> None:
    """Of two defaults one is taken, the one that the top of the file names."""
    other = home.folder.parent / "other"
    other.mkdir()
    entries = {
        "notes": {"path": str(home.folder.parent / "notes"), "is_default": True},
        "other": {"path": str(other), "is_default": True},
    }
    home.file.write_text(json.dumps({"projects": entries, "default_project": "other"}))
    code, out, _ = home.start()
    assert code == 0
    assert out.count("(default)") == 1
    assert "other (default)" in out


def test_crash_home_problems_read_only(home: Home) -> None:
    """A folder that cannot be written is named."""
    home.file.write_text(settings(home))
    home.folder.chmod(0o500)
    if os.access(home.folder, os.W_OK):
        home.folder.chmod(0o700)
        (home.folder / "notes").write_text("in the place of the project's data folder")
    code, _, err = home.start("search", "alpha")
    home.folder.chmod(0o700)
    assert code == 1
    assert str(home.folder) in err


async def test_crash_home_problems_of_a_server(home: Home) -> None:
    """A server starts, and every tool says what is wrong, until the file is mended."""
    home.file.write_text("{cut")
    async with Client(build_server(Session(open_container, SystemClock()))) as client:
        answer = await client.call_tool("search_notes", {"query": "alpha"}, raise_on_error=False)
        assert answer.is_error
        assert answer.content[0].text.startswith(f"CONFIG_ERROR: {home.file}")
        assert home.file.read_text() == "{cut"
        home.file.write_text(settings(home))
        answer = await client.call_tool("search_notes", {"query": "alpha"}, raise_on_error=False)
        assert not answer.is_error


async def open_container() -> Container:
    """As an entry point opens it."""
    return await Container.open(load_settings())


# --- limits


def test_crash_many_open_files(home: Home) -> None:
    """500 folders are indexed with 64 file descriptors.

    Seen in: the watchfiles documentation on limits, emcrisostomo/fswatch#111.
    """
    for number in range(500):
        folder = home.folder.parent / "notes" / f"d{number:03}"
        folder.mkdir()
        (folder / "n.md").write_text(f"n {number}\n")
    home.file.write_text(settings(home))

    def under_limit(*arguments: str) -> Any:
        ended = subprocess.run(
            [sys.executable, "-m", "memoranda", *arguments, "--json"],
            capture_output=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
        )
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    [report] = under_limit("sync")["projects"]
    assert len(report["new"]) == 501
    assert report["failed"] == []
    assert len(under_limit("search", "n", "--limit", "200")["results"]) == 200


# --- nobody's bytes


@pytest.mark.slow
@pytest.mark.parametrize("name", VAULTS)
async def test_bytes_untouched(vault: Any, name: str) -> None:
    """Indexing, searching and reading change nothing in a folder, which may be read-only.

    Seen in: basicmachines-co/basic-memory#1171 and #528.
    """
    folder = SHARED / "vaults" / name
    if not folder.is_dir():
        pytest.skip("the shared vaults are not here")
    vault.adopt(folder)
    report = await vault.sync()
    assert report.total_files == len(vault.notes()) > 0
    await vault.ask("search_notes", {"query": "the"})
    paths = list(vault.notes())
    some = paths[:: max(1, len(paths) // 50)][:50]
    assert len(some) == min(50, len(paths))
    await vault.ask("read_note", *({"path": path} for path in some))
    await vault.ask("build_context", *({"path": path} for path in some))
    vault.check()

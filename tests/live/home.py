"""A configuration folder, a folder of notes, the servers on them, and what their index says."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from tests.integration.conftest import SNAPSHOT, Index
from tests.live.client import Server

Said = dict[str, list[tuple[object, ...]]]
T = TypeVar("T")

_LOOK_AGAIN_S = 0.01


class Content(Protocol):
    """What the index holds of notes at this moment."""

    def of(self, path: str) -> str | None:
        """The text of the note at a path, None if there is none."""
        ...

    def close(self) -> None: ...


def until(condition: Callable[[], T], what: str, *, within_s: float = 60) -> T:
    """Ask again and again until the answer is true; fails when that takes too long."""
    deadline = time.monotonic() + within_s
    nobody_sets_it = threading.Event()
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {within_s} s: {what}"
        nobody_sets_it.wait(_LOOK_AGAIN_S)
    return found


@dataclass
class Home:
    """One project, and the servers that a test starts on it. No server outlives the test."""

    place: Path
    make_index: Callable[..., Index]
    settings: dict[str, object] = field(default_factory=dict)
    servers: list[Server] = field(default_factory=list)
    _fresh: int = 0

    @property
    def root(self) -> Path:
        return self.place / "notes"

    @property
    def config(self) -> Path:
        return self.place / "home"

    @property
    def errors(self) -> Path:
        """The standard error of all servers."""
        return self.place / "stderr.log"

    def leader(self) -> int:
        """The process that leads the project now, 0 if none says so."""
        try:
            return int(json.loads((self.config / "main" / "leader.json").read_text())["pid"])
        except (FileNotFoundError, ValueError):
            return 0

    def configure(self) -> None:
        """Write the configuration file."""
        self.root.mkdir(exist_ok=True)
        self.config.mkdir()
        projects = {"Main": {"path": str(self.root)}}
        settings = {"projects": projects, "default_project": "Main"} | self.settings
        (self.config / "config.json").write_text(json.dumps(settings))

    def start(self, name: str = "test", **environment: str) -> Server:
        """A server that has not been spoken to."""
        server = Server(self.config, self.errors, name, **environment)
        self.servers.append(server)
        return server

    def stop(self) -> None:
        """End all servers, whatever they do."""
        for server in self.servers:
            server.kill()

    def rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        """Ask the index while servers use it; nothing when there is no index."""
        return self._ask({"": (sql, values)})[""]

    def said(self) -> Said:
        """Everything the index says at one moment."""
        return self._ask({name: (sql, ()) for name, sql in SNAPSHOT.items()})

    def fresh(self) -> Said:
        """Everything that an index says which is made from nothing of what is in the folder now."""
        self._fresh += 1
        index = self.make_index(self.root, f"fresh {self._fresh}")
        index.run_sync()
        said = index.snapshot()
        index.store.close()
        return said

    def assert_agrees_in_the_end(self, *, within_s: float = 60) -> None:
        """Wait until the index says what a fresh one says; nothing may change in the folder meanwhile."""
        fresh = self.fresh()
        try:
            until(lambda: self.said() == fresh, "the index equals a fresh one", within_s=within_s)
        except AssertionError:
            assert differences(self.said(), fresh) == []
            raise

    def assert_agrees_now(self) -> None:
        """The index says what a fresh one says, without any wait."""
        said = self.said()
        assert differences(said, self.fresh()) == []

    def logged(self) -> str:
        """All logs and the standard error of all servers."""
        files = [self.errors, *self.config.glob("memoranda.log*")]
        return "".join(file.read_text("utf-8", "replace") for file in files if file.is_file())

    def assert_nothing_bad_was_logged(self) -> None:
        """No error, no trace of an exception, and no database that was locked."""
        bad = ("Traceback", "ERROR", "CRITICAL", "database is locked", "No such file")
        said = [line for line in self.logged().splitlines() if any(b in line for b in bad)]
        assert said == [], "\n".join(said)
        for server in self.servers:
            assert server.lines_that_are_no_json_rpc == []

    def temporary_files(self) -> list[Path]:
        """What writers leave beside notes for a moment."""
        return list(self.root.rglob(".*.tmp"))

    def content(self) -> Content:
        """Looks into the index again and again, for one thread."""
        database = self.config / "main" / "memory.db"
        return SqliteContent(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30))

    def _ask(
        self, questions: dict[str, tuple[str, tuple[object, ...]]]
    ) -> dict[str, list[tuple[object, ...]]]:
        database = self.config / "main" / "memory.db"
        try:
            opened = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)
        except sqlite3.OperationalError:  # there is none, or another one comes in this moment
            return {name: [] for name in questions}
        with closing(opened) as db:
            db.execute("BEGIN")
            return {name: db.execute(*question).fetchall() for name, question in questions.items()}


class SqliteContent:
    """The texts in an index on SQLite."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def of(self, path: str) -> str | None:
        found = self._db.execute(
            "SELECT content FROM entity WHERE file_path = ?", (path,)
        ).fetchone()
        return None if found is None else str(found[0])

    def close(self) -> None:
        self._db.close()


def differences(said: Said, fresh: Said) -> list[str]:
    """The rows that only one of two indexes has, shortened."""
    found = []
    for name, rows in fresh.items():
        mine, right = Counter(map(repr, said[name])), Counter(map(repr, rows))
        found += [f"{name}, too much: {row:.300}" for row in mine - right]
        found += [f"{name}, missing: {row:.300}" for row in right - mine]
    return found

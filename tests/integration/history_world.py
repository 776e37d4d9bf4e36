"""A history with real files beside it, for the tests of the history."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memoranda.files.file_service import FileService, checksum
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.history import Author, HistoryLimits

CLAUDE = Author("claude", "2.1", "edit_note")
NOTE = NotePath("folder/Note.md")
START = datetime(2026, 5, 4, 12, tzinfo=UTC)


class DrivenClock:
    """Goes on by a second with every look, and by hand."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time

    def monotonic(self) -> float:
        return (self.time - START).total_seconds()


@dataclass
class World:
    """A project's folder with its history."""

    place: Path
    clock: DrivenClock
    limits: HistoryLimits

    @property
    def folder(self) -> Path:
        return self.place / "config" / "main" / "history"

    @property
    def database(self) -> Path:
        return self.folder / "history.db"

    @property
    def root(self) -> Path:
        return self.place / "notes"

    def __post_init__(self) -> None:
        self.root.mkdir()
        self.files = FileService(self.root, self.place / "config" / "main" / "locks")
        self._dying, self._open = ExitStack(), ExitStack()
        self.store = self.opened()

    def opened(self, root: Path | None = None) -> HistoryStore:
        """One more process's store, as far as the store can tell; closed with the world."""
        store = HistoryStore(self.folder, root or self.root, self.clock, self.limits)
        self._open.callback(store.close)
        return store

    def die_in(self, change: AbstractContextManager[str]) -> str:
        """Begin a change and do not end it, as a process that dies in it; the token of the change."""
        return self._dying.enter_context(change)

    def close(self) -> None:
        """End what is under way, then close every store."""
        self._dying.close()
        self._open.close()

    def current(self, path: NotePath = NOTE) -> bytes | None:
        return self.files.current(path)

    def write(self, after: bytes | None, path: NotePath = NOTE, by: Author = CLAUDE) -> None:
        """Change a file as a tool does: recorded, under its lock."""
        with self.files.locked(path):
            before = self.current(path)
            with self.store.recording(
                path,
                before=before,
                after=after,
                by=by,
                current=lambda: self.current(path),
                leftover=lambda token: self.files.remove_leftover(path, token),
            ) as token:
                if after is None:
                    self.files.delete(path)
                elif before is None:
                    self.files.create(path, after, token=token)
                else:
                    self.files.replace(path, after, expected_checksum=checksum(before), token=token)

    def note(self, path: str, text: str) -> bytes:
        """One change that creates a file; its bytes."""
        self.write(text.encode(), NotePath(path))
        return text.encode()

    def python(self, program: str, *arguments: str) -> subprocess.Popen[str]:
        """Another process that runs a program over this world."""
        return subprocess.Popen(
            [sys.executable, "-c", PRELUDE + program, str(self.place), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def sqlite(self, statement: str) -> list[tuple[object, ...]]:
        """What another program sees in the file."""
        with closing(sqlite3.connect(self.database)) as conn:
            rows = conn.execute(statement).fetchall()
            conn.commit()
            return rows


PRELUDE = """
import os, signal, sys
from pathlib import Path
from memoranda.files.clock import SystemClock
from memoranda.files.file_service import FileService, checksum
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.history import Author, HistoryLimits

place = Path(sys.argv[1])
root = place / "notes"
store = HistoryStore(
    place / "config" / "main" / "history", root, SystemClock(), HistoryLimits()
)
files = FileService(root, place / "config" / "main" / "locks")

def die():
    os.kill(os.getpid(), signal.SIGKILL)
"""

"""Which file is at the place of the history: made whole, renamed when it cannot be used, never deleted.

All that changes it happens under one lock of all processes.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

from loguru import logger

from memoranda.config_file import ensure_private_folder
from memoranda.errors import FileProblem
from memoranda.history.changes import spelled
from memoranda.history.salvage import salvage
from memoranda.history.schema import bring_up

Inode = tuple[int, int]
"""Device and inode: which file it is, whatever its name."""

BUSY_TIMEOUT_S = 20.0
_LOCK_TIMEOUT_S = 120.0
_JOURNAL_LIMIT_BYTES = 4_000_000
_SIDECARS = ("-wal", "-shm")


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock under which another file may come to the path. Makes the folder (0700).

    Raises:
        FileProblem: another process kept it for two minutes.
        ConfigProblem, OSError: the folder or the lock file cannot be made.
    """
    from filelock import FileLock, Timeout

    ensure_private_folder(path.parent)
    lock = FileLock(beside(path, ".lock"), timeout=_LOCK_TIMEOUT_S, thread_local=False, mode=0o600)
    try:
        lock.acquire()
    except Timeout as error:
        raise FileProblem(
            str(path),
            f"Another process is preparing the history {path}",
            hint="Repeat the call in a moment.",
        ) from error
    try:
        yield
    finally:
        lock.release()


def make(path: Path, aside: Path | None = None) -> None:
    """Make the file, with what can be read of the one at `aside`; it appears whole. Holds the lock."""
    unfinished = beside(path, ".new")
    for suffix in ("", *_SIDECARS):
        beside(unfinished, suffix).unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with closing(connect(unfinished)) as conn:
        bring_up(conn)
        conn.execute("PRAGMA journal_mode = WAL")
        if aside is not None:
            logger.warning("{} changes of {} could be read", salvage(aside, conn), aside)
    unfinished.rename(path)
    for folder in (path.parent, path.parent.parent):  # which may be as new
        _sync_folder(folder)


def move_away(path: Path, word: str, now: datetime, *, only_log: bool = False) -> Path:
    """Rename what there is of the file, and of its log; returns the file's new name. Holds the lock."""
    name = f"{path.stem}.{word}-{now:%Y%m%dT%H%M%SZ}"
    number, target = 1, path.with_name(name + path.suffix)
    while any(beside(target, suffix).exists() for suffix in ("", *_SIDECARS)):
        number += 1
        target = path.with_name(f"{name}-{number}{path.suffix}")
    for suffix in _SIDECARS if only_log else ("", *_SIDECARS):
        with contextlib.suppress(FileNotFoundError):
            beside(path, suffix).rename(beside(target, suffix))
    return target


def kept_aside(path: Path) -> tuple[Path, ...]:
    """The files that were set aside, by name. They stay until the user deletes them."""
    return tuple(sorted(path.parent.glob(f"{path.stem}.*-*Z*{path.suffix}")))


def connect(path: Path) -> sqlite3.Connection:
    """A connection to a file that is there; transactions are begun by hand."""
    conn = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        conn.execute(f"PRAGMA journal_size_limit = {_JOURNAL_LIMIT_BYTES}")
        conn.execute("PRAGMA mmap_size = 0")  # a file that is cut would end the process
        conn.execute("PRAGMA secure_delete = FAST")  # what is purged is to be gone
        conn.create_function("spelled", 1, spelled, deterministic=True)
    except sqlite3.Error:
        conn.close()
        raise
    return conn


def inode(path: Path) -> Inode | None:
    """Which file is there, None when there is none. Raises OSError when nobody may know."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def log_of(path: Path) -> Path:
    """The write-ahead log of the file, which is there while a connection is open."""
    return beside(path, _SIDECARS[0])


def size_bytes(path: Path) -> int:
    """What it takes on the disk, its log included; 0 when there is none."""
    total = 0
    for suffix in ("", "-wal"):
        with contextlib.suppress(OSError):
            total += beside(path, suffix).stat().st_size
    return total


def beside(path: Path, suffix: str) -> Path:
    """The path with something at the end of its name."""
    return path.with_name(path.name + suffix)


def _sync_folder(folder: Path) -> None:
    """Make a new name survive a power cut, where the file system can."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

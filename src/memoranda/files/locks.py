"""One writer at a time for a file, across the threads and processes of this machine.

There are 256 lock files, made when first needed; a path's hash says which is its own. So two paths may
share a lock, which costs a short wait now and then, where a file for each note ever written would cost
more at every first write and never be cleaned up: removing a lock file that another process is about to
open would let two in. They lie outside the notes folder, and the whole folder may be deleted while
nothing runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from memoranda.config_file import ensure_private_folder
from memoranda.errors import FileProblem, NotReady

LOCK_TIMEOUT_S = 30.0
_POLL_S = 0.005


@contextlib.contextmanager
def exclusive(path: str, lock_folder: Path, *, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold the lock of one project-relative path.

    Not reentrant: a second use in one thread waits, for another path too, since two may share a lock.
    Spellings that may be one file (case, Unicode form) share a lock. The lock ends with the process.

    Raises:
        NotReady: someone else held it for `timeout_s`.
        FileProblem: the lock file cannot be made.
        ConfigProblem: the lock folder cannot be made.
    """
    from filelock import FileLock, Timeout

    ensure_private_folder(lock_folder)
    name = hashlib.sha256(lock_key(path).encode("utf-8", "surrogatepass")).hexdigest()[:2]
    # A new instance each time (an instance is reentrant), and one that may be released by another
    # thread than the one that took it.
    lock = FileLock(
        lock_folder / f"{name}.lock",
        timeout=timeout_s,
        poll_interval=_POLL_S,
        thread_local=False,
        mode=0o600,
    )
    try:
        lock.acquire()
    except Timeout as error:
        raise NotReady(
            f"{path} has been in use by another writer for {timeout_s:.0f} seconds",
            hint="Repeat the call in a moment.",
        ) from error
    except OSError as error:
        raise FileProblem(
            path,
            f"{path} cannot be locked for writing: {error.strerror}",
            hint="Check the space and the permissions of the configuration folder.",
        ) from error
    try:
        yield
    finally:
        lock.release()


def lock_key(path: str) -> str:
    """What all spellings of a path that some file system takes for one file have in common."""
    return unicodedata.normalize("NFC", path.casefold())

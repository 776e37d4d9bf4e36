"""One writer at a time for a file, across the threads and processes of this machine.

There are 256 lock files, made when first needed; a path's hash says which is its own. So two paths may
share a lock, which costs a short wait now and then, where a file for each note ever written would cost
more at every first write and never be cleaned up: removing a lock file that another process is about to
open would let two in. They lie outside the notes folder.

The lock is `flock` on the open file: it ends with the process, however that ends. A wait is a look
every few milliseconds, since a wait in the kernel cannot be given up; one look costs a few
microseconds. Nobody queues, so who waits longer looks more often.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import time
import unicodedata
from collections.abc import Collection, Iterator
from pathlib import Path

from memoranda.config_file import ensure_private_folder
from memoranda.errors import FileProblem, NotReady

LOCK_TIMEOUT_S = 30.0
_POLL_S = 0.005
_IMPATIENT_AFTER_S = 0.5
_IMPATIENT_POLL_S = 0.001
_HELD = frozenset({errno.EAGAIN, errno.EACCES})


@contextlib.contextmanager
def exclusive(path: str, lock_folder: Path, *, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold the lock of one project-relative path.

    Not reentrant: a second use in one thread waits, for another path too, since two may share a lock.
    Spellings that may be one file (case, Unicode form) share a lock. The lock ends with the process, and
    may be released by another thread than the one that took it.

    Raises:
        NotReady: someone else held it for `timeout_s`.
        FileProblem: the lock file cannot be made.
        ConfigProblem: the lock folder cannot be made.
    """
    with exclusive_all([path], lock_folder, timeout_s=timeout_s):
        yield


@contextlib.contextmanager
def exclusive_all(
    paths: Collection[str], lock_folder: Path, *, timeout_s: float = LOCK_TIMEOUT_S
) -> Iterator[None]:
    """Hold the locks of several project-relative paths; see `exclusive`.

    Everybody takes them in one order, so that no two wait for each other in a circle. `timeout_s` is for
    each.
    """
    files = {_lock_name(path): path for path in sorted(paths, reverse=True)}
    with contextlib.ExitStack() as held:
        for name in sorted(files):
            held.callback(give_back, _taken(files[name], lock_folder / name, timeout_s))
        yield


def is_locked(path: str, lock_folder: Path) -> bool:
    """Whether someone holds the lock of that path at this moment; nothing is made."""
    try:
        fd = os.open(lock_folder / _lock_name(path), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _HELD
    finally:
        os.close(fd)
    return False


def _lock_name(path: str) -> str:
    digest = hashlib.sha256(lock_key(path).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{digest[:2]}.lock"


def _taken(path: str, file: Path, timeout_s: float) -> int:
    try:
        return take(file, timeout_s)
    except TimeoutError as error:
        raise in_use(path, timeout_s) from error
    except OSError as error:
        raise FileProblem(
            path,
            f"{path} cannot be locked for writing: {error.strerror}",
            hint="Check the space and the permissions of the configuration folder.",
        ) from error


def in_use(path: str, timeout_s: float) -> NotReady:
    """What a writer is told who waited for so long."""
    return NotReady(
        f"{path} has been in use by another writer for {timeout_s:.0f} seconds",
        hint="Repeat the call in a moment.",
    )


def lock_key(path: str) -> str:
    """What all spellings of a path that some file system takes for one file have in common."""
    return unicodedata.normalize("NFC", path.casefold())


def give_back(fd: int) -> None:
    """Unlock a file that `take` locked."""
    try:
        fcntl.flock(fd, fcntl.LOCK_UN)  # closing is not enough while a child has the descriptor
    finally:
        os.close(fd)


def take(file: Path, timeout_s: float) -> int:
    """Lock a file, made if it is not there; returns its descriptor.

    Raises:
        TimeoutError: someone else held it for `timeout_s`.
        OSError: it cannot be made.
        ConfigProblem: its folder cannot be made.
    """
    began = time.monotonic()
    while True:
        fd = _opened(file)
        try:
            _wait_for(fd, began, timeout_s)
            if os.fstat(fd).st_nlink:
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)  # the file was removed meanwhile: the next one to come locks another


def _opened(file: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    try:
        return os.open(file, flags, 0o600)
    except FileNotFoundError:
        ensure_private_folder(file.parent)
        return os.open(file, flags, 0o600)


def _wait_for(fd: int, began: float, timeout_s: float) -> None:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _HELD:
                raise
        else:
            return
        waited = time.monotonic() - began
        if waited >= timeout_s:
            raise TimeoutError
        time.sleep(_POLL_S if waited < _IMPATIENT_AFTER_S else _IMPATIENT_POLL_S)

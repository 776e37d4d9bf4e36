"""What becomes of a file that a sync reads: one closed union, one function.

The function runs in a worker thread, or in a process of its own (`sync.reading_pool`), so tasks and
outcomes are small values that pickle.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from memoranda.errors import (
    FileProblem,
    InvalidArgument,
    NoteNotFound,
    OutsideProject,
    RootMissing,
)
from memoranda.files.file_service import checksum
from memoranda.model.address import NotePath
from memoranda.model.sync import FileState
from memoranda.services.reading import ReadNote

ReadOne = Callable[[bytes, FileState], ReadNote]


class ReadsFiles(Protocol):
    """`FileService`, or its cheaper reader for many files."""

    def read(self, path: NotePath) -> tuple[bytes, FileState]: ...


@dataclass(frozen=True, slots=True)
class ReadTask:
    """One file to read.

    Attributes:
        same: the checksum and `mtime_ns` with which nothing has to be done; None: parse it anyway.
        tripped: the checksum of bytes that the circuit breaker leaves alone, "" for none.
    """

    path: NotePath
    same: tuple[str, int] | None = None
    tripped: str = ""


@dataclass(frozen=True, slots=True)
class Same:
    """The file has the bytes and the time that the index remembers."""

    state: FileState


@dataclass(frozen=True, slots=True)
class Vanished:
    """The file is gone since the scan, or no longer a note in the project; the next scan knows more."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The system refuses the file, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Tripped:
    """The circuit breaker leaves these bytes alone."""

    checksum: str


@dataclass(frozen=True, slots=True)
class Faulty:
    """These bytes made the program fail: the error's name, and its traceback for the log."""

    checksum: str
    error: str
    details: str


Outcome = ReadNote | Same | Vanished | Unreadable | Tripped | Faulty


def read_file(files: ReadsFiles, task: ReadTask, read: ReadOne) -> Outcome:
    """Read, hash and parse one file. Nothing but a program's end is raised."""
    try:
        data, state = files.read(task.path)
    except (NoteNotFound, RootMissing, OutsideProject, InvalidArgument):
        return Vanished()
    except MemoryError:
        return Unreadable("it is too large for the memory of this machine")
    except FileProblem as problem:
        return Unreadable(problem.message.removeprefix(f"{task.path} "))
    sha = checksum(data)
    if task.same == (sha, state.mtime_ns):
        return Same(state)
    if task.tripped == sha:
        return Tripped(sha)
    try:
        return read(data, state)
    except Exception as error:  # noqa: BLE001 - one file's fault must cost only itself
        return Faulty(sha, type(error).__name__, traceback.format_exc())

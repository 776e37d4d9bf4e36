"""A process of its own that reads, hashes, parses and analyses files, chunk after chunk, for `sync.reading_pool`.

It is asked over stdin and answers over stdout: frames of a length and a pickled value, between these two
processes only. The first frame is a `Job`, its answer READY; every further one is a list of `ReadTask`,
its answer the list of their outcomes. When stdin ends, the process ends at once, in the middle of a file
if need be, so that it cannot outlive a pool that is killed.
"""

from __future__ import annotations

import contextlib
import copyreg
import faulthandler
import io
import os
import pickle
import queue
import signal
import struct
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from pathlib import Path
from typing import IO, Any

from memoranda.files.file_service import FileService
from memoranda.model.address import NotePath
from memoranda.model.note import Heading, Link, Observation, ParsedNote, Passage, SourceText
from memoranda.model.sync import FileState
from memoranda.services.items import note_terms
from memoranda.services.reading import ReadNote
from memoranda.sync.reading import Outcome, ReadOne, ReadTask, read_file
from memoranda.text.analysis import ENGLISH, Languages

READY = "ready"
LONGEST_S = 240.0
"""A chunk that takes longer ends the process, also one that never lets go of the interpreter."""

_NICENESS = 2
"""Little: the sync waits for it, and on a busy machine 5 made that wait twice as long."""

_FIRST_TO_GO = "500"
_LENGTH = struct.Struct("!Q")
_TRIAL = b"---\ntags: [a]\n---\n# A\n\n- [fact] b #c\n- needs [[d]]\n"


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker needs to know once: the project's folder, how a file is read, and whose stems count."""

    root: Path
    skips: tuple[str, ...]
    read: ReadOne
    languages: Languages = ENGLISH

    def files(self) -> FileService:
        """The files of the project, for reading only: locks would be in the folder itself."""
        return FileService(self.root, self.root, skips=self.skips)


def main() -> None:
    """Answer what comes over stdin until it ends."""
    answers = _own_stdout()
    # Ctrl-C is for the parent, which then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _give_way()
    job = receive(sys.stdin.buffer)
    assert isinstance(job, Job)  # noqa: S101
    job.read(_TRIAL, FileState(NotePath("a.md"), len(_TRIAL), 0, 0, 0))
    send(answers, READY)
    questions: queue.SimpleQueue[list[ReadTask]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, questions), daemon=True).start()
    files = job.files()
    while True:
        tasks = questions.get()
        faulthandler.dump_traceback_later(LONGEST_S, exit=True)
        reader = files.reader()
        send(
            answers,
            [_analysed(read_file(reader, task, job.read), job.languages) for task in tasks],
        )
        faulthandler.cancel_dump_traceback_later()


def _analysed(outcome: Outcome, languages: Languages) -> Outcome:
    """With what else the index needs of the text, so that the process that writes need not find it."""
    if isinstance(outcome, ReadNote):
        return replace(outcome, terms=note_terms(outcome.parsed, languages))
    return outcome


def send(to: IO[bytes], value: object) -> None:
    """Write one frame. Raises OSError when nobody reads it."""
    buffer = io.BytesIO()
    buffer.write(_LENGTH.pack(0))
    pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _COMPACT
    pickler.dump(value)
    frame = buffer.getbuffer()
    _LENGTH.pack_into(frame, 0, len(frame) - _LENGTH.size)
    to.write(frame)
    to.flush()


def receive(source: IO[bytes]) -> Any:
    """Read one frame. Raises EOFError at its end, and anything at all when it is not a frame."""
    head = source.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    return pickle.loads(source.read(length))  # noqa: S301  (from our own process)


def _give_way() -> None:
    """To other programs, and to the parent where memory is short. Not every system can."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(_NICENESS)
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO)


def _listen(source: IO[bytes], questions: queue.SimpleQueue[list[ReadTask]]) -> None:
    """Take questions at once, so that the parent never waits to ask; its end is ours."""
    try:
        while True:
            questions.put(receive(source))
    finally:
        os._exit(0)


def _own_stdout() -> IO[bytes]:
    """Stdout for the answers alone: what anything else prints goes where stderr goes."""
    mine = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return mine


def _compact(*classes: type) -> dict[type, Callable[[Any], Any]]:
    """How to pickle values as their class and its arguments.

    The way that frozen dataclasses with slots bring along runs in Python twice for every value and
    takes more than twice as long on both sides.
    """
    table: dict[type, Callable[[Any], Any]] = dict(copyreg.dispatch_table)
    for cls in classes:
        table[cls] = _reducer(cls, attrgetter(*(field.name for field in fields(cls))))
    return table


def _reducer(cls: type, values: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda one: (cls, values(one))


_COMPACT = _compact(
    FileState, Heading, Link, Observation, ParsedNote, Passage, ReadNote, ReadTask, SourceText
)

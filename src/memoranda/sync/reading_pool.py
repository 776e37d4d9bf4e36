"""Reading many files on more cores than one: worker processes, where they pay.

Parsing holds the interpreter, so threads cannot share it out. A worker (`sync.reading_worker`) is
a process of its own; what it sends back costs this process a tenth of what parsing here would cost.
Workers are plain subprocesses and not `multiprocessing`: nothing of a front end's `__main__` runs again,
none inherits the stdin and stdout of a server, and each ends by itself when this process is killed.

A file that brings its worker down costs only itself: what a lost worker had not answered is asked again,
file by file, and a file that brings down a second worker, alone, is `Faulty`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, NoReturn, Self

from loguru import logger

from memoranda.model.sync import FileState
from memoranda.sync.reading import Outcome, ReadOne, ReadTask, Unreadable, read_file
from memoranda.sync.reading_worker import READY, Job, receive, send

PAYS_FROM_S = 1.0
"""Work for so long makes up for the start of one worker: half a second in which nothing is read."""

MOST_WORKERS = 4
PATIENCE_S = 120.0

_FILE_S = 100e-6
_BYTE_S = 140e-9
_CHUNK_FILES = 25
_AHEAD = 2
_START_S = 60.0
_PIPE_BYTES = 1024 * 1024
_NO_PROCESS = "it cannot be read safely: no process to read it in can be started"


class ReadingPool:
    """Reads files for one sync: in worker processes where they pay, else in a thread.

    Workers start with the first `read` and end with `aclose`; use it with `async with`.

    Args:
        root: the project's folder.
        skips: folders in it that are other projects', relative POSIX.
        read: parses one file. A worker finds it by its module and name; without one it is called here.
        expected_files: how many files will be read in all, and
        expected_bytes: how large they are together: the two say whether workers pay.
        workers: how many; None: as many as pay.
        patience_s: a worker that answers nothing for so long is lost.
    """

    def __init__(
        self,
        root: Path,
        skips: Sequence[str],
        read: ReadOne,
        *,
        expected_files: int = 0,
        expected_bytes: int = 0,
        workers: int | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._job = Job(root, tuple(skips), read)
        self._files = self._job.files()
        if workers is None:
            workers = workers_that_pay(expected_files, expected_bytes, usable_cores())
        self._seats: list[_Worker | None] = [None] * (workers if _has_name(read) else 0)
        self._patience_s = patience_s
        self._can_start = True
        self._is_closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    @property
    def pids(self) -> tuple[int, ...]:
        """The worker processes there are now."""
        return tuple(worker.pid for worker in self._seats if worker is not None)

    @property
    def is_parallel(self) -> bool:
        """Whether other processes read, so that this one may do something else meanwhile."""
        return bool(self._seats) and self._can_start

    async def read(self, tasks: Sequence[ReadTask]) -> list[Outcome]:
        """Read these files: one outcome for each, in their order. One call at a time.

        When it is cancelled, its workers are killed and nothing is waited for.

        Raises:
            RuntimeError: the pool is closed, or was while it read.
        """
        batch = _Batch(tasks)
        try:
            async with asyncio.TaskGroup() as group:
                for seat in range(len(self._seats)):
                    group.create_task(self._fill(seat, batch))
            if batch.waiting and not self._is_closed:
                await asyncio.to_thread(self._read_here, batch)
        except BaseException:
            batch.waiting.clear()
            self._end_workers()
            raise
        if self._is_closed:
            raise RuntimeError("The reading pool is closed")
        return batch.answered()

    async def aclose(self) -> None:
        """End the workers, also under a running `read`. Idempotent."""
        self._is_closed = True
        self._end_workers()

    async def _fill(self, seat: int, batch: _Batch) -> None:
        """Let one worker after the other read until nothing waits, or no more can be started."""
        while batch.waiting and not self._is_closed:
            worker = self._seats[seat] or self._start()
            self._seats[seat] = worker
            if worker is None:
                return
            lost = await self._watched(worker, batch)
            if not worker.is_lost or self._is_closed:
                return
            self._seats[seat] = None
            reason = worker.end()
            if not worker.answers:
                self._give_up(reason)
            elif lost is not None:
                logger.warning("A process that reads notes was lost ({})", reason)
                if lost.is_suspect:
                    batch.answer(lost, await asyncio.to_thread(self._condemn, lost))
                else:
                    batch.ask_alone(lost)

    async def _watched(self, worker: _Worker, batch: _Batch) -> _Chunk | None:
        """`worker.read_from`, with an eye on whether anything comes back."""
        reading = asyncio.ensure_future(asyncio.to_thread(worker.read_from, batch))
        while not reading.done():
            await asyncio.wait({reading}, timeout=self._patience_s / 4)
            if worker.silent_s > (self._patience_s if worker.answers else _START_S):
                worker.kill()
        return reading.result()

    def _start(self) -> _Worker | None:
        if not self._can_start:
            return None
        try:
            return _Worker(self._job)
        except OSError as error:
            self._give_up(str(error))
            return None

    def _give_up(self, reason: str) -> None:
        if self._can_start:
            logger.info("Notes are read on one core, no other process can be started: {}", reason)
        self._can_start = False

    def _read_here(self, batch: _Batch) -> None:
        """Read what no worker is there for, but nothing that may have brought one down."""
        reader = self._files.reader()
        while not self._is_closed and (chunk := batch.next()) is not None:
            if chunk.is_suspect:
                batch.answer(chunk, [Unreadable(_NO_PROCESS)])
            else:
                batch.answer(chunk, [read_file(reader, one, self._job.read) for one in chunk.tasks])

    def _condemn(self, chunk: _Chunk) -> list[Outcome]:
        return [read_file(self._files, task, _refuse) for task in chunk.tasks]

    def _end_workers(self) -> None:
        for seat, worker in enumerate(self._seats):
            self._seats[seat] = None
            if worker is not None:
                worker.end()


class ReadingProcessLost(Exception):
    """The process that read a file, and nothing else, ended or did not answer."""


def workers_that_pay(files: int, total_bytes: int, cores: int) -> int:
    """How many workers are worth their start; half of the cores are left to whoever else is there.

    With two cores there is none: it would take the whole machine, and a quarter more processor time,
    for a fifth of the waiting.
    """
    reading_s = files * _FILE_S + total_bytes * _BYTE_S
    return max(0, min(int(reading_s / PAYS_FROM_S), cores // 2 - 1, MOST_WORKERS))


def usable_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Tasks that are asked in one frame, the first of them number `start` of the batch.

    `is_suspect`: a worker was lost over the one task it holds and its neighbours.
    """

    start: int
    tasks: Sequence[ReadTask]
    is_suspect: bool = False


class _Batch:
    """The tasks of one `read`: chunks that wait, and the outcomes so far. Several threads use it."""

    def __init__(self, tasks: Sequence[ReadTask]) -> None:
        starts = range(0, len(tasks), _CHUNK_FILES)
        self.waiting = deque(_Chunk(at, tasks[at : at + _CHUNK_FILES]) for at in starts)
        self._outcomes: list[Outcome | None] = [None] * len(tasks)

    def next(self) -> _Chunk | None:
        """The chunk to read next; it no longer waits."""
        try:
            return self.waiting.popleft()
        except IndexError:
            return None

    def ask_again(self, chunk: _Chunk) -> None:
        """Nobody has read it."""
        self.waiting.appendleft(chunk)

    def ask_alone(self, chunk: _Chunk) -> None:
        """Ask for each file of a chunk by itself."""
        for at, task in enumerate(chunk.tasks):
            self.waiting.append(_Chunk(chunk.start + at, [task], is_suspect=True))

    def answer(self, chunk: _Chunk, outcomes: Sequence[Outcome]) -> None:
        """What became of the files of a chunk, one outcome for each."""
        self._outcomes[chunk.start : chunk.start + len(chunk.tasks)] = outcomes

    def answered(self) -> list[Outcome]:
        """All outcomes, once nothing waits."""
        outcomes = [one for one in self._outcomes if one is not None]
        assert len(outcomes) == len(self._outcomes)  # noqa: S101
        return outcomes


class _Worker:
    """One worker process.

    Attributes:
        answers: how many frames came back; the first one says that it is ready.
        is_lost: it ended, or answered what is no answer.
    """

    def __init__(self, job: Job) -> None:
        """Start it. Raises OSError when the system has no process for it."""
        self._job = job
        self._process = subprocess.Popen(  # noqa: S603  (this Python, our own module)
            _command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.answers = 0
        self.is_lost = False
        self._heard_at = time.monotonic()
        self._is_ending = False
        self._is_reading = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def silent_s(self) -> float:
        """For how long nothing has come back while it was asked."""
        return time.monotonic() - self._heard_at if self._is_reading else 0.0

    def read_from(self, batch: _Batch) -> _Chunk | None:
        """Read chunks until none waits; the next is asked for before the last one's answer is taken.

        Blocks. Returns the chunk that it was lost over, if it was.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None  # noqa: S101, PT018
        asked: deque[_Chunk] = deque()
        self._heard_at = time.monotonic()
        self._is_reading = True
        try:
            if not self.answers:
                _widen(stdout)
                send(stdin, self._job)
                _require(receive(stdout) == READY)
                self._heard()
            while True:
                while len(asked) < _AHEAD and (chunk := batch.next()) is not None:
                    asked.append(chunk)
                    send(stdin, chunk.tasks)
                if not asked:
                    return None
                outcomes = receive(stdout)
                _require(isinstance(outcomes, list) and len(outcomes) == len(asked[0].tasks))
                batch.answer(asked.popleft(), outcomes)
                self._heard()
        except Exception:  # noqa: BLE001 - whatever a broken process makes of its answer
            self.is_lost = True
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.2)  # its pipes end a moment before it does
            while len(asked) > 1:
                batch.ask_again(asked.pop())
            return asked.pop() if asked else None
        finally:
            self._is_reading = False
            if self._is_ending:
                self._dispose()

    def kill(self) -> None:
        """Let whoever reads from it see its end."""
        self._process.kill()

    def end(self) -> str:
        """Kill it and forget it; says how it had ended if it had."""
        code = self._process.poll()
        self._is_ending = True
        self.kill()
        if not self._is_reading:
            self._dispose()
        return "its answer made no sense" if code is None else f"exit code {code}"

    def _heard(self) -> None:
        self.answers += 1
        self._heard_at = time.monotonic()

    def _dispose(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # what was written and never read
                if pipe is not None:
                    pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)


def _command() -> list[str]:
    """Start a worker with the import path of this process and nothing of the environment's Python settings.

    So it runs the code that this process runs, whichever way it was installed, and neither the current
    folder nor a `sitecustomize` comes in between.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("this program brings no Python along")
    path = [entry for entry in sys.path if os.path.isabs(entry)]  # noqa: PTH117
    return [
        sys.executable,
        *("-I", "-S", "-X", f"utf8={sys.flags.utf8_mode}"),
        *(["-B"] if sys.dont_write_bytecode else []),
        "-c",
        f"import sys; sys.path[:] = {path!a}; from memoranda.sync.reading_worker import main; main()",
    ]


def _has_name(read: ReadOne) -> bool:
    """Whether another process can find the function."""
    try:
        pickle.dumps(read)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return getattr(read, "__module__", "__main__") != "__main__"


def _widen(pipe: IO[bytes]) -> None:
    """Let a whole answer fit into the pipe, so that a worker need not wait until it is fetched."""
    try:
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except (ImportError, AttributeError, OSError):
        return


def _require(is_answer: bool) -> None:
    if not is_answer:
        raise ValueError("no answer")


def _refuse(data: bytes, state: FileState) -> NoReturn:
    raise ReadingProcessLost(f"{state.path}: the process that read it was lost")

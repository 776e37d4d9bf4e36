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
import os
import pickle
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from loguru import logger

from memoranda.model.sync import FileState
from memoranda.sync.reading import Outcome, ReadOne, ReadTask, Unreadable, read_file
from memoranda.sync.reading_process import Batch, Chunk, ReadingProcess
from memoranda.sync.reading_worker import Job
from memoranda.text.analysis import ENGLISH, Languages

PAYS_FROM_S = 1.0
"""Work for so long makes up for the start of one worker: half a second in which nothing is read."""

MOST_WORKERS = 4
PATIENCE_S = 120.0

_FILE_S = 100e-6
_BYTE_S = 140e-9
_START_S = 60.0
_NO_ANSWER = "it cannot be read: the disk does not answer"
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
        languages: whose stems the index holds.
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
        languages: Languages = ENGLISH,
        workers: int | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._job = Job(root, tuple(skips), read, languages)
        self._files = self._job.files()
        if workers is None:
            workers = workers_that_pay(expected_files, expected_bytes, usable_cores())
        self._seats: list[ReadingProcess | None] = [None] * (workers if _has_name(read) else 0)
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
        batch = Batch(tasks)
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

    async def _fill(self, seat: int, batch: Batch) -> None:
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
                    batch.answer(lost, await self._condemned(lost, was_silent=worker.was_silent))
                else:
                    batch.ask_alone(lost)

    async def _watched(self, worker: ReadingProcess, batch: Batch) -> Chunk | None:
        """`worker.read_from`, with an eye on whether anything comes back."""
        reading = asyncio.ensure_future(asyncio.to_thread(worker.read_from, batch))
        while not reading.done():
            await asyncio.wait({reading}, timeout=self._patience_s / 4)
            if worker.silent_s > (self._patience_s if worker.answers else _START_S):
                worker.was_silent = True
                worker.kill()
        return reading.result()

    def _start(self) -> ReadingProcess | None:
        if not self._can_start:
            return None
        try:
            return ReadingProcess(self._job)
        except OSError as error:
            self._give_up(str(error))
            return None

    def _give_up(self, reason: str) -> None:
        if self._can_start:
            logger.info("Notes are read on one core, no other process can be started: {}", reason)
        self._can_start = False

    def _read_here(self, batch: Batch) -> None:
        """Read what no worker is there for, but nothing that may have brought one down."""
        reader = self._files.reader()
        while not self._is_closed and (chunk := batch.next()) is not None:
            if chunk.is_suspect:
                batch.answer(chunk, [Unreadable(_NO_PROCESS)])
            else:
                batch.answer(chunk, [read_file(reader, one, self._job.read) for one in chunk.tasks])

    async def _condemned(self, chunk: Chunk, *, was_silent: bool) -> Sequence[Outcome]:
        """What is said of a file that two processes were lost over: read here, and not parsed.

        A disk that does not answer is no fault of the file, so the file is tried again at every sync.
        """
        parse = _silent if was_silent else _lost
        reading = asyncio.to_thread(
            lambda: [read_file(self._files, task, parse) for task in chunk.tasks]
        )
        try:
            return await asyncio.wait_for(reading, self._patience_s)
        except TimeoutError:
            return [Unreadable(_NO_ANSWER) for _ in chunk.tasks]

    def _end_workers(self) -> None:
        for seat, worker in enumerate(self._seats):
            self._seats[seat] = None
            if worker is not None:
                worker.end()


class ReadingProcessLost(Exception):
    """The process that read a file, and nothing else, ended: this one may not parse it."""


class ReadingProcessSilent(Exception):
    """The process that read a file, and nothing else, did not answer and was ended."""


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


def _has_name(read: ReadOne) -> bool:
    """Whether another process can find the function."""
    try:
        pickle.dumps(read)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return getattr(read, "__module__", "__main__") != "__main__"


def _lost(data: bytes, state: FileState) -> NoReturn:
    raise ReadingProcessLost(f"{state.path}: the process that read it was lost")


def _silent(data: bytes, state: FileState) -> NoReturn:
    raise ReadingProcessSilent(f"{state.path}: the process that read it did not answer")

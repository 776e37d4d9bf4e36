"""The two ends of a worker process as this process sees them: what it is asked, and the process itself.

Tasks are asked in small chunks, and the next chunk is sent before the answer to the last one is taken, so
that a worker never waits. What a lost worker had not answered waits again.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from memoranda.sync.reading import Outcome, ReadTask
from memoranda.sync.reading_worker import READY, Job, receive, send

_CHUNK_FILES = 25
_AHEAD = 2
_PIPE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Chunk:
    """Tasks that are asked in one frame, the first of them number `start` of the batch.

    `is_suspect`: a worker was lost over the one task it holds and its neighbours.
    """

    start: int
    tasks: Sequence[ReadTask]
    is_suspect: bool = False


class Batch:
    """The tasks of one `read`: chunks that wait, and the outcomes so far. Several threads use it."""

    def __init__(self, tasks: Sequence[ReadTask]) -> None:
        starts = range(0, len(tasks), _CHUNK_FILES)
        self.waiting = deque(Chunk(at, tasks[at : at + _CHUNK_FILES]) for at in starts)
        self._outcomes: list[Outcome | None] = [None] * len(tasks)

    def next(self) -> Chunk | None:
        """The chunk to read next; it no longer waits."""
        try:
            return self.waiting.popleft()
        except IndexError:
            return None

    def ask_again(self, chunk: Chunk) -> None:
        """Nobody has read it."""
        self.waiting.appendleft(chunk)

    def ask_alone(self, chunk: Chunk) -> None:
        """Ask for each file of a chunk by itself."""
        for at, task in enumerate(chunk.tasks):
            self.waiting.append(Chunk(chunk.start + at, [task], is_suspect=True))

    def answer(self, chunk: Chunk, outcomes: Sequence[Outcome]) -> None:
        """What became of the files of a chunk, one outcome for each."""
        self._outcomes[chunk.start : chunk.start + len(chunk.tasks)] = outcomes

    def answered(self) -> list[Outcome]:
        """All outcomes, once nothing waits."""
        outcomes = [one for one in self._outcomes if one is not None]
        assert len(outcomes) == len(self._outcomes)  # noqa: S101
        return outcomes


class ReadingProcess:
    """One worker process.

    Attributes:
        answers: how many frames came back; the first one says that it is ready.
        is_lost: it ended, or answered what is no answer.
        was_silent: it was ended because nothing came back for too long.
    """

    def __init__(self, job: Job) -> None:
        """Start it. Raises OSError when the system has no process for it."""
        self._job = job
        self._process = subprocess.Popen(  # noqa: S603  (this Python, our own module)
            _command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.answers = 0
        self.is_lost = False
        self.was_silent = False
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

    def read_from(self, batch: Batch) -> Chunk | None:
        """Read chunks until none waits; the next is asked for before the last one's answer is taken.

        Blocks. Returns the chunk that it was lost over, if it was.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None  # noqa: S101, PT018
        asked: deque[Chunk] = deque()
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

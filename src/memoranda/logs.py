"""The log: lines for people on stderr, the same lines in a file that several processes share.

Nothing is ever written to stdout, which belongs to the protocol or to a command's data. Lines hold
what was done to which path, never the text of a note: tracebacks are shown without variable values.

The file is opened for each line (append mode), so a process never holds a file that another has
rotated away. Source of the design: loguru's own rotation renames by the size of its own handle, and two
processes doing so rotate each other's files.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from memoranda.config_file import ensure_private_folder
from memoranda.errors import ConfigProblem

if TYPE_CHECKING:
    from loguru import Message, Record

_MAX_BYTES = 10_000_000
_KEPT_FILES = 5
_STDERR_FORMAT = "{time:HH:mm:ss} {level: <7} {message}"
_FILE_FORMAT = "{time:YYYY-MM-DDTHH:mm:ss.SSSZ} {process.id} {level: <7} {name}: {message}"


def configure_logging(level: str, log_file: Path | None, *, stderr: bool = True) -> None:
    """Send the log of this process to stderr and to `log_file`; replaces an earlier configuration.

    Libraries that use the standard `logging` are heard from WARNING on. When the file cannot be
    written, that is said once on stderr and the log goes to stderr alone.

    Args:
        level: a level of `settings.LOG_LEVELS`; lower ones are dropped.
        log_file: made with mode 0600 in a folder of mode 0700; five files of 10 MB are kept. None: no file.
        stderr: False keeps stderr for a command's own messages; warnings of the log itself remain.
    """
    from loguru import logger

    logger.remove()
    if stderr and sys.stderr is not None:
        logger.add(sys.stderr, level=level, format=_STDERR_FORMAT, backtrace=False, diagnose=False)
    if log_file is not None:
        sink = RotatingFile(log_file)
        if sink.problem is None:
            logger.add(
                sink,
                level=level,
                format=_FILE_FORMAT,
                colorize=False,
                backtrace=False,
                diagnose=False,
            )
        else:
            _say(f"Memoranda keeps no log file: {sink.problem}")
    logging.root.handlers = [_ToLoguru(logging.WARNING)]
    logging.root.setLevel(logging.WARNING)


class RotatingFile:
    """A loguru sink that appends whole lines to a file and rotates it at `max_bytes`.

    `path` is the newest, then `path.1` up to `path.<kept - 1>`. Several processes may write and rotate at
    once: each line is one append, and one process at a time rotates.

    Attributes:
        problem: why nothing can be written, None while it can.
    """

    def __init__(self, path: Path, *, max_bytes: int = _MAX_BYTES, kept: int = _KEPT_FILES) -> None:
        self.path = path
        self.problem: str | None = None
        self._max_bytes, self._kept = max_bytes, kept
        try:
            ensure_private_folder(path.parent)
            os.close(self._open())
        except ConfigProblem as error:
            self.problem = error.message
        except OSError as error:
            self.problem = f"{path}: {error.strerror}"

    def __call__(self, message: Message | str) -> None:
        """Append one formatted line. A failure is said once on stderr; it never reaches the caller."""
        try:
            fd = self._open()
            try:
                os.write(fd, message.encode("utf-8", "backslashreplace"))
                size = os.fstat(fd).st_size
            finally:
                os.close(fd)
            if size > self._max_bytes:
                self._rotate()
        except OSError as error:
            if self.problem is None:
                self.problem = f"{self.path}: {error.strerror}"
                _say(f"Memoranda cannot write its log file: {self.problem}")

    def _open(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _rotate(self) -> None:
        """Shift the files by one unless another process is doing or has just done so."""
        from filelock import FileLock, Timeout

        lock = FileLock(f"{self.path}.lock", timeout=0)
        with contextlib.suppress(Timeout, FileNotFoundError), lock:  # missing: just rotated
            if self.path.stat().st_size <= self._max_bytes:
                return
            for number in range(self._kept - 1, 0, -1):
                older = self.path.with_name(f"{self.path.name}.{number}")
                newer = self.path.with_name(f"{self.path.name}.{number - 1}")
                with contextlib.suppress(FileNotFoundError):
                    (newer if number > 1 else self.path).replace(older)


class _ToLoguru(logging.Handler):
    """Passes a record of the standard `logging` on, with the name of its logger."""

    def emit(self, record: logging.LogRecord) -> None:
        from loguru import logger

        def name(to: Record) -> None:
            to["name"] = record.name

        named = logger.patch(name)
        try:
            level: str | int = logger.level(record.levelname).name
        except ValueError:
            level = record.levelno
        named.opt(exception=record.exc_info).log(level, "{}", record.getMessage())


def _say(line: str) -> None:
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{line}\n")

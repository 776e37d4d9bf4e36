"""`config.json`: read whole, changed under a lock, replaced atomically, never damaged.

Other programs may keep keys of their own in the same file. What we do not know survives every write,
in its place; a file we cannot read is reported with its line and never overwritten.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from memoranda.errors import ConfigProblem

_LOCK_TIMEOUT_S = 10.0
_HINT = "Correct it in an editor, or move it away to start afresh; Memoranda never overwrites it."


class ConfigFile:
    """The configuration file at `path`; it need not exist. Synchronous, touches the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Any]:
        """All keys of the file, {} when there is no file.

        Raises:
            ConfigProblem: it cannot be read, is empty, not UTF-8 (a BOM is accepted), not JSON, or
                not one object.
        """
        text = self.text()
        return {} if text is None else self._parsed(text)

    def text(self) -> str | None:
        """The file as text without a BOM, None when there is no file. Raises `ConfigProblem`."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._problem(
                f"cannot be read: {error.strerror}",
                hint="Check the owner and the permissions of the file and its folder.",
            ) from error
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise self._problem(
                f"is not UTF-8: byte {error.start} in line {line}", line=line
            ) from error

    def update(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Let `change` alter the keys in place, then replace the file.

        The file is read again under a lock that all processes share, so that no change of another
        process is lost. Nothing is written when nothing changed or when `change` raises. The new file
        has mode 0600; a symbolic link stays one (its target is replaced).

        Raises:
            ConfigProblem: the file is broken, locked for over ten seconds, or cannot be written.
        """
        ensure_private_folder(self.path.parent)
        with self._locked():
            values = self.read()
            before = copy.deepcopy(values)
            change(values)
            if values != before or list(values) != list(before):
                self._replace(_serialized(values))

    def _parsed(self, text: str) -> dict[str, Any]:
        if not text.strip():
            raise self._problem("is empty", line=1)
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise self._problem(
                f"is not JSON: {error.msg} in line {error.lineno}, column {error.colno}",
                line=error.lineno,
            ) from error
        except (RecursionError, ValueError) as error:  # too deep, or a number of 5,000 digits
            raise self._problem(f"is not usable JSON: {error}") from error
        if not isinstance(values, dict):
            raise self._problem("holds no JSON object at its top level", line=1)
        return values

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        lock = FileLock(
            f"{self.path}.lock",
            timeout=_LOCK_TIMEOUT_S,
            poll_interval=0.01,
            thread_local=False,
            mode=0o600,
        )
        try:
            lock.acquire()
        except Timeout as error:
            raise self._problem(
                "is being changed by another process", hint="Repeat the command in a moment."
            ) from error
        except OSError as error:
            raise self._problem(f"cannot be changed: {error.strerror}") from error
        try:
            yield
        finally:
            lock.release()

    def _replace(self, data: bytes) -> None:
        target = Path(os.path.realpath(self.path))
        temp = target.with_name(f".{target.name}.{os.urandom(6).hex()}.tmp")
        try:
            fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                with os.fdopen(fd, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(fd)
                temp.replace(target)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    temp.unlink()
                raise
        except OSError as error:
            raise self._problem(
                f"cannot be written: {error.strerror}",
                hint="Nothing was changed. Check the space on the disk and the permissions.",
            ) from error

    def _problem(
        self, message: str, *, line: int | None = None, hint: str = _HINT
    ) -> ConfigProblem:
        return ConfigProblem(str(self.path), f"{self.path} {message}", line=line, hint=hint)


def ensure_private_folder(path: Path) -> None:
    """Make a folder and its missing parents with mode 0700. What exists keeps its mode.

    Raises:
        ConfigProblem: it cannot be made.
    """
    missing = [path, *path.parents]
    try:
        while missing and missing[-1].is_dir():
            missing.pop()
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ConfigProblem(
            str(path),
            f"The folder {path} cannot be made: {error.strerror}",
            hint="Set BASIC_MEMORY_CONFIG_DIR to a folder that you may write to.",
        ) from error


def _serialized(values: dict[str, Any]) -> bytes:
    text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can hold only as an escape
        return (json.dumps(values, indent=2) + "\n").encode()

"""What was written into clients' files: kept in the configuration folder, so that it can be taken back.

A record is there before the file changes and gone after the file is back. So whatever is killed when,
the next command finds the file in a state that the record knows: as before, or as written.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memoranda.cli.clients.places import Place
from memoranda.cli.clients.servers import Entry, Server, is_ours
from memoranda.cli.clients.trace import Trace
from memoranda.config_file import ensure_private_folder
from memoranda.errors import ConfigProblem
from memoranda.files.atomic import sync_folder, temporary_file, temporary_name

_FOLDER = ".clients"  # no project's folder has such a name
_LOCK_TIMEOUT_S = 10.0
_PRIVATE = 0o600
_TOKEN = "record"  # part of a file's name  # noqa: S105
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Record:
    """One entry in one file.

    Attributes:
        file: without links.
        before: the digest of the file without the entry; "" when it is not known.
        written: the digests of what we made of it, the last one the newest.
        is_created: the file was made for the entry.
        entries: as they were written, the last one the newest.
        trace: how it came into the text.
        backup: the copy with the bytes of `before`, "" for none.
        copies: further copies that were made on the way.
        folders: that were made for the file, the outermost first.
        question: the input of VS Code that came with it.
        question_trace: how that came into the text; None: it was there.
    """

    file: str
    before: str
    written: tuple[str, ...]
    is_created: bool
    entries: tuple[Entry, ...]
    trace: Trace
    backup: str = ""
    copies: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    question: Entry | None = None
    question_trace: Trace | None = None


def may_change(entry: object, record: Record | None, server: Server | None = None) -> bool:
    """Whether an entry in a client's file is ours: one of a Memoranda, or one that was written here."""
    if is_ours(entry, server):
        return True
    if record is None or not isinstance(entry, dict):
        return False
    urls = {each["url"] for each in record.entries if isinstance(each.get("url"), str)}
    return entry in record.entries or entry.get("url") in urls


class RecordStore:
    """The records below a configuration folder."""

    def __init__(self, config_folder: Path) -> None:
        self._folder = config_folder / _FOLDER

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """No other command of ours changes a client's file meanwhile.

        Raises:
            ConfigProblem: another one takes over ten seconds, or the folder cannot be made.
        """
        from filelock import FileLock, Timeout

        ensure_private_folder(self._folder)
        lock = FileLock(self._folder / "lock", timeout=_LOCK_TIMEOUT_S, mode=_PRIVATE)
        try:
            lock.acquire()
        except Timeout as error:
            raise ConfigProblem(
                str(self._folder),
                "Another command is changing a client's file",
                hint="Repeat the command in a moment.",
            ) from error
        except OSError as error:
            raise self._problem("cannot be written", error) from error
        try:
            with contextlib.suppress(OSError):  # what a command that was killed left
                (self._folder / temporary_name(_TOKEN)).unlink()
            yield
        finally:
            lock.release()

    def load(self, place: Place, target: Path) -> Record | None:
        """The record of an entry in a file, None when there is none.

        Raises:
            ConfigProblem: it is there and cannot be read.
        """
        path = self._path(place, target)
        try:
            return _parsed(json.loads(path.read_bytes()))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._problem("cannot be read", error) from error
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigProblem(
                str(path),
                f"{path} does not say what was written into the client's file",
                hint="Take the entry out of the client's file by hand, and remove this record.",
            ) from error

    def save(self, place: Place, target: Path, record: Record) -> None:
        """Keep a record in place of the one there. Raises `ConfigProblem`."""
        values = {"version": _VERSION, **asdict(record)}
        data = json.dumps(values, indent=2, default=str).encode()  # TOML has dates
        try:
            ensure_private_folder(self._folder)
            with temporary_file(self._folder, data, token=_TOKEN) as (fd, temp):
                os.fchmod(fd, _PRIVATE)
                temp.replace(self._path(place, target))
            sync_folder(self._folder)
        except OSError as error:
            raise self._problem("cannot be written", error) from error

    def drop(self, place: Place, target: Path) -> None:
        """Forget a record. Raises `ConfigProblem`."""
        try:
            self._path(place, target).unlink(missing_ok=True)
        except OSError as error:
            raise self._problem("cannot be changed", error) from error

    def _path(self, place: Place, target: Path) -> Path:
        file = hashlib.sha256(os.fsencode(target)).hexdigest()[:16]
        return self._folder / f"{place.client}.{place.name}.{file}.json"

    def _problem(self, what: str, error: OSError) -> ConfigProblem:
        return ConfigProblem(
            str(self._folder),
            f"The folder {self._folder} {what}: {error.strerror}",
            hint="The client's file was not changed. Check the space on the disk and the permissions.",
        )


def _parsed(values: dict[str, Any]) -> Record:
    if values.pop("version") != _VERSION:
        raise ValueError("another version")
    question_trace = values.pop("question_trace")
    lists = {key: tuple(values.pop(key)) for key in ("written", "copies", "folders", "entries")}
    return Record(
        **values | lists | {"trace": Trace(**values["trace"])},
        question_trace=Trace(**question_trace) if question_trace else None,
    )

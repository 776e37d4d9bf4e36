"""Opening a native watch: whether events are to be had for a folder, and if not, why, in plain words.

Runs in a worker thread: it touches the disk, and a network drive may keep it waiting.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memoranda.files.mounts import Mount, mounts_of
from memoranda.model.live import WatchMode
from memoranda.sync.native_watch import Notifier

_ROUNDS = 3
_MOST_NAMED = 3
Identity = tuple[int, int]
"""Device and inode of a folder."""


class CannotWatch(Exception):
    """No events are to be had; the message says why.

    Attributes:
        is_failure: it should work, but does not; else the plan or the file system rules it out.
        is_limit: a limit of the system is reached: with less to watch it may work.
    """

    def __init__(self, reason: str, *, is_failure: bool = True, is_limit: bool = False) -> None:
        super().__init__(reason)
        self.is_failure = is_failure
        self.is_limit = is_limit


class OpenNotifier(Protocol):
    """`native_watch.open_notifier`."""

    def __call__(self, paths: Sequence[str], *, recursive: bool) -> Notifier: ...


@dataclass(frozen=True, slots=True)
class Place:
    """The project's folder, found fit to be watched.

    Attributes:
        path: absolute, without symbolic links, as the system names it in events.
        identity: which folder it was before the watch was opened.
        reason: what in it tells no events; "" for nothing.
    """

    path: str
    identity: Identity
    reason: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A notifier that gathers events.

    Attributes:
        gone: folders that were to be watched and are not there any more.
        refused: folders that are there and may not be read.
    """

    notifier: Notifier
    gone: frozenset[str]
    refused: frozenset[str]


def find_place(root: Path, mode: WatchMode) -> Place:
    """Look at the folder. Raises CannotWatch when the mode or its file system rules events out."""
    if mode is WatchMode.POLLING:
        raise CannotWatch("set so in the configuration", is_failure=False)
    path = os.path.realpath(root)
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError as error:
        raise CannotWatch(f"the project's folder cannot be read: {error.strerror}") from error
    mounts = mounts_of(root)
    if mode is WatchMode.AUTO and mounts.holder is not None and mounts.holder.is_silent:
        where = f"{mounts.holder.kind}, mounted at {mounts.holder.point}"
        raise CannotWatch(f"a network drive ({where}) does not tell changes", is_failure=False)
    silent = [one for one in mounts.below if one.is_silent]
    return Place(path, (status.st_dev, status.st_ino), _silent(silent, path))


def open_folders(
    root: str, folders: Collection[str], open_notifier: OpenNotifier, *, recursive: bool
) -> Opened:
    """Watch folders; those that vanished or may not be read are left out.

    Args:
        root: absolute.
        folders: relative POSIX paths, "" for the root.
        open_notifier: opens the system's side.
        recursive: the root alone is named to the system.

    Raises:
        CannotWatch: the root is not there, or the system refuses.
    """
    left, gone, refused = set(folders), set[str](), set[str]()
    for _ in range(_ROUNDS):
        paths = [root] if recursive else [_absolute(root, folder) for folder in sorted(left)]
        try:
            return Opened(
                open_notifier(paths, recursive=recursive), frozenset(gone), frozenset(refused)
            )
        except (OSError, RuntimeError, UnicodeEncodeError, ImportError) as error:
            new_gone = {one for one in left if not os.path.isdir(_absolute(root, one))}  # noqa: PTH112
            new_refused = {
                one for one in left - new_gone if not os.access(_absolute(root, one), os.R_OK)
            }
            if "" in new_gone:
                raise CannotWatch("the project's folder is not there") from error
            if "" in new_refused or recursive or not (new_gone or new_refused):
                raise _problem(error) from error
            gone |= new_gone
            refused |= new_refused
            left -= new_gone | new_refused
    raise CannotWatch("the folder changes too fast to be watched")


def not_watched(folders: Collection[str]) -> str:
    """What to say of folders that may not be read, "" for none."""
    return f"not watched, permission denied: {_some(sorted(folders))}" if folders else ""


def _problem(error: Exception) -> CannotWatch:
    """The reason in words; `watchfiles` gives the system's errors as text alone."""
    text = str(error)
    if "watch limit" in text or "os error 28" in text:
        return CannotWatch(
            "the system watches no more folders; raise its limit, for example: "
            "sudo sysctl fs.inotify.max_user_watches=524288",
            is_limit=True,
        )
    if "os error 24" in text or "os error 23" in text:
        return CannotWatch(
            "the system allows no more watchers or open files; raise its limit, for example: "
            "sudo sysctl fs.inotify.max_user_instances=1024",
            is_limit=True,
        )
    match error:
        case PermissionError():
            return CannotWatch("the project's folder may not be read: permission denied")
        case UnicodeEncodeError():
            return CannotWatch("the path of the project's folder is not valid Unicode")
        case ImportError():
            return CannotWatch(f"the package watchfiles cannot be loaded: {text}")
        case _:
            return CannotWatch(f"the system does not let the folder be watched: {text}")


def _silent(mounts: Sequence[Mount], root: str) -> str:
    if not mounts:
        return ""
    names = [one.point.removeprefix(root.rstrip("/") + "/") for one in mounts]
    return f"changes are noticed late in {_some(names)}: a network drive does not tell them"


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _absolute(root: str, folder: str) -> str:
    return f"{root.rstrip('/')}/{folder}" if folder else root

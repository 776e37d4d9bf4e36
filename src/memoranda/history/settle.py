"""Settling, at start, what processes left that died in the middle of a change."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from loguru import logger

from memoranda.errors import MemorandaError
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.history import ChangeState, Settled


class PendingFiles(Protocol):
    """The files of a project, as far as settling needs them."""

    def locked(self, path: NotePath, *, timeout_s: float = ...) -> AbstractContextManager[None]:
        """Hold the file's lock. Raises a `MemorandaError` when someone else keeps it."""
        ...

    def current(self, path: NotePath) -> bytes | None:
        """The bytes of a file, None when there is none. Raises a `MemorandaError` when nobody may know."""
        ...

    def remove_leftover(self, path: NotePath, token: str) -> None:
        """Remove `.<token>.tmp` beside the file, if it is there."""
        ...


def settle(store: HistoryStore, files: PendingFiles) -> Settled:
    """Find out what became of every pending change of one file. Touches disk and history.

    What belongs to a call that changed several files, and a move, is left to `services.torn_batches`.

    Nothing is settled while the folder is missing or empty: then it is a drive that is not mounted, and
    its files are not gone. A file whose lock someone holds is left to the next time, since its change
    may still be under way.

    Raises:
        FileProblem: the history cannot be used.
    """
    paths = list(dict.fromkeys(each.change.path for each in store.pending()))
    outcomes: list[ChangeState | None] = []
    if is_there(store.folder):
        for path in paths:
            outcomes += _settled(store, files, path)
    settled = Settled(
        done=outcomes.count(ChangeState.DONE),
        dropped=outcomes.count(None),
        unsure=outcomes.count(ChangeState.UNSURE),
        waiting=len(store.pending()) if paths else 0,
    )
    if outcomes:
        logger.info(
            "Changes that were cut off: {} had not happened, {} had, {} are unsure",
            settled.dropped,
            settled.done,
            settled.unsure,
        )
    return settled


def _settled(store: HistoryStore, files: PendingFiles, path: NotePath) -> list[ChangeState | None]:
    try:
        with files.locked(path, timeout_s=0):
            return store.resolve(
                path,
                lambda: files.current(path),
                lambda token: files.remove_leftover(path, token),
            )
    except (MemorandaError, OSError) as error:
        logger.debug("What became of the last change of {} cannot be told yet: {}", path, error)
        return []


def is_there(root: Path) -> bool:
    """Whether the project's folder is there and has something in it."""
    try:
        with os.scandir(root) as entries:
            return any(True for _ in entries)
    except OSError:
        return False

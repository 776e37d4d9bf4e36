"""The state of a file as the index can store it and compare it later. Pure but for the clock."""

from __future__ import annotations

import os
import time

from memoranda.model.address import NotePath
from memoranda.model.sync import FileState

_MOST = 2**63 - 1
_FINE_NS = 100_000_000
_COARSE_NS = 2_000_000_000
_AHEAD_NS = 3_600_000_000_000
"""A file that is an hour ahead was written when the clock was wrong, and not just now."""


def state_of(path: NotePath, status: os.stat_result, *, is_read: bool = False) -> FileState:
    """The state of a file.

    Args:
        path: where it is.
        status: what the system says of it.
        is_read: its bytes are read as well, so that it matters whether they may have changed since.
    """
    return FileState(
        path,
        status.st_size,
        max(-_MOST, min(status.st_mtime_ns, _MOST)),  # some files claim to be of the year 2300
        status.st_ctime_ns,
        inode_number(status),
        is_fresh=is_read and _is_fresh(status),
    )


def inode_number(status: os.stat_result) -> int:
    """The inode number as the index can store it: some file systems use all 64 bits."""
    return status.st_ino & _MOST


def _is_fresh(status: os.stat_result) -> bool:
    """Whether a change from now on could bear the times that the file has: the clock's grain.

    Kernels stamp files by a clock that ticks every 1 to 10 ms; file systems that keep whole seconds
    may keep even ones only.
    """
    grain = _FINE_NS if status.st_ctime_ns % 1_000_000_000 else _COARSE_NS
    return -_AHEAD_NS < time.time_ns() - status.st_ctime_ns < grain

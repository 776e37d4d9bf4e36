"""Data that a command writes into a file instead of printing it: whole, or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from memoranda.errors import DiskFull, FileProblem, InvalidArgument
from memoranda.files.atomic import (
    give_free_name,
    make_folders,
    remove_folders,
    sync_folder,
    temporary_file,
)


def write_file(file: str, data: bytes, *, is_forced: bool) -> Path:
    """Write a file in one step and flush it; the folders above it are made.

    A file that is there keeps its mode and owner, and a link to it stays a link.

    Args:
        file: its path; `~` is expanded.
        data: all of its bytes.
        is_forced: replace a file that is there.

    Returns:
        Where it is, without links.

    Raises:
        InvalidArgument: there is a file and it is not to be replaced, or something that is no file.
        DiskFull, FileProblem: it cannot be written; what was there is as it was.
    """
    made: list[Path] = []
    try:
        target = Path(os.path.realpath(Path(file).expanduser()))
        found = _look(target, file, is_forced=is_forced)
        make_folders(target.parent, made)
        with temporary_file(target.parent, data, like=found) as (_, temp):
            if found is None:
                give_free_name(temp, target)
            else:
                temp.replace(target)
        sync_folder(target.parent)
    except FileExistsError as error:  # it came meanwhile
        remove_folders(made)
        raise _taken(file) from error
    except OSError as error:
        remove_folders(made)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(file) from error
        raise FileProblem(
            file,
            f"{file} cannot be written: {error.strerror}",
            hint="Check the spelling, and the permissions of the folder.",
        ) from error
    return target


def _look(target: Path, file: str, *, is_forced: bool) -> Path | None:
    """The file that is to be replaced, None when there is none."""
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise InvalidArgument("--output", f"{file} is there and is not a file")
    if not is_forced:
        raise _taken(file)
    return target


def _taken(file: str) -> InvalidArgument:
    return InvalidArgument(
        "--output", f"{file} is there already", hint="Give --force to replace it."
    )

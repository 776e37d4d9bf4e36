"""A client's file on the disk: read whole, replaced whole, copied before it is changed."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memoranda.errors import DiskFull, FileProblem
from memoranda.files.atomic import (
    give_free_name,
    make_folders,
    remove_folders,
    sync_folder,
    temporary_file,
    temporary_name,
)

ABSENT = "absent"
_BACKUP = ".before-memoranda"
_PRIVATE = 0o600
_MOST_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """A client's file as it is.

    Attributes:
        named: as the client knows it.
        target: without links, where the bytes are.
        data: None when there is no file.
    """

    named: Path
    target: Path
    data: bytes | None

    @property
    def digest(self) -> str:
        """What tells these bytes from others."""
        return digest(self.data)


def digest(data: bytes | None) -> str:
    """What tells bytes from others; None stands for no file."""
    return ABSENT if data is None else hashlib.sha256(data).hexdigest()


def find(file: Path) -> Found:
    """Read the file, through links.

    Raises:
        FileProblem: it is no file, or cannot be read.
    """
    with _told(file, "read"):
        target = Path(os.path.realpath(file))
        try:
            status = target.stat()
        except FileNotFoundError:
            return Found(file, target, None)
        if not stat.S_ISREG(status.st_mode):
            what = "a folder" if stat.S_ISDIR(status.st_mode) else "not a file"
            raise FileProblem(
                str(file), f"{file} is {what}", hint="Name the client's file with --file."
            )
        if status.st_size > _MOST_BYTES:
            raise FileProblem(str(file), f"{file} is too large to be a configuration")
        return Found(file, target, target.read_bytes())


def sweep(found: Found) -> None:
    """Remove what a command that was killed left beside the file. To be called under the lock alone."""
    for folder in {found.named.parent, found.target.parent}:
        with contextlib.suppress(OSError):
            (folder / temporary_name(_token(found))).unlink()


def require_writable(found: Found) -> None:
    """Make sure that the file may be replaced.

    Raises:
        FileProblem: its owner has made it read-only, or it has another name, which would keep the old bytes.
    """
    if found.data is None:
        return
    with _told(found.named, "read"):
        status = found.target.stat()
    if status.st_nlink > 1:
        raise FileProblem(
            str(found.named),
            f"{found.named} is the same file under {status.st_nlink} names (hard links)",
            hint="Make it a file of its own or a symbolic link, or add the entry by hand.",
        )
    if not status.st_mode & 0o222 or not os.access(found.target, os.W_OK):
        raise FileProblem(
            str(found.named),
            f"{found.named} is read-only",
            hint="Make it writable, or add the entry where the file is made.",
        )


def replace(found: Found, data: bytes) -> None:
    """Put other bytes in the file's place, in one step; mode and owner stay, and so do symbolic links to it.

    Raises:
        FileProblem: another program has changed it since it was found, or it cannot be written.
        DiskFull: there is no space. In every case the file is as it was.
    """
    require_writable(found)
    folder = found.target.parent
    with (
        _told(found.named, "written"),
        temporary_file(folder, data, token=_token(found), like=found.target) as (_, temp),
    ):
        if find(found.named).data != found.data:
            raise FileProblem(
                str(found.named),
                f"{found.named} was changed by another program just now",
                hint="Nothing was changed. Repeat the command.",
            )
        temp.replace(found.target)
        sync_folder(folder)


def missing_folders(found: Found) -> list[Path]:
    """The folders that are to be made for the file, the outermost first. Raises `FileProblem`."""
    missing: list[Path] = []
    folder = found.target.parent
    with _told(found.named, "made"):
        while not folder.is_dir():
            missing.insert(0, folder)
            folder = folder.parent
    return missing


def create(found: Found, data: bytes) -> None:
    """Make the file, for this user alone, with the folders that are missing.

    Args:
        found: says that there is none.
        data: all of its bytes.

    Raises:
        FileProblem: there is a file by now, or none can be made.
        DiskFull: there is no space. Folders that were made are left: `missing_folders` told them before.
    """
    folder = found.target.parent
    with _told(found.named, "made"):
        make_folders(folder, [])
        with temporary_file(folder, data, token=_token(found)) as (fd, temp):
            os.fchmod(fd, _PRIVATE)
            give_free_name(temp, found.target)
        sync_folder(folder)


def remove(found: Found, folders: list[Path]) -> None:
    """Take the file away, and these folders where they are empty then. Raises `FileProblem`."""
    with _told(found.named, "removed"):
        found.target.unlink(missing_ok=True)
        sync_folder(found.target.parent)
    remove_folders(folders)


def make_backup(found: Found) -> Path:
    """A copy of the file beside it, with its mode; one with other bytes is never overwritten.

    Raises:
        FileProblem, DiskFull: it cannot be made; nothing is left behind.
    """
    data, folder = found.data or b"", found.named.parent
    with (
        _told(found.named, "copied"),
        temporary_file(folder, data, token=_token(found), like=found.target) as (_, temp),
    ):
        number = 1
        while True:
            suffix = _BACKUP if number == 1 else f"{_BACKUP}-{number}"
            backup = folder / f"{found.named.name}{suffix}"
            if backup_bytes(backup) == data:
                return backup
            with contextlib.suppress(FileExistsError):
                give_free_name(temp, backup)
                sync_folder(folder)
                return backup
            number += 1


def backup_bytes(backup: Path) -> bytes | None:
    """What a copy holds; None when it is not there or cannot be read."""
    with contextlib.suppress(OSError):
        if stat.S_ISREG(backup.lstat().st_mode):
            return backup.read_bytes()
    return None


def backups(found: Found) -> list[Path]:
    """The copies beside the file."""
    with contextlib.suppress(OSError):
        prefix = f"{found.named.name}{_BACKUP}"
        return [each for each in found.named.parent.iterdir() if each.name.startswith(prefix)]
    return []


def forget_backup(backup: Path, expected: str) -> None:
    """Remove a copy whose bytes are in the file again."""
    if digest(backup_bytes(backup)) == expected:
        with contextlib.suppress(OSError):
            backup.unlink()


def _token(found: Found) -> str:
    return f"{found.target.name}.memoranda"


@contextlib.contextmanager
def _told(file: Path, what: str) -> Iterator[None]:
    """Failures of the system as errors of ours."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise DiskFull(str(file)) from error
        raise FileProblem(
            str(file),
            f"{file} cannot be {what}: {error.strerror}",
            hint="Nothing was changed. Check the spelling, the owner and the permissions.",
        ) from error

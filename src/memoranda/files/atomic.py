"""Files that appear whole: a temporary file beside the target, flushed, then renamed.

The temporary file is called `.<random>.tmp`, which scans and editors ignore.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

_NO_HARD_LINKS = frozenset(
    {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}
)


@contextlib.contextmanager
def temporary_file(
    folder: Path, data: bytes, *, like: os.stat_result | None = None
) -> Iterator[tuple[int, Path]]:
    """A flushed file with these bytes, gone at the end unless it was renamed. Yields descriptor and path."""
    temp = folder / f".{os.urandom(8).hex()}.tmp"
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        if like is not None:
            if os.geteuid() == 0 or like.st_gid != os.fstat(fd).st_gid:
                with contextlib.suppress(PermissionError):  # only root gives files away
                    os.fchown(fd, like.st_uid if os.geteuid() == 0 else -1, like.st_gid)
            os.fchmod(fd, stat.S_IMODE(like.st_mode))
        os.fsync(fd)
        yield fd, temp
    finally:
        os.close(fd)
        with contextlib.suppress(OSError):  # renamed; or the first failure is the one to tell
            temp.unlink()


def give_free_name(temp: Path, target: Path) -> None:
    """Rename that never replaces. Raises FileExistsError when the name is taken."""
    try:
        os.link(temp, target)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
    else:
        temp.unlink()
        return
    # No hard links here (FAT, some network drives): take the name with an empty file first.
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    try:
        temp.replace(target)
    except OSError:
        target.unlink()
        raise


def make_folders(folder: Path, made: list[Path]) -> None:
    """Make a folder and its missing parents; `made` collects them, outermost first."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        try:
            new.mkdir()
        except FileExistsError:
            if not new.is_dir():
                raise
            continue  # another writer made it just now
        made.append(new)
        sync_folder(new.parent)


def remove_folders(made: list[Path]) -> None:
    """Remove the folders that `make_folders` made, unless someone uses them already."""
    for folder in reversed(made):
        with contextlib.suppress(OSError):
            folder.rmdir()


def sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut. Some file systems cannot sync a folder: then it is up to them."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

"""Files that appear whole: a temporary file beside the target, flushed, then renamed.

The temporary file is called `.<token>.tmp`, which scans and editors ignore.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

_NO_HARD_LINKS = frozenset(
    {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}
)
_NOT_OURS_TO_SET = frozenset(
    {errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
)
_OF_THE_BYTES = frozenset({"security.capability", "security.evm", "security.ima"})
"""Attributes that vouch for the bytes of a file: on other bytes they would be wrong."""


def temporary_name(token: str) -> str:
    """The name of the temporary file of a write, beside its target."""
    return f".{token}.tmp"


@contextlib.contextmanager
def temporary_file(
    folder: Path, data: bytes, *, token: str | None = None, like: Path | None = None
) -> Iterator[tuple[int, Path]]:
    """A flushed file with these bytes, gone at the end unless it was renamed. Yields descriptor and path.

    Args:
        folder: of the target.
        data: all of its bytes.
        token: names the file, see `temporary_name`; None for a name that nobody knows.
        like: the file whose mode, extended attributes (among them access lists) and, where the system allows
            it, owner the new one gets. Without, mode and group are what the system gives a new file.
    """
    temp = folder / temporary_name(token or os.urandom(8).hex())
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        if like is not None:
            _make_like(fd, like)
        os.fsync(fd)
        yield fd, temp
    finally:
        os.close(fd)
        with contextlib.suppress(OSError):  # renamed; or the first failure is the one to tell
            temp.unlink()


def _make_like(fd: int, model: Path) -> None:
    status = model.stat()
    is_root = os.geteuid() == 0
    if is_root or status.st_gid != os.fstat(fd).st_gid:
        with contextlib.suppress(PermissionError):  # only root gives files away
            os.fchown(fd, status.st_uid if is_root else -1, status.st_gid)
    if sys.platform == "linux":
        _copy_attributes(fd, model)
    os.fchmod(fd, stat.S_IMODE(status.st_mode))


def _copy_attributes(fd: int, model: Path) -> None:
    """Those that this user may set here. A user's own attribute that cannot be kept is a failure."""
    try:
        names = os.listxattr(model)
    except OSError as error:
        if error.errno in _NOT_OURS_TO_SET:  # a file system without attributes
            return
        raise
    for name in names:
        if name in _OF_THE_BYTES:
            continue
        try:
            os.setxattr(fd, name, os.getxattr(model, name))
        except OSError as error:
            is_gone = error.errno == errno.ENODATA
            if not is_gone and (name.startswith("user.") or error.errno not in _NOT_OURS_TO_SET):
                raise


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

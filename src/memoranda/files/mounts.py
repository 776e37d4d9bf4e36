"""Whether a folder is on a file system that tells no changes made elsewhere, such as a network drive.

On Linux the kernel tells what this machine does to a file. What another machine, or the host of a virtual
one, does to the same file on a share is told by none of the file systems listed here, so such a folder
has to be looked at again and again. Source: inotify(7), proc_pid_mountinfo(5).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_SILENT = frozenset(
    {
        "9p", "acfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs", "fakeowner", "gfs2",
        "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "prl_fs",
        "smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs",
    }
)  # fmt: skip
_SILENT_FUSE = frozenset(
    {
        "ceph", "curlftpfs", "davfs2", "gcsfuse", "glusterfs", "goofys", "grpcfuse", "gvfsd-fuse",
        "httpfs2", "juicefs", "kio-fuse", "mfs", "osxfs", "portal", "prl_fsd", "rclone", "s3fs",
        "seaweedfs", "smbnetfs", "sshfs", "vmhgfs-fuse",
    }
)  # fmt: skip
"""With "fuse." before it in the list of mounts."""
_ESCAPE = re.compile(rb"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """One mounted file system: where, and its type as the kernel names it."""

    point: str
    kind: str

    @property
    def is_silent(self) -> bool:
        """Whether changes made elsewhere are not told."""
        return self.kind in _SILENT or self.kind.removeprefix("fuse.") in _SILENT_FUSE


@dataclass(frozen=True, slots=True)
class Mounts:
    """Where a folder is.

    Attributes:
        holder: the file system that the folder is on, None when that is not known.
        below: those mounted on folders inside it, sorted by point.
    """

    holder: Mount | None = None
    below: Sequence[Mount] = ()


def mounts_of(root: Path) -> Mounts:
    """The mounts of a folder. Reads /proc; where there is none, nothing is known.

    Args:
        root: the folder; may be a symbolic link.
    """
    try:
        text = _MOUNTS.read_bytes()
    except OSError:
        return Mounts()
    return mounts_at(os.path.realpath(root), parse(text))


def parse(text: bytes) -> tuple[Mount, ...]:
    """The mounts of a mountinfo file, in the order in which they were made. Odd lines are left out."""
    found: list[Mount] = []
    for line in text.splitlines():
        left, dash, right = line.partition(b" - ")
        fields, kind = left.split(b" "), right.split(b" ")[0]
        if dash and kind and len(fields) > 4:
            found.append(Mount(_name(fields[4]), _name(kind)))
    return tuple(found)


def mounts_at(folder: str, mounts: Iterable[Mount]) -> Mounts:
    """Of all mounts of the machine, those of a folder. Of two at one point the later hides the earlier.

    Args:
        folder: absolute, without symbolic links.
        mounts: in the order in which they were made.
    """
    visible = {one.point: one for one in mounts}
    above = [one for one in visible.values() if _is_in(folder, one.point)]
    below = [one for one in visible.values() if one.point != folder and _is_in(one.point, folder)]
    holder = max(above, key=lambda one: len(one.point), default=None)
    return Mounts(holder, tuple(sorted(below, key=lambda one: one.point)))


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _name(field: bytes) -> str:
    """Blanks, tabs, line breaks and backslashes are written as three octal digits."""
    return os.fsdecode(_ESCAPE.sub(lambda match: bytes([int(match[1], 8) & 0xFF]), field))

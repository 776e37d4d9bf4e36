"""Whether the folder here is the one that a shared index was made of.

Servers that share a project must see the same folder: else each takes the other's notes for deleted. A path
says nothing, since each machine mounts where it likes; inode numbers are the same wherever a folder is
mounted, and others in a copy. The number of the root is remembered. Where it is the root of a file system
it is the same small number everywhere, so files that the index knows are looked at as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoranda.errors import OtherFolder
from memoranda.files.state import inode_number
from memoranda.repositories.project import ProjectRepository
from memoranda.repositories.root_sample import RootSampleRepository, SampledFile
from memoranda.repositories.store import Store, Tx

ROOT_IDENTITY: Final = "root_identity"
"""The key of `index_meta`: `{"inode": number}` of the folder that the index is of."""

_FILE_SYSTEM_ROOTS: Final = 256
"""Roots of file systems have a number up to this one: 2, 64, 128, 256."""


@dataclass(frozen=True, slots=True)
class RootCheck:
    """The check of one project's folder. Blocks: call it in a thread.

    Args:
        store: the shared index.
        root: the project's folder here.
        name: of the project.
    """

    store: Store
    root: Path
    name: str

    def check(self) -> None:
        """Make sure that the folder is the index's; a new index takes it. Nothing for one that is not there.

        Raises:
            OtherFolder: it is another one.
            DatabaseProblem: or a subclass: the index cannot be asked.
        """
        if (inode := _inode(self.root)) is None:  # a sync says so
            return
        remembered, files = self.store.read_now(known)
        if remembered is None and not files:
            remembered = self.store.write_now(lambda tx: _taken(tx, inode))
        if why := difference(self.root, inode, remembered, files):
            raise OtherFolder(str(self.root), why, name=self.name)
        if remembered is None:
            self.store.write_now(lambda tx: _taken(tx, inode))

    def adopt(self) -> None:
        """Make the folder here the index's, whatever it was of.

        Raises:
            DatabaseProblem: or a subclass: the index cannot be asked.
        """
        if (inode := _inode(self.root)) is not None:
            self.store.write_now(
                lambda tx: ProjectRepository(tx).set_fact(ROOT_IDENTITY, {"inode": inode})
            )


def require_own_folder(tx: Tx, root: Path, name: str) -> None:
    """For what only the index's own folder may do. Nothing where there is no folder, or the index knows none.

    Raises:
        OtherFolder: the folder is another one.
    """
    if (inode := _inode(root)) is not None and (why := difference(root, inode, *known(tx))):
        raise OtherFolder(str(root), why, name=name)


def difference(root: Path, inode: int, remembered: int | None, files: Iterable[SampledFile]) -> str:
    """Why the folder is another one, as the second half of a sentence; "" when it is the same."""
    if remembered is not None and inode != remembered:
        return "the folder itself is another one"
    there, same, copied = 0, 0, 0
    for file in files:
        try:
            status = os.stat(root / file.path)  # noqa: PTH116 - one call
        except (OSError, ValueError):
            continue
        there += 1
        if inode_number(status) == file.inode:
            same += 1
        elif (status.st_size, status.st_mtime_ns) == (file.size, file.mtime_ns):
            copied += 1
    if copied > same:
        return f"{copied} of {there} notes are copies"
    if inode <= _FILE_SYSTEM_ROOTS and there and not same:
        return f"none of {there} notes is the file it was"
    return ""


def _inode(root: Path) -> int | None:
    try:
        return inode_number(os.stat(root))  # noqa: PTH116 - one call
    except OSError:
        return None


def known(tx: Tx) -> tuple[int | None, tuple[SampledFile, ...]]:
    """What the index knows of its folder: the number, None if nobody has looked, and files of it."""
    return _remembered(tx), RootSampleRepository(tx).sample()


def _remembered(tx: Tx) -> int | None:
    fact = ProjectRepository(tx).fact(ROOT_IDENTITY)
    inode = fact.get("inode") if isinstance(fact, dict) else None
    return inode if isinstance(inode, int) else None


def _taken(tx: Tx, inode: int) -> int:
    """Remember the folder, unless another server was first; returns the one that is remembered."""
    if (known := _remembered(tx)) is not None:
        return known
    ProjectRepository(tx).set_fact(ROOT_IDENTITY, {"inode": inode})
    return inode

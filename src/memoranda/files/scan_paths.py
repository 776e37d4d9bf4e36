"""What a scan would find at a few paths, without a look at the rest of the folder.

Where the answer depends on more than the paths themselves (a folder, a link, an ignore file, a note that is
gone and may have moved) there is none, and the whole folder is to be scanned. Touches the disk, reads
ignore files only, writes nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Sequence
from pathlib import Path

from memoranda.files.ignore import IGNORE_FILES
from memoranda.files.ignore_files import ignoring_rule
from memoranda.files.scan import is_note_path
from memoranda.files.state import inode_number, state_of
from memoranda.model.address import NotePath
from memoranda.model.sync import FileState, RootIdentity, Scan, SkipCause, Skipped


def scan_paths(
    root: Path, paths: Collection[str], known: Collection[str], *, skips: Sequence[str] = ()
) -> Scan | None:
    """The part of a scan that these paths are, or None: only a whole scan can say.

    Args:
        root: the project's folder; may itself be a symbolic link.
        paths: relative, POSIX; files or folders that may have changed.
        known: which of them are notes of the index.
        skips: folders to leave out, relative POSIX paths.
    """
    look = _Look(os.path.realpath(root), tuple(f"{skip}/" for skip in skips))
    try:
        status = os.stat(root)  # noqa: PTH116
        is_clear = all(look.at(path, is_known=path in known) for path in sorted(set(paths)))
    except OSError:
        return None
    if not is_clear:
        return None
    identity = RootIdentity(status.st_dev, inode_number(status))
    return Scan(tuple(look.files), tuple(look.skipped), identity)


class _Look:
    """The state of one look. What is known of a folder is kept until its end."""

    def __init__(self, root: str, skips: tuple[str, ...]) -> None:
        self.root = root
        self.skips = skips
        self.files: list[FileState] = []
        self.skipped: list[Skipped] = []
        self._plain: dict[str, bool] = {}
        self._names: dict[str, frozenset[str]] = {}

    def at(self, path: str, *, is_known: bool) -> bool:
        """Take in what is at a path; False when that does not say enough. Raises OSError."""
        folder, _, name = path.rpartition("/")
        if not name or name in IGNORE_FILES or not self._is_plain(folder):
            return False
        status = _lstat(f"{self.root}/{path}")
        if status is None:
            return not is_known  # else it was moved or deleted
        if stat.S_ISDIR(status.st_mode) or stat.S_ISLNK(status.st_mode):
            return False
        if not self._is_its_name(folder, name):  # found under another spelling: it was renamed
            return False
        if not is_note_path(path) or path.startswith(self.skips):
            return not is_known
        if not stat.S_ISREG(status.st_mode):
            self.skipped.append(Skipped(path, "not a regular file", SkipCause.KIND))
        elif (rule := ignoring_rule(self.root, path)) is not None:
            self.skipped.append(Skipped(path, rule.reason, SkipCause.IGNORED))
        else:
            self.files.append(state_of(NotePath(path), status))
        return True

    def _is_its_name(self, folder: str, name: str) -> bool:
        """Whether the folder lists the name as it is spelled here; some file systems find other spellings."""
        if folder not in self._names:
            self._names[folder] = frozenset(os.listdir(f"{self.root}/{folder}"))  # noqa: PTH208
        return name in self._names[folder]

    def _is_plain(self, folder: str) -> bool:
        """Whether the way to a folder is made of folders alone, no links; or none is there any more."""
        if not folder:
            return True
        if (known := self._plain.get(folder)) is not None:
            return known
        is_plain = self._is_plain(folder.rpartition("/")[0])
        if is_plain:
            status = _lstat(f"{self.root}/{folder}")
            is_plain = status is None or stat.S_ISDIR(status.st_mode)
        self._plain[folder] = is_plain
        return is_plain


def _lstat(path: str) -> os.stat_result | None:
    """None: nothing is there. Raises OSError when nobody can say."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None

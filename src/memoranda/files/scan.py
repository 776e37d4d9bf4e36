"""What is in the folder of notes, without reading a note.

The scan is a loop, not a recursion, over `os.scandir`: a name costs about a microsecond, a note one
`stat`. Real files come first, symbolic links after them in path order, links to folders before links to
notes, so that a note has one path whatever the order of the folder: the real one when it is in the project,
else the first link to it. Ignore files are read when their folder is listed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from operator import attrgetter
from pathlib import Path

from memoranda.errors import RootMissing
from memoranda.files.ignore import IGNORE_FILES, NO_RULES, Rules
from memoranda.files.ignore_files import read_rules
from memoranda.files.state import inode_number, state_of
from memoranda.model.address import NotePath
from memoranda.model.sync import FileState, RootIdentity, Scan, SkipCause, Skipped

_NOTHING_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})
"""What the system says of a link that leads nowhere, into a file or round in a circle: no note is there."""
_NOT_NOTES = frozenset({"node_modules"})
"""Folders that never hold a person's notes, beside the hidden ones."""


def is_note_path(path: str) -> bool:
    """Whether the scan would take a regular file of this name: what tools may make or read as a note."""
    *folders, name = path.split("/")
    return (
        name[-3:].lower() == ".md"
        and not name.startswith((".", "~$"))
        and not any(part[:1] == "." or part in _NOT_NOTES for part in folders)
    )


def scan_folder(root: Path, *, skips: Sequence[str] = ()) -> Scan:
    """All notes below a folder, sorted by path. Touches the disk, writes nothing, reads ignore files only.

    A note is a regular file whose name ends in `.md` (any case). Left out without a word: hidden
    folders, other files, editors' backup and temporary files, what vanishes meanwhile. Left out
    and listed in `skipped`: notes and folders that an ignore file leaves out, hidden notes, names that
    are not Unicode, other projects' folders, links that leave the folder, second ways to one file or
    folder, and what cannot be read (`holds_notes`: the notes known there are not deleted); also an
    ignore file that is not used, or not whole.

    Args:
        root: the project's folder; may itself be a symbolic link.
        skips: folders to leave out, relative POSIX paths.

    Raises:
        RootMissing: the folder is not there, is not a folder, or cannot be listed.
    """
    walk = _Walk(os.path.realpath(root), frozenset(skips))
    try:
        status = os.stat(root)  # noqa: PTH116
        with os.scandir(root) as entries:
            is_empty = all(entry.name.startswith(".") for entry in entries)
    except OSError as error:
        raise _root_missing(root, error) from error
    walk.folder("", NO_RULES)
    while walk.links:
        _, path, rules = heappop(walk.links)
        walk.link(path, rules)
    walk.files.sort(key=attrgetter("path"))
    walk.skipped.sort(key=attrgetter("path"))
    identity = RootIdentity(status.st_dev, inode_number(status), is_empty)
    return Scan(tuple(walk.files), tuple(walk.skipped), identity, tuple(walk.folders))


class _Walk:
    """The state of one scan. Paths are relative to the root, "" or ending in "/" for folders."""

    def __init__(self, root: str, skips: frozenset[str]) -> None:
        self.root = root
        self.skips = skips
        self.files: list[FileState] = []
        self.skipped: list[Skipped] = []
        self.folders: list[str] = []
        self.links: list[tuple[bool, str, Rules]] = []  # a heap, what may lead to folders first
        self._folders: dict[object, str] = {}  # (device, inode) or real path -> prefix
        self._by_inode: dict[int, list[NotePath]] = {}
        self._indexed = 0  # how many of `files` are in `_by_inode`

    def folder(self, start: str, rules: Rules) -> None:
        """Take in a folder and all folders below it that no rule leaves out.

        Args:
            start: its prefix.
            rules: those of the folders above it.
        """
        waiting = [(start, rules)]
        while waiting:
            prefix, rules = waiting.pop()
            try:
                with os.scandir(f"{self.root}/{prefix}") as entries:
                    if self._is_new_folder(prefix):
                        self.folders.append(prefix[:-1])
                        self._entries(entries, prefix, rules, waiting)
            except (FileNotFoundError, NotADirectoryError):
                if not prefix:
                    raise RootMissing(self.root, f"The folder {self.root} vanished") from None
            except OSError as error:
                if not prefix:
                    raise _root_missing(Path(self.root), error) from error
                self._skip(prefix[:-1], _reason(error), SkipCause.UNREADABLE)

    def _is_new_folder(self, prefix: str) -> bool:
        status = os.stat(f"{self.root}/{prefix}")  # noqa: PTH116  (a Path costs more than the call)
        folder: object = (status.st_dev, status.st_ino)
        if not status.st_ino:  # this file system numbers nothing
            folder = os.path.realpath(f"{self.root}/{prefix}")
        known = self._folders.setdefault(folder, prefix)
        if known != prefix:
            self._skip(
                prefix[:-1], f"the same folder as {known[:-1] or 'the project'}", SkipCause.LINK
            )
        return known == prefix

    def _entries(
        self,
        entries: Iterable[os.DirEntry[str]],
        prefix: str,
        rules: Rules,
        waiting: list[tuple[str, Rules]],
    ) -> None:
        append, keep = self.files.append, self._is_unicode
        first = len(self.files)
        folders: list[str] = []
        links: list[str] = []
        ignore_files: list[str] = []
        for entry in entries:
            name = entry.name
            is_note = name.endswith(".md") or name[-3:].lower() == ".md"
            if name[0] == "." or (is_note and name.startswith("~$")):
                if name in IGNORE_FILES:
                    ignore_files.append(name)
                elif is_note and not name.startswith(("._", ".#", "~$")):
                    self._skip(prefix + name, "hidden", SkipCause.HIDDEN)
                continue
            path = prefix + name
            try:
                if is_note and entry.is_file(follow_symlinks=False):
                    if name.isascii() or keep(path):
                        s = entry.stat(follow_symlinks=False)
                        append(state_of(NotePath(path), s))
                elif entry.is_symlink():
                    if name.isascii() or keep(path):
                        links.append(path)
                elif entry.is_dir(follow_symlinks=False):
                    if (name.isascii() or keep(path)) and self._is_wanted(path, name):
                        folders.append(name)
                elif is_note:
                    self._skip(path, "not a regular file", SkipCause.KIND)
            except FileNotFoundError:
                continue
            except OSError as error:
                self._skip(path, _reason(error), SkipCause.UNREADABLE)
        for name in sorted(ignore_files, key=IGNORE_FILES.index):
            rules = self._with_file(rules, prefix, name)
        for path in links:
            heappush(self.links, (path[-3:].lower() == ".md", path, rules))
        if not rules:
            waiting += [(f"{prefix}{name}/", rules) for name in folders]
            return
        self.files[first:] = [
            state
            for state in self.files[first:]
            if not self._is_ignored(state.path, state.path[len(prefix) :], rules)
        ]
        waiting += [
            (f"{prefix}{name}/", rules.below(name))
            for name in folders
            if not self._is_ignored(prefix + name, name, rules, is_folder=True)
        ]

    def _with_file(self, rules: Rules, prefix: str, name: str) -> Rules:
        found = read_rules(self.root, prefix, name)
        if found.trouble:
            self._skip(prefix + name, found.trouble, SkipCause.RULE)
        return rules.and_(found.rules)

    def _is_ignored(self, path: str, name: str, rules: Rules, *, is_folder: bool = False) -> bool:
        rule = rules.ignoring(name, is_folder=is_folder)
        if rule is not None:
            self._skip(path, rule.reason, SkipCause.IGNORED)
        return rule is not None

    def _is_wanted(self, path: str, name: str) -> bool:
        if path in self.skips:
            self._skip(path, "another project's folder", SkipCause.PROJECT)
        elif name in _NOT_NOTES:
            self._skip(path, "not a folder of notes", SkipCause.KIND)
        else:
            return True
        return False

    def link(self, path: str, rules: Rules) -> None:
        """Follow a symbolic link once, unless it leaves the project or leads to what is known.

        Args:
            path: of the link.
            rules: those of the link's folder: it is left out by its own name, not by its target's.
        """
        name = path[path.rfind("/") + 1 :]
        is_note = name[-3:].lower() == ".md"
        real = os.path.realpath(f"{self.root}/{path}")
        if real != self.root and not real.startswith(self.root + "/"):
            self._outside(path, name, rules, is_note=is_note)
            return
        try:
            status = os.stat(real)  # noqa: PTH116
        except OSError as error:
            if error.errno not in _NOTHING_THERE:
                self._skip(path, _reason(error), SkipCause.UNREADABLE)
            elif is_note and not self._is_ignored(path, name, rules):
                self._skip(path, "a link to nothing", SkipCause.NOTHING)
            return
        is_folder = stat.S_ISDIR(status.st_mode)
        if not is_folder and not is_note:
            return
        if self._is_ignored(path, name, rules, is_folder=is_folder):
            return
        target = real[len(self.root) + 1 :]
        if any(target == skip or target.startswith(skip + "/") for skip in self.skips):
            self._skip(path, "a link into another project's folder", SkipCause.LINK)
        elif is_folder:
            self.folder(path + "/", rules.below(name))
        elif not stat.S_ISREG(status.st_mode):
            self._skip(path, "not a regular file", SkipCause.KIND)
        elif (known := self._known_file(status)) is not None:
            self._skip(path, f"the same file as {known}", SkipCause.LINK)
        else:
            self.files.append(state_of(NotePath(path), status))

    def _outside(self, path: str, name: str, rules: Rules, *, is_note: bool) -> None:
        """List a link out of the project if its name is one of a note or a folder.

        What it leads to is not looked at: nobody learns from a link whether there is something outside.
        """
        is_folder = not is_note and "." not in name
        if (is_note or is_folder) and not self._is_ignored(path, name, rules, is_folder=is_folder):
            self._skip(path, "a link out of the project", SkipCause.LINK)

    def _known_file(self, status: os.stat_result) -> NotePath | None:
        """The note that is this very file, if one was found before."""
        for state in self.files[self._indexed :]:
            self._by_inode.setdefault(state.inode, []).append(state.path)
        self._indexed = len(self.files)
        for path in self._by_inode.get(inode_number(status), ()):
            try:
                if os.path.samestat(os.stat(f"{self.root}/{path}"), status):  # noqa: PTH116
                    return path
            except OSError:
                continue  # it vanished meanwhile
        return None

    def _is_unicode(self, path: str) -> bool:
        try:
            path.encode()
        except UnicodeEncodeError:
            shown = os.fsencode(path).decode("utf-8", "replace")
            self._skip(shown, "the name is not valid Unicode", SkipCause.NAME)
            return False
        return True

    def _skip(self, path: str, reason: str, cause: SkipCause) -> None:
        self.skipped.append(Skipped(path, reason, cause))


def _reason(error: OSError) -> str:
    return f"unreadable ({error.strerror})"


def _root_missing(root: Path, error: OSError) -> RootMissing:
    hint = "Connect the drive or put the folder back; no note is dropped from the index meanwhile."
    if isinstance(error, FileNotFoundError):
        return RootMissing(str(root), f"The project's folder {root} is not there", hint=hint)
    if isinstance(error, NotADirectoryError):
        hint = "Give the project the folder that holds the notes."
        return RootMissing(str(root), f"The project's folder {root} is not a folder", hint=hint)
    hint = "Check the owner and the permissions of the folder."
    return RootMissing(
        str(root), f"The project's folder {root} cannot be read: {error.strerror}", hint=hint
    )

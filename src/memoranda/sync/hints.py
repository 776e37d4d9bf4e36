"""Which of the system's events can matter to the index, as paths of the project. Pure but for one question.

Most of what happens in a folder of notes is none of our business: pictures, editors' temporary files, what
is hidden. What is left are notes, ignore files and folders; a file's folder need not be known, the name is
enough. Whether a rule leaves a note out is asked later, by those who ask the disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from memoranda.files.ignore import IGNORE_FILES
from memoranda.files.scan import is_note_path
from memoranda.model.live import EventKind

MANY_EVENTS = 4000
"""So many at once that the system may have dropped some: everything may have changed."""
_KINDS = {1: EventKind.CREATED, 2: EventKind.MODIFIED, 3: EventKind.DELETED}


@dataclass(frozen=True, slots=True)
class Hint:
    """Something may have changed at a path; "" is the project's folder, or anything."""

    kind: EventKind
    path: str


@dataclass(frozen=True, slots=True)
class Hints:
    """What one batch of events comes to.

    Attributes:
        hints: sorted by path; at most `MANY_EVENTS`.
        is_root_lost: the project's folder itself was moved or removed.
        are_folders_lost: a watched folder came or went, so that another one may bear its name now.
    """

    hints: Sequence[Hint] = ()
    is_root_lost: bool = False
    are_folders_lost: bool = False


class Sieve:
    """Keeps what can matter.

    Args:
        root: the project's folder, absolute.
        folders: those that a scan looks into, relative POSIX paths, "" for the root.
        skips: folders that are left out.
        is_folder: whether there is a folder at a relative path now, perhaps behind a link.
        tells_folders: whether an event "modified" of a folder is about the folder itself (Linux) and
            not about what is in it.
    """

    def __init__(
        self,
        root: str,
        folders: Collection[str],
        skips: Collection[str],
        is_folder: Callable[[str], bool],
        *,
        tells_folders: bool = True,
    ) -> None:
        self._root = root.rstrip(os.sep)
        self._folders = frozenset(folders) | {""}
        self._skips = tuple(skips)
        self._is_folder = is_folder
        self._tells_folders = tells_folders

    def sift(self, events: Collection[tuple[int, str]]) -> Hints:
        """The hints in a batch of (kind, absolute path), as `watchfiles` gives them."""
        if len(events) > MANY_EVENTS:
            return Hints((Hint(EventKind.MODIFIED, ""),), are_folders_lost=True)
        hints = tuple(sorted(self._hints(events), key=lambda hint: (hint.path, hint.kind)))
        lost = [hint.path for hint in hints if self._is_lost(hint)]
        return Hints(hints, is_root_lost="" in lost, are_folders_lost=bool(lost))

    def _hints(self, events: Iterable[tuple[int, str]]) -> Iterable[Hint]:
        for number, absolute in events:
            kind = _KINDS[number]
            path = self._relative(absolute)
            if path is None:
                yield Hint(EventKind.MODIFIED, "")
            elif self._can_matter(kind, path):
                yield Hint(kind, path)

    def _relative(self, absolute: str) -> str | None:
        """None for a path that is not in the project, or whose name is no text: anything may be meant."""
        if "\ufffd" in absolute:
            return None
        if absolute == self._root:
            return ""
        if absolute.startswith(self._root + os.sep):
            return absolute[len(self._root) + 1 :].replace(os.sep, "/")
        return None

    def _can_matter(self, kind: EventKind, path: str) -> bool:
        if any(path == skip or path.startswith(skip + "/") for skip in self._skips):
            return False
        if path in self._folders:
            return kind is not EventKind.MODIFIED or self._tells_folders
        if is_note_path(path):
            return True
        folder, _, name = path.rpartition("/")
        if name in IGNORE_FILES:
            return _is_visited(folder)
        # A file that vanished was no note, and a folder that was not watched had no notes.
        if kind is EventKind.DELETED or (kind is EventKind.MODIFIED and not self._tells_folders):
            return False
        return _is_visited(path) and self._is_folder(path)

    def _is_lost(self, hint: Hint) -> bool:
        return hint.kind is not EventKind.MODIFIED and hint.path in self._folders


def _is_visited(folder: str) -> bool:
    """Whether a scan would look into a folder of this name."""
    return is_note_path(f"{folder}/n.md" if folder else "n.md")

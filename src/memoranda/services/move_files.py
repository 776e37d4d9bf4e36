"""Links to files that are no notes: which of them a move breaks, and what they become. Pure.

Source: CommonMark readers take a destination from the note's folder; Obsidian takes a path in a wiki link,
and in a Markdown link that is not found there, from the root. A bare name in a wiki link is found wherever
the file is.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from memoranda.model.address import folder
from memoranda.model.note import Link, LinkForm
from memoranda.services.move_targets import RELATIVE, Place, dotted, relative_path


@dataclass(frozen=True, slots=True)
class Files:
    """The files of the project around a move.

    Attributes:
        exists: whether there is a file at a path now.
        moves: old path -> new path of all files that move, notes too.
    """

    exists: Callable[[str], bool]
    moves: Mapping[str, str]
    arrived: frozenset[str]

    def exists_after(self, path: str) -> bool:
        """Whether there is a file at a path after the move."""
        return path in self.arrived or (path not in self.moves and self.exists(path))


def leads_out(link: Link, source: Place) -> bool:
    """Whether a link leads out of the project, to another place after the move."""
    before = _from_folder(link.target, source.before)
    is_relative = link.form is LinkForm.MARKDOWN or link.target.startswith(RELATIVE)
    return (
        is_relative
        and before.startswith("../")
        and before != _from_folder(link.target, source.after)
    )


def new_file_target(link: Link, source: Place, files: Files) -> str | None:
    """What the target of a link must become to mean the same file; None: it does, or means none.

    Args:
        link: one that means no note.
        source: the note that has it.
        files: of the project.
    """
    found = _meant(link.form, link.target, source.before, files.exists)
    if found is None:
        return None
    wanted = files.moves.get(found, found)
    is_near = link.form is LinkForm.MARKDOWN and found == _from_folder(link.target, source.before)

    def is_right(name: str) -> bool:
        if is_near and not name.startswith("/") and _from_folder(name, source.after) != wanted:
            return False
        return _meant(link.form, name, source.after, files.exists_after) == wanted

    if is_right(link.target):
        return None
    return next((name for name in _names(link, source, found, wanted) if is_right(name)), None)


def _names(link: Link, source: Place, found: str, wanted: str) -> Iterator[str]:
    relative = relative_path(wanted, folder(source.after))
    target = link.target
    if target.startswith("/"):
        yield f"/{wanted}"
    elif target.startswith("./"):
        yield dotted(relative)
    elif target.startswith("../") or (
        link.form is LinkForm.MARKDOWN and _from_folder(target, source.before) == found
    ):
        yield relative
    else:
        yield wanted
    yield from (dotted(relative), f"/{wanted}")


def _meant(form: LinkForm, target: str, path: str, exists: Callable[[str], bool]) -> str | None:
    """The file that a link in the note at `path` means, if it is there."""
    return next((one for one in _places(form, target, path) if exists(one)), None)


def _places(form: LinkForm, target: str, path: str) -> Iterator[str]:
    if target.startswith("/"):
        yield posixpath.normpath(target.lstrip("/"))
        return
    near = _from_folder(target, path)
    if target.startswith(RELATIVE):
        yield near
        return
    if form is LinkForm.MARKDOWN:
        yield near
    yield posixpath.normpath(target)


def _from_folder(target: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder(path), target))

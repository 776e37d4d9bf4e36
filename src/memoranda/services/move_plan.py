"""What moves where, as the folder on the disk allows it. Touches the disk, writes nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from memoranda.errors import (
    FolderNotFound,
    InvalidArgument,
    MemorandaError,
    NoteExists,
    NoteNotFound,
    OutsideProject,
)
from memoranda.files.file_service import FileService
from memoranda.files.folders import is_one_file, same_but_for_case
from memoranda.files.ignore_files import ignoring_rule
from memoranda.files.names import portable_name
from memoranda.files.scan import is_note_path
from memoranda.markdown.relations import is_attachment
from memoranda.model.address import NotePath, folder
from memoranda.services.move_names import Destination

_TEXT_SUFFIXES = frozenset({"txt", "text", "markdown", "mdown", "mkd", "mdx", "html", "htm", "rst"})


@dataclass(frozen=True, slots=True)
class Moves:
    """Old path -> new path of everything that moves.

    Attributes:
        notes: files that are notes by their names.
        others: all other files.
        empty: folders with nothing in them.
        warnings: where the place is another than the caller may think.
    """

    source: str
    destination: str
    is_folder: bool
    notes: Mapping[NotePath, NotePath]
    others: Mapping[str, str]
    empty: Mapping[str, str]
    warnings: tuple[str, ...] = ()


def note_moves(files: FileService, note: NotePath, to: Destination) -> Moves:
    """The move of one note.

    Raises:
        NoteNotFound: its file is not there.
        NoteExists: the place is taken.
        InvalidArgument: nothing is to be done, or no note can be there.
    """
    place = files.place(note)
    if place.is_symlink():
        raise _linked(note)
    if not os.path.lexists(place):
        raise NoteNotFound(note, lost=note)
    if to.is_inside or _is_folder(files, to.path):
        new = f"{to.path}/{place.name}".lstrip("/")
    else:
        new = _named_as_note(to.path)
    given, new = new, files.canonical(NotePath(new))
    if new == note:
        raise _nothing(note)
    require_note_place(files, new)
    _require_folders(files, new)
    _require_portable(files, new, keeps=place.name)
    for path in (given, new):  # of a link that leads nowhere, the link is what is there
        _require_free(files, place, path)
    return Moves(note, new, False, {note: new}, {}, {}, _respelled(to, new))


def folder_moves(files: FileService, source: str, to: Destination) -> Moves:
    """The move of a folder with everything in it.

    Raises:
        FolderNotFound: it is not there.
        NoteExists: something of that name is there.
        InvalidArgument: nothing is to be done, or it cannot be moved as a whole.
    """
    place = files.place(source)
    if place.is_symlink():
        raise _linked(source)
    if to.is_inside and to.path != source and _is_folder(files, to.path):
        new = f"{to.path}/{place.name}".lstrip("/")
    else:
        new = to.path
    given, new = new, folder(files.canonical(NotePath(f"{new}/x.md")))
    if new == source and to.asked != to.path:
        given = new = to.asked  # the folder itself in another spelling
    if new == source:
        raise _nothing(source)
    if f"{new}/".startswith(f"{source}/"):
        raise _wrong(f"{source} cannot be moved into itself", hint="Choose another folder.")
    for path in (source, new):
        if not is_note_path(f"{path}/x.md" if path else "x.md"):
            raise _wrong(
                f"{path} is a folder that holds no notes",
                parameter="path" if path == source else "destination",
                hint="Hidden folders and node_modules are not moved by this tool.",
            )
    if new:
        _require_folders(files, f"{new}/x")
        for path in (given, new):
            _require_free(files, place, path)
        _require_portable(files, new, keeps=place.name)
    found = _Found(files, source, new)
    found.walk()
    if not found.notes and not found.others:
        raise _wrong(f"{source} is an empty folder: nothing to move", parameter="path", hint="")
    warnings = _respelled(to, new)
    return Moves(source, new, True, found.notes, found.others, found.empty, warnings)


def require_note_place(files: FileService, path: NotePath) -> None:
    """Raises InvalidArgument when a note at this path would not be indexed."""
    if not is_note_path(path):
        raise _wrong(
            f"{path} is left out of the project",
            hint="Hidden names, node_modules and temporary files of editors hold no notes.",
        )
    if (rule := ignoring_rule(os.path.realpath(files.root), path)) is not None:
        raise _wrong(
            f"{path} is {rule.reason}",
            hint=f"Choose another path, or change {rule.source}: what it leaves out is not indexed.",
        )


class _Found:
    """What is in a folder, each file with its new path."""

    def __init__(self, files: FileService, source: str, new: str) -> None:
        self._files = files
        self._source = source
        self._new = new
        self._root = os.path.realpath(files.root)
        self.notes: dict[NotePath, NotePath] = {}
        self.others: dict[str, str] = {}
        self.empty: dict[str, str] = {}

    def walk(self) -> None:
        waiting = [self._source]
        while waiting:
            path = waiting.pop()
            entries = self._entries(path)
            if not entries and path != self._source:
                self.empty[path] = self._moved(path)
            for entry in entries:
                child = f"{path}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    self._require_ours(child)
                    waiting.append(child)
                else:
                    self._take(child, entry)

    def _entries(self, path: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(f"{self._root}/{path}") as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            raise FolderNotFound(path) from None
        except OSError as error:
            raise self._files.translated(path, error, writing=False) from error

    def _take(self, path: str, entry: os.DirEntry[str]) -> None:
        try:
            path.encode()
        except UnicodeEncodeError:
            shown = os.fsencode(path).decode("utf-8", "replace")
            raise _unmovable(self._source, shown, "a name that is not valid Unicode") from None
        if entry.is_symlink():
            raise _unmovable(self._source, path, "a symbolic link")
        try:
            is_file = stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return
        if not is_file:
            raise _unmovable(self._source, path, "no regular file")
        if is_note_path(path):
            self.notes[NotePath(path)] = NotePath(self._moved(path))
        else:
            self.others[path] = self._moved(path)

    def _moved(self, path: str) -> str:
        return f"{self._new}{path[len(self._source) :]}".lstrip("/")

    def _require_ours(self, path: str) -> None:
        try:
            self._files.resolve(path)
        except OutsideProject:
            raise _unmovable(self._source, path, "another project's folder") from None


def _is_folder(files: FileService, path: str) -> bool:
    return not path or os.path.isdir(files.place(path))  # noqa: PTH112


def _require_folders(files: FileService, path: str) -> None:
    """Raises InvalidArgument when a folder on the way to a path is a file."""
    for above in accumulate(folder(path).split("/"), "{}/{}".format):
        if above and os.path.lexists(files.place(above)) and not _is_folder(files, above):
            raise _wrong(f"{above} is a file, not a folder", hint="Choose another folder.")


def _require_free(files: FileService, source: Path, path: str) -> None:
    """Raises NoteExists when something else has this name, or one that some file systems take for it."""
    there = files.place(path)
    if os.path.lexists(there) and not is_one_file(source, there):
        is_folder = source.is_dir() and there.is_dir() and there / source.name != source
        raise _taken(path, is_folder=is_folder)
    for name in same_but_for_case(str(there.parent), there.name):
        if not is_one_file(source, there.parent / name) and name != there.name:
            raise NoteExists(
                f"{folder(path)}/{name}".lstrip("/"),
                hint=f"Some file systems take {name!r} and {there.name!r} for one name: "
                "choose another destination.",
            )


def _named_as_note(path: str) -> str:
    """The path with `.md`. Raises InvalidArgument when the caller may mean a file of another kind."""
    if path[-3:].lower() == ".md":
        return path
    _, dot, suffix = path.rpartition("/")[2].rpartition(".")
    if is_attachment(path) or (dot and suffix.lower() in _TEXT_SUFFIXES):
        raise _wrong(
            f"{path} is no name of a note: notes end in .md",
            hint=f"Give {path[: -len(suffix) - 1]}.md, or {path}.md if the note is to be called so.",
        )
    return f"{path}.md"


def _require_portable(files: FileService, path: str, *, keeps: str) -> None:
    """Raises InvalidArgument for a new name that some file systems refuse; an old one may stay."""
    parts = path.split("/")
    for at, part in enumerate(parts):
        is_last = at == len(parts) - 1
        clean = portable_name(part)
        if clean == part or (is_last and part == keeps):
            continue
        if is_last or not _is_folder(files, "/".join(parts[: at + 1])):
            raise _wrong(
                f"{part!r} is a name that some file systems refuse",
                hint=f"Call it {clean!r}: a folder of notes must survive being synced.",
            )


def _respelled(to: Destination, new: str) -> tuple[str, ...]:
    if to.asked == to.path or new == to.asked:
        return ()
    return (f"There is a folder that differs from {to.asked} in case alone: it is at {new}.",)


def _wrong(message: str, *, hint: str, parameter: str = "destination") -> MemorandaError:
    return InvalidArgument(parameter, message, hint=hint)


def _nothing(path: str) -> MemorandaError:
    return _wrong(f"{path} is there already: nothing to do", hint="Give another destination.")


def _taken(path: str, *, is_folder: bool) -> MemorandaError:
    hint = "Choose another destination; nothing is ever replaced by a move."
    if is_folder:
        hint = f"Give {path}/ to move it into that folder; folders are not put together by a move."
    return NoteExists(path, hint=hint)


def _linked(path: str) -> MemorandaError:
    return _wrong(
        f"{path} is a symbolic link",
        parameter="path",
        hint="Move what it leads to, or move the link by hand.",
    )


def _unmovable(source: str, path: str, what: str) -> MemorandaError:
    return _wrong(
        f"{source} cannot be moved as a whole, because {path} is {what}",
        parameter="path",
        hint="Move what is beside it, or move it by hand.",
    )

"""What the caller of a move names: a folder, and a place to be. Touches the disk, writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from memoranda.errors import InvalidArgument, MemorandaError
from memoranda.files.file_service import FileService
from memoranda.files.folders import is_one_file, named_folder
from memoranda.files.names import MAX_NAME_BYTES
from memoranda.model.address import ById, parse_address

_MEMORY = "memory://"
_ROOT = frozenset({"/", ".", "./", f"{_MEMORY}/"})


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the caller wants it.

    Attributes:
        path: in the project, "" for its root. Its folders are spelled as they are on the disk.
        is_inside: what moves goes into this folder.
        asked: the path as the caller spelled it.
    """

    path: str
    is_inside: bool
    asked: str


def folder_named(files: FileService, source: str) -> str | None:
    """The folder of the project that the caller named, as it is spelled on the disk; None: there is none.

    Raises:
        InvalidArgument: it is the project itself.
        OutsideProject: it is not in the project.
    """
    text = _bare(source)
    if text is None:
        return None
    if not text.strip("/. "):
        raise InvalidArgument(
            "path",
            "The whole project cannot be moved",
            hint="Name a note or a folder in it.",
        )
    path = files.note_path(text.rstrip("/"))
    if not os.path.isdir(files.place(path)):  # noqa: PTH112  (Path.is_dir may raise)
        return None
    return "/".join(_spelled(files, path))


def destination_named(files: FileService, text: str) -> Destination:
    """Read where the caller wants it.

    Raises:
        InvalidArgument, OutsideProject: no path in the project.
    """
    if text.strip() in _ROOT:
        return Destination("", is_inside=True, asked="")
    bare = _bare(text)
    if bare is None:
        raise _wrong(f"{text!r} names no path", hint="Give the new path.")
    if not bare.strip("/ "):
        raise _wrong("The destination is empty", hint="Give the new path, or a folder and '/'.")
    if "\\" in bare or any(ord(sign) < 32 for sign in bare):
        raise _wrong(
            f"{text!r} has a character that no path should have", hint="Separate folders with '/'."
        )
    is_inside = bare.endswith("/")
    above, slash, last = bare.rstrip("/").rpartition("/")
    if is_inside:
        above, slash, last = f"{above}{slash}{last}", "", ""
    folder = named_folder(files.root, above)
    if not os.path.isdir(f"{files.root}/{folder.path}/{last}"):  # noqa: PTH112
        last = last.strip()
    path, asked = (files.note_path(f"{one}{slash}{last}") for one in (folder.path, folder.asked))
    if any(len(part.encode()) > MAX_NAME_BYTES for part in path.split("/")):
        raise _wrong(f"{path[:60]}... is too long for a path", hint="Choose a shorter name.")
    files.resolve(path)
    return Destination(path, is_inside, asked if folder.is_respelled else path)


def _bare(text: str) -> str | None:
    """The path in what the caller gave, which may be an address; None when it is an id."""
    text = text.strip()
    if not text.startswith(_MEMORY) or not text.removeprefix(_MEMORY).strip("/"):
        return text
    match parse_address(text):
        case ById():
            return None
        case by_name:
            return by_name.name + ("/" if text.endswith("/") else "")


def _spelled(files: FileService, path: str) -> Iterator[str]:
    """The segments of a path as their folders list them; some file systems find other spellings."""
    at = os.path.realpath(files.root)
    for part in path.split("/"):
        names = os.listdir(at)  # noqa: PTH208
        if part in names:
            yield part
        else:
            here = f"{at}/{part}"
            yield next((one for one in names if is_one_file(f"{at}/{one}", here)), part)
        at = f"{at}/{part}"


def _wrong(message: str, *, hint: str) -> MemorandaError:
    return InvalidArgument("destination", message, hint=hint)

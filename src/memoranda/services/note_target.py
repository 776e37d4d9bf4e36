"""Where a note goes that a caller gives a title and a directory. Touches the disk, writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from memoranda.errors import InvalidArgument
from memoranda.files.file_service import FileService
from memoranda.files.folders import named_folder
from memoranda.files.names import safe_file_name
from memoranda.files.scan import is_note_path
from memoranda.model.address import NotePath


@dataclass(frozen=True, slots=True)
class Target:
    """The place of a note.

    Attributes:
        path: of its file.
        title: as given; without the folders and the `.md` of one that is a path.
        warnings: where this is another than the caller may think.
    """

    path: NotePath
    title: str
    warnings: tuple[str, ...]


def target_named(files: FileService, title: str, directory: str) -> Target:
    """The place for a note.

    A title that ends in `.md` is meant as a file: the file has the ending once, and what stands before a
    `/` in it is a folder. In another title a `/` is a sign like any other, which a file name cannot have. A
    folder that is there in another case of letters is the one that is meant.

    Raises:
        InvalidArgument, OutsideProject: no note can be there.
    """
    warnings: list[str] = []
    called, name, folder = title, title, directory if directory.strip().strip("/") else ""
    if title.strip()[-3:].lower() == ".md" and title.strip()[:-3].strip(" /."):
        above, _, name = title.strip()[:-3].rpartition("/")
        if above:
            called, folder = name, _below(folder, above)
            warnings.append(f"The title is a path: the note is called {name!r}, in {folder!r}.")
    place = named_folder(files.root, folder.rstrip("/"))
    if "\\" in place.path or any(ord(letter) < 32 for letter in place.path):
        raise InvalidArgument(
            "directory",
            f"{directory!r} has a character that no folder should have",
            hint="Separate folders with '/'.",
        )
    file = safe_file_name(name)
    path = files.note_path(f"{place.path}/{file}" if place.path else file)
    if not is_note_path(path):
        raise InvalidArgument(
            "directory",
            f"{directory!r} is a folder that holds no notes",
            hint="Choose one that is not hidden and not node_modules.",
        )
    path = files.canonical(path)
    if place.is_respelled:
        warnings.append(f"There is no folder {place.asked!r}, but one by another case: {path}.")
    if "/" in name:
        warnings.append(
            f"The title has a slash, which no file name can have: the note is at {path}. "
            "To put it into a folder give the folder as directory."
        )
    return Target(path, called, tuple(warnings))


def _below(folder: str, above: str) -> str:
    """The folder of a title in a directory, which callers also give twice."""
    if not folder.strip("/") or folder.strip("/") == above.strip("/"):
        return above
    return f"{folder.rstrip('/')}/{above}"

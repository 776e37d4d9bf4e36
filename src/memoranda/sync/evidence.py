"""What the bytes of files say about where notes went: read only for files that the names cannot tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memoranda.errors import FileProblem, InvalidArgument, NoteNotFound, OutsideProject
from memoranda.files.file_service import FileService, checksum
from memoranda.markdown.source import decode
from memoranda.model.address import NotePath
from memoranda.model.sync import FileState, KnownFile
from memoranda.sync.kinship import are_alike
from memoranda.sync.reading import ReadsFiles


def checksums(files: FileService, states: Iterable[FileState]) -> dict[NotePath, str]:
    """Of those of these files that can be read."""
    reader = files.reader()
    found: dict[NotePath, str] = {}
    for state in states:
        if (data := _bytes(reader, state.path)) is not None:
            found[state.path] = checksum(data)
    return found


def relatives(
    files: FileService,
    pairs: Iterable[tuple[KnownFile, FileState]],
    bodies: Mapping[int, str],
) -> set[tuple[int, NotePath]]:
    """The pairs of a missing note and a new file that have most of their lines in common.

    Args:
        files: the folder.
        pairs: which to compare.
        bodies: the beginning of each missing note's text, by entity id.
    """
    reader = files.reader()
    found: set[tuple[int, NotePath]] = set()
    for file, state in pairs:
        data = _bytes(reader, state.path)
        if data is not None and are_alike(bodies.get(file.entity_id, ""), decode(data).text):
            found.add((file.entity_id, state.path))
    return found


def _bytes(reader: ReadsFiles, path: NotePath) -> bytes | None:
    """None: it cannot be read; that is said, and counted, when the file is to be indexed."""
    try:
        return reader.read(path)[0]
    except (FileProblem, NoteNotFound, OutsideProject, InvalidArgument):
        return None

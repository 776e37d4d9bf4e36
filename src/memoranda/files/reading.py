"""Opening notes to read them: one at a time, and many in a row."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from memoranda.model.address import NotePath
from memoranda.model.sync import FileState


class NoteReader:
    """Reads the notes that a scan found; made by `FileService.reader`.

    The way to a folder is resolved once, when its first note is read, and a note is opened without
    following a link; only a note that is a link is resolved by itself. The ignore files are not asked: the
    scan did that.
    """

    def __init__(
        self,
        named_as_note: Callable[[str], NotePath],
        resolve_folder: Callable[[str], str],
        read: Callable[..., tuple[bytes, FileState]],
    ) -> None:
        self._named_as_note = named_as_note
        self._resolve_folder = resolve_folder
        self._read = read
        self._folders: dict[str, str] = {}

    def read(self, path: NotePath) -> tuple[bytes, FileState]:
        """As `FileService.read`; raises the same."""
        path = self._named_as_note(path)
        folder, _, name = path.rpartition("/")
        real = self._folders.get(folder)
        if real is None:
            real = self._folders[folder] = self._resolve_folder(folder)
        return self._read(path, f"{real}/{name}", flags=os.O_NOFOLLOW)


MAX_NOTE_BYTES = 64 * 1024 * 1024
"""What is larger was not written by a person: it would hold up all other notes, and fill the memory."""


def read_once(real: str, flags: int) -> tuple[bytes, os.stat_result, os.stat_result]:
    """The bytes, with the state before and after; no bytes of what is no regular file, or too large."""
    # Without O_NONBLOCK the opening of a named pipe would wait for a writer for ever.
    fd = os.open(real, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | flags)
    try:
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode) or before.st_size > MAX_NOTE_BYTES:
            return b"", before, before
        data = os.read(fd, before.st_size + 1)
        if len(data) != before.st_size:  # it changes, or the system gives it in pieces
            chunks = [data]
            while chunk := os.read(fd, 65_536):
                chunks.append(chunk)
            data = b"".join(chunks)
        return data, before, os.fstat(fd)
    finally:
        os.close(fd)

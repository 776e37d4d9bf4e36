"""Changing the file of one note: under its lock, whole or not at all, and never without a way back.

What the history is to give back is durable before the file changes. When it cannot be kept, nothing
is changed. All methods are synchronous and touch the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from memoranda.errors import Conflict, InvalidArgument, NoteExists, NoteNotFound
from memoranda.files.file_service import FileService, checksum
from memoranda.history.store import HistoryStore
from memoranda.markdown.edit_warnings import edit_warnings
from memoranda.markdown.edits import apply_edit
from memoranda.markdown.near_misses import near_misses
from memoranda.markdown.source import decode, encode
from memoranda.model.address import NotePath
from memoranda.model.edit import Edit
from memoranda.model.history import Author
from memoranda.model.note import SourceText
from memoranda.model.sync import FileState
from memoranda.services.torn_batches import put_back_before

T = TypeVar("T")

_TRIES = 4


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of a file.

    Attributes:
        before: its text before, None when there was no file.
        after: its text now; of a dry run, what it would be.
        data: the bytes of `after`.
        state: of the file now; of a dry run, as it stands.
        is_changed: whether `data` are other bytes than before.
        warnings: what the caller should know about the edits.
    """

    before: str | None
    after: str
    data: bytes
    state: FileState
    is_changed: bool
    warnings: tuple[str, ...] = ()


class NoteChanges:
    """Writes, edits and deletes notes of one project, and remembers what it did."""

    def __init__(self, files: FileService, history: HistoryStore) -> None:
        self._files = files
        self._history = history

    def put(
        self, path: NotePath, text: str, expected: str | None, *, replace: bool, by: Author
    ) -> Changed:
        """Give a note this text, whatever it had; without `replace` there must be none.

        Raises: as `NoteService.write`; nothing was changed.
        """
        data = encode(SourceText(text))
        warnings = tuple(near_misses(text, path))

        def put() -> Changed:
            if not self._files.exists(path):
                if expected is not None:
                    raise NoteNotFound(path)
                self._files.require_no_other_kind(path)
                state = self._write(path, None, data, by)
                return Changed(None, text, data, state, True, warnings)
            if not replace:
                raise NoteExists(path)
            old, state = self._files.read(path)
            if expected is not None and checksum(old) != expected:
                raise Conflict(path, checksum(old))
            if data != old:
                state = self._write(path, old, data, by)
            before = old.decode("utf-8", "replace")
            return Changed(before, text, data, state, data != old, warnings)

        return self._alone(path, put)

    def edit(
        self,
        path: NotePath,
        edits: Sequence[Edit],
        expected: str | None,
        *,
        dry_run: bool,
        by: Author,
    ) -> Changed:
        """Apply the edits one after the other to the file as it stands; a dry run does not write.

        Raises: as `NoteService.edit`; nothing was changed.
        """

        def edit() -> Changed:
            data, state = self._files.read(path)
            source = decode(data)
            if expected is not None and checksum(data) != expected:
                raise Conflict(path, checksum(data))
            text = source.text
            warnings: list[str] = []
            for one in edits:
                before, text = text, apply_edit(text, one, path)
                warnings += edit_warnings(before, text, one, path)
            warnings += near_misses(text, path, before=source.text)
            new = encode(SourceText(text, source.encoding, source.bom))
            if new != data and decode(new).text != text:
                raise InvalidArgument(
                    "content_updates",
                    f"{path} is not UTF-8, and with this edit it would no longer be read as "
                    f"{source.encoding}",
                    hint="Save the file as UTF-8 first, then edit it.",
                )
            if not dry_run and new != data:
                state = self._write(path, data, new, by)
            return Changed(source.text, text, new, state, new != data, tuple(warnings))

        return self._alone(path, edit, is_dry_run=dry_run)

    def delete(self, path: NotePath, *, by: Author) -> None:
        """Remove the file. Of a link to a note the link alone; the history keeps the note's bytes.

        Raises: as `NoteService.delete`; nothing was changed.
        """

        def delete() -> None:
            data, _ = self._files.read(path)
            with self._recording(path, data, None, by):
                self._files.delete(path, expected_checksum=checksum(data))

        self._alone(path, delete)

    def _alone(self, path: NotePath, change: Callable[[], T], *, is_dry_run: bool = False) -> T:
        """Carry it out while nobody else changes the file, nor has left it in the middle of a call."""
        if not is_dry_run:
            put_back_before(self._history, self._files, (path,))
        with self._files.locked(path):
            return _undisturbed(change)

    def _write(self, path: NotePath, before: bytes | None, after: bytes, by: Author) -> FileState:
        with self._recording(path, before, after, by) as token:
            if before is None:
                return self._files.create(path, after, token=token)
            return self._files.replace(path, after, expected_checksum=checksum(before), token=token)

    def _recording(
        self, path: NotePath, before: bytes | None, after: bytes | None, by: Author
    ) -> AbstractContextManager[str]:
        return self._history.recording(
            path,
            before=before,
            after=after,
            by=by,
            current=partial(self._files.current, path),
            leftover=partial(self._files.remove_leftover, path),
        )


def _undisturbed(change: Callable[[], T]) -> T:
    """Carry out a change, again on the newer bytes when another program saved in its middle.

    So an edit that still fits is not refused because of a save that it did not know of. Whoever said which
    bytes to expect is refused by the change itself.
    """
    for _ in range(_TRIES - 1):
        try:
            return change()
        except (Conflict, NoteExists, NoteNotFound):
            continue
    return change()

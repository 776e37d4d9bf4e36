"""What is to become of several files at once, as values."""

from __future__ import annotations

from dataclasses import dataclass

from memoranda.model.address import NotePath


@dataclass(frozen=True, slots=True)
class NoteChange:
    """New bytes, another place, or both, for one note.

    Attributes:
        path: where the note is to be; of a deletion, where it is.
        before: the bytes it must have now, None: there is to be no file at `path` now.
        after: the bytes it is to have, None: it is deleted.
        moved_from: where it is now, when that is another place; `before` and `after` are bytes then.
    """

    path: NotePath
    before: bytes | None
    after: bytes | None
    moved_from: NotePath | None = None


@dataclass(frozen=True, slots=True)
class OtherFileMove:
    """Another place for a file that is no note (a picture), whatever its bytes are.

    Attributes:
        path: where it is to be, relative to the project's folder.
        moved_from: where it is now.
    """

    path: str
    moved_from: str


PlannedChange = NoteChange | OtherFileMove

"""What the writer of the index is given and what it gives back, as values.

They know the model alone, so that a process that only reads can make them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from memoranda.model.address import NotePath, Permalink
from memoranda.model.note import ParsedNote
from memoranda.model.sync import FileState, KnownFile


@dataclass(frozen=True, slots=True)
class NoteInput:
    """A parsed file on its way into the index.

    Attributes:
        seen: for a sync, the row it saw: at this path, or at the old one of a move, whose identity the
            note then keeps. None: it saw none.
        is_guarded: drop the note when the rows are not as seen: somebody has indexed newer bytes since.
        terms: what text analysis adds to each of its rows, if that is known.
    """

    parsed: ParsedNote
    encoding: str
    state: FileState
    checksum: str
    seen: KnownFile | None = None
    is_guarded: bool = False
    terms: tuple[str, ...] | None = None

    @property
    def moved_from(self) -> KnownFile | None:
        """The row of the old path of a move."""
        return self.seen if self.seen is not None and self.seen.path != self.state.path else None

    @property
    def dates(self) -> tuple[datetime, datetime]:
        """Created and modified: the note's own, else the file's. Naive UTC, as stored."""
        file_time = _utc(self.state.mtime_ns)
        created, modified = self.parsed.created, self.parsed.modified
        return (
            created.astimezone(UTC).replace(tzinfo=None) if created else file_time,
            modified.astimezone(UTC).replace(tzinfo=None) if modified else file_time,
        )


@dataclass(frozen=True, slots=True)
class Gone:
    """A note on its way out of the index; only if its row is still as described."""

    entity_id: int
    path: NotePath
    checksum: str


@dataclass(frozen=True, slots=True)
class Applied:
    """What `apply` did.

    Attributes:
        ids: of the entities, by path.
        links_resolved: how many links found their note.
        readdressed: the permalinks of other notes that had to change: path, the old one, the new one.
    """

    ids: Mapping[NotePath, int]
    links_resolved: int = 0
    readdressed: tuple[tuple[NotePath, Permalink, Permalink], ...] = ()


def _utc(nanoseconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):  # a file system may claim any year
        return datetime.fromtimestamp(0, UTC).replace(tzinfo=None)

"""The seams with more than one implementation. The docstrings are the contract (`tests/contract`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from memoranda.model.search import ItemType, RankedPage, SearchQuery
from memoranda.model.sync import Progress


class Clock(Protocol):
    """The time. Production: `files.clock.SystemClock`; tests drive their own."""

    def now(self) -> datetime:
        """Aware UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...


class ProgressSink(Protocol):
    """Told how far a sync is; called from the event loop, must not block."""

    def __call__(self, progress: Progress, /) -> None: ...


@dataclass(frozen=True, slots=True)
class IndexedItem:
    """One full-text row: an item of a note at its finest grain.

    Attributes:
        title, tags, headings: set on the note's own row only.
        content: the item's text as written (without what other items of the note hold).
    """

    item_type: ItemType
    content: str
    heading_path: tuple[str, ...] = ()
    start_line: int = 1
    end_line: int = 1
    title: str = ""
    tags: str = ""
    headings: str = ""
    item_id: int | None = None

    @property
    def searched(self) -> str:
        """All the text that a search for the item looks at."""
        if self.title or self.tags or self.headings:
            return f"{self.title}\n{self.tags}\n{self.headings}\n{self.content}"
        return self.content


@dataclass(frozen=True, slots=True)
class IndexedNote:
    """All rows of one note; the first item is the note itself.

    Attributes:
        is_new: the note has no rows yet, so none need be looked for.
        terms: what text analysis adds to each item, in their order; None: it is still to be asked.
    """

    entity_id: int
    note_type: str
    created_at: datetime
    updated_at: datetime
    items: Sequence[IndexedItem]
    is_new: bool = False
    terms: Sequence[str] | None = None


class FullTextIndex(Protocol):
    """Full-text search inside the caller's transaction, bound to one project.

    `conn` is the transaction's SQLAlchemy connection; it is opaque outside `db` and `repositories`.
    """

    def replace(self, conn: Any, notes: Iterable[IndexedNote]) -> None:
        """Make these the only rows of their notes. A note that was not there is added."""
        ...

    def remove(self, conn: Any, entity_ids: Iterable[int]) -> None:
        """Remove all rows of these notes; unknown ids are no error."""
        ...

    def search(self, conn: Any, query: SearchQuery) -> RankedPage:
        """Notes that match, best first; equal scores by file path.

        No text is an error: whatever a user types is quoted. A text without a searchable word
        matches every note that passes the filters, newest first. Filters act before paging; `total`
        is exact. If no note matches all terms, terms are joined by OR and `relaxed` is set.
        """
        ...

    def check(self, conn: Any) -> bool:
        """Whether the index structure is intact."""
        ...

"""A search as values: what is asked, what is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memoranda.model.note import NoteRef


class SearchType(StrEnum):
    """Search modes of spec 5.1."""

    FTS = "fts"
    VECTOR = "vector"
    HYBRID = "hybrid"


class ItemType(StrEnum):
    """What a full-text row stands for. The spec's entity, observation, relation, and our section."""

    NOTE = "entity"
    SECTION = "section"
    OBSERVATION = "observation"
    RELATION = "relation"


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Spec 5.5; all that are set must hold.

    Attributes:
        permalink: exact.
        permalink_match: prefix, or a pattern with `*`; every other character is plain.
        title: case-blind substring.
        note_types: any of them, case-blind.
        tags: all of them, case-blind; a tag also matches the tags nested below it.
        after_date: aware; file modification time later than this.
        item_types: only hits in such items.
        metadata: key -> value or list of values (any); compared as text, case-blind; numbers and ISO
            dates compare by value. A key with dots is the key as written.
        min_similarity: vector leg only.
    """

    permalink: str | None = None
    permalink_match: str | None = None
    title: str | None = None
    note_types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    after_date: datetime | None = None
    item_types: tuple[ItemType, ...] = ()
    metadata: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    min_similarity: float | None = None


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One search. `limit` 1..200, `offset` >= 0, both in notes."""

    text: str
    search_type: SearchType = SearchType.HYBRID
    filters: SearchFilters = SearchFilters()
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ItemHit:
    """A matching item inside a note. Score > 0, higher is better."""

    entity_id: int
    item_type: ItemType
    text: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    score: float


@dataclass(frozen=True, slots=True)
class RankedNote:
    """What a full-text index returns for a note: its score and its best items, best first."""

    entity_id: int
    score: float
    items: tuple[ItemHit, ...]


@dataclass(frozen=True, slots=True)
class RankedPage:
    """One page of ranked notes, best first, ties by path. `relaxed`: terms were joined by OR."""

    notes: tuple[RankedNote, ...]
    total: int
    relaxed: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A snippet with its place in the note."""

    text: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One note of the answer with its best passages, best first. `score` falls down the list, > 0."""

    ref: NoteRef
    score: float
    item_type: ItemType
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class SearchResults:
    """An answer.

    Attributes:
        search_type: what really ran.
        degraded: why that is less than what was asked for, else None.
        suggestion: what to try when nothing was found, else None.
        relaxed: no note has all the words; these have some.
    """

    query: str
    search_type: SearchType
    hits: tuple[Hit, ...]
    total: int
    limit: int
    offset: int
    degraded: str | None = None
    suggestion: str | None = None
    relaxed: bool = False

    @property
    def has_more(self) -> bool:
        """Whether a further page exists."""
        return self.offset + len(self.hits) < self.total

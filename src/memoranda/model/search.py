"""A search as values: what is asked, what is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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


class Confidence(StrEnum):
    """How likely a hit is what was asked for: where it lies between what fits and nonsense in this project."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NONE = "none"


class MetadataOperator(StrEnum):
    """How a metadata value is compared; the names are what a caller writes."""

    EQ = "$eq"
    NE = "$ne"
    GT = "$gt"
    GTE = "$gte"
    LT = "$lt"
    LTE = "$lte"
    IN = "$in"
    CONTAINS = "$contains"
    EXISTS = "$exists"


@dataclass(frozen=True, slots=True)
class MetadataCondition:
    """One condition on a frontmatter value.

    Attributes:
        key: as written in the frontmatter; a key inside a map by its path (`author.name`), unless a key of
            that very name exists.
        values: as text, as the index holds them; one, but for `$in`. `$exists` has "true" or "false".

    Numbers and ISO dates compare by value when both sides look so, else as text, case-blind. A list
    fulfils a condition when one of its elements does; `$ne` when none equals, or the key is missing.
    """

    key: str
    operator: MetadataOperator
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A span of time that a query names in words.

    A relative one narrows the search, one of the calendar puts its notes first.

    Attributes:
        text: the words, as typed.
        start, end: aware UTC, half-open.
        words: for a date of the calendar ("March 2025"), texts whose words in a row name it too; a note
            that says so belongs to the span whenever it was written. Empty for "last week".
    """

    text: str
    start: datetime
    end: datetime
    words: tuple[str, ...] = ()


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
        metadata: all of them.
        path: the note's path from the root, case-blind: a folder or a beginning, or a pattern with `*`.
        span: the note was created or modified in it, or says so (`DateSpan.words`).
        min_similarity: vector leg only.
    """

    permalink: str | None = None
    permalink_match: str | None = None
    title: str | None = None
    note_types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    after_date: datetime | None = None
    item_types: tuple[ItemType, ...] = ()
    metadata: tuple[MetadataCondition, ...] = ()
    path: str | None = None
    span: DateSpan | None = None
    min_similarity: float | None = None


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One search. `limit` 1..200, `offset` >= 0, both in hits. `explain`: say why each hit is where it is."""

    text: str
    search_type: SearchType = SearchType.HYBRID
    filters: SearchFilters = SearchFilters()
    limit: int = 50
    offset: int = 0
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A snippet with its place in the note. `matches`: what of the query is in it, as written there."""

    text: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    score: float
    matches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TermShare:
    """What one term of the query adds to a hit.

    Attributes:
        text: as typed.
        items: items of the project that have it in any form.
        is_exact: the hit has it as typed, not only its stem or another form; False also without it.
        share: what it adds to the score of the hit's best item, 0.0 if that has it not.
    """

    text: str
    items: int
    is_exact: bool
    share: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit is where it is. Shares and boosts are parts of the score before it was scaled.

    Attributes:
        rank: its place among all hits, from 1.
        terms: in the order typed.
        fields: title, tags, headings, text -> its share in the text score of the best item.
        boosts: name -> what it adds: phrase, neighbours, note (the whole note), passages (its best items),
            all_terms, title, date and recency (factors).
        text_score, text_rank: in the search by words; None: it has not found the hit.
        similarity, similarity_rank: in the search by meaning, the cosine of the nearest part; None likewise.
    """

    rank: int
    terms: tuple[TermShare, ...]
    fields: Mapping[str, float]
    boosts: Mapping[str, float]
    text_score: float | None = None
    text_rank: int | None = None
    similarity: float | None = None
    similarity_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A note with its best passages, best first, or one item of a note. `score` falls down the list, > 0."""

    ref: NoteRef
    score: float
    item_type: ItemType
    passages: tuple[Passage, ...]
    explanation: Explanation | None = None
    confidence: Confidence | None = None


@dataclass(frozen=True, slots=True)
class SearchResults:
    """An answer.

    Attributes:
        search_type: what really ran.
        hits: notes; items, when the filter names item types other than the note's.
        total: all that match, exact if `total_is_exact`.
        full_matches: how many of them have all the words; None without words.
        degraded: why that is less than what was asked for, else None.
        suggestion: what to try when nothing was found or nothing fits, else None.
        relaxed: what the query demands (a phrase, AND, a date in words) is nowhere; these have some of it.
        is_weak: nothing relevant was found; `hits` are the nearest, at most three.
        read_filters: filters, and dates that come first, that were read from the words of the query.
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
    full_matches: int | None = None
    is_weak: bool = False
    read_filters: tuple[str, ...] = ()
    total_is_exact: bool = True

    @property
    def has_more(self) -> bool:
        """Whether a further page exists."""
        return not self.is_weak and self.offset + len(self.hits) < self.total

"""The full-text table of SQLite, `search_index`: its columns, its DDL and its row ids. Pure.

One row per item of a note (the note itself, a section, an observation, a relation). The row id says
which note an item belongs to, where it stands and what it is, so that ranking reads ids and scores
alone and all rows of a note are one range:

    entity_id << 24 | ordinal << 2 | kind

The columns of spec 2.1.5 come first, in its order; ids, types and dates are UNINDEXED (else a search
for "1" finds every note of project 1). `content_stems` takes what text analysis makes of an item:
stems, n-grams of unspaced scripts, and terms whose signs the tokenizer drops (`c++`, `.net`).

A change of the DDL is a migration, which holds its text; a test compares the two.

Source: spec 2.1.5; SQLite 3.37 or later (FTS5).
"""

from __future__ import annotations

from typing import NamedTuple

from memoranda.model.search import ItemType

TABLE = "search_index"
INDEXED = ("title", "content", "tags", "content_stems", "headings")
"""The columns that are searched, in column order."""

COLUMNS = (
    "entity_id",
    "project_id",
    "title",
    "content",
    "note_type",
    "entity_type",
    "created_at",
    "updated_at",
    "tags",
    "content_stems",
    # own
    "headings",
    "heading_path",
    "start_line",
    "end_line",
    "item_id",
)
"""All columns in table order: the order of the weights of bm25(), which counts UNINDEXED ones too."""

SHADOW_TABLES = tuple(f"{TABLE}_{part}" for part in ("config", "content", "data", "docsize", "idx"))
"""The tables FTS5 keeps the index in."""

TOKENIZER = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
"""Marks belong to words (Devanagari, Thai, Khmer and Myanmar vowels); `text.analysis` counts on it."""

CREATE = (
    f"CREATE VIRTUAL TABLE {TABLE} USING fts5("
    + ", ".join(name if name in INDEXED else f"{name} UNINDEXED" for name in COLUMNS)
    + f', tokenize = "{TOKENIZER}")'
)
"""The DDL as the newest revision makes it; a database with another one is not current."""

CHECK = f"INSERT INTO {TABLE}({TABLE}) VALUES ('integrity-check')"  # noqa: S608
"""Fails with SQLITE_CORRUPT when the index and the stored text differ; changes nothing."""

KINDS: dict[ItemType, int] = {
    ItemType.NOTE: 0,
    ItemType.SECTION: 1,
    ItemType.OBSERVATION: 2,
    ItemType.RELATION: 3,
}
ITEM_TYPES: tuple[ItemType, ...] = tuple(KINDS)
"""Item type by kind."""

KIND_BITS = 2
NOTE_BITS = 24
MAX_ORDINAL = (1 << (NOTE_BITS - KIND_BITS)) - 1
MAX_ENTITY_ID = (1 << (63 - NOTE_BITS)) - 1


class RowKey(NamedTuple):
    """What a row id says. `ordinal` is the place of the item in the note, 0 for the note itself."""

    entity_id: int
    ordinal: int
    kind: int


def row_id(entity_id: int, ordinal: int, kind: int) -> int:
    """The row id of one item, a positive 64-bit integer.

    Raises:
        ValueError: a part does not fit into its bits, which would write into another note's rows.
    """
    if not (
        0 < entity_id <= MAX_ENTITY_ID
        and 0 <= ordinal <= MAX_ORDINAL
        and 0 <= kind < 1 << KIND_BITS
    ):
        raise ValueError(f"no row id for entity {entity_id}, ordinal {ordinal}, kind {kind}")
    return entity_id << NOTE_BITS | ordinal << KIND_BITS | kind


def row_key(rowid: int) -> RowKey:
    """The parts of a row id; the inverse of `row_id`."""
    return RowKey(
        rowid >> NOTE_BITS, (rowid >> KIND_BITS) & MAX_ORDINAL, rowid & ((1 << KIND_BITS) - 1)
    )


def row_range(entity_id: int) -> tuple[int, int]:
    """First and last possible row id of a note, both inclusive (for BETWEEN)."""
    first = entity_id << NOTE_BITS
    return first, first | ((1 << NOTE_BITS) - 1)

"""The full-text table of SQLite, `search_index`: its columns, its DDL and its row ids. Pure.

One row per item of a note (the note itself, a section, an observation, a relation). Its row id is
the item's key (`model.item_key`).

The columns of spec 2.1.5 come first, in its order; ids, types and dates are UNINDEXED (else a search
for "1" finds every note of project 1). `content_stems` takes what text analysis makes of an item:
stems, n-grams of unspaced scripts, and terms whose signs the tokenizer drops (`c++`, `.net`).

A change of the DDL is a migration, which holds its text; a test compares the two.

Source: spec 2.1.5; SQLite 3.37 or later (FTS5).
"""

from __future__ import annotations

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

ANOTHER_PROJECT = "SELECT 1 FROM project WHERE id <> ? LIMIT 1"
"""Whether rows of other projects may be there; else no row need be asked whose it is."""

OF_PROJECT = " AND rowid >> 24 IN (SELECT id FROM entity WHERE project_id = {:d})"
"""Keeps the rows of one project."""

"""Full-text search on PostgreSQL: one row an item, and beside it the words of the item as tsvectors.

The rows are those of SQLite, under the same names. The words (`text.lexemes`) are in a table of their own,
whose rows are short: a search visits one for each item that has a word. Whatever a user typed is a quoted lexeme
of a tsquery.

Source: spec 2.1.5, 5.2; architecture rows 6, 15, 21.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy.engine import Connection

from memoranda.model.item_key import KINDS, NOTE_BITS, item_key, key_range
from memoranda.ports import IndexedNote, StoredItem
from memoranda.repositories.driver import rows, run, run_many
from memoranda.repositories.stored_items import first_with_text, items_by_key, path_json
from memoranda.repositories.vocabulary_postgres import add_words, similar_words
from memoranda.repositories.word_keys import keys_with
from memoranda.text.analysis import ENGLISH, Languages, index_terms
from memoranda.text.lexemes import ADDED, TITLE, WRITTEN, all_of, any_of, vectors

if TYPE_CHECKING:
    from memoranda.ports import Keys

_BATCH_NOTES: Final = 128
_TABLES: Final = ("search_terms", "search_words", "search_statistics", "search_index")
_INSERT: Final = """
    INSERT INTO search_index (
        rowid, entity_id, project_id, title, content, note_type, entity_type, created_at, updated_at,
        tags, content_stems, headings, heading_path, start_line, end_line, item_id
    ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
"""
_INSERT_WORDS: Final = """
    INSERT INTO search_terms (key, part, project_id, terms) VALUES ($1, $2, $3, CAST($4 AS tsvector))
"""
_DELETE: Final = """
    DELETE FROM {} AS item USING unnest(CAST($1 AS bigint[])) AS note
    WHERE item.{} BETWEEN note << {} AND ((note + 1) << {}) - 1
"""
_DELETE_ITEMS: Final = _DELETE.format("search_index", "rowid", NOTE_BITS, NOTE_BITS)
_DELETE_WORDS: Final = _DELETE.format("search_terms", "key", NOTE_BITS, NOTE_BITS)
_COUNT: Final = """
    INSERT INTO search_statistics AS s (project_id, items) VALUES ($1, $2)
    ON CONFLICT (project_id) DO UPDATE SET items = s.items + excluded.items
"""
_TITLED: Final = """
    SELECT i.rowid FROM unnest(CAST($1 AS bigint[])) AS found (key) JOIN search_index AS i ON i.rowid = found.key
    ORDER BY length(i.title), i.title, i.rowid LIMIT 20
"""
_MOST_TITLED: Final = 2_000
_NOTES_WITH: Final = """
    SELECT DISTINCT rowid >> 24 FROM search_index
    WHERE project_id = $1 AND (CAST($2 AS bigint) >> CAST(rowid & 3 AS integer)) & 1 = 1 ORDER BY 1
"""
_ITEMS: Final = "SELECT items FROM search_statistics WHERE project_id = $1"
_SOUND: Final = """
    SELECT (SELECT count(*) FROM search_index WHERE project_id = $1)
        = coalesce((SELECT items FROM search_statistics WHERE project_id = $1), 0)
    AND NOT EXISTS (
        SELECT 1 FROM search_index AS i WHERE i.project_id = $1
        AND NOT EXISTS (SELECT 1 FROM search_terms AS t WHERE t.key = i.rowid AND t.part = 0)
    )
    AND NOT EXISTS (
        SELECT 1 FROM search_terms AS t WHERE t.project_id = $1
        AND NOT EXISTS (SELECT 1 FROM search_index AS i WHERE i.rowid = t.key)
    )
"""


class PostgresFullTextIndex:
    """`ports.FullTextIndex` over the tables `search_index` and `search_terms`."""

    def __init__(self, project_id: int, languages: Languages = ENGLISH) -> None:
        self._project_id = project_id
        self._languages = languages

    def replace(self, conn: Connection, notes: Iterable[IndexedNote]) -> None:
        """Make these the only rows of their notes; a bounded number of notes is held at a time."""
        rest = iter(notes)
        while batch := list(islice(rest, _BATCH_NOTES)):
            more = -self._removed(conn, [note.entity_id for note in batch if not note.is_new])
            items = [row for note in batch for row in self._rows(note)]
            run_many(conn, _INSERT, items)
            run_many(conn, _INSERT_WORDS, [row for item in items for row in self._words(item)])
            add_words(conn, self._project_id, (text for item in items for text in _written(item)))
            self._count(conn, more + len(items))

    def remove(self, conn: Connection, entity_ids: Iterable[int]) -> None:
        """Remove all rows of these notes."""
        self._count(conn, -self._removed(conn, list(entity_ids)))

    def postings(
        self, conn: Connection, phrases: Sequence[str], *, is_prefix: bool = False
    ) -> Keys:
        """Keys of the project's items that have any of these phrases in any field, ascending."""
        return keys_with(conn, any_of(self._project_id, phrases, is_prefix=is_prefix))

    def titled(self, conn: Connection, terms: Sequence[Sequence[str]]) -> Keys:
        """Keys of the own items of notes whose title has a phrase of every term, ascending; at most twenty."""
        import numpy as np

        parts = [any_of(self._project_id, phrases, within=TITLE) for phrases in terms]
        keys = keys_with(conn, all_of(parts) if all(parts) else "")[:_MOST_TITLED].tolist()
        found = rows(conn, _TITLED, keys) if keys else ()
        return np.array(sorted(key for (key,) in found), np.int64)

    def items(self, conn: Connection, keys: Sequence[int]) -> Sequence[StoredItem]:
        """The items with these keys, ascending by key; unknown keys are left out."""
        return items_by_key(conn, keys)

    def lead(self, conn: Connection, entity_id: int) -> StoredItem | None:
        """A note's first item that has a text; None if there is none."""
        own, last = key_range(entity_id)
        return first_with_text(conn, own + 1, last) or first_with_text(conn, own, own)

    def notes_with(self, conn: Connection, kinds: Sequence[int]) -> Keys:
        """Ids of the project's notes that have an item of any of these kinds, ascending."""
        import numpy as np

        found = rows(conn, _NOTES_WITH, self._project_id, sum(1 << kind for kind in kinds))
        return np.array([note for (note,) in found], np.int64)

    def similar_words(self, conn: Connection, word: str, limit: int) -> Sequence[tuple[str, int]]:
        """Words that this one may have meant, likeliest first, with their items."""
        return similar_words(conn, self._project_id, word, limit)

    def item_count(self, conn: Connection) -> int:
        """How many items the project has: they are counted as they come and go."""
        found = rows(conn, _ITEMS, self._project_id)
        return int(found[0][0]) if found else 0

    def check(self, conn: Connection) -> bool:
        """Whether the items are as many as were counted, and each has its words and no other is found."""
        return bool(rows(conn, _SOUND, self._project_id)[0][0])

    def clear(self, conn: Connection) -> None:
        """Remove whatever is here of the project, also what is damaged."""
        for table in _TABLES:
            run(conn, f"DELETE FROM {table} WHERE project_id = $1", self._project_id)  # noqa: S608

    def _removed(self, conn: Connection, entity_ids: Sequence[int]) -> int:
        if not entity_ids:
            return 0
        run(conn, _DELETE_WORDS, list(entity_ids))
        return run(conn, _DELETE_ITEMS, list(entity_ids))

    def _count(self, conn: Connection, more: int) -> None:
        if more:
            run(conn, _COUNT, self._project_id, more)

    def _rows(self, note: IndexedNote) -> Iterator[tuple[Any, ...]]:
        """A note's rows, as `_INSERT` takes them; what only the note has is said once."""
        note_type: str | None = note.note_type
        created: str | None = note.created_at.isoformat(" ")
        updated: str | None = note.updated_at.isoformat(" ")
        terms = note.terms
        if terms is None:
            terms = [index_terms(item.searched, self._languages) for item in note.items]
        for ordinal, (item, added) in enumerate(zip(note.items, terms, strict=True)):
            yield (
                item_key(note.entity_id, ordinal, KINDS[item.item_type]),
                note.entity_id,
                self._project_id,
                _storable(item.title) or None,
                _storable(item.content),
                note_type,
                item.item_type.value,
                created,
                updated,
                _storable(item.tags) or None,
                added or None,
                _storable(item.headings) or None,
                path_json(item.heading_path) if item.heading_path else None,
                item.start_line,
                item.end_line,
                item.item_id,
            )
            note_type = created = updated = None

    def _words(self, row: tuple[Any, ...]) -> Iterator[tuple[object, ...]]:
        """The rows of an item's words, of its own row."""
        key, title, content, tags, added, headings = (row[at] for at in (0, 3, 4, 9, 10, 11))
        columns = (
            (TITLE, title or ""),
            (WRITTEN, content),
            (WRITTEN, tags or ""),
            (ADDED, added or ""),
            (WRITTEN, headings or ""),
        )
        for part, vector in enumerate(vectors(self._project_id, columns)):
            yield key, part, self._project_id, vector


def _storable(text: str) -> str:
    return text.replace("\0", "\ufffd") if "\0" in text else text


def _written(row: tuple[Any, ...]) -> Iterator[str]:
    return (row[at] for at in (3, 4, 9, 11) if row[at])

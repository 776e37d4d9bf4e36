"""Full-text search on SQLite: one FTS5 row per item. Whatever a user typed is inside an FTS5 string.

Source: spec 2.1.5, 5.2; architecture rows 6, 15, 21.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from sqlalchemy.engine import Connection
from sqlalchemy.exc import DatabaseError

from memoranda.db import fts
from memoranda.model.item_key import KINDS, item_key, key_range
from memoranda.ports import IndexedNote, StoredItem
from memoranda.repositories.driver import rows
from memoranda.repositories.stored_items import first_with_text, items_by_key, path_json
from memoranda.repositories.vocabulary import similar_words
from memoranda.text.analysis import ENGLISH, Languages, has_unspaced, index_terms

if TYPE_CHECKING:
    from memoranda.ports import Keys

_BATCH_NOTES = 128
_INSERT = """
    INSERT INTO search_index (
        rowid, entity_id, project_id, title, content, note_type, entity_type, created_at, updated_at,
        tags, content_stems, headings, heading_path, start_line, end_line, item_id
    ) VALUES (
        ?, ?, ?, nullif(?, ''), ?, nullif(?, ''), ?, nullif(?, ''), nullif(?, ''),
        nullif(?, ''), nullif(?, ''), nullif(?, ''), nullif(?, ''), ?, ?, nullif(?, '')
    )
"""
"""What is empty is NULL; made so here, since the driver takes ten times longer over a None."""
_KEYS = "SELECT group_concat(rowid) FROM search_index WHERE search_index MATCH ?"
_TITLED = """
    SELECT rowid FROM (
        SELECT rowid, title FROM search_index WHERE search_index MATCH ? AND project_id = {:d} LIMIT 2000
    ) ORDER BY length(title), title LIMIT 20
"""
_NOTES_WITH = """
    SELECT DISTINCT id >> 24 FROM search_index_docsize WHERE ? >> (id & 3) & 1
    AND id >> 24 IN (SELECT id FROM entity WHERE project_id = ?) ORDER BY 1
"""
_STATISTICS = "SELECT block FROM search_index_data WHERE id = 1"
_DELETE = "DELETE FROM search_index WHERE rowid BETWEEN ? AND ?"
_CHECK = "INSERT INTO search_index (search_index) VALUES ('integrity-check')"


class SqliteFullTextIndex:
    """`ports.FullTextIndex` over the FTS5 table `search_index`."""

    def __init__(self, project_id: int, languages: Languages = ENGLISH) -> None:
        self._project_id = project_id
        self._languages = languages

    def replace(self, conn: Connection, notes: Iterable[IndexedNote]) -> None:
        """Make these the only rows of their notes; a bounded number of notes is held at a time."""
        rest = iter(notes)
        while batch := list(islice(rest, _BATCH_NOTES)):
            self.remove(conn, [note.entity_id for note in batch if not note.is_new])
            if added := [row for note in batch for row in self._rows(note)]:
                conn.exec_driver_sql(_INSERT, added)

    def remove(self, conn: Connection, entity_ids: Iterable[int]) -> None:
        """Remove all rows of these notes."""
        if ranges := [key_range(entity_id) for entity_id in entity_ids]:
            conn.exec_driver_sql(_DELETE, ranges)

    def postings(
        self, conn: Connection, phrases: Sequence[str], *, is_prefix: bool = False
    ) -> Keys:
        """Keys of the project's items that have any of these phrases in any field, ascending."""
        import numpy as np

        expression = _any_of(phrases, is_prefix=is_prefix)
        if not expression:
            return np.empty(0, np.int64)
        # One text of all keys costs a third of fifty thousand rows.
        sql = _KEYS if self._is_alone(conn) else _KEYS + fts.OF_PROJECT.format(self._project_id)
        [(keys,)] = rows(conn, sql, expression)
        return np.fromstring(keys or "", np.int64, sep=",")

    def titled(self, conn: Connection, terms: Sequence[Sequence[str]]) -> Keys:
        """Keys of the own items of notes whose title has a phrase of every term, ascending; at most twenty."""
        import numpy as np

        parts = [_any_of(phrases, is_prefix=False) for phrases in terms]
        if not parts or not all(parts):
            return np.empty(0, np.int64)
        expression = " AND ".join(f"{{title}} : ({part})" for part in parts)
        sql = _TITLED.format(self._project_id)
        return np.array(sorted(key for (key,) in rows(conn, sql, expression)), np.int64)

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

        found = rows(conn, _NOTES_WITH, sum(1 << kind for kind in kinds), self._project_id)
        return np.array([note for (note,) in found], np.int64)

    def similar_words(self, conn: Connection, word: str, limit: int) -> Sequence[tuple[str, int]]:
        """Words that this one may have meant, likeliest first, with their items."""
        return similar_words(conn, self._project_id, word, limit)

    def item_count(self, conn: Connection) -> int:
        """How many items the index holds: the first number of FTS5's own statistics."""
        found = rows(conn, _STATISTICS)
        return _first_varint(found[0][0]) if found else 0

    def check(self, conn: Connection) -> bool:
        """Whether the index agrees with its rows; reads all of it, in a write transaction only."""
        try:
            conn.exec_driver_sql(_CHECK)
        except DatabaseError as error:
            if "malformed" in str(error.orig):
                return False
            raise
        return True

    def _is_alone(self, conn: Connection) -> bool:
        return not rows(conn, fts.ANOTHER_PROJECT, self._project_id)

    def _rows(self, note: IndexedNote) -> Iterator[tuple[object, ...]]:
        """A note's rows, as `_INSERT` takes them; what only the note has is said once."""
        note_type = note.note_type
        created = note.created_at.isoformat(" ")
        updated = note.updated_at.isoformat(" ")
        terms = note.terms
        if terms is None:
            terms = [index_terms(item.searched, self._languages) for item in note.items]
        for ordinal, (item, added) in enumerate(zip(note.items, terms, strict=True)):
            yield (
                item_key(note.entity_id, ordinal, KINDS[item.item_type]),
                note.entity_id,
                self._project_id,
                item.title,
                item.content,
                note_type,
                item.item_type.value,
                created,
                updated,
                item.tags,
                added,
                item.headings,
                path_json(item.heading_path) if item.heading_path else "",
                item.start_line,
                item.end_line,
                item.item_id or "",
            )
            note_type = created = updated = ""


def _any_of(phrases: Sequence[str], *, is_prefix: bool) -> str:
    """An FTS5 expression that matches any of these phrases."""
    strings = [_quoted(phrase) for phrase in phrases if phrase]
    if strings and is_prefix and not strings[0].endswith("*"):
        strings[0] += " *"
    return " OR ".join(strings)


def _quoted(phrase: str) -> str:
    """An FTS5 phrase. Stems stand beside each other by chance; only pairs of characters are in order there.

    A last character alone is the first of a pair, unless its run ends.
    """
    string = '"' + phrase.replace('"', '""') + '"'
    if has_unspaced(phrase[-1]) and phrase[-2:-1] == " ":
        string += " *"
    is_as_written = " " in phrase and not has_unspaced(phrase)
    return f"- content_stems : {string}" if is_as_written else string


def _first_varint(block: bytes) -> int:
    """SQLite's variable-length integer: seven bits a byte, the highest first, until a byte below 128."""
    value = 0
    for byte in block[:9]:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value

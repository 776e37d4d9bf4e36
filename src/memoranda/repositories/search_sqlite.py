"""Full-text search on SQLite: one FTS5 row per item, written here, searched by `fts_search`.

Source: spec 2.1.5, 5.2; architecture rows 6, 15, 21.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from sqlalchemy.engine import Connection
from sqlalchemy.exc import DatabaseError

from memoranda.db import fts
from memoranda.model.search import RankedPage, SearchQuery
from memoranda.ports import IndexedNote
from memoranda.repositories.fts_search import FtsSearch
from memoranda.repositories.store import as_json
from memoranda.text.analysis import index_terms

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
_DELETE = "DELETE FROM search_index WHERE rowid BETWEEN ? AND ?"
_CHECK = "INSERT INTO search_index (search_index) VALUES ('integrity-check')"


class SqliteFullTextIndex:
    """`ports.FullTextIndex` over the FTS5 table `search_index`."""

    def __init__(self, project_id: int) -> None:
        self._project_id = project_id

    def replace(self, conn: Connection, notes: Iterable[IndexedNote]) -> None:
        """Make these the only rows of their notes; a bounded number of notes is held at a time."""
        rest = iter(notes)
        while batch := list(islice(rest, _BATCH_NOTES)):
            self.remove(conn, [note.entity_id for note in batch if not note.is_new])
            if rows := [row for note in batch for row in self._rows(note)]:
                conn.exec_driver_sql(_INSERT, rows)

    def remove(self, conn: Connection, entity_ids: Iterable[int]) -> None:
        """Remove all rows of these notes."""
        if ranges := [fts.row_range(entity_id) for entity_id in entity_ids]:
            conn.exec_driver_sql(_DELETE, ranges)

    def search(self, conn: Connection, query: SearchQuery) -> RankedPage:
        """Notes that match, best first."""
        return FtsSearch(conn, self._project_id, query).page()

    def check(self, conn: Connection) -> bool:
        """Whether the index agrees with its rows; reads all of it, in a write transaction only."""
        try:
            conn.exec_driver_sql(_CHECK)
        except DatabaseError as error:
            if "malformed" in str(error.orig):
                return False
            raise
        return True

    def _rows(self, note: IndexedNote) -> Iterator[tuple[object, ...]]:
        """A note's rows, as `_INSERT` takes them; what only the note has is said once."""
        note_type = note.note_type
        created = note.created_at.isoformat(" ")
        updated = note.updated_at.isoformat(" ")
        terms = note.terms
        if terms is None:
            terms = [index_terms(item.searched) for item in note.items]
        for ordinal, (item, added) in enumerate(zip(note.items, terms, strict=True)):
            yield (
                fts.row_id(note.entity_id, ordinal, fts.KINDS[item.item_type]),
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
                _path_json(item.heading_path) if item.heading_path else "",
                item.start_line,
                item.end_line,
                item.item_id or "",
            )
            note_type = created = updated = ""


@lru_cache(maxsize=256)
def _path_json(path: tuple[str, ...]) -> str:
    """Items of one section follow each other."""
    return as_json(path)

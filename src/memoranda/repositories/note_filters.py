"""What search filters ask of each note, as PostgreSQL keeps it (`filters_postgres`); SQLite reads the rows themselves.

Written in the transaction that writes the notes. A row goes with its note.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from memoranda.db.dialects import is_postgresql, numbered
from memoranda.repositories.driver import run_many
from memoranda.repositories.filter_terms import Terms
from memoranda.repositories.filter_values import fold
from memoranda.repositories.sql_values import bindable
from memoranda.repositories.store import ProjectScoped, as_json

_REPLACE: Final = numbered(
    """
    INSERT INTO note_filter (entity_id, project_id, title, path, permalink, terms, metadata)
    VALUES (?, ?, ?, ?, ?, ?, CAST(CAST(? AS text) AS jsonb))
    ON CONFLICT (entity_id) DO UPDATE SET title = excluded.title, path = excluded.path,
        permalink = excluded.permalink, terms = excluded.terms, metadata = excluded.metadata
    """
)
_RENAME: Final = numbered("UPDATE note_filter SET permalink = ? WHERE entity_id = ?")


@dataclass(frozen=True, slots=True)
class FilteredNote:
    """What filters may ask of a note, as its rows say it. `tags`: its own and those of its observations."""

    entity_id: int
    path: str
    permalink: str
    title: str
    note_type: str
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]


class NoteFilterRepository(ProjectScoped):
    """What filters ask of the notes of one project. Does nothing on SQLite."""

    def replace(self, notes: Iterable[FilteredNote]) -> None:
        """Write these notes, whose rows are there; on SQLite they are not looked at."""
        if is_postgresql(self._conn):
            terms = Terms(self._project_id)
            run_many(self._conn, _REPLACE, [self._row(terms, note) for note in notes])

    def set_permalinks(self, permalinks: Mapping[int, str]) -> None:
        """Give these notes these permalinks."""
        if is_postgresql(self._conn):
            rows = [(fold(permalink), note) for note, permalink in permalinks.items()]
            run_many(self._conn, _RENAME, rows)

    def _row(self, terms: Terms, note: FilteredNote) -> tuple[object, ...]:
        return (
            note.entity_id,
            self._project_id,
            bindable(fold(note.title)),
            bindable(f"/{fold(note.path)}"),
            bindable(fold(note.permalink)),
            terms.of_note(note.path, note.note_type, note.tags, note.metadata),
            as_json({bindable(key): _storable(value) for key, value in note.metadata.items()}),
        )


def _storable(value: str | list[str]) -> str | list[str]:
    return bindable(value) if isinstance(value, str) else list(map(bindable, value))

"""What search filters may ask of a batch of notes, beside their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memoranda.model.address import NotePath, Permalink
from memoranda.model.note import ParsedNote
from memoranda.repositories.note_filters import FilteredNote, NoteFilterRepository
from memoranda.repositories.store import Tx


def write_filters(
    tx: Tx,
    notes: Iterable[tuple[int, ParsedNote]],
    permalinks: Mapping[NotePath, Permalink],
    renamed: Mapping[int, Permalink],
) -> None:
    """Bring it in line; that of deleted notes goes with their rows.

    Args:
        tx: the caller's write transaction.
        notes: (entity id, note), whose rows are written.
        permalinks: of the notes, by path.
        renamed: other notes whose permalink changed: entity id -> the new one.
    """
    filters = NoteFilterRepository(tx)
    filters.replace(
        FilteredNote(
            entity_id,
            parsed.path,
            permalinks[parsed.path],
            parsed.title,
            parsed.note_type,
            (*parsed.tags, *(tag for one in parsed.observations for tag in one.tags)),
            parsed.frontmatter,
        )
        for entity_id, parsed in notes
    )
    filters.set_permalinks(renamed)

"""Vectors of notes that were indexed anew, and whose texts are the same: after a move, or an undo.

A note that is indexed anew has no vectors of its present text until somebody has looked (`vector_versions`).
Here that look is cheap: whatever text is embedded already keeps its vector, and no provider is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Final

from sqlalchemy.engine import Connection

from memoranda.db.dialects import both
from memoranda.ports import PendingNote
from memoranda.repositories.driver import rows
from memoranda.repositories.store import ProjectScoped, in_chunks
from memoranda.repositories.stored_items import as_list, items_of_notes
from memoranda.repositories.vector_rows import replace_rows
from memoranda.repositories.vector_versions import set_fresh, versions
from memoranda.text.chunks import chunks_of

_SPACES: Final = both("""
    SELECT entity_id, space FROM search_vector_notes
    WHERE entity_id IN ({numbers}) AND project_id = ?
""")


class VectorRenewal(ProjectScoped):
    """Keeps vectors in the caller's transaction, bound to one project."""

    def renew(self, entity_ids: Collection[int]) -> None:
        """Let notes that had vectors have those of their present text; not one with a text that has none."""
        for ids in in_chunks(sorted(entity_ids)):
            spaces: dict[str, list[int]] = defaultdict(list)
            for entity_id, space in rows(self._conn, _SPACES, as_list(ids), self._project_id):
                spaces[space].append(entity_id)
            for space, notes in spaces.items():
                _renew(self._conn, self._project_id, space, notes)


def _renew(conn: Connection, project_id: int, space: str, entity_ids: list[int]) -> None:
    found = {one.entity_id: one for one in versions(conn, project_id, entity_ids)}
    items = items_of_notes(conn, entity_ids)
    notes = [
        PendingNote(number, one.text, chunks_of(items.get(number, ())))
        for number, one in found.items()
    ]
    done = replace_rows(conn, project_id, space, notes, {})
    fresh = [(found[one.entity_id], len(one.chunks)) for one in notes if one.entity_id in done]
    set_fresh(conn, project_id, space, fresh)

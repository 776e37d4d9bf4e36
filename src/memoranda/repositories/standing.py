"""How the notes of an answer stand among others: one statement, asked only when it counts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC

from sqlalchemy import or_, select

from memoranda.db.tables import entity, relation
from memoranda.model.standing import NoteStanding, note_standing
from memoranda.repositories.membership import among
from memoranda.repositories.store import ProjectScoped, in_chunks, texts

_IS_SUPERSEDED = (
    select(relation.c.id)
    .where(
        or_(
            (relation.c.from_id == entity.c.id) & (relation.c.relation_type == "superseded_by"),
            (relation.c.to_id == entity.c.id) & (relation.c.relation_type == "supersedes"),
        ),
        relation.c.to_id.is_distinct_from(relation.c.from_id),
    )
    .exists()
)
"""Another note says so, or the note itself does in a relation; an unresolved target counts."""
_STANDINGS = select(
    entity.c.id,
    entity.c.note_modified,
    entity.c.note_type,
    entity.c.tags,
    entity.c.entity_metadata,
    _IS_SUPERSEDED,
).where(among(entity.c.id, "values"))


class StandingRepository(ProjectScoped):
    """The standing of notes of one project, for reading."""

    def by_ids(self, ids: Iterable[int]) -> dict[int, NoteStanding]:
        """Standings by entity id; unknown ids are left out."""
        return {
            i: note_standing(
                modified.replace(tzinfo=UTC),
                note_type or "",
                texts(tags),
                json.loads(metadata or "{}"),
                is_superseded=superseded,
            )
            for chunk in in_chunks(ids)
            for i, modified, note_type, tags, metadata, superseded in self._conn.execute(
                _STANDINGS, {"values": chunk}
            )
        }

"""Rows of observations. SQL only, set-based."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, delete, insert, select, update

from memoranda.db.tables import observation
from memoranda.model.note import Observation, ObservationItem
from memoranda.repositories.store import ProjectScoped, in_chunks


@dataclass(frozen=True, slots=True)
class StoredObservation:
    """What tells an old observation from another: its words, not its place."""

    row_id: int
    entity_id: int
    category: str
    content: str
    context: str | None
    permalink: str


class ObservationRepository(ProjectScoped):
    """The observation table of one project."""

    def stored(self, entity_ids: Iterable[int]) -> list[StoredObservation]:
        """The observations of these notes in document order."""
        return [
            StoredObservation(*row)
            for chunk in in_chunks(entity_ids)
            for row in self._conn.execute(
                select(
                    observation.c.id,
                    observation.c.entity_id,
                    observation.c.category,
                    observation.c.content,
                    observation.c.context,
                    observation.c.permalink,
                )
                .where(observation.c.entity_id.in_(chunk))
                .order_by(observation.c.entity_id, observation.c.ordinal)
            )
        ]

    def insert(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Insert whole rows."""
        if rows:
            self._conn.execute(insert(observation), list(rows))

    def rewrite(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Update existing rows by their `id`; all rows have the same keys."""
        if rows:
            columns = [key for key in rows[0] if key != "id"]
            self._conn.execute(
                update(observation)
                .where(observation.c.id == bindparam("target"))
                .values({column: bindparam(f"new_{column}") for column in columns}),
                [{"target": row["id"], **{f"new_{c}": row[c] for c in columns}} for row in rows],
            )

    def delete(self, ids: Iterable[int]) -> None:
        """Delete observations."""
        for chunk in in_chunks(ids):
            self._conn.execute(delete(observation).where(observation.c.id.in_(chunk)))

    def of_entity(self, entity_id: int) -> list[ObservationItem]:
        """The observations of one note in document order; byte ranges are 0 (read the file for them)."""
        rows = self._conn.execute(
            select(observation)
            .where(observation.c.entity_id == entity_id)
            .order_by(observation.c.ordinal)
        )
        return [
            ObservationItem(
                Observation(
                    category=row.category,
                    content=row.content,
                    line=row.line,
                    end_line=row.end_line,
                    start=0,
                    end=0,
                    tags=tuple(json.loads(row.tags)),
                    context=row.context,
                    block_id=row.block_id,
                    attributes=json.loads(row.attributes) if row.attributes else {},
                    heading_path=tuple(json.loads(row.heading_path)) if row.heading_path else (),
                ),
                row.permalink,
            )
            for row in rows
        ]

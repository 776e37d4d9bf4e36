"""Rows of observations. SQL only, set-based."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, delete, insert, select, update

from memoranda.db.tables import observation
from memoranda.repositories.membership import among
from memoranda.repositories.store import ProjectScoped, in_chunks

_STORED = (
    select(
        observation.c.id,
        observation.c.entity_id,
        observation.c.category,
        observation.c.content,
        observation.c.context,
        observation.c.block_id,
        observation.c.permalink,
    )
    .where(among(observation.c.entity_id, "values"))
    .order_by(observation.c.entity_id, observation.c.ordinal)
)
_INSERT = insert(observation)
_BY_ID = observation.c.id == bindparam("target")
_READ = (
    "content",
    "category",
    "context",
    "tags",
    "permalink",
    "updated_at",
    "ordinal",
    "line",
    "end_line",
    "block_id",
    "attributes",
    "heading_path",
    "parent",
    "parent_line",
)
"""What the file says of an observation; the rest of the row is its identity."""
_REWRITE = update(observation).where(_BY_ID).values({c: bindparam(f"new_{c}") for c in _READ})
_SET_PERMALINK = update(observation).where(_BY_ID).values(permalink=bindparam("new"))
_DELETE = delete(observation).where(among(observation.c.id, "values"))


@dataclass(frozen=True, slots=True)
class StoredObservation:
    """What tells an old observation from another: its words and its block id, not its place."""

    row_id: int
    entity_id: int
    category: str
    content: str
    context: str | None
    block_id: str | None
    permalink: str


class ObservationRepository(ProjectScoped):
    """The observation table of one project."""

    def stored(self, entity_ids: Iterable[int]) -> list[StoredObservation]:
        """The observations of these notes in document order."""
        return [
            StoredObservation(*row)
            for chunk in in_chunks(entity_ids)
            for row in self._conn.execute(_STORED, {"values": chunk})
        ]

    def insert(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Insert whole rows."""
        self._each(_INSERT, rows)

    def rewrite(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Update all that the file says of existing rows, by their `id`."""
        self._each(
            _REWRITE,
            [{"target": row["id"], **{f"new_{c}": row[c] for c in _READ}} for row in rows],
        )

    def set_permalinks(self, permalinks: Mapping[int, str]) -> None:
        """Row id -> its new permalink."""
        self._each(_SET_PERMALINK, [{"target": i, "new": new} for i, new in permalinks.items()])

    def delete(self, ids: Iterable[int]) -> None:
        """Delete observations."""
        self._in(_DELETE, ids)

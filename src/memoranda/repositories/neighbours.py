"""The links around notes, counted: what says how near two notes are. SQL only, bounded."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, String, bindparam, cast, func, literal, select, union_all
from sqlalchemy.sql.elements import ColumnElement

from memoranda.db.tables import entity, link, relation
from memoranda.repositories.membership import among
from memoranda.repositories.store import ProjectScoped, in_chunks

_Any = tuple[Any, ...]
_TO_A_NOTE = link.c.to_id.is_not(None)
_PLACE = (link.c.entity_id, link.c.ordinal)


def _counted(at: ColumnElement[int], to: ColumnElement[int], *, is_own: bool) -> Select[*_Any]:
    """How often notes are linked, a row each kind; no more than the first `most` links are looked at."""
    links = (
        select(at.label("at"), to.label("other"), link.c.relation_type.label("kind"))
        .where(among(at, "values"), _TO_A_NOTE)
        .order_by(at, *_PLACE)
        .limit(bindparam("most"))
        .subquery()
    )
    columns = (links.c.at, links.c.other, links.c.kind)
    return select(*columns, literal(is_own), func.count().label("number")).group_by(*columns)


_COUNTS = union_all(  # one index each
    _counted(link.c.entity_id, link.c.to_id, is_own=True),
    _counted(link.c.to_id, link.c.entity_id, is_own=False),
).subquery()
_LINKS = select(
    *_COUNTS.c,
    cast(entity.c.note_modified, String),  # only compared, and thousands at a time
    entity.c.file_path,
).join(entity, entity.c.id == _COUNTS.c.other)
_DEGREES = union_all(
    *(
        select(at, func.count()).where(among(at, "values"), _TO_A_NOTE).group_by(at)
        for at in (link.c.entity_id, link.c.to_id)
    )
)
_OPENINGS = select(
    entity.c.id, entity.c.entity_metadata, func.substr(entity.c.content, 1, bindparam("length"))
).where(among(entity.c.id, "values"))
_BACKLINKS = select(func.count()).where(
    relation.c.to_id == bindparam("of"), relation.c.from_id != bindparam("of")
)


@dataclass(frozen=True, slots=True)
class LinkCount:
    """How often one note is linked with another in one way.

    Attributes:
        is_own: the links stand in the note `at`; else they stand in the other and point at it.
        kind: the relation type.
        modified: when the other note was, by its date: naive UTC as stored, to be compared with others.
        path: of the other note.
    """

    at: int
    to: int
    kind: str
    is_own: bool
    number: int
    modified: str
    path: str


@dataclass(frozen=True, slots=True)
class Opening:
    """How a note begins.

    Attributes:
        description: of the frontmatter, "" if there is none.
        content: the first characters of the body.
    """

    description: str
    content: str


class NeighbourRepository(ProjectScoped):
    """The graph around notes."""

    def links_around(self, ids: Collection[int], most: int) -> list[LinkCount]:
        """Links from and to these notes, in a stable order.

        Args:
            ids: a few hundred at most.
            most: so many links are looked at in each direction: the first, by note (`at`), by the note in
                which they stand, by place.
        """
        rows = self._conn.execute(_LINKS, {"values": list(ids), "most": most})
        return [LinkCount(*row) for row in sorted(map(tuple, rows))]

    def degrees(self, ids: Collection[int]) -> dict[int, int]:
        """How many links these notes have with notes, both directions together."""
        found = dict.fromkeys(ids, 0)
        for at, number in self._conn.execute(_DEGREES, {"values": list(ids)}):
            found[at] += number
        return found

    def openings(self, ids: Collection[int], length: int) -> dict[int, Opening]:
        """How these notes begin."""
        return {
            i: Opening(_description(metadata), content or "")
            for chunk in in_chunks(ids)
            for i, metadata, content in self._conn.execute(
                _OPENINGS, {"values": chunk, "length": length}
            )
        }

    def backlinks(self, entity_id: int) -> int:
        """How many relations of other notes point at a note."""
        return int(self._conn.execute(_BACKLINKS, {"of": entity_id}).scalar_one())


def _description(metadata: str | None) -> str:
    value = json.loads(metadata).get("description") if metadata else None
    return value if isinstance(value, str) else ""

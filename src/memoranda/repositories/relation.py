"""Rows of links (every occurrence) and of relations (derived from them). SQL only, set-based."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, delete, func, insert, select, union_all, update

from memoranda.db.tables import entity, link, relation
from memoranda.model.address import NotePath, Permalink
from memoranda.model.note import IncomingRelation, OutgoingRelation
from memoranda.repositories.membership import among, among_found, named_among
from memoranda.repositories.store import ProjectScoped, in_chunks

_ALL = (1 << 31) - 1
"""So many as there are."""
_MINE = entity.c.project_id == bindparam("project")
_DELETE_LINKS = delete(link).where(among(link.c.entity_id, "values"))
_INSERT_LINKS = insert(link)
_SOURCES_OF_NAMES = union_all(  # an OR of the three would use none of their indexes
    *(
        select(link.c.entity_id).where(
            link.c.project_id == bindparam("project"), named_among(column, "values")
        )
        for column in (link.c.key, link.c.root_key, link.c.slug_key)
    )
)
_SOURCES_OF_TARGETS = select(link.c.entity_id).where(among(link.c.to_id, "values"))
_COUNTS = select(  # two indexes; to look for a row that is not dirty would read them all
    select(func.count()).where(_MINE).scalar_subquery(),
    select(func.count()).where(_MINE, entity.c.links_dirty).scalar_subquery(),
)
_DIRTY = select(entity.c.id, entity.c.file_path, entity.c.permalink).where(
    _MINE, entity.c.links_dirty
)
_SOME_DIRTY = _DIRTY.order_by(entity.c.id).limit(bindparam("most"))
_DIRTY_AMONG = _DIRTY.where(among(entity.c.id, "values"))
_CLEAN_SOURCES = select(entity.c.id).where(entity.c.links_dirty.is_(False))
_CLEAN_SOURCES_OF_NAMES = _CLEAN_SOURCES.where(among_found(entity.c.id, _SOURCES_OF_NAMES))
_CLEAN_SOURCES_OF_TARGETS = _CLEAN_SOURCES.where(among_found(entity.c.id, _SOURCES_OF_TARGETS))
_MARK = update(entity).where(among(entity.c.id, "values")).values(links_dirty=True)
_CLEAR_DIRTY = update(entity).where(among(entity.c.id, "values")).values(links_dirty=False)
_LINKS = (
    select(
        link.c.entity_id,
        link.c.ordinal,
        link.c.to_id,
        link.c.key,
        link.c.root_key,
        link.c.slug_key,
        link.c.target,
        link.c.relation_type,
        link.c.context,
        link.c.is_attachment,
        link.c.line,
        link.c.form,
    )
    .where(among(link.c.entity_id, "values"))
    .order_by(link.c.entity_id, link.c.ordinal)
)
_POINT_LINK = (
    update(link)
    .where(link.c.entity_id == bindparam("source"), link.c.ordinal == bindparam("nth"))
    .values(to_id=bindparam("new"))
)
_RELATIONS = select(
    relation.c.id,
    relation.c.external_id,
    relation.c.from_id,
    relation.c.to_id,
    relation.c.to_name,
    relation.c.relation_type,
    relation.c.context,
    relation.c.target,
    relation.c.line,
    relation.c.permalink,
    relation.c.created_at,
).where(among(relation.c.from_id, "values"))
_DELETE = delete(relation).where(among(relation.c.id, "values"))
_DELETE_POINTING = delete(relation).where(among(relation.c.to_id, "values"))
_INSERT = insert(relation)
_SET_PERMALINK = (
    update(relation)
    .where(relation.c.id == bindparam("target_id"))
    .values(permalink=bindparam("new"))
)
_OUTGOING = (
    select(
        relation.c.relation_type,
        relation.c.to_name,
        relation.c.target,
        entity.c.title,
        entity.c.permalink,
        relation.c.context,
        relation.c.line,
    )
    .outerjoin(entity, entity.c.id == relation.c.to_id)
    .where(relation.c.from_id == bindparam("of"))
    .order_by(relation.c.line, relation.c.relation_type, relation.c.to_name)
)
_INCOMING = (
    select(
        relation.c.relation_type,
        entity.c.title,
        entity.c.permalink,
        entity.c.file_path,
        relation.c.context,
        relation.c.line,
    )
    .join(entity, entity.c.id == relation.c.from_id)
    .where(relation.c.to_id == bindparam("of"), relation.c.from_id != bindparam("of"))
    .order_by(entity.c.file_path, relation.c.line, relation.c.relation_type)
    .limit(bindparam("most"))
)
_STEP = (relation.c.from_id, relation.c.to_id, relation.c.relation_type, relation.c.line)
_NEIGHBOURS = union_all(  # one index each; a relation between two of the notes comes twice
    select(*_STEP).where(among(relation.c.from_id, "values"), relation.c.to_id.is_not(None)),
    select(*_STEP).where(among(relation.c.to_id, "values")),
)


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A link occurrence as resolution needs it."""

    entity_id: int
    ordinal: int
    to_id: int | None
    key: str
    root_key: str | None
    slug_key: str
    target: str
    relation_type: str
    context: str | None
    is_attachment: bool
    line: int
    form: str


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """A relation row as it stands."""

    row_id: int
    external_id: str
    from_id: int
    to_id: int | None
    to_name: str
    relation_type: str
    context: str | None
    target: str
    line: int
    permalink: str
    created_at: datetime


class RelationRepository(ProjectScoped):
    """The link and relation tables of one project."""

    def replace_links(
        self, entity_ids: Iterable[int], rows: Sequence[Mapping[str, object]]
    ) -> None:
        """Make `rows` the only links of these notes."""
        self._in(_DELETE_LINKS, entity_ids)
        self._each(_INSERT_LINKS, rows)

    def mark_dirty(self, *, keys: Collection[str], targets: Collection[int]) -> set[int]:
        """Mark the notes whose links may now mean something else; returns those that were not marked.

        Args:
            keys: names that notes gained or lost.
            targets: notes that links point at and that are about to go.
        """
        found: set[int] = set()
        for statement, values in (
            (_CLEAN_SOURCES_OF_NAMES, keys),
            (_CLEAN_SOURCES_OF_TARGETS, targets),
        ):
            for chunk in in_chunks(values):
                found.update(
                    self._conn.execute(
                        statement, {"project": self._project_id, "values": chunk}
                    ).scalars()
                )
        self._in(_MARK, found)
        return found

    def has_clean_notes(self) -> bool:
        """Whether any note's links were resolved already."""
        notes, dirty = self._conn.execute(_COUNTS, {"project": self._project_id}).one()
        return bool(notes > dirty)

    def dirty(self, most: int = _ALL) -> dict[int, tuple[NotePath, Permalink]]:
        """At most so many of the notes whose links are to be resolved, by id."""
        rows = self._conn.execute(_SOME_DIRTY, {"project": self._project_id, "most": most})
        return {i: (NotePath(path), permalink) for i, path, permalink in rows}

    def dirty_among(self, ids: Sequence[int]) -> dict[int, tuple[NotePath, Permalink]]:
        """Those of these notes whose links are to be resolved, by id."""
        rows = self._conn.execute(_DIRTY_AMONG, {"project": self._project_id, "values": ids})
        return {i: (NotePath(path), permalink) for i, path, permalink in rows}

    def clear_dirty(self, ids: Iterable[int]) -> None:
        """These notes' links are resolved."""
        self._in(_CLEAR_DIRTY, ids)

    def links_of(self, entity_ids: Iterable[int]) -> list[StoredLink]:
        """The links of these notes in document order."""
        return [
            StoredLink(*tuple(row))
            for chunk in in_chunks(entity_ids)
            for row in self._conn.execute(_LINKS, {"values": chunk})
        ]

    def sources_of_names(self, keys: Collection[str]) -> set[int]:
        """The notes with a link that one of these keys is compared for."""
        return {
            entity_id
            for chunk in in_chunks(keys)
            for entity_id in self._conn.execute(
                _SOURCES_OF_NAMES, {"project": self._project_id, "values": chunk}
            ).scalars()
        }

    def point_links(self, targets: Iterable[tuple[int, int, int | None]]) -> None:
        """Set the target of (entity id, ordinal) to an entity or to nothing."""
        self._each(
            _POINT_LINK,
            [{"source": i, "nth": ordinal, "new": to_id} for i, ordinal, to_id in targets],
        )

    def relations_of(self, entity_ids: Iterable[int]) -> list[StoredRelation]:
        """The relation rows of these notes."""
        return [
            StoredRelation(*tuple(row))
            for chunk in in_chunks(entity_ids)
            for row in self._conn.execute(_RELATIONS, {"values": chunk})
        ]

    def delete_relations(self, ids: Iterable[int]) -> None:
        """Delete relation rows."""
        self._in(_DELETE, ids)

    def delete_pointing_at(self, entity_ids: Iterable[int]) -> None:
        """Delete the relations to notes that are about to go; their sources must be dirty."""
        self._in(_DELETE_POINTING, entity_ids)

    def insert_relations(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Insert whole rows; rows with an `id` and rows without in separate calls."""
        self._each(_INSERT, rows)

    def rewrite_prefix(
        self, entity_ids: Collection[int], permalinks: Mapping[int, Permalink]
    ) -> None:
        """Write the synthetic permalinks of relations again after their note got another permalink."""
        self._each(
            _SET_PERMALINK,
            [
                {
                    "target_id": row.row_id,
                    "new": f"{permalinks[row.from_id]}/{row.relation_type}/{row.to_name}",
                }
                for row in self.relations_of(entity_ids)
            ],
        )

    def outgoing(self, entity_id: int) -> list[OutgoingRelation]:
        """The relations of a note in document order."""
        rows = self._conn.execute(_OUTGOING, {"of": entity_id})
        return [OutgoingRelation(*row) for row in rows]

    def incoming(self, entity_id: int, limit: int = _ALL) -> list[IncomingRelation]:
        """The backlinks of a note by path and line, at most so many.

        Links from the note to itself are left out.
        """
        rows = self._conn.execute(_INCOMING, {"of": entity_id, "most": limit})
        return [IncomingRelation(*row) for row in rows]

    def neighbours(self, entity_ids: Collection[int]) -> list[tuple[int, int, str]]:
        """(from this note, to that note, why) along relations in both directions, in a stable order."""
        wanted = set(entity_ids)
        found = {
            tuple(row)
            for chunk in in_chunks(entity_ids)
            for row in self._conn.execute(_NEIGHBOURS, {"values": chunk})
        }
        steps: list[tuple[int, int, str]] = []
        for from_id, to_id, kind, _ in sorted(
            found, key=lambda row: (row[0], row[3], row[2], row[1])
        ):
            if from_id in wanted:
                steps.append((from_id, to_id, kind))
            if to_id in wanted:
                steps.append((to_id, from_id, f"<- {kind}"))
        return steps

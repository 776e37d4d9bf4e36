"""Rows of links (every occurrence) and of relations (derived from them). SQL only, set-based."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    and_,
    bindparam,
    delete,
    insert,
    or_,
    select,
    union_all,
    update,
)

from memoranda.db.tables import entity, link, relation
from memoranda.model.address import NotePath, Permalink
from memoranda.model.note import IncomingRelation, LinkForm, OutgoingRelation
from memoranda.repositories.store import ProjectScoped, in_chunks


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A link occurrence as resolution needs it."""

    entity_id: int
    ordinal: int
    to_id: int | None
    key: str
    root_key: str | None
    slug_key: str
    form: LinkForm
    target: str
    relation_type: str
    context: str | None
    is_attachment: bool
    line: int


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
        for chunk in in_chunks(entity_ids):
            self._conn.execute(delete(link).where(link.c.entity_id.in_(chunk)))
        if rows:
            self._conn.execute(insert(link), list(rows))

    def mark_dirty(self, *, keys: Collection[str], targets: Collection[int]) -> None:
        """Mark the notes whose links may now mean something else.

        Args:
            keys: names that notes gained or lost.
            targets: notes that links point at and that are about to go.
        """
        for chunk in in_chunks(keys, 2000):
            names: BindParameter[str] = bindparam("keys", expanding=True)
            matching = union_all(  # an OR of the three would use none of their indexes
                *(
                    select(link.c.entity_id).where(
                        link.c.project_id == self._project_id, column.in_(names)
                    )
                    for column in (link.c.key, link.c.root_key, link.c.slug_key)
                )
            )
            self._conn.execute(
                update(entity)
                .where(entity.c.id.in_(matching), entity.c.links_dirty.is_(False))
                .values(links_dirty=True),
                {"keys": chunk},
            )
        for ids in in_chunks(targets):
            self._conn.execute(
                update(entity)
                .where(entity.c.id.in_(select(link.c.entity_id).where(link.c.to_id.in_(ids))))
                .values(links_dirty=True)
            )

    def has_clean_notes(self) -> bool:
        """Whether any note's links were resolved already."""
        return (
            self._conn.execute(
                select(entity.c.id)
                .where(entity.c.project_id == self._project_id, entity.c.links_dirty.is_(False))
                .limit(1)
            ).first()
            is not None
        )

    def has_dirty(self) -> bool:
        """Whether any note's links wait to be resolved."""
        return (
            self._conn.execute(
                select(entity.c.id)
                .where(entity.c.project_id == self._project_id, entity.c.links_dirty)
                .limit(1)
            ).first()
            is not None
        )

    def dirty(self) -> dict[int, tuple[NotePath, Permalink]]:
        """The notes whose links are to be resolved, by id."""
        rows = self._conn.execute(
            select(entity.c.id, entity.c.file_path, entity.c.permalink).where(
                entity.c.project_id == self._project_id, entity.c.links_dirty
            )
        )
        return {i: (NotePath(path), permalink) for i, path, permalink in rows}

    def clear_dirty(self, ids: Iterable[int]) -> None:
        """These notes' links are resolved."""
        for chunk in in_chunks(ids):
            self._conn.execute(
                update(entity).where(entity.c.id.in_(chunk)).values(links_dirty=False)
            )

    def links_of(self, entity_ids: Iterable[int]) -> list[StoredLink]:
        """The links of these notes in document order."""
        columns = (
            link.c.entity_id,
            link.c.ordinal,
            link.c.to_id,
            link.c.key,
            link.c.root_key,
            link.c.slug_key,
            link.c.form,
            link.c.target,
            link.c.relation_type,
            link.c.context,
            link.c.is_attachment,
            link.c.line,
        )
        return [
            StoredLink(i, o, to, key, root, slug, LinkForm(form), target, kind, context, att, line)
            for chunk in in_chunks(entity_ids)
            for i, o, to, key, root, slug, form, target, kind, context, att, line in (
                self._conn.execute(
                    select(*columns)
                    .where(link.c.entity_id.in_(chunk))
                    .order_by(link.c.entity_id, link.c.ordinal)
                )
            )
        ]

    def point_links(self, targets: Iterable[tuple[int, int, int | None]]) -> None:
        """Set the target of (entity id, ordinal) to an entity or to nothing."""
        rows = [{"source": i, "nth": ordinal, "new": to_id} for i, ordinal, to_id in targets]
        if rows:
            self._conn.execute(
                update(link)
                .where(link.c.entity_id == bindparam("source"), link.c.ordinal == bindparam("nth"))
                .values(to_id=bindparam("new")),
                rows,
            )

    def relations_of(self, entity_ids: Iterable[int]) -> list[StoredRelation]:
        """The relation rows of these notes."""
        columns: tuple[ColumnElement[Any], ...] = (
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
        )
        return [
            StoredRelation(*row)
            for chunk in in_chunks(entity_ids)
            for row in self._conn.execute(select(*columns).where(relation.c.from_id.in_(chunk)))
        ]

    def delete_relations(self, ids: Iterable[int]) -> None:
        """Delete relation rows."""
        for chunk in in_chunks(ids):
            self._conn.execute(delete(relation).where(relation.c.id.in_(chunk)))

    def delete_pointing_at(self, entity_ids: Iterable[int]) -> None:
        """Delete the relations to notes that are about to go; their sources must be dirty."""
        for chunk in in_chunks(entity_ids):
            self._conn.execute(delete(relation).where(relation.c.to_id.in_(chunk)))

    def insert_relations(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Insert whole rows; rows with an `id` and rows without in separate calls."""
        if rows:
            self._conn.execute(insert(relation), list(rows))

    def rewrite_prefix(
        self, entity_ids: Collection[int], permalinks: Mapping[int, Permalink]
    ) -> None:
        """Write the synthetic permalinks of relations again after their note got another permalink."""
        rows = [
            {
                "target_id": row.row_id,
                "new": f"{permalinks[row.from_id]}/{row.relation_type}/{row.to_name}",
            }
            for row in self.relations_of(entity_ids)
        ]
        if rows:
            self._conn.execute(
                update(relation)
                .where(relation.c.id == bindparam("target_id"))
                .values(permalink=bindparam("new")),
                rows,
            )

    def outgoing(self, entity_id: int) -> list[OutgoingRelation]:
        """The relations of a note in document order."""
        rows = self._conn.execute(
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
            .where(relation.c.from_id == entity_id)
            .order_by(relation.c.line, relation.c.relation_type, relation.c.to_name)
        )
        return [OutgoingRelation(*row) for row in rows]

    def incoming(self, entity_id: int, limit: int | None = None) -> list[IncomingRelation]:
        """The backlinks of a note by path and line; links from the note to itself are left out."""
        rows = self._conn.execute(
            select(
                relation.c.relation_type,
                entity.c.title,
                entity.c.permalink,
                entity.c.file_path,
                relation.c.context,
                relation.c.line,
            )
            .join(entity, entity.c.id == relation.c.from_id)
            .where(relation.c.to_id == entity_id, relation.c.from_id != entity_id)
            .order_by(entity.c.file_path, relation.c.line, relation.c.relation_type)
            .limit(limit)
        )
        return [IncomingRelation(*row) for row in rows]

    def neighbours(self, entity_ids: Collection[int]) -> list[tuple[int, int, str]]:
        """(from this note, to that note, why) along relations in both directions, in a stable order."""
        ids = list(entity_ids)
        rows = self._conn.execute(
            select(relation.c.from_id, relation.c.to_id, relation.c.relation_type)
            .where(
                and_(
                    relation.c.to_id.is_not(None),
                    or_(relation.c.from_id.in_(ids), relation.c.to_id.in_(ids)),
                )
            )
            .order_by(relation.c.from_id, relation.c.line, relation.c.relation_type)
        )
        wanted = set(ids)
        steps: list[tuple[int, int, str]] = []
        for from_id, to_id, kind in rows:
            if from_id in wanted:
                steps.append((from_id, to_id, kind))
            if to_id in wanted:
                steps.append((to_id, from_id, f"<- {kind}"))
        return steps

"""Points links at notes and derives relations from links, set-based, inside the caller's transaction.

A note is `links_dirty` from the moment its links, or a name they use, changed until this ran; the mark
is in the database, so an interrupted sync goes on where it stopped. Spec 8.7 (resolve_pending).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial

from memoranda.model.address import NotePath, Permalink, normalized_target
from memoranda.repositories.names import NameRepository
from memoranda.repositories.relation import RelationRepository, StoredLink, StoredRelation
from memoranda.repositories.store import Store, Tx, in_chunks
from memoranda.services.collector import collector_paused
from memoranda.services.external_ids import external_ids
from memoranda.services.linking import Candidate, LinkKeys, Meaning, NameKind, choose

_NOTES_AT_ONCE = 1000

_RelationKey = tuple[int | str, str]


class LinkResolver:
    """Spec 8.7, for callers that have no transaction yet."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def resolve_pending(self) -> int:
        """Resolve what is waiting, a bounded transaction at a time.

        Returns:
            How many links found their note.
        """
        resolved = 0
        while ids := await self._store.read(_waiting):
            with collector_paused():
                resolved += await self._store.write(partial(resolve_links, ids=ids))
        return resolved


def _waiting(tx: Tx) -> list[int]:
    return list(RelationRepository(tx).dirty(_NOTES_AT_ONCE))


def resolve_links(tx: Tx, ids: Collection[int]) -> int:
    """Resolve the links of those of these notes that are dirty, and bring their relations in line.

    Returns:
        How many links pointed nowhere before and point at a note now.
    """
    relations = RelationRepository(tx)
    resolved = 0
    for chunk in in_chunks(ids, _NOTES_AT_ONCE):
        dirty = relations.dirty_among(chunk)
        notes = list(dirty)
        links = relations.links_of(notes)
        targets = _targets(links, dirty, NameRepository(tx))
        pairs = list(zip(links, targets, strict=True))
        relations.point_links(
            (link.entity_id, link.ordinal, to_id) for link, to_id in pairs if link.to_id != to_id
        )
        resolved += sum(link.to_id is None and to_id is not None for link, to_id in pairs)
        _derive(tx, relations, notes, dirty, links, targets)
        relations.clear_dirty(notes)
    return resolved


def _targets(
    links: Iterable[StoredLink],
    dirty: Mapping[int, tuple[NotePath, Permalink]],
    names: NameRepository,
) -> list[int | None]:
    links = list(links)
    keys = {key for link in links for key in (link.key, link.root_key, link.slug_key) if key}
    candidates = {
        key: Meaning([Candidate(i, NameKind(kind), NotePath(path)) for i, kind, path in found])
        for key, found in names.with_keys(keys).items()
    }
    return [
        choose(
            LinkKeys(link.key, link.root_key, link.slug_key),
            link.target,
            dirty[link.entity_id][0],
            candidates,
        )
        for link in links
    ]


def _derive(
    tx: Tx,
    relations: RelationRepository,
    ids: list[int],
    dirty: Mapping[int, tuple[NotePath, Permalink]],
    links: list[StoredLink],
    targets: list[int | None],
) -> None:
    """Bring the relation rows of these notes in line with their links; rows that fit keep their id."""
    wanted: dict[int, dict[_RelationKey, tuple[StoredLink, int | None]]] = {i: {} for i in ids}
    for link, to_id in zip(links, targets, strict=True):
        if to_id is None and link.is_attachment:
            continue
        key = (to_id if to_id is not None else normalized_target(link.target), link.relation_type)
        wanted[link.entity_id].setdefault(key, (link, to_id))
    gone: list[StoredRelation] = []
    for row in relations.relations_of(ids):
        key = (row.to_id if row.to_id is not None else row.to_name, row.relation_type)
        found = wanted[row.from_id].get(key)
        if found is not None and _fits(row, found[0], dirty[row.from_id][1]):
            del wanted[row.from_id][key]
        else:
            gone.append(row)
    external = iter(external_ids(tx.now, sum(map(len, wanted.values()))))
    reusable = {(row.from_id, row.to_name, row.relation_type): row for row in gone}
    fresh: list[dict[str, object]] = []
    kept: list[dict[str, object]] = []
    for from_id, keyed in wanted.items():
        for link, to_id in keyed.values():
            to_name = normalized_target(link.target)
            old = reusable.pop((from_id, to_name, link.relation_type), None)
            row_values: dict[str, object] = {
                "external_id": old.external_id if old else next(external),
                "from_id": from_id,
                "to_id": to_id,
                "to_name": to_name,
                "relation_type": link.relation_type,
                "context": link.context,
                "permalink": _permalink(dirty[from_id][1], link),
                "project_id": tx.project_id,
                "created_at": old.created_at if old else tx.now,
                "updated_at": tx.now,
                "target": link.target,
                "line": link.line,
            }
            if old:
                kept.append({"id": old.row_id, **row_values})
            else:
                fresh.append(row_values)
    relations.delete_relations(row.row_id for row in gone)
    relations.insert_relations(kept)
    relations.insert_relations(fresh)


def _fits(row: StoredRelation, link: StoredLink, permalink: Permalink) -> bool:
    return (row.context, row.target, row.line, row.permalink) == (
        link.context,
        link.target,
        link.line,
        _permalink(permalink, link),
    )


def _permalink(source: Permalink, link: StoredLink) -> str:
    """The synthetic permalink of a relation (spec 2.1.4)."""
    return f"{source}/{link.relation_type}/{normalized_target(link.target)}"

"""The one writer: every change of the index goes through `apply`, set-based, in one transaction.

The watcher, a full sync, every writing tool and a reindex hand over parsed notes and deleted ids; a
single note is a batch of one. What `apply` leaves behind depends on the files alone, not on the order
in which they came (ids and first-seen times aside).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from memoranda.model.address import NotePath, Permalink
from memoranda.model.note import NoteRef
from memoranda.model.sync import UNSURE_NS, KnownFile
from memoranda.ports import FullTextIndex
from memoranda.repositories.entity import EntityRepository, StoredEntity
from memoranda.repositories.failure import FailureRepository
from memoranda.repositories.names import NameRepository
from memoranda.repositories.project import (
    INDEX_VERSION,
    SEARCH_LANGUAGES,
    ProjectRepository,
)
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.relation import RelationRepository
from memoranda.repositories.store import Store, Tx, as_json
from memoranda.services.external_ids import external_ids
from memoranda.services.filter_rows import write_filters
from memoranda.services.items import indexed_note
from memoranda.services.link_resolver import resolve_links
from memoranda.services.linking import Name, link_keys, names_of
from memoranda.services.note_input import Applied, Gone, NoteInput
from memoranda.services.observations import write_observations
from memoranda.services.permalinks import Claim, ClaimClass, assign, claim
from memoranda.text.analysis import Languages

_MANY = 50


@dataclass(frozen=True, slots=True)
class _Entry:
    """A note of the batch with its identity, its old row if any, and what it claims."""

    note: NoteInput
    entity_id: int
    old: StoredEntity | None
    claim: Claim


class EntityService:
    """Spec 8.3 on top of the one writer (docs/explanation/departures.md says which method became which)."""

    def __init__(self, store: Store, fulltext: FullTextIndex) -> None:
        self._store = store
        self._fulltext = fulltext

    async def index_many(
        self,
        notes: Sequence[NoteInput],
        *,
        deleted: Collection[Gone] = (),
        resolve: bool = True,
    ) -> Applied:
        """Write these notes and remove the deleted ones, in one transaction.

        Args:
            notes: at most one per path.
            deleted: notes whose files are gone.
            resolve: whether links are resolved now; if not, affected notes stay marked for
                `LinkResolver.resolve_pending`.
        """
        return await self._store.write(
            lambda tx: apply(tx, self._fulltext, notes, deleted=deleted, resolve=resolve)
        )

    async def get_by_file_path(self, path: str) -> NoteRef | None:
        """The note at exactly this path."""
        return await self._store.read(lambda tx: NoteRefRepository(tx).at(path))


def apply(
    tx: Tx,
    fulltext: FullTextIndex,
    notes: Sequence[NoteInput],
    *,
    deleted: Collection[Gone] = (),
    resolve: bool = True,
) -> Applied:
    """`EntityService.index_many` inside the caller's transaction."""
    entities, relations = EntityRepository(tx), RelationRepository(tx)
    moves = [note.moved_from.entity_id for note in notes if note.moved_from is not None]
    stored = entities.stored(
        paths=[note.state.path for note in notes],
        ids=[*moves, *(one.entity_id for one in deleted)],
    )
    entries, gone = _identify(notes, deleted, stored, entities)
    permalinks, others = _assign_permalinks(entities, entries, gone)
    _make_room(entities, entries, gone, permalinks, others)
    _write_entities(tx, entities, entries, permalinks)
    entities.set_permalinks({one.entity_id: permalinks[one.path] for one in others})
    write_filters(
        tx,
        ((entry.entity_id, entry.note.parsed) for entry in entries),
        permalinks,
        {one.entity_id: permalinks[one.path] for one in others},
    )
    touched = _write_names(tx, entries, gone, permalinks, others)
    items = write_observations(
        tx,
        [(entry.entity_id, entry.note.parsed, entry.old is None) for entry in entries],
        permalinks,
        {one.entity_id: (one.permalink, permalinks[one.path]) for one in others},
    )
    relations.replace_links(
        [entry.entity_id for entry in entries if entry.old], _link_rows(tx, entries)
    )
    relations.rewrite_prefix(
        [one.entity_id for one in others],
        {one.entity_id: permalinks[one.path] for one in others},
    )
    gone_ids = [old.entity_id for old in gone]
    # A first sync marks every note anyway: one question then saves a hundred thousand look-ups.
    concerned = {entry.entity_id for entry in entries}
    if (touched or gone_ids) and (len(entries) < _MANY or relations.has_clean_notes()):
        concerned |= relations.mark_dirty(keys=touched, targets=gone_ids)
    fulltext.replace(
        tx.conn,
        (
            indexed_note(
                entry.entity_id,
                entry.note.parsed,
                items[entry.entity_id],
                entry.note.dates,
                is_new=entry.old is None,
                terms=entry.note.terms,
            )
            for entry in entries
        ),
    )
    fulltext.remove(tx.conn, gone_ids)
    resolved = 0
    if resolve:
        resolved = resolve_links(tx, concerned)
    elif gone_ids:
        relations.delete_pointing_at(gone_ids)
    entities.delete(gone_ids)
    return Applied(
        {entry.note.state.path: entry.entity_id for entry in entries},
        resolved,
        tuple((one.path, one.permalink, permalinks[one.path]) for one in others),
    )


def _identify(
    notes: Sequence[NoteInput],
    deleted: Collection[Gone],
    stored: Sequence[StoredEntity],
    entities: EntityRepository,
) -> tuple[list[_Entry], list[StoredEntity]]:
    """Which row each note is, and which rows go; notes and deletions that came too late are dropped.

    A note keeps the identity it brings along (a move) unless another note that stays lives at its path.
    """
    by_id = {old.entity_id: old for old in stored}
    by_path = {old.path: old for old in stored}
    gone = {one.entity_id for one in deleted if _is_as_seen(by_id.get(one.entity_id), one)}
    moved: dict[NotePath, StoredEntity] = {}
    for note in notes:
        if (seen := note.moved_from) is not None:
            row = by_id.get(seen.entity_id)
            if row is not None and _is_as_seen(row, seen):
                moved[note.state.path] = row
    leaving = gone | {mine.entity_id for mine in moved.values()}
    kept: list[tuple[NoteInput, StoredEntity | None]] = []
    for note in notes:
        there = by_path.get(note.state.path)
        if there is not None and there.entity_id in leaving:
            there = None
        if note.is_guarded and not _may_write(note, there):
            continue
        mine = moved.get(note.state.path)
        if there is not None and mine is not None:
            gone.add(mine.entity_id)
        kept.append((note, there or mine))
    gone -= {old.entity_id for _, old in kept if old is not None}
    new = sum(old is None for _, old in kept)
    next_id = entities.allocate_ids("entity", new) if new else 0
    entries: list[_Entry] = []
    for note, row in kept:
        if row is None:
            entity_id, next_id = next_id, next_id + 1
        else:
            entity_id = row.entity_id
        entries.append(_Entry(note, entity_id, row, claim(note.parsed)))
    return entries, [by_id[i] for i in sorted(gone)]


def _is_as_seen(row: StoredEntity | None, seen: Gone | KnownFile) -> bool:
    return row is not None and (row.path, row.checksum) == (seen.path, seen.checksum)


def _may_write(note: NoteInput, there: StoredEntity | None) -> bool:
    """Whether the row at the note's path is the one the sync saw, or none where it saw none."""
    expected = note.seen if note.moved_from is None else None
    if there is None or expected is None:
        return there is None and expected is None
    return _is_as_seen(there, expected)


def _assign_permalinks(
    entities: EntityRepository, entries: Sequence[_Entry], gone: Sequence[StoredEntity]
) -> tuple[dict[NotePath, Permalink], list[StoredEntity]]:
    """Permalinks of the batch by path, and of the other notes that must change theirs."""
    in_question: set[Permalink] = set()
    for entry in entries:
        new, old = entry.claim, entry.old
        if old is None:
            in_question |= {new.wanted, new.hashed}
        elif (old.wanted, old.hashed) != (new.wanted, new.hashed):
            in_question |= {new.wanted, new.hashed, old.wanted, old.hashed}
        else:
            in_question.add(new.wanted)
    for old in gone:
        in_question |= {old.wanted, old.hashed}
    absent = {old.entity_id for old in gone} | {entry.entity_id for entry in entries}
    rivals = [one for one in entities.claims(in_question) if one.entity_id not in absent]
    claims = [entry.claim for entry in entries]
    claims += [
        Claim(one.path, one.wanted, ClaimClass(one.strength))
        for one in rivals
        if one.wanted in in_question
    ]
    hashed_forms = {one.hashed for one in claims} | {one.hashed for one in rivals}
    permalinks = assign(claims, hashed_forms & in_question)
    return permalinks, [
        one for one in rivals if permalinks.get(one.path, one.permalink) != one.permalink
    ]


def _make_room(
    entities: EntityRepository,
    entries: Sequence[_Entry],
    gone: Sequence[StoredEntity],
    permalinks: Mapping[NotePath, Permalink],
    others: Sequence[StoredEntity],
) -> None:
    """Free every path and permalink that changes hands, so that swaps and chains meet no unique rule."""
    moving = [e.entity_id for e in entries if e.old and e.old.path != e.note.state.path]
    entities.vacate([*moving, *(old.entity_id for old in gone)], paths=True)
    renamed = [
        e.entity_id for e in entries if e.old and e.old.permalink != permalinks[e.note.state.path]
    ]
    entities.vacate([*renamed, *(one.entity_id for one in others)], paths=False)


def _write_entities(
    tx: Tx,
    entities: EntityRepository,
    entries: Sequence[_Entry],
    permalinks: Mapping[NotePath, Permalink],
) -> None:
    new: list[dict[str, object]] = []
    old: list[dict[str, object]] = []
    external = iter(external_ids(tx.now, sum(entry.old is None for entry in entries)))
    for entry in entries:
        parsed, state = entry.note.parsed, entry.note.state
        created, modified = entry.note.dates
        row: dict[str, object] = {
            "id": entry.entity_id,
            "title": parsed.title,
            "note_type": parsed.note_type,
            "file_path": state.path,
            "permalink": permalinks[state.path],
            "entity_metadata": as_json(dict(parsed.frontmatter)),
            "content": parsed.content,
            "mtime": state.mtime_ns / 1e9,
            "size": state.size,
            "checksum": entry.note.checksum,
            "updated_at": tx.now,
            "mtime_ns": state.mtime_ns,
            "ctime_ns": UNSURE_NS if state.is_fresh else state.ctime_ns,
            "inode": state.inode,
            "note_created": created,
            "note_modified": modified,
            "tags": as_json(parsed.tags),
            "aliases": as_json(parsed.aliases),
            "wanted_permalink": entry.claim.wanted,
            "permalink_class": int(entry.claim.strength),
            "hashed_permalink": entry.claim.hashed,
            "encoding": entry.note.encoding,
            "problems": as_json(parsed.problems),
            "links_dirty": True,
            "missing_since": None,
        }
        if entry.old is None:
            row |= {
                "external_id": next(external),
                "project_id": tx.project_id,
                "created_at": tx.now,
            }
            new.append(row)
        else:
            old.append(row)
    entities.insert(new)
    entities.rewrite(old)


def _write_names(
    tx: Tx,
    entries: Sequence[_Entry],
    gone: Sequence[StoredEntity],
    permalinks: Mapping[NotePath, Permalink],
    others: Sequence[StoredEntity],
) -> set[str]:
    """Bring the names in line; returns the keys whose meaning may have changed.

    The names of a row are a function of the row, so the old ones are computed, not read.
    """
    touched: set[str] = set()
    removed: list[tuple[int, str, int]] = []
    added: list[tuple[int, str, int]] = []

    def replace(entity_id: int, old: Set[Name], new: Set[Name], *, moved: bool = False) -> None:
        removed.extend((entity_id, name.key, name.kind) for name in old - new)
        added.extend((entity_id, name.key, name.kind) for name in new - old)
        touched.update(name.key for name in (old | new if moved else old ^ new))

    for entry in entries:
        parsed, path, old = entry.note.parsed, entry.note.state.path, entry.old
        new = names_of(path, parsed.title, parsed.aliases, permalinks[path], entry.claim.hashed)
        moved = old is not None and old.path != path
        replace(entry.entity_id, _stored_names(old) if old else frozenset(), new, moved=moved)
    for one in gone:
        replace(one.entity_id, _stored_names(one), frozenset())
    for other in others:
        new = names_of(other.path, other.title, other.aliases, permalinks[other.path], other.hashed)
        replace(other.entity_id, _stored_names(other), new)
    names = NameRepository(tx)
    names.remove(removed)
    names.add(added)
    return touched


def _stored_names(row: StoredEntity) -> frozenset[Name]:
    return names_of(row.path, row.title, row.aliases, row.permalink, row.hashed)


def forget_contents(tx: Tx, index_version: int, languages: Languages) -> None:
    """Make every file look changed, and the names what this version makes of the rows.

    Ids, times and checksums stay, so that moves are still recognised; the failures of the old version
    are forgiven. What is left to do is in the database, so an interrupted run goes on.
    """
    entities, names = EntityRepository(tx), NameRepository(tx)
    names.clear()
    names.add(
        (row.entity_id, name.key, name.kind)
        for row in entities.all_stored()
        for name in _stored_names(row)
    )
    entities.forget_contents()
    FailureRepository(tx).clear()
    project = ProjectRepository(tx)
    project.set_fact(INDEX_VERSION, index_version)
    project.set_fact(SEARCH_LANGUAGES, list(languages))


def _link_rows(tx: Tx, entries: Iterable[_Entry]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for entry in entries:
        path = entry.note.state.path
        for ordinal, link in enumerate(entry.note.parsed.links):
            keys = link_keys(link, path)
            rows.append(
                {
                    "entity_id": entry.entity_id,
                    "ordinal": ordinal,
                    "project_id": tx.project_id,
                    "to_id": None,
                    "key": keys.key,
                    "root_key": keys.root_key,
                    "slug_key": keys.slug_key,
                    "form": link.form.value,
                    "target": link.target,
                    "anchor": link.anchor or None,
                    "label": link.label or None,
                    "relation_type": link.relation_type,
                    "context": link.context,
                    "is_attachment": link.is_attachment,
                    "line": link.line,
                    "start": link.start,
                    "end": link.end,
                }
            )
    return rows

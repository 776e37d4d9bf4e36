"""Observations of a batch of notes: permalinks, and rows that keep their id while their words or block id stay."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence

from memoranda.model.address import NotePath, Permalink, slug
from memoranda.model.note import Observation, ParsedNote
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.observation import ObservationRepository, StoredObservation
from memoranda.repositories.store import Tx, as_json
from memoranda.services.external_ids import external_ids
from memoranda.services.items import short_headings

_SLUGGED_CHARACTERS = 200


def observation_permalinks(permalink: str, observations: Sequence[Observation]) -> list[str]:
    """The synthetic permalink of each observation, unique within the note.

    Source: spec 14.2. Equal ones get `-2`, `-3`, ... in document order.
    """
    result: list[str] = []
    used: defaultdict[str, int] = defaultdict(int)
    taken: set[str] = set()
    for one in observations:
        text = slug(one.content[:_SLUGGED_CHARACTERS]) or "-"
        base = f"{permalink}/observations/{slug(one.category) or '-'}/{text}"
        used[base] += 1
        unique = base if used[base] == 1 else f"{base}-{used[base]}"
        while unique in taken:
            used[base] += 1
            unique = f"{base}-{used[base]}"
        taken.add(unique)
        result.append(unique)
    return result


def write_observations(
    tx: Tx,
    notes: Sequence[tuple[int, ParsedNote, bool]],
    permalinks: Mapping[NotePath, Permalink],
    renamed: Mapping[int, tuple[str, str]],
) -> dict[int, list[int]]:
    """Bring the observation rows of these notes in line.

    Args:
        tx: the caller's write transaction.
        notes: (entity id, note, whether the entity is new).
        permalinks: of the notes, by path.
        renamed: other notes whose permalink changed: entity id -> (old, new).

    Returns:
        Row ids of the observations of each note, in document order.
    """
    repository = ObservationRepository(tx)
    existing = [entity_id for entity_id, _, is_new in notes if not is_new]
    stored = repository.stored(existing) if existing else []
    kept_ids, left_over = _same(stored, notes) if stored else ({}, [])
    fresh: list[dict[str, object]] = []
    kept: list[dict[str, object]] = []
    ids: dict[int, list[int]] = {}
    total = sum(len(parsed.observations) for _, parsed, _ in notes)
    new = total - len(kept_ids)
    next_id = EntityRepository(tx).allocate_ids("observation", new) if new else 0
    external = iter(external_ids(tx.now, new))
    for entity_id, parsed, _ in notes:
        unique = observation_permalinks(permalinks[parsed.path], parsed.observations)
        ids[entity_id] = []
        for ordinal, (one, permalink) in enumerate(zip(parsed.observations, unique, strict=True)):
            row_values = {
                "permalink": permalink,
                "updated_at": tx.now,
                "ordinal": ordinal,
                **_read_values(one),
            }
            row_id = kept_ids.get((entity_id, ordinal))
            if row_id is not None:
                kept.append({"id": row_id, **row_values})
            else:
                row_id, next_id = next_id, next_id + 1
                fresh.append(
                    {
                        "id": row_id,
                        "external_id": next(external),
                        "entity_id": entity_id,
                        "project_id": tx.project_id,
                        "created_at": tx.now,
                        **row_values,
                    }
                )
            ids[entity_id].append(row_id)
    repository.delete(left_over)
    repository.insert(fresh)
    repository.rewrite(kept)
    if renamed:
        repository.set_permalinks(
            {
                row.row_id: renamed[row.entity_id][1]
                + row.permalink.removeprefix(renamed[row.entity_id][0])
                for row in repository.stored(renamed)
            }
        )
    return ids


def _same(
    stored: Sequence[StoredObservation], notes: Sequence[tuple[int, ParsedNote, bool]]
) -> tuple[dict[tuple[int, int], int], list[int]]:
    """Which row each observation is, by (entity id, ordinal), and the rows that are none any more.

    Words and block id together decide, then the words in document order, then the block id.
    """
    left = {row.row_id: row for row in stored}
    new = {
        (entity_id, ordinal): one
        for entity_id, parsed, _ in notes
        for ordinal, one in enumerate(parsed.observations)
    }
    same: dict[tuple[int, int], int] = {}
    for likeness in (_words_and_block, _words, _block):
        rows: defaultdict[object, deque[int]] = defaultdict(deque)
        for row in left.values():
            if (key := likeness(row)) is not None:
                rows[row.entity_id, key].append(row.row_id)
        if not rows:
            continue
        for place, one in new.items():
            if place not in same and (found := rows.get((place[0], likeness(one)))):
                same[place] = found.popleft()
                del left[same[place]]
    return same, list(left)


_Fact = Observation | StoredObservation


def _words(one: _Fact) -> tuple[str, str, str | None]:
    return one.category, one.content, one.context


def _block(one: _Fact) -> str | None:
    return one.block_id


def _words_and_block(one: _Fact) -> tuple[object, ...]:
    return one.category, one.content, one.context, one.block_id


def _read_values(one: Observation) -> dict[str, object]:
    return {
        "content": one.content,
        "category": one.category,
        "context": one.context,
        "tags": as_json(one.tags),
        "line": one.line,
        "end_line": one.end_line,
        "block_id": one.block_id,
        "attributes": as_json(dict(one.attributes)) if one.attributes else None,
        "heading_path": as_json(short_headings(one.heading_path)) if one.heading_path else None,
        "parent": one.parent or None,
        "parent_line": one.parent_line or None,
    }

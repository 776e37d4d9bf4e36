"""Observations of a batch of notes: permalinks, and rows that keep their id while their words stay."""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence

from memoranda.model.address import NotePath, Permalink, slug
from memoranda.model.note import Observation, ParsedNote
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.observation import ObservationRepository
from memoranda.repositories.store import Tx
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
    old: defaultdict[tuple[int, str, str, str | None], list[int]] = defaultdict(list)
    existing = [entity_id for entity_id, _, is_new in notes if not is_new]
    for row in repository.stored(existing) if existing else ():
        old[row.entity_id, row.category, row.content, row.context].append(row.row_id)
    fresh: list[dict[str, object]] = []
    kept: list[dict[str, object]] = []
    ids: dict[int, list[int]] = {}
    total = sum(len(parsed.observations) for _, parsed, _ in notes)
    next_id = EntityRepository(tx).allocate_ids("observation") if total else 0
    for entity_id, parsed, _ in notes:
        unique = observation_permalinks(permalinks[parsed.path], parsed.observations)
        ids[entity_id] = []
        for ordinal, (one, permalink) in enumerate(zip(parsed.observations, unique, strict=True)):
            row_values: dict[str, object] = {
                "context": one.context,
                "tags": json.dumps(one.tags, ensure_ascii=False),
                "permalink": permalink,
                "updated_at": tx.now,
                "ordinal": ordinal,
                "line": one.line,
                "end_line": one.end_line,
                "block_id": one.block_id,
                "attributes": json.dumps(dict(one.attributes), ensure_ascii=False)
                if one.attributes
                else None,
                "heading_path": json.dumps(short_headings(one.heading_path), ensure_ascii=False)
                if one.heading_path
                else None,
            }
            same = old.get((entity_id, one.category, one.content, one.context))
            if same:
                row_id = same.pop(0)
                kept.append({"id": row_id, **row_values})
            else:
                row_id, next_id = next_id, next_id + 1
                fresh.append(
                    {
                        "id": row_id,
                        "external_id": str(uuid.uuid4()),
                        "content": one.content,
                        "category": one.category,
                        "entity_id": entity_id,
                        "project_id": tx.project_id,
                        "created_at": tx.now,
                        **row_values,
                    }
                )
            ids[entity_id].append(row_id)
    repository.delete(row_id for rows in old.values() for row_id in rows)
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

"""The neighbours of a note in the graph, with what each is about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memoranda.model.note import NoteRef, RelatedNote
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.relation import RelationRepository
from memoranda.repositories.store import Tx

_OPENING = 600
_SUMMARY = 160


def related_notes(
    tx: Tx, *, start: NoteRef, depth: int, limit: int, since: datetime | None = None
) -> list[RelatedNote]:
    """Neighbours of a note breadth first: nearest first, then in the order of its relations."""
    if limit < 1:
        return []
    relations, notes = RelationRepository(tx), NoteRefRepository(tx)
    reached: dict[int, tuple[int, str]] = {start.entity_id: (0, "")}
    frontier: Sequence[int] = [start.entity_id]
    for distance in range(1, depth + 1):
        found: dict[int, tuple[int, str]] = {}
        for _, to_id, why in relations.neighbours(frontier) if frontier else ():
            if to_id not in reached:
                found.setdefault(to_id, (distance, why))
        reached |= found
        frontier = list(found)
    del reached[start.entity_id]
    refs = notes.by_ids(reached)
    chosen = [i for i in reached if i in refs and (since is None or refs[i].updated_at >= since)][
        :limit
    ]
    openings = notes.openings(chosen, _OPENING)
    return [
        RelatedNote(
            refs[i], reached[i][0], reached[i][1], summary(openings.get(i, ""), refs[i].title)
        )
        for i in chosen
    ]


def summary(opening: str, title: str) -> str:
    """The first words of a note that say more than its title, on one line."""
    kept: list[str] = []
    for line in opening.splitlines():
        text = line.strip()
        if text.startswith("#") or not text or text in ("---", "***"):
            if kept:
                break
            continue
        kept.append(text)
    joined = " ".join(" ".join(kept).split())
    if len(joined) <= _SUMMARY:
        return joined
    cut = joined[:_SUMMARY].rsplit(" ", 1)[0] or joined[:_SUMMARY]
    return f"{cut}…"

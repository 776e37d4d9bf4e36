"""A note and its neighbourhood, for an assistant that picks up a subject (spec 6.2.6, 8.6)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from memoranda.errors import InvalidArgument, NoteNotFound
from memoranda.model.address import ByName, parse_address
from memoranda.model.note import NoteRef, RelatedNote
from memoranda.model.views import Context, ContextResult
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.relation import RelationRepository
from memoranda.repositories.store import Store, Tx
from memoranda.services.notes import NoteService

_MAX_DEPTH = 3
_MAX_RELATED = 100
_MATCHES = 10
_OPENING = 600
_SUMMARY = 160


class ContextService:
    """Builds contexts from the files and the graph."""

    def __init__(self, store: Store, notes: NoteService) -> None:
        self._store = store
        self._notes = notes

    async def build_context(
        self,
        path: str,
        *,
        depth: int = 1,
        max_related: int = 10,
        since: datetime | None = None,
    ) -> ContextResult:
        """The note, or the notes that match a trailing `*`, each with its neighbours.

        Args:
            path: any name of a note, a memory:// address, or a pattern that ends in `*`.
            depth: 1 to 3 steps along relations, in both directions.
            max_related: 0 to 100 neighbours a note.
            since: only neighbours modified (note date) at or after this.

        Raises:
            NoteNotFound, AmbiguousName, InvalidUri, InvalidArgument.
        """
        if not 1 <= depth <= _MAX_DEPTH:
            raise InvalidArgument("depth", f"depth must be 1 to {_MAX_DEPTH}, not {depth}")
        if not 0 <= max_related <= _MAX_RELATED:
            raise InvalidArgument(
                "max_related", f"max_related must be 0 to {_MAX_RELATED}, not {max_related}"
            )
        names, total = await self._matching(path)
        contexts: list[Context] = []
        for name in names:
            view = await self._notes.read(name)
            related = await self._store.read(
                partial(related_notes, start=view.ref, depth=depth, limit=max_related, since=since)
            )
            contexts.append(Context(view, tuple(related)))
        return ContextResult(path, tuple(contexts), total)

    async def _matching(self, path: str) -> tuple[list[str], int]:
        address = parse_address(path)
        if not (isinstance(address, ByName) and address.is_pattern):
            return [path], 1
        pattern = address.name.strip("/")
        refs, total = await self._store.read(
            lambda tx: NoteRefRepository(tx).matching(pattern, _MATCHES)
        )
        if not refs:
            raise NoteNotFound(path)
        return [ref.file_path for ref in refs], total


def related_notes(
    tx: Tx, *, start: NoteRef, depth: int, limit: int, since: datetime | None
) -> list[RelatedNote]:
    """Neighbours of a note breadth first: nearest first, then in the order of its relations."""
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

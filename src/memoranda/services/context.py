"""A note and its neighbourhood, for an assistant that picks up a subject (spec 6.2.6, 8.6)."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from memoranda.errors import InvalidArgument, NoteNotFound
from memoranda.model.address import ByName, parse_address
from memoranda.model.views import Context, ContextResult
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Store
from memoranda.services.notes import NoteService
from memoranda.services.related import related_notes

_MAX_DEPTH = 3
_MAX_RELATED = 100
_MATCHES = 10


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
            view = await self._notes.read(name, with_related=False)
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

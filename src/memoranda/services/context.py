"""A note and its neighbourhood, for an assistant that picks up a subject (spec 6.2.6, 8.6)."""

from __future__ import annotations

from datetime import datetime

from memoranda.errors import InvalidArgument, NoteNotFound
from memoranda.model.address import ByName, NotePath, Permalink, parse_address
from memoranda.model.views import Context, ContextResult
from memoranda.repositories.patterns import PatternRepository
from memoranda.repositories.store import Store, Tx
from memoranda.services.notes import NoteService
from memoranda.services.path_globs import names_glob, names_prefix
from memoranda.services.related import related_notes

_MAX_DEPTH = 3
_MAX_RELATED = 100
_MATCHES = 10
_OTHERS = 50
_LONGEST_PATTERN = 1000


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
        """The note, or the notes that match a pattern, each with its neighbours.

        A name with `*` is a pattern (`services.path_globs.names_glob`) for permalinks and paths; only when
        no note fits it, it is taken as the name of one.

        Args:
            path: any name of a note, a memory:// address, or a pattern such as `projects/*` (all below),
                `projects/*/plan`, `**/plan`.
            depth: 1 to 3 steps along links, in both directions.
            max_related: 0 to 100 neighbours a note, the most relevant first (`services.related`).
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
        matches = await self._matching(path)
        names: list[str] = [name for name, _ in matches[:_MATCHES]] or [path]
        contexts: list[Context] = []
        for name in names:
            try:
                view, around = await self._notes.read_with(
                    name,
                    lambda tx, ref: related_notes(
                        tx, start=ref, depth=depth, limit=max_related, since=since
                    ),
                )
            except NoteNotFound as error:
                if matches:  # deleted a moment ago
                    continue
                if "*" in path:
                    error.hint = (
                        "No note matches this pattern. A * stands for any text within one name, ** for "
                        "any folders, and a * at the end also for what is below; list_directory shows "
                        "the folders."
                    )
                raise
            contexts.append(Context(view, around))
        return ContextResult(
            path,
            tuple(contexts),
            max(len(matches), 1),
            tuple(permalink for _, permalink in matches[_MATCHES : _MATCHES + _OTHERS]),
            depth,
            max_related,
        )

    async def _matching(self, path: str) -> list[tuple[NotePath, Permalink]]:
        """The notes that a pattern matches, in path order; none if the name has no `*`."""
        address = parse_address(path)
        if not isinstance(address, ByName) or "*" not in address.name:
            return []
        pattern = address.name.strip("/")
        if len(pattern) > _LONGEST_PATTERN:
            raise InvalidArgument("path", f"The pattern has {len(pattern):,} characters")
        glob = names_glob(pattern)

        def fitting(tx: Tx) -> list[tuple[NotePath, Permalink]]:
            return [
                (NotePath(file_path), Permalink(permalink))
                for file_path, permalink in PatternRepository(tx).beginning(names_prefix(pattern))
                if glob.fits(permalink)
                or glob.fits(file_path)
                or glob.fits(file_path[: -len(".md")])
            ]

        return await self._store.read(fitting)

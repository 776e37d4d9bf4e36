"""Search as a use case: one read transaction, then snippets. Source: spec 5, 8.4, 12.3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from memoranda.errors import InvalidArgument
from memoranda.model.note import NoteRef
from memoranda.model.search import (
    Hit,
    ItemHit,
    ItemType,
    Passage,
    RankedNote,
    RankedPage,
    SearchFilters,
    SearchQuery,
    SearchResults,
    SearchType,
)
from memoranda.ports import FullTextIndex
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Store, Tx
from memoranda.services.snippets import hits, snippet
from memoranda.text.query import Term, parse_query

MAX_LIMIT = 200
MAX_VALUES = 100
_DEGRADED = "Meaning search is not available; this is a full-text answer"
_NEAR_TITLES = 3
_NEAR_LETTERS = 4


@dataclass(frozen=True, slots=True)
class _Answer:
    page: RankedPage
    refs: Mapping[int, NoteRef]
    suggestion: str | None


class SearchService:
    """Finds notes of one project and shows the passages that made them match."""

    def __init__(self, store: Store, fulltext: FullTextIndex) -> None:
        self._store = store
        self._fulltext = fulltext

    async def search(self, query: SearchQuery) -> SearchResults:
        """Answer a query; a mode that cannot run falls back to full text and says so.

        Raises:
            InvalidArgument: `limit` is not in 1..200, `offset` is negative, or a filter has more than 100
                values.
        """
        if not 1 <= query.limit <= MAX_LIMIT:
            raise InvalidArgument(
                "limit",
                f"{query.limit} is not between 1 and {MAX_LIMIT}",
                hint="Ask for further pages with offset.",
            )
        if not 0 <= query.offset < 1 << 62:
            raise InvalidArgument("offset", f"{query.offset} is not a place in the results")
        for name in ("tags", "note_types", "metadata"):
            if len(getattr(query.filters, name)) > MAX_VALUES:
                raise InvalidArgument(name, f"{name} has more than {MAX_VALUES} values")
        answer = await self._store.read(lambda tx: self._answer(tx, query))
        terms = parse_query(query.text).terms
        return SearchResults(
            query=query.text,
            search_type=SearchType.FTS,
            hits=tuple(
                _hit(answer.refs[note.entity_id], note, terms)
                for note in answer.page.notes
                if note.entity_id in answer.refs
            ),
            total=answer.page.total,
            limit=query.limit,
            offset=query.offset,
            degraded=None if query.search_type is SearchType.FTS else _DEGRADED,
            suggestion=answer.suggestion,
            relaxed=answer.page.relaxed and bool(answer.page.total),
        )

    def _answer(self, tx: Tx, query: SearchQuery) -> _Answer:
        page = self._fulltext.search(tx.conn, query)
        refs = NoteRefRepository(tx).by_ids([note.entity_id for note in page.notes])
        return _Answer(page, refs, None if page.total else self._suggestion(tx, query))

    def _suggestion(self, tx: Tx, query: SearchQuery) -> str:
        """What would find something: the same without filters, or notes with a similar word."""
        if names := _filter_names(query.filters):
            plain = replace(query, filters=SearchFilters(), limit=1, offset=0)
            if total := self._fulltext.search(tx.conn, plain).total:
                notes = "1 note matches" if total == 1 else f"{total} notes match"
                return f"Drop a filter ({', '.join(names)}): without them {notes}."
        if titles := self._near_titles(tx, query):
            return f"No note has these words. Similar: {', '.join(titles)}."
        if not NoteRefRepository(tx).has_any():
            return "The index has no notes; `memoranda status` says what is in the folder."
        return "No note has these words. Try fewer, other or more general ones."

    def _near_titles(self, tx: Tx, query: SearchQuery) -> list[str]:
        words = sorted((term.text for term in parse_query(query.text).terms), key=len)
        if not words or len(words[-1]) <= _NEAR_LETTERS:
            return []
        near = SearchQuery(f"{words[-1][:_NEAR_LETTERS]}*", limit=_NEAR_TITLES)
        ids = [note.entity_id for note in self._fulltext.search(tx.conn, near).notes]
        refs = NoteRefRepository(tx).by_ids(ids)
        return [refs[entity_id].title for entity_id in ids if entity_id in refs]


def _filter_names(filters: SearchFilters) -> list[str]:
    return [field.name for field in fields(filters) if getattr(filters, field.name)]


def _hit(ref: NoteRef, note: RankedNote, terms: Sequence[Term]) -> Hit:
    return Hit(
        ref=ref,
        score=note.score,
        item_type=note.items[0].item_type if note.items else ItemType.NOTE,
        passages=tuple(_passages(note.items, terms)),
    )


def _passages(items: Sequence[ItemHit], terms: Sequence[Term]) -> Iterator[Passage]:
    """One snippet an item, best item first; the note's own row only if its header has a term."""
    for item in items:
        if item.item_type is ItemType.NOTE and not hits(item.text, terms):
            continue  # it matched by its title, which is shown anyway
        shown = snippet(item.text, terms)
        if shown.text:
            yield Passage(
                text=shown.text,
                heading_path=item.heading_path,
                start_line=min(item.start_line + shown.first_line, item.end_line),
                end_line=min(item.start_line + shown.last_line, item.end_line),
                score=item.score,
            )

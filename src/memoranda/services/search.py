"""Search as a use case: one read transaction, then snippets. Source: spec 5, 8.4, 12.3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from memoranda.errors import InvalidArgument
from memoranda.model.history import Author
from memoranda.model.note import NoteRef
from memoranda.model.search import (
    DateSpan,
    Explanation,
    Hit,
    MetadataCondition,
    MetadataOperator,
    Passage,
    SearchFilters,
    SearchQuery,
    SearchResults,
    SearchType,
    TermShare,
)
from memoranda.ports import FullTextIndex
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Store, Tx
from memoranda.services.passages import passages
from memoranda.services.search_recording import SearchRecorder
from memoranda.services.suggestion import did_you_mean
from memoranda.text.analysis import ENGLISH, Languages
from memoranda.text.periods import EARLIEST, LATEST
from memoranda.text.query import TextQuery, parse_query

if TYPE_CHECKING:
    from memoranda.services.text_search import Found, FoundPage

MAX_LIMIT = 200
MAX_VALUES = 100
_DEGRADED = "Meaning search is not available; this is a full-text answer"
_NO_WORDS = "The query has no word to look for; these are the newest notes."
_PLAIN = (
    "A query of exclusions alone is read as words; beside a word to find, or a filter such as tag:work, "
    "they exclude notes."
)
_MOST_KEYS = 3

_FILTER_WORDS = {
    "note_types": "type",
    "tags": "tag",
    "permalink_match": "permalink",
    "after_date": "dates",
    "span": "dates",
    "item_types": "part of notes",
    "metadata": "frontmatter",
    "min_similarity": "similarity",
}
"""What a person calls a filter, where it is not its name."""

_WEAK_COVERAGE = 0.3
"""When no note has more of what was asked, none is what was asked for; chosen by `benchmarks retrieval`."""
_WEAK_HITS = 3


@dataclass(frozen=True, slots=True)
class _Answer:
    parsed: TextQuery
    page: FoundPage
    refs: Mapping[int, NoteRef]
    is_weak: bool
    suggestion: str | None


class SearchService:
    """Finds notes of one project and shows the passages that made them match."""

    def __init__(
        self,
        store: Store,
        fulltext: FullTextIndex,
        languages: Languages = ENGLISH,
        *,
        half_life_days: int = 0,
        recorder: SearchRecorder | None = None,
    ) -> None:
        self._store = store
        self._fulltext = fulltext
        self._languages = languages
        self._half_life_days = half_life_days
        self._recorder = recorder

    async def aclose(self) -> None:
        """Wait until the last searches are recorded."""
        if self._recorder is not None:
            await self._recorder.aclose()

    async def search(self, query: SearchQuery, *, by: Author | None = None) -> SearchResults:
        """Answer a query; a mode that cannot run falls back to full text and says so.

        Args:
            query: what is asked.
            by: who asks, for the search log; None: nobody does, and it is not recorded.

        Raises:
            InvalidArgument: `limit` is not in 1..200, `offset` is negative, or a filter has more than 100
                values.
        """
        answering = self._results(query)
        if by is None or self._recorder is None:
            return await answering
        return await self._recorder.recorded(query, by, answering)

    async def _results(self, query: SearchQuery) -> SearchResults:
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
        if sum(len(one.values) for one in query.filters.metadata) > MAX_VALUES:
            raise InvalidArgument("metadata", f"metadata has more than {MAX_VALUES} values")
        answer = await self._store.read(lambda tx: self._answer(tx, query))
        page = answer.page
        terms = [one.term for one in page.terms]
        found = page.hits[: max(0, _WEAK_HITS - query.offset)] if answer.is_weak else page.hits
        return SearchResults(
            query=query.text,
            search_type=SearchType.FTS,
            hits=tuple(
                _hit(
                    answer.refs[one.entity_id],
                    one,
                    passages(one.items, terms, self._languages),
                    _explained(one, page, rank) if query.explain else None,
                )
                for rank, one in enumerate(found, query.offset + 1)
                if one.entity_id in answer.refs
            ),
            total=page.total,
            limit=query.limit,
            offset=query.offset,
            degraded=None if query.search_type is SearchType.FTS else _DEGRADED,
            suggestion=answer.suggestion,
            relaxed=page.is_relaxed and bool(page.total),
            full_matches=page.full,
            is_weak=answer.is_weak,
            read_filters=tuple(_read_filters(answer.parsed, has_span=page.has_span)),
        )

    def _answer(self, tx: Tx, query: SearchQuery) -> _Answer:
        parsed = parse_query(query.text, self._languages, tx.now.replace(tzinfo=UTC))
        page = self._page(tx, query, parsed)
        refs = NoteRefRepository(tx).by_ids([found.entity_id for found in page.hits])
        is_weak = bool(page.total) and page.coverage < _WEAK_COVERAGE
        suggestion = None
        if is_weak or not page.total:
            unknown = [one.term for one in page.terms if not one.items]
            suggestion = did_you_mean(tx, self._fulltext, unknown)
        if suggestion is None and not page.total:
            suggestion = self._suggestion(tx, query, parsed)
        if (
            page.total
            and query.text.strip()
            and not (parsed.clauses or parsed.filters or parsed.span)
        ):
            suggestion = _NO_WORDS
        if parsed.is_plain and suggestion is None:
            suggestion = _PLAIN
        return _Answer(parsed, page, refs, is_weak, suggestion)

    def _suggestion(self, tx: Tx, query: SearchQuery, parsed: TextQuery) -> str:
        """What would find something, when the words are known or nothing is like them."""
        if not NoteRefRepository(tx).has_any():
            return "The index has no notes; `memoranda status` says what is in the folder."
        for key in _needed_keys(query.filters)[:_MOST_KEYS]:
            if not self._has_key(tx, key):
                return f'No note has the frontmatter key "{key}".'
        names = [
            _FILTER_WORDS.get(name, name)
            for narrowing in (query.filters, *parsed.filters, SearchFilters(span=parsed.span))
            for name in _filter_names(narrowing)
        ]
        if names:
            plain = replace(query, filters=SearchFilters(), limit=1, offset=0)
            total = self._page(tx, plain, replace(parsed, filters=(), span=None)).total
            if total and parsed.clauses:
                notes = "1 note matches" if total == 1 else f"{total} notes match"
                return f"Drop a filter ({', '.join(dict.fromkeys(names))}): without them {notes}."
            if total:
                return (
                    f"None of {total} notes passes the filters ({', '.join(dict.fromkeys(names))})."
                )
        return "No note has these words. Try fewer, other or more general ones."

    def _has_key(self, tx: Tx, key: str) -> bool:
        there = MetadataCondition(key, MetadataOperator.EXISTS, ("true",))
        query = SearchQuery("", filters=SearchFilters(metadata=(there,)), limit=1)
        return bool(self._page(tx, query, TextQuery()).total)

    def _page(self, tx: Tx, query: SearchQuery, parsed: TextQuery) -> FoundPage:
        # NumPy takes a tenth of a second to load, which a start should not wait for.
        from memoranda.services.text_search import TextSearch

        run = TextSearch(tx, self._fulltext, parsed, query, self._languages, self._half_life_days)
        return run.page()


def _needed_keys(filters: SearchFilters) -> list[str]:
    """Frontmatter keys that a note must have to pass."""
    return [
        one.key
        for one in filters.metadata
        if one.operator is not MetadataOperator.NE
        and (one.operator is not MetadataOperator.EXISTS or one.values == ("true",))
    ]


def _filter_names(filters: SearchFilters) -> list[str]:
    return [field.name for field in fields(filters) if getattr(filters, field.name)]


def _read_filters(parsed: TextQuery, *, has_span: bool) -> Iterator[str]:
    """The filters that the query's own words set, in words."""
    for narrowing in parsed.filters:
        for name in _filter_names(narrowing):
            value = getattr(narrowing, name)
            yield f"{_FILTER_WORDS.get(name, name)}: {', '.join(value) if isinstance(value, tuple) else value}"
    if parsed.span is not None:
        kind = "dates that come first" if parsed.is_date_preferred else "dates"
        yield _span_text(parsed.span, kind if has_span else "dates left out, as nothing has them")


def _span_text(span: DateSpan, kind: str) -> str:
    first = span.start.astimezone().date()
    last = (span.end - timedelta(microseconds=1)).astimezone().date()
    if span.end.year >= LATEST.year:
        when = f"{first} and later"
    elif span.start.year <= EARLIEST.year:
        when = f"{last} and earlier"
    else:
        when = f"{first}" if first == last else f"{first} to {last}"
    return f"{kind}: {when}, for {span.text!r}"


def _hit(
    ref: NoteRef,
    found: Found,
    shown: tuple[Passage, ...],
    explanation: Explanation | None,
) -> Hit:
    return Hit(
        ref=ref,
        score=found.score,
        item_type=found.item_type,
        passages=shown,
        explanation=explanation,
    )


def _explained(found: Found, page: FoundPage, rank: int) -> Explanation:
    from memoranda.ranking.items import FIELDS

    best = next((item.score for item in found.items if item.score), None)
    return Explanation(
        rank=rank,
        terms=tuple(
            TermShare(
                one.term.text,
                one.items,
                best.is_exact[number] if best else False,
                best.terms[number] if best else 0.0,
            )
            for number, one in enumerate(page.terms)
        ),
        fields=dict(zip(FIELDS, best.fields, strict=True)) if best else {},
        boosts=found.boosts,
    )

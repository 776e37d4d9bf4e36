"""What a query was read as, and what would find something where it finds nothing: sentences for a reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from datetime import timedelta
from typing import TYPE_CHECKING, assert_never

from memoranda.model.search import (
    DateSpan,
    MetadataCondition,
    MetadataOperator,
    SearchFilters,
    SearchQuery,
    SearchType,
)
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Tx
from memoranda.text.periods import EARLIEST, LATEST
from memoranda.text.query import TextQuery

if TYPE_CHECKING:
    from memoranda.services.found import FoundPage

Run = Callable[[SearchQuery, TextQuery], "FoundPage"]
"""A search in the transaction at hand."""

_MOST_KEYS = 3

_FILTER_WORDS = {
    "note_types": "type",
    "tags": "tag",
    "permalink_match": "permalink",
    "after_date": "dates",
    "span": "dates",
    "item_types": "part of notes",
    "metadata": "frontmatter",
}
"""What a person calls a filter, where it is not its name."""
_NO_FILTER = "min_similarity"
"""Says what meaning finds, and hides nothing that words find."""


def advice(tx: Tx, query: SearchQuery, parsed: TextQuery, run: Run) -> str:
    """What would find something, when the words are known or nothing is like them.

    Args:
        tx: the transaction.
        query: the one that found nothing; `search_type` is what really ran.
        parsed: the same, read.
        run: searches as the query was searched, by meaning as near.
    """
    if not NoteRefRepository(tx).has_any():
        return "The index has no notes; `memoranda status` says what is in the folder."
    for key in _needed_keys(query.filters)[:_MOST_KEYS]:
        if not _has_key(key, run):
            return f'No note has the frontmatter key "{key}".'
    names = [
        _FILTER_WORDS.get(name, name)
        for narrowing in (query.filters, *parsed.filters, SearchFilters(span=parsed.span))
        for name in _filter_names(narrowing)
    ]
    if names:
        plain = replace(query, filters=SearchFilters(), limit=1, offset=0)
        total = run(plain, replace(parsed, filters=(), span=None)).total
        if total:
            return _of_filters(list(dict.fromkeys(names)), total, has_words=bool(parsed.clauses))
    return _of_legs(query)


def _of_filters(names: list[str], total: int, *, has_words: bool) -> str:
    """That so many notes, or parts of notes, are found without the filters."""
    which = f"({', '.join(names)})"
    is_one = len(names) == 1
    if not has_words:
        filters = f"the {'filter' if is_one else 'filters'} {which}"
        if total == 1:
            return f"The one note does not pass {filters}."
        return f"None of {total:,} notes passes {filters}."
    notes = "1 note matches" if total == 1 else f"{total:,} notes match"
    drop, without = ("the", "it") if is_one else ("a", "them")
    return f"Drop {drop} filter {which}: without {without} {notes}."


def _of_legs(query: SearchQuery) -> str:
    """That nothing was found, in the words of the search that ran."""
    least = query.filters.min_similarity
    match query.search_type:
        case SearchType.FTS:
            return "No note has these words. Try fewer, other or more general ones."
        case SearchType.VECTOR if least:
            return f"No note is as near as {least:g}; lower min_similarity or leave it out."
        case SearchType.VECTOR:
            return "No note is near enough in meaning. Try other words, or min_similarity 0, which shows the nearest."
        case SearchType.HYBRID if least:
            return (
                f"No note has these words, and none is as near as {least:g}; use other words, or lower "
                "min_similarity or leave it out."
            )
        case SearchType.HYBRID:
            return (
                "No note has these words, and none is near enough in meaning. Try other words, or a "
                "vector search with min_similarity 0, which shows the nearest."
            )
        case unknown:
            assert_never(unknown)


def _has_key(key: str, run: Run) -> bool:
    there = MetadataCondition(key, MetadataOperator.EXISTS, ("true",))
    query = SearchQuery("", filters=SearchFilters(metadata=(there,)), limit=1)
    return bool(run(query, TextQuery()).total)


def _needed_keys(filters: SearchFilters) -> list[str]:
    """Frontmatter keys that a note must have to pass."""
    return [
        one.key
        for one in filters.metadata
        if one.operator is not MetadataOperator.NE
        and (one.operator is not MetadataOperator.EXISTS or one.values == ("true",))
    ]


def _filter_names(filters: SearchFilters) -> list[str]:
    return [
        field.name
        for field in fields(filters)
        if field.name != _NO_FILTER and getattr(filters, field.name)
    ]


def read_filters(parsed: TextQuery, *, has_span: bool) -> Iterator[str]:
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

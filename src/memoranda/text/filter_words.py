"""Words that every note which passes a filter has in its full-text rows. Pure.

Looking at the words first spares a look at every note: a tag stands in the row of its note or in the text of its
observation, and a text of the frontmatter in the row of its note (`services.items`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memoranda.model.search import MetadataCondition, MetadataOperator, SearchFilters
from memoranda.text.analysis import written_words

NOT_TEXT = frozenset(
    ("title", "type", "tags", "permalink", "created", "date", "modified", "updated", "id")
)
"""Frontmatter keys that are fields or filters; the values of all others are searchable text."""

WORD = re.compile(r"[^\W\d_]{2}")
"""What makes a frontmatter value text; numbers, times and links are not."""
_BOOLEANS = ("true", "false")


def filter_words(filters: Iterable[SearchFilters]) -> frozenset[str]:
    """Words, as the index holds them, that a note must have somewhere to pass all the filters.

    There are none for filters that say nothing of words, and for what is not ASCII, which may be written in
    more ways than one.
    """
    return frozenset(
        word
        for narrowing in filters
        for text in (*narrowing.tags, *_texts(narrowing.metadata))
        if text.isascii()
        for word in written_words(text)
    )


def is_text(value: str) -> bool:
    """Whether a frontmatter value is searchable text."""
    return (
        bool(WORD.search(value)) and not value.startswith("[[") and value.lower() not in _BOOLEANS
    )


def _texts(conditions: Iterable[MetadataCondition]) -> Iterator[str]:
    for one in conditions:
        if one.operator is MetadataOperator.EQ and one.key.split(".")[0] not in NOT_TEXT:
            yield from filter(is_text, one.values)

"""What must hold for every text that is read as a query. Needs no index."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from memoranda.text.analysis import ENGLISH
from memoranda.text.query import Term, TextQuery, parse_query

MAX_TERMS: Final = 64
NOW: Final = datetime(2026, 3, 18, 12, tzinfo=UTC)

_UNTYPED: Final = re.compile("[\x00\ud800-\udfff]")
_SYNTAX: Final = re.compile(r"""["'*^(){}:;%\\]""")


def check_query(text: str) -> None:
    """Read the text as a query twice."""
    query = read(text)
    assert query == read(text), "the same text is read in two ways"
    assert sum(len(clause.wanted) + len(clause.excluded) for clause in query.clauses) <= MAX_TERMS
    for clause in query.clauses:
        assert clause.wanted
        for term in (*clause.wanted, *clause.excluded):
            _check_term(term)
    for term in query.excluded:
        _check_term(term)
    if query.span is not None:
        assert query.span.start < query.span.end
        assert query.span.start.tzinfo is not None
        assert query.span.end.tzinfo is not None
        assert query.span.text.strip()


def read(text: str) -> TextQuery:
    """The query at a fixed time."""
    return parse_query(text, ENGLISH, NOW)


def _check_term(term: Term) -> None:
    assert term.phrases
    for phrase in (*term.phrases, *term.loose):
        words = phrase.split(" ")
        assert all(words), f"{phrase!r} of {term!r}"
        assert not _UNTYPED.search(phrase)
        assert not _SYNTAX.search(phrase), f"{phrase!r} holds a sign of the query language"
        assert phrase == phrase.strip()

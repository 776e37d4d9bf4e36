"""What a person types into a search box, as values. Pure; no text is an error.

Unquoted words are terms; a note with any of them is a hit. `"double quotes"` make a phrase that a hit must
have; a word with signs inside (`node-js`, `src/app/main.py`, `kim@example.org`) is a phrase of its parts.
`AND`, `OR`, `NOT` in capitals between terms and a leading `-` are operators; `AND` binds tighter than
`OR`, brackets are plain signs. `title:`, `tag:`, `type:` and `path:` narrow the search, and so does one date
or span in words (`text.dates`). An operator that makes no sense where it stands, or a query of exclusions
alone, is read as plain words.

Source: spec 5.2, 14.3; `docs/adr/0021`, `docs/adr/0022`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memoranda.model.search import DateSpan, SearchFilters
from memoranda.text.analysis import ENGLISH, Languages
from memoranda.text.dates import FoundDate, find_date
from memoranda.text.terms import Term, read_term

__all__ = ["Clause", "Term", "TextQuery", "parse_query"]

_MAX_CHARS = 20_000
_MAX_TERMS = 64
_MAX_PIECES = 1_000
_MAX_FILTERS = 32
_PREFIX_WORDS = 4
_UNTYPED = re.compile("[\x00\ud800-\udfff]")
_QUOTES = str.maketrans("“”„«»", '"""""')
_PIECE = re.compile(
    r'(?P<minus>(?:-(?=#?[^\W\d_][^\s"]|"))?)'
    r"(?:(?P<field>(?i:title|tag|type|path)):)?"
    r'(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))'
)
_OPERATORS = frozenset({"AND", "OR", "NOT"})
_BLOT = "\x01"
_UNFINISHED = re.compile(r"[^\W\d_]{3,}\Z")


@dataclass(frozen=True, slots=True)
class Clause:
    """At least one of `wanted` and all of them that are required, none of `excluded`.

    `wanted` is never empty.
    """

    wanted: tuple[Term, ...]
    excluded: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A parsed query: any of `clauses`, within all of `filters`. No clause: no searchable word.

    Attributes:
        span: a date or a span in words; the words of a relative one ("last week") are in no clause.
        excluded: what no hit may have, of a query without clauses; empty beside clauses.
        is_plain: the clauses are exclusions, which have nothing to exclude from and are read as words.
    """

    clauses: tuple[Clause, ...] = ()
    filters: tuple[SearchFilters, ...] = ()
    span: DateSpan | None = None
    excluded: tuple[Term, ...] = ()
    is_plain: bool = False

    @property
    def terms(self) -> tuple[Term, ...]:
        """All wanted terms, each once, in the order typed."""
        return tuple(dict.fromkeys(term for clause in self.clauses for term in clause.wanted))

    @property
    def is_date_preferred(self) -> bool:
        """Whether notes of the span only come first: it is of the calendar, and more is asked for."""
        if self.span is None or not self.span.words:
            return False
        return not all(term.is_date for term in self.terms)


def parse_query(
    text: str, languages: Languages = ENGLISH, now: datetime | None = None
) -> TextQuery:
    """Read a query. Bounded: 20,000 characters, 64 terms of at most 32 words, 32 filters; the rest is cut.

    Args:
        text: as typed.
        languages: Snowball names, those the index is made with.
        now: aware; without it no date is read.
    """
    text = unicodedata.normalize("NFC", _UNTYPED.sub(" ", text[:_MAX_CHARS])).translate(_QUOTES)
    found = [match for _, match in zip(range(_MAX_PIECES), _PIECE.finditer(text), strict=False)]
    date = _date(text, found, now, languages)
    filters = tuple(dict.fromkeys(one for match in found if (one := _filter(match))))
    pieces = list(_pieces(text, found, date, languages))
    span = date.span if date else None
    clauses, excluded = _clauses(pieces, is_narrowed=bool(filters or span))
    is_plain = bool(clauses) and _has_exclusions_alone(_groups(pieces))
    if span and clauses and all(term.is_stop for clause in clauses for term in clause.wanted):
        clauses = ()  # "what did I do last week"
    return TextQuery(clauses, filters[:_MAX_FILTERS], span, excluded, is_plain)


def _filter(match: re.Match[str]) -> SearchFilters | None:
    value = (match["phrase"] or match["word"] or "").strip()
    if match["minus"] or not match["field"] or not value:
        return None
    match match["field"].lower():
        case "title":
            return SearchFilters(title=value)
        case "tag":
            return SearchFilters(tags=(value,))
        case "type":
            return SearchFilters(note_types=(value,))
        case _:
            return SearchFilters(path=value)


# Dates


def _date(
    text: str, found: Sequence[re.Match[str]], now: datetime | None, languages: Languages
) -> FoundDate | None:
    """The date in the plain words of the query: quotes, fields, exclusions and operators are none."""
    if now is None:
        return None
    blotted, before = list(text), ""
    for match in found:
        is_operator = match["word"] in _OPERATORS
        if (
            is_operator
            or match["word"] is None
            or match["minus"]
            or match["field"]
            or before == "NOT"
        ):
            blotted[match.start() : match.end()] = _BLOT * (match.end() - match.start())
        before = match["word"]
    date = find_date("".join(blotted), now, languages)
    if date is None or _is_beside_or(found, date):
        return None
    return date


def _is_beside_or(found: Sequence[re.Match[str]], date: FoundDate) -> bool:
    """Whether the date is one side of an OR, so that the query as a whole is not within it."""
    before = [match["word"] for match in found if match.end() <= date.start]
    after = [match["word"] for match in found if match.start() >= date.end]
    return before[-1:] == ["OR"] or after[:1] == ["OR"]


# Terms and operators


@dataclass(frozen=True, slots=True)
class _Piece:
    term: Term
    is_excluded: bool = False
    operator: str = ""


def _pieces(
    text: str, found: Sequence[re.Match[str]], date: FoundDate | None, languages: Languages
) -> Iterator[_Piece]:
    """Terms and operators in the order typed, until there are too many."""
    seen: set[tuple[int, bool, tuple[str, ...]]] = set()
    sides = 0
    for position, match in enumerate(found):
        if _filter(match) is not None:
            continue
        is_date = date is not None and match.start() < date.end and date.start < match.end()
        if date and is_date and not date.is_topic:
            continue
        is_last = position + 1 == len(found) <= _PREFIX_WORDS and match.end() == len(text)
        if (piece := _piece(match, languages, is_last=is_last)) is None:
            continue
        sides += piece.operator == "OR"
        if not piece.operator:
            seen.add((sides, piece.is_excluded, piece.term.phrases))
        if len(seen) > _MAX_TERMS:
            return
        yield replace(piece, term=replace(piece.term, is_date=True)) if is_date else piece


def _piece(match: re.Match[str], languages: Languages, *, is_last: bool) -> _Piece | None:
    if match["phrase"] is not None:
        term = read_term(match["phrase"], languages, is_quoted=True)
    else:
        word = (match["field"] + ":" if match["field"] else "") + match["word"]
        is_prefix = word.endswith("*") or (is_last and bool(_UNFINISHED.search(word)))
        term = read_term(word, languages, is_prefix=is_prefix)
        if word in _OPERATORS and not match["minus"] and term is not None:
            return _Piece(replace(term, is_prefix=False), operator=word)
    return None if term is None else _Piece(term, is_excluded=bool(match["minus"]))


def _clauses(
    pieces: Sequence[_Piece], *, is_narrowed: bool
) -> tuple[tuple[Clause, ...], tuple[Term, ...]]:
    """The clauses, or what a query without one excludes."""
    groups = _groups(pieces)
    if not groups:  # operators alone are words
        words = tuple(dict.fromkeys(piece.term for piece in pieces))
        return ((Clause(words),) if words else ()), ()
    wanted = [[piece.term for piece in group if not piece.is_excluded] for group in groups]
    excluded = [[piece.term for piece in group if piece.is_excluded] for group in groups]
    if _has_exclusions_alone(groups):
        terms = [term for group in excluded for term in group]
        return ((), _merged(terms)) if is_narrowed else ((Clause(_plain(terms)),), ())
    if any(not term.is_stop for terms in wanted for term in terms):
        wanted = [[term for term in terms if not term.is_stop] for terms in wanted]
    clauses = [
        Clause(_merged(terms), _merged(term for term in without if not term.is_stop))
        for terms, without in zip(wanted, excluded, strict=True)
        if terms
    ]
    return tuple(dict.fromkeys(clauses)), ()


def _has_exclusions_alone(groups: Sequence[Sequence[_Piece]]) -> bool:
    return bool(groups) and all(piece.is_excluded for group in groups for piece in group)


def _groups(pieces: Sequence[_Piece]) -> list[list[_Piece]]:
    """The terms between ORs; what AND joins is required, what NOT is before is excluded.

    Exclusions alone are no side of an OR; they belong to the terms beside them.
    """
    groups: list[list[_Piece]] = [[]]
    is_joined = is_negated = False
    for piece in pieces:
        group = groups[-1]
        match piece.operator:
            case "OR":
                if not all(one.is_excluded for one in group):
                    groups.append([])
                is_joined = is_negated = False
            case "AND":
                is_joined = bool(group)
            case "NOT":
                is_negated = True
            case _:
                if is_joined:
                    group[-1] = _required(group[-1])
                    piece = _required(piece)
                group.append(_excluded(piece) if piece.is_excluded or is_negated else piece)
                is_joined = is_negated = False
    if len(groups) > 1 and all(one.is_excluded for one in groups[-1]):
        last = groups.pop()
        groups[-1] += last
    return [group for group in groups if group]


def _excluded(piece: _Piece) -> _Piece:
    is_prefix = piece.term.is_prefix and piece.term.text.endswith("*")
    return replace(piece, term=replace(piece.term, is_prefix=is_prefix), is_excluded=True)


def _required(piece: _Piece) -> _Piece:
    return replace(piece, term=replace(piece.term, is_required=True))


def _plain(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Terms that were to be excluded, as words; without the stop words among them if others are there."""
    plain = [replace(term, is_required=False) for term in terms]
    return _merged([term for term in plain if not term.is_stop] or plain)


def _merged(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Each term once; required if it is so anywhere."""
    merged: dict[tuple[str, ...], Term] = {}
    for term in terms:
        if (known := merged.get(term.phrases)) is None or (
            term.is_required and not known.is_required
        ):
            merged[term.phrases] = term
    return tuple(merged.values())

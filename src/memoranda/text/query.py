"""What a person types into a search box, as values. Pure; no text is an error.

Unquoted words are terms; all must occur somewhere in a note. `"double quotes"` make a phrase; a word
with signs inside (`node-js`, `src/app/main.py`, `kim@example.org`) is a phrase of its parts. `AND`,
`OR`, `NOT` in capitals between terms and a leading `-` are operators; `AND` binds tighter than `OR`,
brackets are plain signs. `title:word`, `tag:word` and `type:word` narrow the search. An operator that
makes no sense where it stands, or a query of exclusions alone, is read as plain words.

Source: spec 5.2, 14.3; SEARCH.md "Pipeline".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from memoranda.model.search import SearchFilters
from memoranda.text.analysis import (
    ENGLISH,
    Languages,
    emoji_terms,
    folded,
    forms,
    has_unspaced,
    pairs,
    signed_terms,
    token,
    written_words,
)
from memoranda.text.stopwords import stop_words

_MAX_CHARS = 20_000
_MAX_TERMS = 64
_MAX_WORDS = 32
_MAX_WORD_CHARS = 100
_UNTYPED = re.compile("[\x00\ud800-\udfff]")
_QUOTES = str.maketrans("“”„«»", '"""""')
_PIECE = re.compile(
    r'(?P<minus>(?:-(?=[^\W\d_]|"))?)(?:(?P<field>title|tag|type):)?(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))'
)
_OPERATORS = frozenset({"AND", "OR", "NOT"})


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for.

    Attributes:
        text: as typed, without quotes and operators.
        phrases: alternatives, the exact one first; each is words in a row, blank-separated. The later
            ones occur only in what `analysis.index_terms` adds, or are stems.
        loose: alternatives for the case that no note has the term as it stands.
        is_prefix: the last word of the first phrase may go on.
        is_stop: a word too common to be required.
    """

    text: str
    phrases: tuple[str, ...]
    loose: tuple[str, ...] = ()
    is_prefix: bool = False
    is_stop: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """All of `required`, none of `excluded`. `required` is never empty."""

    required: tuple[Term, ...]
    excluded: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A parsed query: any of `clauses`, within all of `filters`. No clause: no searchable word."""

    clauses: tuple[Clause, ...] = ()
    filters: tuple[SearchFilters, ...] = ()

    @property
    def terms(self) -> tuple[Term, ...]:
        """All required terms, each once, in the order typed."""
        return tuple(dict.fromkeys(term for clause in self.clauses for term in clause.required))


def parse_query(text: str, languages: Languages = ENGLISH) -> TextQuery:
    """Read a query. Bounded: 20,000 characters, 64 distinct terms of at most 32 words; the rest is cut."""
    text = _UNTYPED.sub(" ", text[:_MAX_CHARS]).translate(_QUOTES)
    filters: list[SearchFilters] = []
    pieces: list[_Piece] = []
    seen: set[tuple[tuple[str, ...], bool]] = set()
    found = list(_PIECE.finditer(text))
    for position, match in enumerate(found):
        if (narrowing := _filter(match)) is not None:
            filters.append(narrowing)
            continue
        piece = _piece(match, languages, is_last=position + 1 == len(found))
        if piece is None:
            continue
        key = (piece.term.phrases, piece.is_excluded)
        if key in seen and not piece.operator:
            continue
        seen.add(key)
        pieces.append(piece)
        if len(seen) >= _MAX_TERMS:
            break
    return TextQuery(_clauses(pieces), tuple(filters))


@dataclass(frozen=True, slots=True)
class _Piece:
    term: Term
    is_excluded: bool = False
    operator: str = ""


def _filter(match: re.Match[str]) -> SearchFilters | None:
    value = (match["phrase"] or match["word"] or "").strip()
    if match["minus"] or not value:
        return None
    match match["field"]:
        case "title":
            return SearchFilters(title=value)
        case "tag":
            return SearchFilters(tags=(value,))
        case "type":
            return SearchFilters(note_types=(value,))
        case _:
            return None


def _piece(match: re.Match[str], languages: Languages, *, is_last: bool) -> _Piece | None:
    if match["phrase"] is not None:
        term = _term(match["phrase"], languages, is_quoted=True, is_prefix=False)
    else:
        word = (match["field"] + ":" if match["field"] else "") + match["word"]
        term = _term(word, languages, is_quoted=False, is_prefix=is_last or word.endswith("*"))
        if word in _OPERATORS and not match["minus"] and term is not None:
            return _Piece(replace(term, is_prefix=False), operator=word)
    return None if term is None else _Piece(term, is_excluded=bool(match["minus"]))


def _term(text: str, languages: Languages, *, is_quoted: bool, is_prefix: bool) -> Term | None:
    written = [word[:_MAX_WORD_CHARS] for word in written_words(text)[:_MAX_WORDS]]
    if not written:
        return Term(text, emoji) if (emoji := tuple(emoji_terms(text))) else None
    parts = [token(word) for word in written]
    exact, is_single = " ".join(parts), len(parts) == 1
    if is_single and (signed := signed_terms(text)):
        return Term(text, tuple(signed[:1]), loose=(exact,))
    phrases = [exact]
    if any(map(has_unspaced, written)):
        phrases.append(" ".join(_in_order(written)))
    elif is_single:
        phrases += [folded(written[0])] if is_quoted else forms(written[0], languages)
    stops = stop_words(languages)
    is_character = is_single and len(exact) == 1 and has_unspaced(exact)
    return Term(
        text=text,
        phrases=tuple(dict.fromkeys(phrases)),
        loose=() if is_single else tuple(part for part in parts if part not in stops),
        is_prefix=is_character or (is_prefix and len(parts[-1]) > 1 and parts[-1] not in stops),
        is_stop=is_single and not is_quoted and exact in stops,
    )


def _in_order(written: list[str]) -> list[str]:
    """The words as the column of pairs holds them."""
    split = [pairs(word) if has_unspaced(word) else [folded(word)] for word in written]
    return [term for terms in split for term in terms]


def _clauses(pieces: list[_Piece]) -> tuple[Clause, ...]:
    """Pieces joined by their operators; operators alone, or at an edge, are no operators."""
    if all(piece.operator for piece in pieces):
        return (Clause(tuple(piece.term for piece in pieces)),) if pieces else ()
    groups: list[list[_Piece]] = [[]]
    negate = False
    for piece in pieces:
        if piece.operator == "OR":
            groups.append([])
        elif piece.operator == "NOT":
            negate = True
        elif not piece.operator:
            groups[-1].append(replace(piece, is_excluded=piece.is_excluded or negate))
            negate = False
    return tuple(_clause(group) for group in groups if group)


def _clause(group: list[_Piece]) -> Clause:
    wanted = [piece.term for piece in group if not piece.is_excluded]
    excluded = [piece.term for piece in group if piece.is_excluded]
    if not wanted:
        wanted, excluded = excluded, []
    required = [term for term in wanted if not term.is_stop] or wanted
    return Clause(tuple(required), tuple(excluded))

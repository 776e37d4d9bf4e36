"""One full-text search on FTS5: which notes match, in which order, and the items of one page.

It runs in two steps, since bm25 costs about ten times a match:

1. Each term is matched alone; only row ids are read. Sets of notes then answer what a single FTS5
   expression cannot: all terms must occur in the note, not in one of its rows.
2. bm25 over the rows of the notes found. Words that fill a project are left out beside rarer ones,
   and when there is nothing rarer, only the most promising notes get bm25 (rare terms, many matching
   items, a match in title, tags or headings); the rest follow them in that order.

No text is read before the page is known. Whatever a user typed is inside an FTS5 string.

Source: spec 5.2, 14.3; architecture rows 6, 7, 21; SEARCH.md.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any

from sqlalchemy import Boolean, bindparam, func, literal_column, select
from sqlalchemy.engine import Connection

from memoranda.db import fts
from memoranda.db.tables import entity, project
from memoranda.model.search import ItemHit, ItemType, RankedNote, RankedPage, SearchQuery
from memoranda.repositories import filters
from memoranda.text.query import Clause, Term, parse_query

_SHARES = (1.0, 0.5, 0.25)
"""What a note's best rows add to its score, best first."""
_NOTE_SHARE = 2.0
_SATURATION = 2.0
_OWN_ROW = 6
_RANKED_ROWS = 800
_COMMON_ROWS = 8000
_TITLE_GAIN = 3.0
_ITEMS_PER_NOTE = 2
_ALL_KINDS = 0b1111

# The last two bits of a row id are its kind: `? >> (rowid & 3) & 1` tests a mask of kinds.
# One text of note ids costs half of ten thousand rows. A note's own row (title, tags, headings)
# has a sign before its number.
_MATCHING = """
    SELECT group_concat(
        iif(rowid & 16777215, rowid >> 24, -(rowid >> 24))
    ) FROM search_index
    WHERE search_index MATCH ? AND ? >> (rowid & 3) & 1
"""
# bm25 counts the unindexed columns too: title 10, content 1, tags 5, stems 0.4, headings 4.
_SCORED = """
    SELECT rowid, -bm25(search_index, 0, 0, 10, 1, 0, 0, 0, 0, 5, 0.4, 4) FROM search_index
    WHERE search_index MATCH ? AND ? >> (rowid & 3) & 1
    AND rowid >> 24 IN (SELECT value FROM json_each(?))
"""
# Over the index on the path, or by looking up each note and sorting.
_MANY_BY_PATH = """
    SELECT id FROM entity WHERE +id IN (SELECT value FROM json_each(?)) ORDER BY file_path
"""
_FEW_BY_PATH = _MANY_BY_PATH.replace("+id", "id")
_FEW_NOTES = 500
_ITEMS = """
    SELECT rowid, content, heading_path, start_line, end_line FROM search_index
    WHERE rowid IN (SELECT value FROM json_each(?))
"""
_LEAD = """
    SELECT rowid, content, heading_path, start_line, end_line FROM search_index
    WHERE rowid BETWEEN ? AND ? AND ? >> (rowid & 3) & 1 AND content <> ''
    ORDER BY rowid LIMIT 1
"""
_HAS_ITEM = """
    EXISTS (
        SELECT 1 FROM search_index
        WHERE rowid BETWEEN entity.id << 24 AND (entity.id << 24) + 16777215
        AND {kinds:d} >> (rowid & 3) & 1
    )
"""

_ANOTHER_PROJECT = select(project.c.id).where(project.c.id != bindparam("project")).limit(1)
_NOTE_COUNT = select(func.count()).where(entity.c.project_id == bindparam("project"))

Rows = list[tuple[int, float]]
"""Row id and score of the matching rows of one note, best first."""


@dataclass(frozen=True, slots=True)
class _Match:
    """Notes found, and the terms they were found by."""

    notes: Collection[int]
    terms: tuple[Term, ...]
    is_loose: bool


class FtsSearch:
    """One run of one query inside the caller's transaction."""

    def __init__(self, conn: Connection, project_id: int, query: SearchQuery) -> None:
        self._conn = conn
        self._project_id = project_id
        self._parsed = parse_query(query.text)
        self._wanted = slice(query.offset, query.offset + query.limit)
        self._found: dict[tuple[str, int], dict[int, int]] = {}
        self._term_rows: list[dict[int, int]] = []
        self._promised: dict[int, float] = {}
        kinds = {fts.KINDS[item_type] for item_type in query.filters.item_types}
        self._kinds = sum(1 << kind for kind in kinds) or _ALL_KINDS
        self._conditions = [
            condition
            for narrowing in (query.filters, *self._parsed.filters)
            for condition in filters.conditions(narrowing)
        ]

    def page(self) -> RankedPage:
        """The page asked for; `total` counts all notes that match."""
        if self._conditions:
            filters.register(self._conn)
        if not self._parsed.clauses:
            return self._newest()
        match = self._strict()
        if not match.notes:
            match = self._relaxed()
        if not match.notes:
            return RankedPage((), 0)
        if telling := self._telling(match):
            rows = self._scored(match, telling, self._chosen(match, telling))
        else:
            words = [replace(term, is_prefix=False) for term in match.terms]
            rows = self._scored(match, words, self._chosen(match, match.terms))
        scores = self._scores(rows, match)
        order = [(note, scores[note]) for note in self._by_score(scores, self._wanted)]
        if len(rows) < len(match.notes) and self._wanted.stop > len(rows):
            order += self._tail(match, scores)
            rows |= self._scored(
                match, match.terms, [note for note, _ in order if note not in rows]
            )
        return RankedPage(
            tuple(self._hydrated(order, rows)), len(match.notes), relaxed=match.is_loose
        )

    # Step 1: which notes

    def _strict(self) -> _Match:
        clauses = [self._all_of(clause) for clause in self._parsed.clauses]
        notes = clauses[0] if len(clauses) == 1 else set().union(*clauses)
        return _Match(self._allowed(notes), self._parsed.terms, is_loose=False)

    def _all_of(self, clause: Clause) -> Collection[int]:
        first, *others = [self._having(term) for term in clause.required]
        common = first.keys() if not others else set(first).intersection(*others)
        return self._without(common, clause.excluded)

    def _relaxed(self) -> _Match:
        terms = self._parsed.terms
        terms = tuple(term for term in terms if not term.is_stop) or terms
        notes = set[int]()
        if len(terms) > 1 or terms[0].loose:
            notes.update(*(self._having(term, is_loose=True) for term in terms))
        excluded = [term for clause in self._parsed.clauses for term in clause.excluded]
        return _Match(self._allowed(self._without(notes, excluded)), terms, is_loose=True)

    def _without(self, notes: Collection[int], excluded: Sequence[Term]) -> Collection[int]:
        if not excluded or not notes:
            return notes
        return set(notes).difference(*(self._having(term, kinds=_ALL_KINDS) for term in excluded))

    def _having(
        self, term: Term, *, is_loose: bool = False, kinds: int | None = None
    ) -> dict[int, int]:
        """Note -> number of its rows with the term; its own row counts as `_OWN_ROW`."""
        return self._matching(_any_of((term,), is_loose=is_loose), kinds or self._kinds)

    def _matching(self, expression: str, kinds: int) -> dict[int, int]:
        key = expression, kinds
        if key not in self._found:
            [(notes,)] = self._raw(_MATCHING, expression, kinds)
            found = self._found[key] = {}
            for number, count in Counter(notes.split(",") if notes else ()).items():
                if (note := int(number)) < 0:
                    found[-note] = found.get(-note, 0) + count * _OWN_ROW
                else:
                    found[note] = found.get(note, 0) + count
        return self._found[key]

    def _allowed(self, notes: Collection[int]) -> Collection[int]:
        """Those of the notes that pass the filters and are this project's."""
        if not notes or (not self._conditions and self._is_only_project()):
            return notes
        kept = select(entity.c.id).where(
            entity.c.id.in_(_each(notes)),
            entity.c.project_id == self._project_id,
            *self._conditions,
        )
        return set(self._conn.execute(kept).scalars())

    def _is_only_project(self) -> bool:
        mine = {"project": self._project_id}
        return self._conn.execute(_ANOTHER_PROJECT, mine).first() is None

    # Step 2: in which order

    def _telling(self, match: _Match) -> list[Term]:
        """The terms that tell notes apart: those that do not fill the project."""
        return [
            term
            for term in match.terms
            if sum(self._having(term, is_loose=match.is_loose).values()) <= _COMMON_ROWS
        ]

    def _chosen(self, match: _Match, terms: Iterable[Term]) -> Collection[int]:
        """The notes that get bm25: all, or the most promising ones, whole groups of equal promise."""
        found = [self._having(term, is_loose=match.is_loose) for term in terms]
        if sum(sum(rows.values()) for rows in found) <= _RANKED_ROWS:
            return match.notes
        rows = {note: sum([rows.get(note, 0) for rows in found]) for note in match.notes}
        if sum(rows.values()) <= _RANKED_ROWS:
            return match.notes
        promise = self._promise(match)
        chosen, budget = list[int](), _RANKED_ROWS
        for _, group in groupby(
            sorted(promise, key=promise.__getitem__, reverse=True), promise.__getitem__
        ):
            equal = list(group)
            size = sum(map(rows.__getitem__, equal))
            if size > budget:
                if not chosen:
                    chosen = self._by_score(dict.fromkeys(equal, 0.0), slice(0, _RANKED_ROWS))
                break
            chosen += equal
            budget -= size
        return chosen

    def _promise(self, match: _Match) -> dict[int, float]:
        """A cheap guess at the score of each note."""
        if self._promised:
            return self._promised
        promise = dict.fromkeys(match.notes, 0.0)
        found = self._by_term(match)
        most = max(map(len, found))
        for rows in found:
            rarity = math.log(1 + 2 * most / (1 + len(rows)))
            gain = {count: rarity * (1 + math.log(count)) for count in set(rows.values())}
            for note in promise.keys() & rows.keys():
                promise[note] += gain[rows[note]]
        anything = _any_of(match.terms, is_loose=match.is_loose)
        titled = self._matching(f"{{title tags headings}} : ({anything})", self._kinds)
        for note in promise.keys() & titled.keys():
            promise[note] *= _TITLE_GAIN
        self._promised = promise
        return promise

    def _scored(
        self, match: _Match, terms: Iterable[Term], notes: Collection[int]
    ) -> dict[int, Rows]:
        """bm25 of the rows of these notes that have any of the terms."""
        if not notes:
            return {}
        expression = _any_of(terms, is_loose=match.is_loose, is_scored=True)
        by_note: dict[int, Rows] = {}
        for rowid, score in self._raw(_SCORED, expression, self._kinds, _json(notes)):
            by_note.setdefault(rowid >> fts.NOTE_BITS, []).append((rowid, score))
        for rows in by_note.values():
            if len(rows) > 1:
                rows.sort(key=lambda row: (-row[1], row[0]))
        return by_note

    def _scores(self, rows: Mapping[int, Rows], match: _Match) -> dict[int, float]:
        """The best rows, and how the whole note matches; fewer of the terms, less of it.

        bm25 of rows alone misses notes that speak of a matter in many items, and is next to nothing
        for a word in more than half of the rows. One pass a term: notes can be thousands.
        """
        scores = {note: _of_rows(found) for note, found in rows.items()}
        having = dict.fromkeys(rows, 0)
        for found in self._by_term(match):
            if not found:
                continue
            weight = _NOTE_SHARE * math.log(1 + self._note_count / len(found)) * (1 + _SATURATION)
            gain = {count: weight * count / (count + _SATURATION) for count in set(found.values())}
            for note in scores.keys() & found.keys():
                scores[note] += gain[found[note]]
                having[note] += 1
        if match.is_loose:
            return {note: score * having[note] / len(match.terms) for note, score in scores.items()}
        return scores

    def _by_term(self, match: _Match) -> list[dict[int, int]]:
        if not self._term_rows:
            self._term_rows = [self._having(t, is_loose=match.is_loose) for t in match.terms]
        return self._term_rows

    @cached_property
    def _note_count(self) -> int:
        return self._conn.execute(_NOTE_COUNT, {"project": self._project_id}).scalar_one()

    def _by_score(self, scores: Mapping[int, float], wanted: slice) -> list[int]:
        """That part of the notes, best first, equal scores by path.

        Paths are compared only where scores that are wanted are equal.
        """
        order = sorted(scores, key=scores.__getitem__, reverse=True)
        part = order[wanted]
        if not part:
            return part
        lowest, highest = scores[part[-1]], scores[part[0]]
        first = next(place for place, note in enumerate(order) if scores[note] <= highest)
        shown = [note for note in order[first:] if scores[note] >= lowest]
        tied = {
            note for pair in pairwise(shown) if scores[pair[0]] == scores[pair[1]] for note in pair
        }
        if tied:
            few = len(tied) <= _FEW_NOTES
            rows = self._raw(_FEW_BY_PATH if few else _MANY_BY_PATH, _json(tied))
            by_path = [note for (note,) in rows]
            rest = [note for note in shown if note not in tied]
            shown = sorted([*by_path, *rest], key=scores.__getitem__, reverse=True)
        start = (wanted.start or 0) - first
        return shown[start : start + len(part)]

    def _tail(self, match: _Match, scores: Mapping[int, float]) -> list[tuple[int, float]]:
        """The page's part after the scored notes, in order of promise; scores go on falling."""
        promise = self._promise(match)
        rest = {note: promise[note] for note in promise if note not in scores}
        lowest = min(scores.values(), default=1.0)
        start, stop = (max(0, at - len(scores)) for at in (self._wanted.start, self._wanted.stop))
        return [
            (note, lowest * (1 - place / (len(rest) + 1)))
            for place, note in enumerate(self._by_score(rest, slice(start, stop)), start + 1)
        ]

    # Without a searchable word

    def _newest(self) -> RankedPage:
        conditions = [entity.c.project_id == self._project_id, *self._conditions]
        if self._kinds != _ALL_KINDS:
            conditions.append(literal_column(_HAS_ITEM.format(kinds=self._kinds), Boolean))
        count = select(func.count()).select_from(entity).where(*conditions)
        newest = (
            select(entity.c.id)
            .where(*conditions)
            .order_by(entity.c.mtime_ns.desc(), entity.c.file_path)
            .slice(self._wanted.start, self._wanted.stop)
        )
        ids = self._conn.execute(newest).scalars()
        order = [(note, 1 / (1 + place)) for place, note in enumerate(ids, self._wanted.start)]
        return RankedPage(tuple(self._hydrated(order, {})), self._conn.execute(count).scalar_one())

    # Text, for the page alone

    def _hydrated(
        self, order: Sequence[tuple[int, float]], rows: Mapping[int, Rows]
    ) -> Iterator[RankedNote]:
        best = {note: rows.get(note, [])[:_ITEMS_PER_NOTE] for note, _ in order}
        rowids = [rowid for found in best.values() for rowid, _ in found]
        items = {row[0]: row for row in self._raw(_ITEMS, _json(rowids))}
        for note, score in order:
            hits = [_hit(items[rowid], row_score) for rowid, row_score in best[note]]
            if not any(hit.text and hit.item_type is not ItemType.NOTE for hit in hits):
                lead = self._raw(_LEAD, *fts.row_range(note), self._kinds)
                hits += [_hit(row, hits[-1].score if hits else score) for row in lead]
            yield RankedNote(note, score, tuple(hits))

    def _raw(self, sql: str, *parameters: object) -> Iterable[Any]:
        """Rows as the driver gives them; row objects would cost more than the search."""
        return self._conn.exec_driver_sql(sql, parameters).cursor.fetchall()


def _of_rows(rows: Rows) -> float:
    if len(rows) == 1:
        return rows[0][1]
    return sum([share * row[1] for share, row in zip(_SHARES, rows, strict=False)])


def _hit(row: Any, score: float) -> ItemHit:
    rowid, content, heading_path, start_line, end_line = row
    key = fts.row_key(rowid)
    return ItemHit(
        entity_id=key.entity_id,
        item_type=fts.ITEM_TYPES[key.kind],
        text=content,
        heading_path=tuple(json.loads(heading_path)) if heading_path else (),
        start_line=start_line,
        end_line=end_line,
        score=score,
    )


def _any_of(terms: Iterable[Term], *, is_loose: bool = False, is_scored: bool = False) -> str:
    """An FTS5 expression that matches any form of any of these terms.

    The exact word is a case of its own prefix; only a score needs both, so that it wins.
    """
    strings = dict[str, None]()
    for term in terms:
        exact, *others = map(_quoted, term.phrases)
        if term.is_prefix:
            strings[f"{exact} *"] = None
        if is_scored or not term.is_prefix:
            strings[exact] = None
        strings.update(dict.fromkeys(others))
        if is_loose:
            strings.update(dict.fromkeys(map(_quoted, term.loose)))
    return " OR ".join(strings)


def _quoted(phrase: str) -> str:
    return '"' + phrase.replace('"', '""') + '"'


def _json(notes: Collection[int]) -> str:
    return f"[{','.join(map(str, notes))}]"


def _each(notes: Collection[int]) -> Any:
    """A subquery of ids that is one parameter, however many there are."""
    return select(func.json_each(_json(notes)).table_valued("value").c.value)

"""All items and notes that match, with a cheap score each: what the terms they have are worth. Pure.

A term is worth its inverse document frequency. Nothing but keys is looked at, so a word in fifty thousand
items costs milliseconds; `items` then looks at the text of the best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoranda.model.item_key import KIND_BITS, NOTE_BITS
from memoranda.text.query import Term

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]

_OWN_ITEM_GAIN = 1.5
"""How much more a term is worth in a note's own item (its title, tags and headings) than in another."""
_OWN_NOTE_GAIN = 2.5
"""What a term there is worth for the note, beside what all its items make of it, which ends at 5."""
_SATURATION = 4.0
_NO_IDS: Ids = np.empty(0, np.int64)
_KIND_MASK = (1 << KIND_BITS) - 1


@dataclass(frozen=True, slots=True)
class TermMatches:
    """One term and the items that have it in any form.

    Attributes:
        keys: ascending, filters applied.
        items: how many items of the project have it, filters not applied.
        idf, note_idf: inverse document frequency among items and among notes; of a term that nothing
            has, that of the rarest.
        weight: 1.0; less for a part of what was typed.
    """

    term: Term
    keys: Ids
    items: int
    idf: float
    note_idf: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class ItemMatches:
    """All matching items. Shape (n,) each.

    Attributes:
        keys: ascending.
        scores: the sum of what their terms are worth.
        terms: how many of the terms each has, of those that `counted` counts.
    """

    keys: Ids
    scores: Scores
    terms: Ids


@dataclass(frozen=True, slots=True)
class NoteMatches:
    """All notes with a matching item. Shape (n,) each.

    Attributes:
        notes: ids, ascending.
        scores: how much the whole note speaks of the terms: in how many of its items.
        coverage: the part of the terms' worth that it has, 0..1; what stands in for a term counts in part.
        terms: how many of the terms each has; both of those that `counted` counts.
    """

    notes: Ids
    scores: Scores
    coverage: Scores
    terms: Ids


def inverse_frequency(having: int, count: int) -> float:
    """BM25's inverse document frequency, never negative; `having` of `count` documents have the term."""
    return math.log(1 + (max(count, having) - having + 0.5) / (having + 0.5))


def match_term(term: Term, keys: Ids, counts: tuple[int, int], weight: float = 1.0) -> TermMatches:
    """A term's matches: `keys` are all items that have it, `counts` items and notes of the index."""
    items, notes = counts
    having = distinct(keys >> NOTE_BITS)
    return TermMatches(
        term,
        keys,
        len(keys),
        inverse_frequency(len(keys), items),
        inverse_frequency(len(having), notes),
        weight,
    )


def match_items(found: Sequence[TermMatches]) -> ItemMatches:
    """Every item that has a term."""
    worth = [
        np.where(one.keys & _KIND_MASK, 1.0, _OWN_ITEM_GAIN) * (one.idf * one.weight)
        for one in found
    ]
    keys, order, starts = _merged([one.keys for one in found])
    if not len(keys):
        return ItemMatches(keys, np.empty(0), _NO_IDS)
    scores = np.add.reduceat(np.concatenate(worth)[order], starts)
    ones = np.repeat(_counts(found), [len(one.keys) for one in found])
    return ItemMatches(keys, scores, np.add.reduceat(ones[order], starts))


def match_notes(found: Sequence[TermMatches]) -> NoteMatches:
    """Every note that has a term in one of its items."""
    notes, gains, sizes = [], [], []
    for one in found:
        owners = one.keys >> NOTE_BITS
        starts = _starts(owners)
        own = (one.keys[starts] & _KIND_MASK) == 0  # a note's own item is its first
        having = np.diff(np.append(starts, len(owners)))
        gain = one.note_idf * one.weight
        notes.append(owners[starts])
        told = having * (_SATURATION + 1) / (having + _SATURATION)
        gains.append(gain * (told + np.where(own, _OWN_NOTE_GAIN, 0.0)))
        sizes.append(len(starts))
    ids, order, starts = _merged(notes)
    if not len(ids):
        return NoteMatches(ids, np.empty(0), np.empty(0), _NO_IDS)
    counts = _counts(found)
    whole = counts * [one.note_idf for one in found]
    worth = whole * [one.weight for one in found]
    return NoteMatches(
        ids,
        np.add.reduceat(np.concatenate(gains)[order], starts),
        np.add.reduceat(np.repeat(worth, sizes)[order], starts) / whole.sum(),
        np.add.reduceat(np.repeat(counts, sizes)[order], starts),
    )


def counted(found: Sequence[TermMatches]) -> int:
    """How many terms there are to have: the words of a date are none beside others."""
    return int(_counts(found).sum())


def _counts(found: Sequence[TermMatches]) -> Ids:
    """1 for a term that a hit may lack or have, 0 for one of a date beside others."""
    dates = [one.term.is_date for one in found]
    return np.array([int(not is_date or all(dates)) for is_date in dates], np.int64)


def is_in(values: Ids, wanted: Ids) -> NDArray[np.bool_]:
    """Which values are among the wanted; `wanted` is ascending."""
    if not len(wanted):
        return np.zeros(len(values), np.bool_)
    places = np.searchsorted(wanted, values)
    places[places == len(wanted)] = 0
    found: NDArray[np.bool_] = wanted[places] == values
    return found


def distinct(values: Ids) -> Ids:
    """Each value once; `values` is ascending."""
    return values[_starts(values)]


def _starts(values: Ids) -> Ids:
    """Where a new value begins; `values` is ascending."""
    if not len(values):
        return _NO_IDS
    return np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))


def _merged(parts: Sequence[Ids]) -> tuple[Ids, Ids, Ids]:
    """Ascending parts as one: distinct values, the order of all, and where each value begins in it."""
    together = np.concatenate(parts) if parts else _NO_IDS
    order = np.argsort(together, kind="stable")  # merges ascending runs in linear time
    values = together[order]
    starts = _starts(values)
    return values[starts], order, starts

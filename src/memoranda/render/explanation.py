"""Why a hit is where it is, as JSON values and as lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memoranda.model.search import Explanation, TermShare
from memoranda.render.bounds import one_line
from memoranda.render.notes import count

_TERM_CHARS = 60
_FACTORS = {"all_terms": "all terms", "title": "title", "date": "date", "recency": "recency"}
_OF_ITEM = "phrase"


def explanation_data(explanation: Explanation) -> dict[str, Any]:
    """The parts of a hit's score."""
    return {
        "rank": explanation.rank,
        "terms": [
            {
                "text": one_line(term.text, _TERM_CHARS),
                "items": term.items,
                "exact": term.is_exact,
                "share": rounded(term.share),
            }
            for term in explanation.terms
        ],
        "fields": {name: rounded(value) for name, value in explanation.fields.items()},
        "boosts": {name: rounded(value) for name, value in explanation.boosts.items()},
    }


def explanation_text(explanation: Explanation, score: float) -> str:
    """A line for the place, one for the best item, one for its fields and one for the sum."""
    lines = [f"   why: rank {explanation.rank}, score {_shown(score)}"]
    if terms := ", ".join(_of_item(explanation)):
        lines.append(f"     best item: {terms}")
    if fields := ", ".join(_fields(explanation.fields)):
        lines.append(f"     of that: {fields}")
    if explanation.boosts:
        lines.append(f"     score: {_sum(explanation)}")
    return "\n".join(lines)


def rounded(value: float) -> float:
    """Four significant digits: BM25 is tiny in a small folder, and a hit's score is never 0."""
    return float(f"{value:.4g}")


def _of_item(explanation: Explanation) -> Iterator[str]:
    """What the score of the best item is the sum of."""
    for term in explanation.terms:
        yield _term_text(term)
    if phrase := explanation.boosts.get(_OF_ITEM):
        yield f"{_OF_ITEM} {_shown(phrase)}"


def _term_text(term: TermShare) -> str:
    """`heap 2.31 (as typed, in 3 parts of notes)`."""
    text, where = one_line(term.text, _TERM_CHARS), f"{count(term.items, 'part')} of notes"
    if not term.share:
        return f"{text} 0 (not here, in {where})" if term.items else f"{text} 0 (nowhere)"
    how = "as typed" if term.is_exact else "in another form"
    return f"{text} {_shown(term.share)} ({how}, in {where})"


def _fields(fields: Mapping[str, float]) -> Iterator[str]:
    return (f"{name} {_shown(value)}" for name, value in fields.items() if value)


def _sum(explanation: Explanation) -> str:
    """`(passages 2.5 + note 1) x all terms 0.25`: what is 0, and factors of 1, are left out.

    The best item of a note is in its passages; a hit that is an item begins with the item itself.
    """
    boosts = explanation.boosts
    parts = {} if "passages" in boosts else {"item": _item_score(explanation)}
    parts |= {
        name: value for name, value in boosts.items() if name not in _FACTORS and name != _OF_ITEM
    }
    added = [f"{name} {_shown(value)}" for name, value in parts.items() if value]
    factors = [
        f"{_FACTORS[name]} {_shown(value)}"
        for name, value in boosts.items()
        if name in _FACTORS and value != 1
    ]
    total = " + ".join(added)
    if factors and len(added) > 1:
        total = f"({total})"
    return " x ".join([total, *factors])


def _item_score(explanation: Explanation) -> float:
    return sum(term.share for term in explanation.terms) + explanation.boosts.get(_OF_ITEM, 0.0)


def _shown(value: float) -> str:
    return f"{rounded(value):g}"

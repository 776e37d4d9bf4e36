"""Why a hit is where it is, as JSON values and as lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memoranda.model.search import Explanation, TermShare
from memoranda.render.bounds import one_line
from memoranda.render.notes import count

_TERM_CHARS = 60
_FACTORS = {"all_terms": "all terms", "recency": "recency"}


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
    """A line for the place, one for each term, one for the fields and one for the boosts."""
    lines = [f"   why: rank {explanation.rank}, score {rounded(score):g}"]
    lines += (f"     {_term_text(term)}" for term in explanation.terms)
    if fields := ", ".join(_fields(explanation.fields)):
        lines.append(f"     by field: {fields}")
    if boosts := ", ".join(_boosts(explanation.boosts)):
        lines.append(f"     boosts: {boosts}")
    return "\n".join(lines)


def rounded(value: float) -> float:
    """Four significant digits: BM25 is tiny in a small folder, and a hit's score is never 0."""
    return float(f"{value:.4g}")


def _term_text(term: TermShare) -> str:
    """`heap 2.31: as typed, in 3 items`."""
    text, where = one_line(term.text, _TERM_CHARS), count(term.items, "item")
    if not term.share:
        return f"{text} 0: not here, in {where}" if term.items else f"{text} 0: nowhere"
    how = "as typed" if term.is_exact else "in another form"
    return f"{text} {rounded(term.share):g}: {how}, in {where}"


def _fields(fields: Mapping[str, float]) -> Iterator[str]:
    return (f"{name} {rounded(value):g}" for name, value in fields.items() if value)


def _boosts(boosts: Mapping[str, float]) -> Iterator[str]:
    """Those that change something: sums that are not 0, factors that are not 1."""
    for name, value in boosts.items():
        if name in _FACTORS and value != 1:
            yield f"{_FACTORS[name]} x{rounded(value):g}"
        elif name not in _FACTORS and value:
            yield f"{name} {rounded(value):+g}"

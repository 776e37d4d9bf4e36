"""Why a hit is where it is, as JSON values and as lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memoranda.model.search import Explanation, Hit, SearchType, TermShare
from memoranda.render.bounds import one_line
from memoranda.render.notes import count

_TERM_CHARS = 60
_FACTORS = {"all_terms": "all terms", "title": "title", "date": "date", "recency": "recency"}
_OF_ITEM = "phrase"
_JOINED = frozenset({"words", "meaning", "recency"})


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
        "text_score": _rounded_or_none(explanation.text_score),
        "text_rank": explanation.text_rank,
        "similarity": _rounded_or_none(explanation.similarity),
        "similarity_rank": explanation.similarity_rank,
    }


def explanation_text(hit: Hit, explanation: Explanation, search_type: SearchType) -> str:
    """Lines for the place, both searches, the best item, its fields and the sum; each if there is one.

    Args:
        hit: what is explained.
        explanation: why it is where it is.
        search_type: what ran; of one that did not run nothing is said.
    """
    confidence = f", confidence {hit.confidence.value}" if hit.confidence else ""
    lines = [f"   why: rank {explanation.rank}, score {_shown(hit.score)}{confidence}"]
    if search_type is not SearchType.FTS:
        lines.append(f"     {_legs(explanation, search_type)}")
    if search_type is not SearchType.VECTOR:
        if terms := ", ".join(_of_item(explanation)):
            lines.append(f"     best item: {terms}")
        if fields := ", ".join(_fields(explanation.fields)):
            lines.append(f"     of that: {fields}")
    lines += [f"     {name}: {total}" for name, total in _sums(explanation) if total]
    return "\n".join(lines)


def rounded(value: float) -> float:
    """Four significant digits: BM25 is tiny in a small folder, and a hit's score is never 0."""
    return float(f"{value:.4g}")


def _legs(explanation: Explanation, search_type: SearchType) -> str:
    """`by words: rank 1, score 2.31; by meaning: rank 3, similarity 0.62`."""
    if explanation.text_rank is None and explanation.similarity_rank is None:
        return "by words: behind those that were looked at closely"
    legs = [("meaning", explanation.similarity_rank, "similarity", explanation.similarity)]
    if search_type is SearchType.HYBRID:
        legs.insert(0, ("words", explanation.text_rank, "score", explanation.text_score))
    return "; ".join(_leg(*leg) for leg in legs)


def _leg(name: str, rank: int | None, measure: str, value: float | None) -> str:
    parts = [] if rank is None else [f"rank {rank}"]
    parts += [] if value is None else [f"{measure} {_shown(value)}"]
    return f"by {name}: {', '.join(parts) or 'not found'}"


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


def _sums(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """What the score is made of; where two searches were joined, that of words first."""
    boosts = explanation.boosts
    if not boosts.keys() & {"words", "meaning"}:
        if boosts:
            yield "score", _sum(boosts, _item_score(explanation))
        return
    of_words = {name: value for name, value in boosts.items() if name not in _JOINED}
    if of_words:
        yield "words", _sum(of_words, _item_score(explanation))
    yield "score", _sum({name: value for name, value in boosts.items() if name in _JOINED}, 0.0)


def _sum(boosts: Mapping[str, float], item_score: float) -> str:
    """`(passages 2.5 + note 1) x all terms 0.25`: what is 0, and factors of 1, are left out.

    The best item of a note is in its passages; a hit that is an item begins with the item itself.
    """
    parts = {} if "passages" in boosts else {"item": item_score}
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


def _rounded_or_none(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def _shown(value: float) -> str:
    return f"{rounded(value):g}"

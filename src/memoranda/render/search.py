"""Search results as JSON values and as a numbered list for a model."""

from __future__ import annotations

from typing import Any

from memoranda.model.project import Project
from memoranda.model.search import Hit, Passage, SearchResults
from memoranda.render.bounds import ANSWER_CHARS, compact, one_line, page_that_fits
from memoranda.render.notes import count, reference_data, reference_text

_PASSAGE_CHARS = 400
_MOST_PASSAGES = 3


def results_data(
    results: SearchResults, project: Project, limit: int = ANSWER_CHARS, *, is_complete: bool = True
) -> dict[str, Any]:
    """A page of hits. When it does not fit, `page_size` is smaller than asked and `next_page` counts in it."""
    hits = [_hit_data(hit, project) for hit in results.hits]
    lengths = [len(compact(hit)) + 1 for hit in hits]
    shown = page_that_fits(lengths, results.offset, limit - 1000)
    size = results.limit if shown == len(hits) else shown
    page = results.offset // size + 1
    has_more = results.offset + shown < results.total
    return {
        "query": results.query[:500],
        "search_type": results.search_type.value,
        "degraded": results.degraded,
        "results": hits[:shown],
        "page": page,
        "page_size": size,
        "total": results.total,
        "total_is_exact": is_complete,
        "has_more": has_more,
        "next_page": page + 1 if has_more else None,
        "relaxed": results.relaxed,
        "suggestion": results.suggestion,
    }


def results_text(results: SearchResults, limit: int = ANSWER_CHARS) -> str:
    """Numbered hits: a reference line, then each passage with its place in the note."""
    hits = [
        _hit_text(number, hit) for number, hit in enumerate(results.hits, start=results.offset + 1)
    ]
    shown = page_that_fits([len(hit) + 1 for hit in hits], results.offset, limit - 1000)
    size = results.limit if shown == len(hits) else shown
    asked = f" for {one_line(results.query, 200)!r}" if results.query.strip() else ""
    head = f"{count(results.total, 'note')}{asked} ({results.search_type.value})"
    if not hits:
        lines = [f"Nothing found{asked} ({results.search_type.value})."]
        if results.offset and results.total:
            lines = [f"{head}, none on this page."]
    else:
        last = results.offset + shown
        lines = [f"{head}, {results.offset + 1}-{last}:" if results.total > shown else f"{head}:"]
    if results.relaxed:
        lines.append("No note has all of these words; these have some of them.")
    if results.degraded:
        lines.append(f"Note: {results.degraded}")
    lines += hits[:shown]
    if results.suggestion:
        lines.append(results.suggestion)
    if hits and results.offset + shown < results.total:
        smaller = f", page_size={size}" if size != results.limit else ""
        lines.append(f"More: page={results.offset // size + 2}{smaller}")
    return "\n".join(lines)


def _hit_data(hit: Hit, project: Project) -> dict[str, Any]:
    return (
        reference_data(hit.ref, project)
        | {
            "score": _score(hit.score),
            "confidence": None,  # needs a calibrated meaning search
            "item_type": hit.item_type.value,
            "passages": [_passage_data(passage) for passage in hit.passages[:_MOST_PASSAGES]],
        }
    )


def _passage_data(passage: Passage) -> dict[str, Any]:
    return {
        "text": one_line(passage.text, _PASSAGE_CHARS),
        "heading_path": list(passage.heading_path),
        "start_line": passage.start_line,
        "end_line": passage.end_line,
        "score": _score(passage.score),
    }


def _score(value: float) -> float:
    """Four significant digits: BM25 is tiny in a small folder, and a hit's score is never 0."""
    return float(f"{value:.4g}")


def _hit_text(number: int, hit: Hit) -> str:
    lines = [f"{number}. {reference_text(hit.ref)}"]
    for passage in hit.passages[:_MOST_PASSAGES]:
        place = f"L{passage.start_line}"
        if passage.end_line > passage.start_line:
            place += f"-{passage.end_line}"
        if passage.heading_path:
            place += f" {one_line(' > '.join(passage.heading_path), 120)}"
        lines.append(f"   {place}: {one_line(passage.text, _PASSAGE_CHARS)}")
    return "\n".join(lines)

"""Search results as JSON values and as a numbered list for a reader."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from memoranda.model.note import NoteRef
from memoranda.model.project import Project
from memoranda.model.search import (
    Confidence,
    Hit,
    ItemType,
    Passage,
    SearchResults,
    SearchType,
)
from memoranda.render.bounds import ANSWER_CHARS, compact, one_line, page_that_fits
from memoranda.render.explanation import explanation_data, explanation_text, rounded
from memoranda.render.notes import count, reference_data

MARKS = ("\ufdd0", "\ufdd1")
"""Around what matched, where it is asked for: characters that no text has, for the inside of a program."""

_QUERY_CHARS = 500
_WIDE_CHARS = 6_000
_FEW_TAGS = 8
_SENTENCE_CHARS = 600
_PASSAGE_CHARS = 400
_TITLE_CHARS = 200
_PLACE_CHARS = 120
_MOST_PASSAGES = 3
_LATE_CHARS = 300  # what is said beside the hits once it is known how many are shown
_UNITS = {
    ItemType.SECTION: "section",
    ItemType.OBSERVATION: "observation",
    ItemType.RELATION: "relation",
}
_DOUBTS = {Confidence.LOW: "unsure", Confidence.NONE: "unlikely"}


def results_data(
    results: SearchResults, project: Project, limit: int = ANSWER_CHARS, *, is_complete: bool = True
) -> dict[str, Any]:
    """A page of hits. When it does not fit, `page_size` is smaller than asked and `next_page` counts in it."""
    hits = [_hit_data(hit, project) for hit in results.hits]
    data: dict[str, Any] = {
        "query": results.query[:_QUERY_CHARS],
        "search_type": results.search_type.value,
        "degraded": results.degraded and one_line(results.degraded, _SENTENCE_CHARS),
        "results": [],
        "page": 1,
        "page_size": results.limit,
        "total": results.total,
        "total_is_exact": is_complete and results.total_is_exact,
        "full_matches": results.full_matches,
        "has_more": False,
        "next_page": None,
        "read_filters": [one_line(text, _TITLE_CHARS) for text in results.read_filters[:10]],
        "relaxed": results.relaxed,
        "is_weak": results.is_weak,
        "suggestion": results.suggestion and one_line(results.suggestion, _SENTENCE_CHARS),
    }
    lengths = [len(compact(hit)) + 1 for hit in hits]
    shown = page_that_fits(lengths, results.offset, limit - len(compact(data)) - _LATE_CHARS)
    size = results.limit if shown == len(hits) else shown
    page = results.offset // size + 1
    has_more = _has_more(results, shown)
    return data | {
        "results": hits[:shown],
        "page": page,
        "page_size": size,
        "has_more": has_more,
        "next_page": page + 1 if has_more else None,
    }


def results_text(
    results: SearchResults, limit: int = ANSWER_CHARS, *, is_marked: bool = False
) -> str:
    """Numbered hits: a note is a reference line and its passages, an item is one line.

    Hits that are only the nearest have one passage each. Hits of little confidence are marked, unless all
    are, which the first line says. `is_marked` puts `MARKS` around what matched.
    """
    is_doubted = not results.is_weak and not _is_all_doubtful(results.hits)
    hits = [
        _hit_text(
            number,
            hit,
            results.search_type,
            most=1 if results.is_weak else _MOST_PASSAGES,
            is_doubted=is_doubted,
            is_marked=is_marked,
        )
        for number, hit in enumerate(results.hits, start=results.offset + 1)
    ]
    remarks = _remarks(results)
    advice = [one_line(results.suggestion, _SENTENCE_CHARS)] if results.suggestion else []
    rest = sum(len(line) + 1 for line in (_asked(results), *remarks, *advice)) + _LATE_CHARS
    shown = page_that_fits([len(hit) + 1 for hit in hits], results.offset, limit - rest)
    size = results.limit if shown == len(hits) else shown
    lines = [_head(results, shown), *remarks, *hits[:shown], *advice]
    if _has_more(results, shown):
        smaller = f", page_size={size}" if size != results.limit else ""
        lines.append(f"More: page={results.offset // size + 2}{smaller}")
    return "\n".join(lines)


def _has_more(results: SearchResults, shown: int) -> bool:
    return bool(shown) and not results.is_weak and results.offset + shown < results.total


def _head(results: SearchResults, shown: int) -> str:
    """How many match, and how well."""
    mode = f"{_asked(results)} ({results.search_type.value})"
    if results.is_weak:
        where = "the nearest:" if shown else "the nearest are on page 1."
        return f"Nothing relevant was found{mode}; {where}"
    if not results.total:
        return f"Nothing found{mode}."
    about = "" if results.total_is_exact else "about "
    head = f"{about}{count(results.total, _unit(results.hits))}{mode}"
    if not shown:
        return f"{head}, none on this page; the last is page {-(-results.total // results.limit)}."
    if results.search_type is not SearchType.VECTOR and results.full_matches is not None:
        if results.full_matches < results.total:
            head += f", {results.full_matches or 'none'} with all the words"
    elif results.search_type is SearchType.FTS:  # no word decides
        head += ", newest file first"
    if results.total > shown:
        head += f", {results.offset + 1}-{results.offset + shown}"
    if _is_all_doubtful(results.hits):
        head += ", all unsure"
    return f"{head}:"


def _is_all_doubtful(hits: Sequence[Hit]) -> bool:
    return bool(hits) and all(hit.confidence in _DOUBTS for hit in hits)


def _asked(results: SearchResults) -> str:
    return f" for {one_line(results.query, _TITLE_CHARS)!r}" if results.query.strip() else ""


def _unit(hits: Sequence[Hit]) -> str:
    """What is counted. Notes, or items, which are all of one type or of several."""
    types = {hit.item_type for hit in hits}
    if types <= {ItemType.NOTE}:
        return "note"
    return _UNITS.get(types.pop(), "item") if len(types) == 1 else "item"


def _remarks(results: SearchResults) -> list[str]:
    """What was understood, and what was not done as asked."""
    lines = []
    if results.read_filters:
        filters = one_line("; ".join(results.read_filters), _SENTENCE_CHARS)
        lines.append(f"Filters read from the query: {filters}.")
    if results.relaxed and not results.is_weak:
        lines.append("Nothing has all that the query demands; these have some of it.")
    if results.degraded:
        lines.append(f"Note: {one_line(results.degraded, _SENTENCE_CHARS)}")
    return lines


# Hits


def _hit_data(hit: Hit, project: Project) -> dict[str, Any]:
    data = reference_data(hit.ref, project) | {
        "score": rounded(hit.score),
        "confidence": hit.confidence and hit.confidence.value,
        "item_type": hit.item_type.value,
        "passages": [_passage_data(passage) for passage in hit.passages[:_MOST_PASSAGES]],
    }
    if len(compact(data)) > _WIDE_CHARS:  # one odd note must not take the room of the others
        data |= {"tags": data["tags"][:_FEW_TAGS], "passages": data["passages"][:1]}
    if hit.explanation is not None:
        data["explanation"] = explanation_data(hit.explanation)
    return data


def _passage_data(passage: Passage) -> dict[str, Any]:
    data = {
        "text": one_line(passage.text, _PASSAGE_CHARS),
        "heading_path": list(passage.heading_path),
        "start_line": passage.start_line,
        "end_line": passage.end_line,
        "score": rounded(passage.score),
    }
    if passage.matches:
        data["matches"] = list(passage.matches)
    return data


def _hit_text(
    number: int,
    hit: Hit,
    search_type: SearchType,
    *,
    most: int,
    is_doubted: bool,
    is_marked: bool,
) -> str:
    doubt = _DOUBTS.get(hit.confidence) if is_doubted and hit.confidence else None
    note = _note_text(hit.ref, doubt)
    passages = [_passage_text(one, is_marked=is_marked) for one in hit.passages[:most]]
    if hit.item_type is ItemType.NOTE:
        note = one_line(" · ".join([note, *_marks_of(hit.ref)]), _PASSAGE_CHARS)
        lines = [f"{number}. {note}", *(f"   {text}" for text in passages)]
    else:
        lines = [f"{number}. {' · '.join([note, *passages])}"]
    if hit.explanation is not None:
        lines.append(explanation_text(hit, hit.explanation, search_type))
    return "\n".join(lines)


def _note_text(ref: NoteRef, doubt: str | None) -> str:
    """Title, permalink, how doubtful it is, whether its file is missing, dates."""
    parts = [f"{one_line(ref.title, _TITLE_CHARS)} — {ref.permalink}"]
    if doubt:
        parts.append(doubt)
    if ref.missing_since:
        parts.append("its file is missing")
    return one_line(" · ".join([*parts, _dates(ref)]), _PASSAGE_CHARS)


def _marks_of(ref: NoteRef) -> Iterator[str]:
    """Type unless it is the usual, tags."""
    if ref.note_type and ref.note_type != "note":
        yield ref.note_type
    if ref.tags:
        yield " ".join(f"#{tag}" for tag in ref.tags[:_FEW_TAGS])


def _dates(ref: NoteRef) -> str:
    """The day it is of, and the day it was changed if that is another one."""
    created, updated = (f"{moment:%Y-%m-%d}" for moment in (ref.created_at, ref.updated_at))
    return created if created == updated else f"{created}, changed {updated}"


def _passage_text(passage: Passage, *, is_marked: bool) -> str:
    place = f"L{passage.start_line}"
    if passage.end_line > passage.start_line:
        place += f"-{passage.end_line}"
    if passage.heading_path:
        place += f" {one_line(' > '.join(passage.heading_path), _PLACE_CHARS)}"
    text = one_line(passage.text, _PASSAGE_CHARS)
    return f"{place}: {_marked(text, passage.matches) if is_marked else text}"


def _marked(text: str, matches: Sequence[str]) -> str:
    """A text with marks around the matches: as whole words where they stand as such."""
    on, off = MARKS
    for match in sorted(matches, key=len, reverse=True):
        plain = f"{re.escape(match)}(?![^{on}{off}]*{off})"  # not inside of another match
        whole = rf"(?<!\w){plain}(?!\w)"
        pattern = whole if re.search(whole, text, re.IGNORECASE) else plain
        text = re.sub(pattern, f"{on}\\g<0>{off}", text, flags=re.IGNORECASE)
    return text

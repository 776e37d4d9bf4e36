"""A note with its neighbourhood, as JSON values and as text for a model (spec 6.2.6)."""

from __future__ import annotations

from typing import Any

from memoranda.model.note import RelatedNote
from memoranda.model.project import Project
from memoranda.model.views import Context, ContextResult
from memoranda.render.bounds import ANSWER_CHARS, compact, lines_of, lines_that_fit, one_line
from memoranda.render.notes import (
    bounded_lists,
    neighbours_text,
    reference_text,
    related_data,
    view_data,
)

_LEAST_CHARS = 1500


def context_data(
    result: ContextResult, project: Project, limit: int = ANSWER_CHARS
) -> dict[str, Any]:
    """Every context gets an equal share; those that do not fit are counted in `total` only."""
    share = _share(result, limit)
    contexts: list[dict[str, Any]] = []
    left = limit - 200
    for context in result.contexts:
        data = _one_data(context, project, share)
        if contexts and len(compact(data)) > left:
            break
        contexts.append(data)
        left -= len(compact(data)) + 1
    return {
        "path": result.path,
        "contexts": contexts,
        "total": result.total,
        "has_more": len(contexts) < result.total,
    }


def context_text(result: ContextResult, limit: int = ANSWER_CHARS) -> str:
    """For each note: a reference line, its text, links both ways, and the notes around it."""
    share = _share(result, limit)
    parts: list[str] = []
    left = limit - 200
    for context in result.contexts:
        part = _one_text(context, share)
        if parts and len(part) > left:
            break
        parts.append(part)
        left -= len(part) + 2
    if not parts:
        return f"Nothing matches {one_line(result.path, 200)!r}."
    if len(parts) < result.total:
        parts.append(f"{len(parts)} of {result.total:,} matching notes are shown.")
    return "\n\n".join(parts)


def _share(result: ContextResult, limit: int) -> int:
    return max((limit - 200) // max(len(result.contexts), 1), _LEAST_CHARS)


def _one_data(context: Context, project: Project, limit: int) -> dict[str, Any]:
    related = [related_data(item) for item in context.related]
    neighbours = bounded_lists({"related": related}, limit // 3)
    note = view_data(context.view, project, limit - len(compact(neighbours)))
    note.pop("related", None)
    note.pop("outline", None)
    return note | neighbours


def _one_text(context: Context, limit: int) -> str:
    view = context.view
    lines = lines_of(view.text)
    text, shown = lines_that_fit(lines, limit // 2)
    end = view.start_line + shown - 1
    more = end < view.total_lines
    parts = [
        f"# {reference_text(view.ref)}",
        f"file {view.ref.file_path} · lines {view.start_line}-{end} of {view.total_lines}",
        "--- note text begins",
        text.rstrip("\r\n"),
        "--- note text ends",
    ]
    if more:
        parts.append(f"Cut here: read_note path={view.ref.permalink} start_line={end + 1}")
    parts += _within(
        neighbours_text(view.relations, view.backlinks, most=10), limit // 4 - len(parts[0])
    )
    if context.related:
        parts.append("Around it:")
        parts += _within([_related_text(item) for item in context.related], limit // 4)
    return "\n".join(parts)


def _related_text(item: RelatedNote) -> str:
    summary = f": {one_line(item.summary, 160)}" if item.summary else ""
    return f"- {reference_text(item.ref)} ({item.why}, distance {item.distance}){summary}"


def _within(lines: list[str], limit: int) -> list[str]:
    text, shown = lines_that_fit([line + "\n" for line in lines], limit) if lines else ("", 0)
    return text.splitlines() if shown == len(lines) else [*text.splitlines(), "- …"]

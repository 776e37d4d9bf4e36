"""Search results and notes as the JSON that connectors of ChatGPT read."""

from __future__ import annotations

from typing import Any

from memoranda.model.project import Project
from memoranda.model.search import SearchResults
from memoranda.model.views import NoteView
from memoranda.render.bounds import ANSWER_CHARS, compact, lines_of, lines_that_fit, one_line
from memoranda.render.notes import TITLE_CHARS, moment, uri

_LATE_CHARS = 120


def found_data(results: SearchResults, project: Project) -> dict[str, Any]:
    """`{"results": [{"id", "title", "url"}]}`, each note once, best first."""
    refs = {hit.ref.permalink: hit.ref for hit in reversed(results.hits)}
    order = dict.fromkeys(hit.ref.permalink for hit in results.hits)
    return {
        "results": [
            {
                "id": permalink,
                "title": one_line(refs[permalink].title, TITLE_CHARS),
                "url": uri(refs[permalink], project),
            }
            for permalink in order
        ]
    }


def document_data(
    view: NoteView, project: Project, wanted: str, limit: int = ANSWER_CHARS
) -> dict[str, Any]:
    """`{"id", "title", "text", "url", "metadata"}`; `metadata.next_id` fetches what did not fit.

    Args:
        view: the note, from the line on that was wanted.
        project: its project.
        wanted: the id as it was asked for.
        limit: characters of the document as JSON.
    """
    ref = view.ref
    data: dict[str, Any] = {
        "id": one_line(wanted, TITLE_CHARS),
        "title": one_line(ref.title, TITLE_CHARS),
        "text": "",
        "url": uri(ref, project),
        "metadata": {
            "file_path": ref.file_path,
            "note_type": one_line(ref.note_type, TITLE_CHARS),
            "tags": ", ".join(ref.tags[:50])[:TITLE_CHARS],
            "updated_at": moment(ref.updated_at),
        },
    }
    room = max(limit - len(compact(data)) - len(ref.permalink) - _LATE_CHARS, limit // 8)
    lines = lines_of(view.text)
    data["text"], shown = lines_that_fit(lines, room, as_json=True)
    next_line = view.start_line + shown if shown < len(lines) else view.next_line
    if next_line is not None:
        data["metadata"]["next_id"] = f"{ref.permalink}?line={next_line}"
    return data

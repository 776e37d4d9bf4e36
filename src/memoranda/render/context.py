"""A note with its neighbourhood, as JSON values and as text for a model (spec 6.2.6).

The note itself comes first, then the notes around it, the most relevant first, then what is left of its
links. Several notes share the characters of an answer fairly: what a short one does not need goes to
the longer ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoranda.model.address import Permalink
from memoranda.model.note import RelatedNote
from memoranda.model.outline import sections_of
from memoranda.model.project import Project
from memoranda.model.views import Context, ContextResult, NoteView
from memoranda.render.bounds import ANSWER_CHARS, compact, lines_of, lines_that_fit, one_line
from memoranda.render.notes import (
    backlink_text,
    bounded_lists,
    outgoing_text,
    reference_text,
    related_data,
    view_data,
)
from memoranda.render.outline import outline_text

_LEAST_CHARS = 1500
_CLOSING_CHARS = 700
_MORE_CHARS = 200
_HEAD_CHARS = 500
_MOST_RELATED = 100


def context_data(
    result: ContextResult, project: Project, limit: int = ANSWER_CHARS
) -> dict[str, Any]:
    """The contexts, and the permalinks of matching notes that are left out."""
    room = limit - _CLOSING_CHARS
    needs = [_need_of_data(context) for context in result.contexts]
    contexts: list[dict[str, Any]] = []
    left = room
    for context, share in zip(result.contexts, _shares(needs, room), strict=True):
        data = _one_data(context, project, share)
        if contexts and len(compact(data)) > left:
            break
        contexts.append(data)
        left -= len(compact(data)) + 1
    answer = {
        "path": one_line(result.path, 200) if result.path.strip() else result.path,
        "contexts": contexts,
        "total": result.total,
        "has_more": len(contexts) < result.total,
    }
    if answer["has_more"]:
        others = _left_out(result, len(contexts))
        answer["others"] = _that_fit(others, left + _CLOSING_CHARS - 300)
    return answer


def context_text(result: ContextResult, limit: int = ANSWER_CHARS) -> str:
    """For each note: a reference line, its text, the notes around it, and its other links."""
    room = limit - _CLOSING_CHARS
    needs = [
        len(context.view.text) + _HEAD_CHARS + _rest_chars(context) for context in result.contexts
    ]
    parts: list[str] = []
    left = room
    for context, share in zip(result.contexts, _shares(needs, room), strict=True):
        part = _one_text(context, result, share)
        if parts and len(part) > left:
            break
        parts.append(part)
        left -= len(part) + 2
    if not parts:
        return f"Nothing matches {one_line(result.path, 200)!r}."
    if len(parts) < result.total:
        names = _that_fit(_left_out(result, len(parts)), left + _CLOSING_CHARS - 250)
        more = result.total - len(parts) - len(names)
        parts.append(
            f"{len(parts)} of {result.total:,} matching notes are shown. Not shown: "
            + ", ".join([*names, *([f"and {more:,} more"] if more else [])])
            + ". Next: build_context with one of these, or with a narrower pattern."
        )
    return "\n\n".join(parts)


def _left_out(result: ContextResult, shown: int) -> list[Permalink]:
    return [*(context.view.ref.permalink for context in result.contexts[shown:]), *result.others]


def _that_fit(names: Sequence[str], limit: int) -> list[str]:
    kept: list[str] = []
    for name in names:
        limit -= len(compact(name)) + 2
        if limit < 0:
            break
        kept.append(name)
    return kept


def _shares(needs: Sequence[int], limit: int) -> list[int]:
    """The characters for each: what it needs if that is less than an equal part of what is left."""
    shares = [0] * len(needs)
    left = limit
    for place, i in enumerate(sorted(range(len(needs)), key=needs.__getitem__)):
        equal = left // (len(needs) - place)
        shares[i] = min(needs[i], equal) if len(needs) > 1 else max(limit, _LEAST_CHARS)
        left -= shares[i]
    return shares


def _one_data(context: Context, project: Project, limit: int) -> dict[str, Any]:
    related = [related_data(item) for item in context.around.notes]
    neighbours = bounded_lists({"related": related}, limit // 3)
    neighbours["related_total"] = context.around.total
    if not context.around.is_exact:
        neighbours["related_total_is_exact"] = False
    note = view_data(context.view, project, limit - len(compact(neighbours)))
    note.pop("related", None)
    if note["next_line"] is None:
        note.pop("outline", None)
        note.pop("outline_total", None)
    return note | neighbours


def _need_of_data(context: Context) -> int:
    """About how many characters of JSON a whole context has."""
    view = context.view
    lists = len(view.relations) + len(view.backlinks) + len(view.observations)
    return len(view.text) * 5 // 4 + 1200 + 500 * len(context.around.notes) + 300 * lists


def _rest_chars(context: Context) -> int:
    """How many characters there are below the text of a note."""
    related = sum(len(_related_text(item)) + 1 for item in context.around.notes)
    return related + sum(len(line) + 1 for line in _other_links(context)) + _MORE_CHARS


def _one_text(context: Context, result: ContextResult, limit: int) -> str:
    view = context.view
    lines = lines_of(view.text)
    room, least = limit - _rest_chars(context) - _HEAD_CHARS, limit * 2 // 5
    text, shown = lines_that_fit(lines, max(room, least))
    if view.start_line + shown - 1 < view.total_lines:  # what is said of the rest needs room, too
        text, shown = lines_that_fit(lines, max(room - limit // 5, least))
    end = view.start_line + shown - 1
    parts = [f"# {reference_text(view.ref)}"]
    if view.total_lines:
        parts += [
            f"file {view.ref.file_path} · lines {view.start_line}-{end} of {view.total_lines}",
            "--- note text begins",
            text.rstrip("\r\n"),
            "--- note text ends",
        ]
    else:
        parts.append(f"file {view.ref.file_path} · empty")
    if end < view.total_lines:
        parts.append(f"Cut here: read_note path={view.ref.permalink} start_line={end + 1}")
        parts += outline_text(sections_of(view.parsed), end, limit // 12)
        parts += _within(_facts_below(view, end), limit // 12)
    links = _other_links(context)
    left = limit - sum(len(part) + 1 for part in parts)
    links_limit = min(sum(len(line) + 1 for line in links), left // 4)
    parts += _around(context, result, left - links_limit)
    parts += _within(links, links_limit)
    if not (links or context.around.notes or context.around.total):
        parts.append("No links from or to it.")
    return "\n".join(parts)


def _facts_below(view: NoteView, end: int) -> list[str]:
    """The observations in the lines that are not shown."""
    below = [item.observation for item in view.observations if item.observation.line > end]
    if not below:
        return []
    facts = [f"- [{one.category}] {one_line(one.content, 160)} (line {one.line})" for one in below]
    return [f"Facts further down ({len(facts)}):", *facts]


def _around(context: Context, result: ContextResult, limit: int) -> list[str]:
    """The related notes that fit, and how to get the others."""
    around = context.around
    if not around.notes:
        return []
    least = "" if around.is_exact else "at least "
    lines: list[str] = []
    left = limit - _MORE_CHARS
    for item in around.notes:
        line = _related_text(item)
        if lines and len(line) + 1 > left:
            break
        lines.append(line)
        left -= len(line) + 1
    if len(lines) == around.total and around.is_exact:
        return [f"Related, most relevant first ({len(lines)}):", *lines]
    lines.insert(0, f"Related, most relevant first ({len(lines)} of {least}{around.total:,}):")
    name, more = context.view.ref.permalink, around.total - len(lines) + 1
    rest = f"- and {least}{more:,} more"
    if len(lines) <= len(around.notes) and len(result.contexts) > 1:
        lines.append(f"{rest}: build_context path={name}")
    elif len(lines) <= len(around.notes):
        lines.append(f"{rest}, for which there is no room here; timeframe narrows them")
    elif result.max_related < _MOST_RELATED:
        wanted = min(_MOST_RELATED, around.total)
        depth = f" depth={result.depth}" if result.depth > 1 else ""
        lines.append(f"{rest}: build_context path={name}{depth} max_related={wanted}")
    else:
        lines.append(f"{rest}; timeframe narrows them")
    return lines


def _related_text(item: RelatedNote) -> str:
    ref = item.ref
    kind = f" · {one_line(ref.note_type, 40)}" if ref.note_type not in ("", "note") else ""
    gone = " · its file is missing" if ref.missing_since else ""
    steps = f", {item.distance} steps" if item.distance > 1 else ""
    head = f"- {one_line(ref.title, 120)} — {ref.permalink}{gone}{kind} · {ref.updated_at:%Y-%m-%d}"
    summary = f": {one_line(item.summary, 160)}" if item.summary else ""
    return f"{head} ({one_line(item.why, 300)}{steps}){summary}"


def _other_links(context: Context) -> list[str]:
    """Links both ways but those with related notes, which say so themselves."""
    view = context.view
    said = {item.ref.permalink for item in context.around.notes if item.distance == 1}
    missing = [one for one in view.relations if not one.resolved]
    others = [one for one in view.relations if one.resolved and one.to_permalink not in said]
    incoming = [one for one in view.backlinks if one.from_permalink not in said]
    total = view.backlink_total - (len(view.backlinks) - len(incoming))
    also = "Also links" if said else "Links"
    lines: list[str] = []
    if others:
        lines.append(f"{also} to ({len(others)}):")
        lines += [f"- {outgoing_text(one)}" for one in others[:10]]
        lines += _more(len(others) - 10)
    if incoming:
        lines.append(f"{'Also linked' if said else 'Linked'} from ({total:,}):")
        lines += [f"- {backlink_text(one)}" for one in incoming[:10]]
        lines += _more(total - min(len(incoming), 10))
    if missing:
        names = dict.fromkeys(one_line(one.target, 60) for one in missing)
        lines.append(
            f"Links to notes that do not exist ({len(names)}): "
            + ", ".join([*list(names)[:8], *(["…"] if len(names) > 8 else [])])
        )
    return lines


def _more(number: int) -> list[str]:
    return [f"- and {number:,} more"] if number > 0 else []


def _within(lines: list[str], limit: int) -> list[str]:
    text, shown = lines_that_fit([line + "\n" for line in lines], limit) if lines else ("", 0)
    return text.splitlines() if shown == len(lines) else [*text.splitlines(), "- …"]

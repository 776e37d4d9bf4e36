"""Notes and what was done to them, as JSON values and as short text for a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from memoranda.model.note import (
    IncomingRelation,
    NoteRef,
    ObservationItem,
    OutgoingRelation,
    RelatedNote,
)
from memoranda.model.okf import provenance
from memoranda.model.outline import sections_of
from memoranda.model.project import Project
from memoranda.model.views import DeleteResult, NoteView, WriteAction, WriteResult
from memoranda.render.bounds import (
    ANSWER_CHARS,
    compact,
    first_that_fit,
    lines_of,
    lines_that_fit,
    one_line,
)
from memoranda.render.outline import outline_text, section_data
from memoranda.render.provenance import provenance_data, provenance_text

Json = dict[str, Any]

TITLE_CHARS = 500
_TAG_CHARS = 100
_MOST_TAGS = 50
_LIKE_AN_ID = re.compile("id/[0-9]+")
_LATE_CHARS = 60  # what `line_cut` and longer line numbers add once the content is known


def moment(value: datetime | None) -> str | None:
    """ISO 8601 with zone, whole seconds."""
    return None if value is None else value.isoformat(timespec="seconds")


def uri(ref: NoteRef, project: Project) -> str:
    """`memory://permalink`, with `@project` unless the project is the default.

    A permalink that looks like an id has it always: there it is no id.
    """
    is_plain = project.is_default and not _LIKE_AN_ID.fullmatch(ref.permalink)
    owner = "" if is_plain else f"@{project.permalink}/"
    return f"memory://{owner}{ref.permalink}"


def reference_data(ref: NoteRef, project: Project) -> Json:
    """A note reference of the tool contract."""
    data: Json = {
        "title": one_line(ref.title, TITLE_CHARS),
        "permalink": ref.permalink,
        "file_path": ref.file_path,
        "uri": uri(ref, project),
        "note_type": one_line(ref.note_type, TITLE_CHARS),
        "tags": [one_line(tag, _TAG_CHARS) for tag in ref.tags[:_MOST_TAGS]],
        "created_at": moment(ref.created_at),
        "updated_at": moment(ref.updated_at),
        "checksum": ref.checksum,
        "external_id": ref.external_id,
        "project": project.name,
    }
    if ref.problems:
        data["problems"] = list(ref.problems)
    if ref.missing_since:
        data["file_missing_since"] = moment(ref.missing_since)
    return data


def reference_text(ref: NoteRef) -> str:
    """One line: title, permalink, whether its file is missing, date, type unless it is the usual, tags."""
    parts = [f"{ref.title} — {ref.permalink}", f"{ref.updated_at:%Y-%m-%d}"]
    if ref.missing_since:
        parts.insert(1, "its file is missing")
    if ref.note_type and ref.note_type != "note":
        parts.append(ref.note_type)
    if ref.tags:
        parts.append(" ".join(f"#{tag}" for tag in ref.tags[:8]))
    return one_line(" · ".join(parts), 400)


def observation_data(item: ObservationItem) -> Json:
    """An observation of the tool contract."""
    observation = item.observation
    data: Json = {
        "category": observation.category,
        "content": observation.content,
        "tags": list(observation.tags),
        "context": observation.context,
        "permalink": item.permalink,
        "line": observation.line,
    }
    if observation.block_id:
        data["block_id"] = observation.block_id
    if observation.attributes:
        data["attributes"] = dict(observation.attributes)
    if observation.parent_line:
        data["parent"] = one_line(observation.parent, TITLE_CHARS)
        data["parent_line"] = observation.parent_line
    return data


def relation_data(relation: OutgoingRelation) -> Json:
    """A relation of the tool contract."""
    return {
        "relation_type": relation.relation_type,
        "to_name": relation.to_name,
        "to_title": relation.to_title and one_line(relation.to_title, TITLE_CHARS),
        "to_permalink": relation.to_permalink,
        "resolved": relation.resolved,
        "context": relation.context,
        "line": relation.line,
    }


def backlink_data(relation: IncomingRelation) -> Json:
    """An incoming relation of the tool contract."""
    return {
        "relation_type": relation.relation_type,
        "from_title": one_line(relation.from_title, TITLE_CHARS),
        "from_permalink": relation.from_permalink,
        "context": relation.context,
        "line": relation.line,
    }


def related_data(related: RelatedNote) -> Json:
    """A neighbour: who, how far, why (and by way of which notes), and what it is about."""
    data: Json = {
        "title": one_line(related.ref.title, TITLE_CHARS),
        "permalink": related.ref.permalink,
        "file_path": related.ref.file_path,
        "note_type": one_line(related.ref.note_type, TITLE_CHARS),
        "distance": related.distance,
        "why": related.why,
        "summary": one_line(related.summary, 300) if related.summary else "",
    }
    if related.via:
        data["via"] = list(related.via)
    return data


def view_data(
    view: NoteView, project: Project, limit: int = ANSWER_CHARS, *, line_cut: bool = False
) -> Json:
    """A read note within `limit` characters of JSON.

    `line_cut` tells that the reader has already cut the only line of `view.text`; the answer says
    so, and also when the line is cut here.
    Lists give way first (each says its full length in `<name>_total` when it was cut), then lines of
    the content: `next_line` is where to go on. Observations are those of the lines that are shown.
    """
    shown_lines = range(view.start_line, view.end_line + 1)
    whole = len(shown_lines) == view.total_lines
    lists: dict[str, list[Json]] = {
        "observations": [
            observation_data(item)
            for item in view.observations
            if whole or item.observation.line in shown_lines
        ],
        "relations": [relation_data(relation) for relation in view.relations],
        "backlinks": [backlink_data(relation) for relation in view.backlinks],
        "outline": [section_data(section) for section in sections_of(view.parsed)],
        "related": [related_data(related) for related in view.related],
    }
    data = reference_data(view.ref, project)
    data["frontmatter"] = dict(view.parsed.frontmatter)
    if len(compact(data)) > limit // 4:
        data["frontmatter"] = {}
        data["frontmatter_cut"] = True
    data |= provenance_data(provenance(view.parsed.frontmatter))
    data["content"] = ""
    data |= bounded_lists(lists, limit // 2 - len(compact(data)))
    if len(data["backlinks"]) < view.backlink_total:
        data["backlinks_total"] = view.backlink_total
    data |= {
        "start_line": view.start_line,
        "end_line": view.end_line,
        "total_lines": view.total_lines,
        "next_line": view.next_line,
    }
    room = max(limit - len(compact(data)) - _LATE_CHARS, limit // 8)
    lines = lines_of(view.text)
    data["content"], shown = lines_that_fit(lines, room, as_json=True)
    if shown < len(lines):
        data["end_line"] = view.start_line + shown - 1
        data["next_line"] = view.start_line + shown
    if line_cut or len(data["content"]) < len("".join(lines[:shown])):
        data["line_cut"] = True
    return data


def bounded_lists(lists: dict[str, list[Json]], limit: int) -> Json:
    """The lists within `limit` characters together; small ones whole, long ones share the rest."""
    result: Json = {}
    left = limit
    sizes = {name: [len(compact(item)) + 1 for item in items] for name, items in lists.items()}
    order = sorted(lists, key=lambda name: sum(sizes[name]))
    shown: dict[str, int] = {}
    for position, name in enumerate(order):
        shown[name] = first_that_fit(sizes[name], left // (len(order) - position))
        left -= sum(sizes[name][: shown[name]])
    for name, items in lists.items():
        result[name] = items[: shown[name]]
        if shown[name] < len(items):
            result[f"{name}_total"] = len(items)
    return result


def view_text(
    view: NoteView, limit: int = ANSWER_CHARS, *, line_cut: bool = False
) -> tuple[str, str]:
    """A read note as two blocks: the lines of the file as they are, and what is known about them.

    The second block is apart so that nothing of it can be taken for the note's text.
    """
    lines = lines_of(view.text)
    about_limit = min(3000, limit // 4)
    text, shown = lines_that_fit(lines, limit - about_limit)
    end, next_line = view.end_line, view.next_line
    if shown < len(lines):
        end, next_line = view.start_line + shown - 1, view.start_line + shown
    about = [
        f"[{reference_text(view.ref)} · {view.ref.file_path} · lines {view.start_line}-{end} of "
        f"{view.total_lines} · checksum {view.ref.checksum}]"
    ]
    about += [f"Problem: {problem}" for problem in view.ref.problems]
    about += provenance_text(provenance(view.parsed.frontmatter))
    if line_cut or len(text) < len("".join(lines[:shown])):
        about.append(f"Line {end} is longer than the answer may be: pass a larger max_chars.")
    if next_line is not None:
        about.append(f"Cut here. Go on with start_line={next_line}.")
        about += outline_text(sections_of(view.parsed), end, about_limit // 3)
    about += neighbours_text(view.relations, view.backlinks, view.backlink_total)
    return text, _joined(about, about_limit)


def neighbours_text(
    relations: Sequence[OutgoingRelation],
    backlinks: Sequence[IncomingRelation],
    backlink_total: int = 0,
    most: int = 20,
) -> list[str]:
    """Links out and in, a line each, at most `most` of each kind; there may be more than are given."""
    total = max(backlink_total, len(backlinks))
    lines: list[str] = []
    if relations:
        lines.append(f"Links to ({len(relations)}):")
        lines += [f"- {outgoing_text(relation)}" for relation in relations[:most]]
        lines += _more(len(relations) - most)
    if backlinks:
        lines.append(f"Linked from ({total:,}):")
        lines += [f"- {backlink_text(link)}" for link in backlinks[:most]]
        lines += _more(total - min(len(backlinks), most))
    return lines


def outgoing_text(relation: OutgoingRelation) -> str:
    """`requires Focus — research/focus`."""
    if relation.resolved:
        target = f"{one_line(relation.to_title or '', 120)} — {relation.to_permalink}"
    else:
        target = f"{one_line(relation.target, 120)} (no such note)"
    return f"{one_line(relation.relation_type, 100)} {target}"


def backlink_text(link: IncomingRelation) -> str:
    """`Daily — journal/daily (links_to)`."""
    title = one_line(link.from_title, 120)
    return f"{title} — {link.from_permalink} ({one_line(link.relation_type, 100)})"


def write_data(result: WriteResult, project: Project, limit: int = ANSWER_CHARS) -> Json:
    """A written note: reference, what happened, what was parsed."""
    data = reference_data(result.ref, project)
    data["action"] = result.action.value
    if result.diff:
        data["diff"] = result.diff[: limit // 2]
    data["warnings"] = [one_line(warning, 300) for warning in result.warnings[:20]]
    lists = {
        "observations": [observation_data(item) for item in result.observations],
        "relations": [relation_data(relation) for relation in result.relations],
        "similar": [
            {
                "title": one_line(ref.title, TITLE_CHARS),
                "permalink": ref.permalink,
                "file_path": ref.file_path,
            }
            for ref in result.similar
        ],
    }
    return data | bounded_lists(lists, limit - len(compact(data)) - 200)


def write_text(result: WriteResult, limit: int = ANSWER_CHARS, *, dry_run: bool = False) -> str:
    """What happened, or would happen, in a few lines."""
    ref = result.ref
    unresolved = [relation for relation in result.relations if not relation.resolved]
    done = {
        WriteAction.CREATED: "Created",
        WriteAction.UPDATED: "Dry run, would update" if dry_run else "Updated",
        WriteAction.UNCHANGED: "Dry run, would not change" if dry_run else "Unchanged:",
    }[result.action]
    lines = [
        f"{done} {ref.title} — {ref.permalink}",
        f"file {ref.file_path} · checksum {ref.checksum}",
        f"{count(len(result.observations), 'observation')}, "
        f"{count(len(result.relations), 'relation')}"
        + (
            f" ({len(unresolved)} unresolved: "
            + ", ".join(one_line(relation.target, 60) for relation in unresolved[:5])
            + ("…" if len(unresolved) > 5 else "")
            + ")"
            if unresolved
            else ""
        ),
    ]
    lines += [f"Warning: {one_line(warning, 300)}" for warning in result.warnings[:20]]
    if result.similar:
        near = ", ".join(f"{one_line(ref.title, 80)} — {ref.permalink}" for ref in result.similar)
        lines.append(f"Similar notes: {near}")
    if result.diff:
        lines += ["", result.diff]
    return _joined(lines, limit)


def delete_data(result: DeleteResult, project: Project, limit: int = ANSWER_CHARS) -> Json:
    """A deleted note: its last reference and the links that now lead nowhere."""
    data = reference_data(result.ref, project) | {"deleted": True}
    links = [backlink_data(link) for link in result.unresolved_backlinks]
    return data | bounded_lists({"unresolved_backlinks": links}, limit - len(compact(data)) - 100)


def delete_text(result: DeleteResult, limit: int = ANSWER_CHARS) -> str:
    """What was deleted in a few lines."""
    links = result.unresolved_backlinks
    lines = [f"Deleted {result.ref.title} — {result.ref.permalink} (file {result.ref.file_path})"]
    if links:
        lines.append(
            f"{count(len(links), 'link')} to it now {'leads' if len(links) == 1 else 'lead'} nowhere:"
        )
        lines += [f"- {link.from_path} line {link.line}" for link in links[:20]]
        lines += _more(len(links) - 20)
    return _joined(lines, limit)


def count(number: int, noun: str) -> str:
    """`1 note`, `2 notes`, `10,000 notes`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _more(number: int) -> list[str]:
    return [f"- and {number:,} more"] if number > 0 else []


def _joined(lines: Iterable[str], limit: int) -> str:
    """Whole lines that fit."""
    kept: list[str] = []
    left = limit
    for line in lines:
        if len(line) + 1 > left:
            kept.append("…")
            break
        kept.append(line)
        left -= len(line) + 1
    return "\n".join(kept)

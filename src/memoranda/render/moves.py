"""What a move did, as JSON values and as short text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoranda.model.moves import LinkLeft, MovedNote, MoveResult, RewrittenLink
from memoranda.render.bounds import ANSWER_CHARS, compact, one_line
from memoranda.render.notes import TITLE_CHARS, bounded_lists, count

_LINK_CHARS = 500
_SHORT_CHARS = 160
_MOST_LINES = 30
_WARNING_CHARS = 300
_MOST_WARNINGS = 20


def move_data(result: MoveResult, limit: int = ANSWER_CHARS) -> dict[str, Any]:
    """All of a move. A list that does not fit is cut, and its full length is `<name>_total`."""
    data: dict[str, Any] = {
        "source": result.source,
        "destination": result.destination,
        "is_folder": result.is_folder,
        "dry_run": result.is_dry_run,
        "change_id": result.change_id,
        "other_files": result.other_files,
        "warnings": [one_line(one, _WARNING_CHARS) for one in result.warnings[:_MOST_WARNINGS]],
    }
    if len(result.warnings) > _MOST_WARNINGS:
        data["warnings_total"] = len(result.warnings)
    lists = {
        "notes": [_note_data(note) for note in result.notes],
        "links": [_link_data(link) for link in result.links],
        "left": [_left_data(link) for link in result.left],
    }
    return data | bounded_lists(lists, limit - len(compact(data)) - 200)


def move_text(result: MoveResult, limit: int = ANSWER_CHARS) -> str:
    """What moved where, which links were rewritten, and how to take it back."""
    done = "Dry run, would move" if result.is_dry_run else "Moved"
    lines = [f"{done} {_what(result)}: {result.source} → {result.destination}"]
    if result.is_folder:
        lines += _listed("", [f"{one.from_path} → {one.to_path}" for one in result.notes])
    else:
        lines += [_permalink(note) for note in result.notes]
    would = "would be " if result.is_dry_run else ""
    lines += _listed(
        f"{count(len(result.links), 'link')} {would}rewritten, so that "
        f"{'it still means' if len(result.links) == 1 else 'they still mean'} the same:",
        [
            f"{link.path} line {link.line}: {one_line(link.before, _SHORT_CHARS)} → "
            f"{one_line(link.after, _SHORT_CHARS)}"
            for link in result.links
        ],
    )
    lines += _listed(
        f"{count(len(result.left), 'link')} could not be rewritten and "
        f"{'leads' if len(result.left) == 1 else 'lead'} nowhere or elsewhere:",
        [
            f"{link.path} line {link.line}: {one_line(link.target, _SHORT_CHARS)} "
            f"({one_line(link.reason, _SHORT_CHARS)})"
            for link in result.left
        ],
    )
    lines += _listed("Note:", [one_line(one, _WARNING_CHARS) for one in result.warnings])
    if result.change_id is not None:
        lines.append(f"Take it back with undo_change, change_id {result.change_id}.")
    return _within(lines, limit)


def _what(result: MoveResult) -> str:
    if not result.is_folder:
        return one_line(result.notes[0].title, _SHORT_CHARS) if result.notes else "the file"
    others = f", {count(result.other_files, 'other file')}" if result.other_files else ""
    return f"a folder ({count(len(result.notes), 'note')}{others})"


def _permalink(note: MovedNote) -> str:
    if note.from_permalink == note.to_permalink:
        return f"permalink {note.to_permalink}, as before"
    return f"permalink {note.from_permalink} → {note.to_permalink}"


def _listed(heading: str, items: Sequence[str]) -> list[str]:
    if not items:
        return []
    more = len(items) - _MOST_LINES
    return [
        *([heading] if heading else []),
        *(f"- {item}" for item in items[:_MOST_LINES]),
        *([f"- and {more:,} more (output_format json lists more)"] if more > 0 else []),
    ]


def _within(lines: Sequence[str], limit: int) -> str:
    """The lines, without as many before the last one as do not fit."""
    first, last = list(lines[:-1]), lines[-1]
    left = limit - len(last) - 3
    kept: list[str] = []
    for line in first:
        if len(line) + 1 > left:
            kept.append("…")
            break
        kept.append(line)
        left -= len(line) + 1
    return "\n".join([*kept, last])


def _note_data(note: MovedNote) -> dict[str, Any]:
    return {
        "title": one_line(note.title, TITLE_CHARS),
        "from_path": note.from_path,
        "to_path": note.to_path,
        "from_permalink": note.from_permalink,
        "to_permalink": note.to_permalink,
    }


def _link_data(link: RewrittenLink) -> dict[str, Any]:
    return {
        "path": link.path,
        "line": link.line,
        "before": one_line(link.before, _LINK_CHARS),
        "after": one_line(link.after, _LINK_CHARS),
    }


def _left_data(link: LinkLeft) -> dict[str, Any]:
    return {
        "path": link.path,
        "line": link.line,
        "target": one_line(link.target, _LINK_CHARS),
        "reason": one_line(link.reason, _LINK_CHARS),
    }

"""What `memoranda undo` says it did. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from memoranda.cli.styles import diff_lines
from memoranda.model.undoing import UndoAction, UndoneFile, UndoResult
from memoranda.render.notes import count


def undo_lines(result: UndoResult, way_back: str) -> Iterator[tuple[str, str]]:
    """Every file with its difference, and the command that takes the undo back ("" for none)."""
    yield _head(result), "bold"
    for file in result.files:
        yield f"  {_file(file, is_dry_run=result.is_dry_run)}", "cyan"
    for file in result.files:
        if file.diff:
            yield "", ""
            yield from diff_lines(file.diff)
    if way_back:
        if any(file.diff for file in result.files):
            yield "", ""
        yield f"Undo: {way_back}", "dim"


def _head(result: UndoResult) -> str:
    changes = count(len(result.changes), "change")
    if all(file.action is UndoAction.UNCHANGED for file in result.files):
        return f"Nothing to do: {changes} had been taken back already."
    return f"{'Dry run, would take back' if result.is_dry_run else 'Took back'} {changes}:"


def _file(file: UndoneFile, *, is_dry_run: bool) -> str:
    would = "would be " if is_dry_run else ""
    parts = [f"{file.path}: {_action(file, would)}"]
    if file.moved_from:
        parts.append(f"was {file.moved_from}")
    if file.is_merged:
        parts.append("later changes are kept")
    return ", ".join(parts)


def _action(file: UndoneFile, would: str) -> str:
    match file.action:
        case UndoAction.CREATED:
            return f"{would}there again"
        case UndoAction.UNCHANGED:
            return "as it was before already"
        case action:
            return f"{would}{action.value}"

"""How complete the index is, said in every answer that depends on it."""

from __future__ import annotations

import shlex
from typing import Any

from memoranda.model.sync import SyncPhase, SyncState
from memoranda.render.bounds import one_line


def state_data(state: SyncState) -> dict[str, Any]:
    """Phase and progress as JSON values."""
    data: dict[str, Any] = {"status": state.phase.value, "done": state.done, "total": state.total}
    if (left := _left_s(state)) is not None:
        data["seconds_left"] = left
    if state.held:
        data["held"] = state.held
        data["held_reason"] = state.held_reason
    if state.last_error:
        data["error"] = one_line(state.last_error, 300)
    return data


def state_note(state: SyncState) -> str:
    """One sentence when the index is not complete, else ""."""
    if state.phase is SyncPhase.READY:
        if state.done < state.total:
            return f"Index not up to date: {progress_text(state, 'changed files')}."
        return ""
    if state.phase is SyncPhase.FAILED:
        return f"Index not complete: the last sync failed: {one_line(state.last_error or '', 300)}"
    if state.total:
        return f"Index not complete: {progress_text(state)}."
    return "Index may not be up to date: the folder is being looked at."


def progress_text(state: SyncState, files: str = "files") -> str:
    """How far the running sync is, "" before it knows what there is to do."""
    return f"{state.done:,} of {state.total:,} {files}{_left(state)}" if state.total else ""


def held_note(state: SyncState, project: str) -> str:
    """One sentence when notes of the project are kept although their files are missing, else ""."""
    if not state.held:
        return ""
    return (
        f"{state.held:,} notes are kept although their files are missing "
        f"({state.held_reason}); if they are gone for good, the user can run: "
        f"memoranda sync --accept-deletions --project {shlex.quote(project)}"
    )


def _left(state: SyncState) -> str:
    left = _left_s(state)
    return "" if left is None else f", about {left:,} s left"


def _left_s(state: SyncState) -> int | None:
    """Whole seconds to the end of the running sync, None while nobody knows."""
    if state.progress is None or state.done >= state.total or state.progress.left_s is None:
        return None
    return max(1, round(state.progress.left_s))

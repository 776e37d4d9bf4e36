"""How complete the index is, said in every answer that depends on it."""

from __future__ import annotations

from typing import Any

from memoranda.model.sync import SyncPhase, SyncState
from memoranda.render.bounds import one_line


def state_data(state: SyncState) -> dict[str, Any]:
    """Phase and progress as JSON values."""
    data: dict[str, Any] = {"status": state.phase.value, "done": state.done, "total": state.total}
    if state.last_error:
        data["error"] = one_line(state.last_error, 300)
    return data


def state_note(state: SyncState) -> str:
    """One sentence when the index is not complete, else ""."""
    if state.phase is SyncPhase.READY:
        if state.done < state.total:
            return f"Index not up to date: {state.done:,} of {state.total:,} changed files."
        return ""
    if state.phase is SyncPhase.FAILED:
        return f"Index not complete: the last sync failed: {one_line(state.last_error or '', 300)}"
    if state.total:
        return f"Index not complete: {state.done:,} of {state.total:,} files."
    return "Index not complete: the first sync is starting."

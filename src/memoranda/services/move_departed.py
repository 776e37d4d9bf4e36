"""What became of notes that are not where they are looked for, as the history knows it."""

from __future__ import annotations

from memoranda.history.store import HistoryStore
from memoranda.model.history import ChangeKind, RecordedChange
from memoranda.services.recorded import is_departure, recorded_paths


def departure_text(history: HistoryStore, name: str) -> str:
    """Which change took the last note away that was at a path or in a folder; "" if none did.

    Reads the history.
    """
    paths = recorded_paths(history, name)
    newest = history.changes(paths=paths, limit=1) if paths else ()
    for change in newest:  # after another one it was no tool
        if change.root == history.root and any(is_departure(change, path) for path in paths):
            return _text(change)
    return ""


def _text(change: RecordedChange) -> str:
    who = f"Change {change.change_id} (by {change.author.client or 'a tool'})"
    if change.kind is ChangeKind.DELETED:
        return f"{who} deleted {change.path}."
    return f"{who} moved {change.moved_from} to {change.path}."

"""Where tools moved notes to, as the history has it: what names and bytes cannot tell of one that changed too."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.history import RecordedChange

_MOST_STEPS = 20
_MOST_CHANGES = 50_000


def recorded_moves(
    history: HistoryStore, missing: Collection[NotePath], new: Collection[NotePath]
) -> dict[NotePath, NotePath]:
    """Missing path -> new path, of notes that tools moved there, in one step or in several.

    Args:
        history: of the project; what it cannot say is left out.
        missing: paths of notes that are not there any more.
        new: paths of notes that nobody knows.
    """
    found: dict[NotePath, NotePath] = {}
    places = {path: path for path in missing}  # where each is, as far as it was followed
    for _ in range(_MOST_STEPS):
        if not places:
            break
        last = _last_changes(history, set(places.values()))
        further: dict[NotePath, NotePath] = {}
        for path, at in places.items():
            change = last.get(at)
            if change is not None and change.moved_from == at:
                further[path] = change.path
            elif at in new:
                found[path] = at
        places = further
    return found


def _last_changes(
    history: HistoryStore, paths: Collection[NotePath]
) -> Mapping[NotePath, RecordedChange]:
    """The last change that each path had, as the old or as the new place of a file."""
    last: dict[NotePath, RecordedChange] = {}
    for change in history.changes(paths=paths, limit=_MOST_CHANGES):
        if change.root == history.root:
            last.setdefault(change.path, change)
            if change.moved_from is not None:
                last.setdefault(change.moved_from, change)
    return last

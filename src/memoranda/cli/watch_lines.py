"""What `sync --watch` says: text for a person, or one JSON document a line."""

from __future__ import annotations

from datetime import datetime
from typing import Any, assert_never

from memoranda.cli.keeping import named, watch_texts
from memoranda.cli.reports import changes_text, failure_json, report_text
from memoranda.cli.watching import Dropped, Happening, Led, Mended, Synced, Troubled, Watched
from memoranda.model.live import LeaderState
from memoranda.render.live import Onlooker, leader_data
from memoranda.render.notes import moment


def happening_text(happening: Happening, now: datetime) -> str:
    """The lines about it; those of `Synced` are data, the others are notes.

    Args:
        happening: what happened.
        now: in the zone of the one who reads it.
    """
    name = happening.project
    match happening:
        case Led(leader=leader):
            return f"note: {name}: {_who_leads(leader)}"
        case Watched(watch=watch):
            return "\n".join(
                f"note: {name}: watching {text}" for text in watch_texts(watch, is_counted=False)
            )
        case Synced(report=report, is_first=True):
            return report_text(name, report, details=False)
        case Synced(report=report):
            return f"{now:%H:%M:%S} {name}: {changes_text(report)}"
        case Troubled(message=message):
            return f"error: {name}: {message}; it is tried again"
        case Mended():
            return f"note: {name}: it works again"
        case Dropped():
            return f"note: {name}: it is no active project any more; this process leaves it alone"
        case unknown:
            assert_never(unknown)


def happening_data(happening: Happening, onlooker: Onlooker) -> dict[str, Any]:
    """The same as JSON values."""
    data: dict[str, Any] = {"project": happening.project, "at": moment(onlooker.now)}
    match happening:
        case Led(leader=leader):
            return {"event": "leader"} | data | {"leader": leader_data(leader, onlooker)}
        case Watched(watch=watch):
            how = {"mode": watch.mode.value, "reason": watch.reason, "folders": watch.folders}
            return {"event": "watch"} | data | how
        case Synced(report=report):
            return (
                {"event": "sync"}
                | data
                | {
                    "new": list(report.new_files),
                    "modified": list(report.modified_files),
                    "moved": [{"from": old, "to": new} for old, new in report.moved_files],
                    "deleted": list(report.deleted_files),
                    "left_out": list(report.left_out_files),
                    "failed": [failure_json(failure) for failure in report.failures],
                    "held": list(report.held),
                    "held_reason": report.held_reason,
                    "duration_s": round(report.duration_s, 3),
                }
            )
        case Troubled(message=message):
            return {"event": "error"} | data | {"message": message}
        case Mended():
            return {"event": "recovered"} | data
        case Dropped():
            return {"event": "removed"} | data
        case unknown:
            assert_never(unknown)


def _who_leads(leader: LeaderState | None) -> str:
    looks = "this process looks at the folder itself every few seconds"
    if leader is None:
        return f"no process can lead, the log file says why; {looks}"
    if leader.is_me:
        return "this process keeps it up to date; Ctrl-C ends it"
    if leader.is_alive:
        return f"{named(leader)} keeps it up to date; this one takes over when that ends"
    return f"{named(leader)} leads and gives no sign of life; until it is ended, {looks}"

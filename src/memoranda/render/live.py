"""Who keeps a project up to date, as JSON values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from memoranda.model.live import LeaderState
from memoranda.render.bounds import one_line
from memoranda.render.notes import moment
from memoranda.render.state import state_data

_MOST_CHARS = 300


@dataclass(frozen=True, slots=True)
class Onlooker:
    """The process that looks at the leader.

    Attributes:
        now: aware UTC.
        version: of Memoranda.
        index_version: what this process makes an index with.
    """

    now: datetime
    version: str
    index_version: int


class Skew(StrEnum):
    """How old the leader is beside the one who looks."""

    NONE = ""
    OLDER = "older"
    NEWER = "newer"


def skew(leader: LeaderState, onlooker: Onlooker) -> Skew:
    """Whether the leader is of another version; what the index is made with decides first."""
    theirs = leader.index_version, _numbers(leader.version)
    ours = onlooker.index_version, _numbers(onlooker.version)
    if theirs == ours:
        return Skew.NONE
    return Skew.OLDER if theirs < ours else Skew.NEWER


def heartbeat_age_s(leader: LeaderState, onlooker: Onlooker) -> float:
    """Seconds since the leader's last sign of life, at least 0."""
    return max((onlooker.now - leader.heartbeat).total_seconds(), 0.0)


def leader_data(
    leader: LeaderState | None, onlooker: Onlooker, *, most_events: int | None = None
) -> dict[str, Any] | None:
    """The leader as JSON values, None when nobody leads.

    Args:
        leader: as it says of itself.
        onlooker: this process.
        most_events: so many of the last events at most, None for all; newest last.
    """
    if leader is None:
        return None
    watch = leader.watch
    events = list(watch.recent_events)
    if most_events is not None:
        events = events[max(len(events) - most_events, 0) :]
    return {
        "pid": leader.pid,
        "version": leader.version,
        "index_version": leader.index_version,
        "version_skew": skew(leader, onlooker).value,
        "is_this_process": leader.is_me,
        "is_alive": leader.is_alive,
        "since": moment(leader.since),
        "heartbeat": moment(leader.heartbeat),
        "heartbeat_age_s": round(heartbeat_age_s(leader, onlooker)),
        "sync": state_data(leader.sync) | {"last_scan": moment(leader.sync.last_scan)},
        "watch": {
            "mode": watch.mode.value,
            "reason": one_line(watch.reason, _MOST_CHARS),
            "running": watch.running,
            "start_time": moment(watch.start_time),
            "folders": watch.folders,
            "synced_files": watch.synced_files,
            "error_count": watch.error_count,
            "last_error": watch.last_error and one_line(watch.last_error, _MOST_CHARS),
            "last_error_at": moment(watch.last_error_at),
            "recent_events": [
                {"at": moment(event.at), "kind": event.kind.value, "path": event.path}
                for event in events
            ],
        },
    }


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a release: (0, 1, 0) of "0.1.0"."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()

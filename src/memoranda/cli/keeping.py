"""Who keeps a project up to date, in plain words, for `status` and `sync --watch`."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import assert_never

from memoranda.model.live import LeaderState, WatchMode, WatchState
from memoranda.model.sync import SyncPhase
from memoranda.render.live import Onlooker, Skew, heartbeat_age_s, skew
from memoranda.render.notes import count
from memoranda.render.state import progress_text

NOBODY = "no server runs: changes are indexed at the next command or server start"
_MINUTE_S = 60
_HOUR_S = 3600
_DAY_S = 86_400


def onlooker() -> Onlooker:
    """This process, now."""
    from memoranda.cli.version import version
    from memoranda.files.clock import SystemClock
    from memoranda.sync.sync_service import INDEX_VERSION

    return Onlooker(SystemClock().now(), version(), INDEX_VERSION)


def keeping_lines(
    leader: LeaderState | None, me: Onlooker, *, known: Collection[str] = ()
) -> list[str]:
    """The lines of `status` about the leader; errors that are in `known` are not said again."""
    if leader is None:
        return [f"  live      {NOBODY}"]
    started = f"since {_time(leader.since)}"
    age = _span(heartbeat_age_s(leader, me))
    lines = [
        f"  live      {named(leader)} keeps it up to date {started}, last sign of life {age} ago"
        if leader.is_alive
        else f"  live      {named(leader)} leads {started} and gave no sign of life for {age}: it "
        f"hangs or is stopped; end it (process {leader.pid}), and another server takes over; until "
        "then every server and command looks at the folder itself, unless it was stopped in the middle "
        "of a write: then nothing can be indexed until it is ended"
    ]
    if (old := _skew_text(leader, me)) is not None:
        lines.append(f"  live      {old}")
    if not leader.is_alive:
        return lines
    sync = leader.sync
    if sync.phase in (SyncPhase.STARTING, SyncPhase.INDEXING) or sync.done < sync.total:
        lines.append(f"  indexing  {progress_text(sync) or 'it begins'}")
    lines += [f"  watching  {text}" for text in watch_texts(leader.watch)]
    said = {*known, leader.watch.reason}
    if sync.phase is SyncPhase.FAILED and sync.last_error and sync.last_error not in said:
        lines.append(f"  error     the last sync failed: {sync.last_error}")
        said.add(sync.last_error)
    return lines + _last_error(leader.watch, said)


def named(leader: LeaderState) -> str:
    """The process, by its number and version, and by its machine where there are several."""
    where = f" on {leader.host}" if leader.host else ""
    return f"process {leader.pid}{where} (version {leader.version})"


def watch_texts(watch: WatchState, *, is_counted: bool = True) -> list[str]:
    """How changes are noticed, in one phrase, or two if not all are; none while nobody knows.

    Args:
        watch: the watcher.
        is_counted: say how many files were indexed for it as well.
    """
    synced = watch.synced_files if is_counted else 0
    done = f"; {count(synced, 'file')} indexed since" if synced else ""
    match watch.mode:
        case WatchMode.EVENTS | WatchMode.AUTO:
            texts = [f"{count(watch.folders, 'folder')}, by events{done}"]
            return texts + ([f"not all: {watch.reason}"] if watch.reason else [])
        case WatchMode.POLLING:
            why = f" ({watch.reason})" if watch.reason else ""
            return [f"by polling{why}: the folder is looked at again and again{done}"]
        case WatchMode.OFF:
            if not watch.reason:
                return []
            return [
                "off (set so in the configuration): tools look at the folder when they are called"
            ]
        case unknown:
            assert_never(unknown)


def _skew_text(leader: LeaderState, me: Onlooker) -> str | None:
    match skew(leader, me):
        case Skew.NONE:
            return None
        case Skew.OLDER:
            return (
                f"it is older than this command (version {me.version}): restart its client, so that "
                "the newer version leads"
            )
        case Skew.NEWER:
            return f"it is newer than this command (version {me.version}): use the newer one"
        case unknown:
            assert_never(unknown)


def _last_error(watch: WatchState, said: Collection[str]) -> list[str]:
    if watch.last_error is None or watch.last_error in said:
        return []
    at = f" at {_time(watch.last_error_at)}" if watch.last_error_at else ""
    return [f"  trouble   {count(watch.error_count, 'error')}, the last{at}: {watch.last_error}"]


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _span(seconds: float) -> str:
    """A time span in one unit."""
    for unit_s, unit in ((_DAY_S, "d"), (_HOUR_S, "h"), (_MINUTE_S, "min")):
        if seconds >= 2 * unit_s:
            return f"{seconds / unit_s:.0f} {unit}"
    return f"{seconds:.0f} s"

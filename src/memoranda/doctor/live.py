"""Who keeps a project up to date: does a process lead, does it live, does it hear of changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, assert_never

from memoranda.config import database_path
from memoranda.doctor.words import counted, day_and_time
from memoranda.model.health import Check, ok, problem, warning
from memoranda.model.live import LeaderState, WatchMode
from memoranda.model.project import Project
from memoranda.model.sync import SyncPhase
from memoranda.render.live import Onlooker, Skew, heartbeat_age_s, skew

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from memoranda.db.postgres import PostgresDatabase

_LATER = (
    "Changes are noticed seconds later than by events; "
    'set watch_mode to "polling" if that is as it should be.'
)
_NOT_ALL = "Changes there are noticed at the next look at the whole folder (reconcile_interval)."
_ENDED = "Restart the client whose server it is; the log file says why it ended."


@dataclass(frozen=True, slots=True)
class LiveFacts:
    """What was found of the process that leads.

    Attributes:
        leader: what it said last, None when nobody says anything.
        is_led: whether some process has the leadership: a killed one leaves only what it said.
        trouble: why no process can lead, "" when one can.
        serves: the folder and database that it should lead.
        me: this process.
        wanted: how changes are to be noticed, as configured.
    """

    leader: LeaderState | None
    is_led: bool
    serves: str
    me: Onlooker
    wanted: WatchMode
    trouble: str = ""

    @property
    def keeps_up(self) -> bool:
        """Whether a process lives that keeps the index up to date."""
        return (
            self.leader is not None
            and self.is_led
            and self.leader.is_alive
            and self.leader.serves == self.serves
            and self.leader.sync.phase is not SyncPhase.FAILED
        )


def look(project: Project, now: datetime, wanted: WatchMode) -> LiveFacts:
    """Look at what the leader of a project says, and whether there is one."""
    from importlib.metadata import version

    from memoranda.db.engine import identify
    from memoranda.places.sqlite import is_held
    from memoranda.sync.lease import LOCK_FILE, Lease
    from memoranda.sync.sync_service import INDEX_VERSION

    database = database_path(project)
    me = Onlooker(now, version("memoranda"), INDEX_VERSION)
    lease = Lease(database.parent, me.version, INDEX_VERSION)
    facts = LiveFacts(
        leader=lease.leader(),
        is_led=False,
        serves=f"{project.path}\n{identify(database).database}",
        me=me,
        wanted=wanted,
    )
    lock = database.with_name(LOCK_FILE)
    try:
        return replace(facts, is_led=is_held(lock))
    except OSError as error:
        return replace(facts, trouble=f"{lock} cannot be locked: {error.strerror}")


def look_shared(
    project: Project, database: PostgresDatabase, now: datetime, wanted: WatchMode
) -> LiveFacts:
    """The same for an index on PostgreSQL, where whoever follows a leader may be on another machine."""
    from importlib.metadata import version

    from memoranda.db.postgres_leading import is_led, last_said
    from memoranda.repositories.project_rows import id_of
    from memoranda.sync.lease import ALIVE_S, NOT_UNDERSTOOD, heard
    from memoranda.sync.sync_service import INDEX_VERSION

    def ask(conn: Connection) -> tuple[tuple[str, float] | None, bool]:
        project_id = id_of(conn, project.permalink)
        if project_id is None:
            return None, False
        return last_said(conn, project_id), is_led(conn, database.address.schema, project_id)

    me = Onlooker(now, version("memoranda"), INDEX_VERSION)
    said, is_there = database.read(ask)
    leader = None
    if said is not None:
        words, age_s = said
        try:
            leader = replace(
                heard(words, 0.0),
                heartbeat=now - timedelta(seconds=age_s),
                is_alive=is_there and abs(age_s) < ALIVE_S,
                is_me=False,
            )
        except NOT_UNDERSTOOD:
            leader = None
    serves = leader.serves if leader is not None else ""
    return LiveFacts(leader=leader, is_led=is_there, serves=serves, me=me, wanted=wanted)


def judge(facts: LiveFacts) -> list[Check]:
    """The checks of the leader and its watcher."""
    leader = facts.leader
    if facts.trouble:
        return [problem("server", facts.trouble, "Check its owner and its permissions.")]
    if not facts.is_led:
        said = "no server runs: changes are indexed at the next command or server start"
        killed = f" (process {leader.pid} was killed)" if leader is not None else ""
        return [ok("server", f"{said}{killed}")]
    if leader is None:
        return [
            warning(
                "server",
                "a process leads and says nothing that this version understands",
                "Restart the clients, so that all servers are of one version.",
            )
        ]
    where = f" on {leader.host}" if leader.host else ""
    who = f"process {leader.pid}{where} (version {leader.version})"
    if not leader.is_alive:
        age = f"{heartbeat_age_s(leader, facts.me):.0f} seconds"
        return [
            problem(
                "server",
                f"{who} leads and gave no sign of life for {age}: it hangs or is stopped",
                f"End it{where}, and another server takes over: kill {leader.pid}",
            )
        ]
    since = day_and_time(leader.since)
    heartbeat = (
        f"; last sign of life {heartbeat_age_s(leader, facts.me):.0f} s ago" if where else ""
    )
    checks = [ok("server", f"{who} keeps the index up to date since {since}{heartbeat}")]
    if leader.serves != facts.serves:
        checks = [
            warning(
                "server",
                f"{who} keeps another folder or index up to date than the configured one",
                "Restart its client, so that it reads the configuration.",
            )
        ]
    return [*checks, *_version(facts, leader), *_syncing(leader), *_watching(facts, leader)]


def _version(facts: LiveFacts, leader: LeaderState) -> list[Check]:
    match skew(leader, facts.me):
        case Skew.NONE:
            return []
        case Skew.OLDER:
            said = f"the server is older than this command (version {facts.me.version})"
            return [warning("versions", said, "Restart its client, so that the newer one leads.")]
        case Skew.NEWER:
            said = f"the server is newer than this command (version {facts.me.version})"
            return [warning("versions", said, "Use the newer version everywhere.")]
        case unknown:
            assert_never(unknown)


def _syncing(leader: LeaderState) -> list[Check]:
    sync = leader.sync
    if sync.phase is SyncPhase.FAILED:
        said = f"the last sync of the server failed: {sync.last_error}"
        return [problem("syncing", said, "It is tried again; the log file has the details.")]
    if sync.total and sync.done < sync.total:
        return [ok("syncing", f"{sync.done:,} of {sync.total:,} files are done")]
    return []


def _watching(facts: LiveFacts, leader: LeaderState) -> list[Check]:
    watch = leader.watch
    checks = []
    match watch.mode:
        case WatchMode.EVENTS | WatchMode.AUTO if watch.running and not watch.reason:
            checks.append(ok("watching", f"{counted(watch.folders, 'folder')}, by events"))
        case WatchMode.EVENTS | WatchMode.AUTO if watch.running:
            checks.append(warning("watching", f"not everything: {watch.reason}", _NOT_ALL))
        case WatchMode.EVENTS | WatchMode.AUTO:
            checks.append(warning("watching", "the watcher does not run", _ENDED))
        case WatchMode.POLLING if facts.wanted is WatchMode.POLLING:
            checks.append(ok("watching", "by polling, as configured"))
        case WatchMode.POLLING:
            checks.append(warning("watching", f"by polling: {watch.reason}", _LATER))
        case WatchMode.OFF if facts.wanted is WatchMode.OFF:
            said = "off, as configured: tools look at the folder when they are called"
            checks.append(ok("watching", said))
        case WatchMode.OFF:
            checks.append(ok("watching", "not begun yet"))
    if watch.last_error and watch.last_error not in (leader.sync.last_error, watch.reason):
        at = f" at {day_and_time(watch.last_error_at)}" if watch.last_error_at else ""
        said = f"{counted(watch.error_count, 'error')}, the last{at}: {watch.last_error}"
        checks.append(warning("watch errors", said, "The log file has the details."))
    return checks

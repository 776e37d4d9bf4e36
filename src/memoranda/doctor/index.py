"""A project's index: can it be used, is it sound, does it hold what the folder holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from memoranda.db.migrate import State
from memoranda.doctor.words import command, counted, day_and_time, size, some
from memoranda.errors import DatabaseBusy, DatabaseDamaged, MemorandaError
from memoranda.model.health import Check, ok, problem, warning
from memoranda.model.project import Counts, Project
from memoranda.model.sync import Modified, Scan

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from memoranda.doctor.sources import Source
    from memoranda.repositories.store import Tx

_REBUILT = "it is renamed and built anew from the notes"


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What was found of an index.

    Attributes:
        state: what lies at its place, with `reason`; None: `trouble` says why nobody knows.
        is_shared: with other projects, in a database that has checks of its own.
        size_bytes, aside, aside_bytes: see `doctor.sources.Place`.
        counts: None when it could not be read.
        version: what it is made with, beside `current_version`; None if unknown.
        languages: whose word forms it holds, beside `wanted_languages`, the configured ones.
        last_full_sync, last_check: aware UTC.
        new, changed, gone: paths that the folder shows otherwise than the index; None without a look.
        missing: notes that are kept although their files are missing, with `missing_reason`.
        failed: files that could not be indexed.
        other_folder: why the folder here is not the one that a shared index is of; "" when it is.
        findings: what the check found; None when nothing was checked, `unchecked` says why.
    """

    project: str
    path: str
    current_version: int
    state: State | None = None
    reason: str = ""
    trouble: str = ""
    way_on: str = ""
    is_shared: bool = False
    size_bytes: int = 0
    aside: Sequence[str] = ()
    aside_bytes: int = 0
    counts: Counts | None = None
    version: int | None = None
    languages: Sequence[str] = ()
    wanted_languages: Sequence[str] = ()
    last_full_sync: datetime | None = None
    last_check: datetime | None = None
    new: Sequence[str] | None = None
    changed: Sequence[str] = ()
    gone: Sequence[str] = ()
    missing: int = 0
    missing_reason: str = ""
    failed: Sequence[str] = ()
    other_folder: str = ""
    findings: Sequence[str] | None = None
    unchecked: str = ""


def look(
    project: Project,
    source: Source,
    scan: Scan | None,
    now: datetime,
    *,
    languages: Sequence[str],
    is_whole: bool,
) -> IndexFacts:
    """Look at a project's index; it is neither made, mended nor brought up to date.

    Args:
        project: whose.
        source: where it is.
        scan: what its folder shows, None when it cannot be looked at.
        now: aware UTC.
        languages: as configured.
        is_whole: read the whole index to check it.
    """
    from memoranda.sync.sync_service import INDEX_VERSION

    place = source.place
    facts = IndexFacts(
        project.name,
        place.shown,
        INDEX_VERSION,
        is_shared=place.is_shared,
        size_bytes=place.size_bytes,
        aside=place.aside,
        aside_bytes=place.aside_bytes,
        wanted_languages=tuple(languages),
    )
    try:
        finding = source.finding()
        facts = replace(facts, state=finding.state, reason=finding.reason)
        if finding.state is not State.CURRENT:
            return facts
        facts = source.read(lambda conn: _read(facts, conn, project, scan, now))
    except DatabaseDamaged as error:
        return replace(facts, state=State.DAMAGED, reason=error.message)
    except MemorandaError as error:
        return replace(facts, state=None, trouble=error.message, way_on=error.hint)
    return _checked(facts, source) if is_whole else replace(facts, unchecked="--quick")


def judge(facts: IndexFacts, *, is_kept_up: bool) -> list[Check]:
    """The checks of an index.

    Args:
        facts: what was found.
        is_kept_up: a server keeps it up to date.
    """
    checks = [*_usable(facts), *_aside(facts)]
    if facts.counts is None:
        return checks
    return (
        checks
        + _identity(facts)
        + _sound(facts)
        + _current(facts, is_kept_up=is_kept_up)
        + _left_out(facts)
    )


def _usable(facts: IndexFacts) -> list[Check]:
    sync = f"Build it now: {command('sync', project=facts.project)}."
    match facts.state:
        case None:
            return [problem("index", facts.trouble, facts.way_on)]
        case State.ABSENT:
            return [warning("index", "nothing is indexed yet", sync)]
        case State.OLDER:
            said = f"{facts.path} is of an older version and is upgraded at its next use"
            return [ok("index", said)]
        case State.NEWER:
            said = "a newer version of Memoranda wrote it"
            return [problem("index", said, f"Use that version; this one renames it: {_REBUILT}.")]
        case State.FOREIGN | State.DAMAGED:
            said = f"{facts.path} cannot be used: {facts.reason}"
            return [problem("index", said, f"With the next use {_REBUILT}. {sync}")]
        case State.UNSEARCHABLE:
            said = f"the full-text index cannot be used: {facts.reason}"
            return [problem("index", said, f"It is built anew with the next use. {sync}")]
        case State.CURRENT:
            counts = facts.counts or Counts()
            has = f"{counted(counts.notes, 'note')}, {counted(counts.observations, 'fact')}"
            links = counted(counts.relations, "relation")
            room = f" in {size(facts.size_bytes)}" if facts.size_bytes else ""
            return [ok("index", f"{has}, {links}{room}")]
        case unknown:
            assert_never(unknown)


def _aside(facts: IndexFacts) -> list[Check]:
    if not facts.aside:
        return []
    several = counted(len(facts.aside), "database")
    return [
        warning(
            "set aside",
            f"{several} that could not be used: {some(facts.aside)} ({size(facts.aside_bytes)})",
            f"Delete what you need no more in {Path(facts.path).parent}.",
        )
    ]


def _identity(facts: IndexFacts) -> list[Check]:
    """Whether the servers that share the index see one folder."""
    if not facts.other_folder:
        return []
    return [
        problem(
            "same folder",
            f"the index is of another folder: {facts.other_folder}",
            f"Mount that one here, or make this one the project's: {command('reindex', project=facts.project)}.",
        )
    ]


def _sound(facts: IndexFacts) -> list[Check]:
    if facts.findings:
        return [
            problem(
                "soundness",
                f"the index is damaged: {'; '.join(facts.findings[:3])}",
                f"It is mended or built anew from the notes by {command('reindex', project=facts.project)}.",
            )
        ]
    if facts.findings is not None:
        what = "the full-text index is" if facts.is_shared else "tables and full-text index are"
        return [ok("soundness", f"{what} sound")]
    before = (
        f"last found sound at {day_and_time(facts.last_check)}"
        if facts.last_check
        else "no server has checked it yet"
    )
    return [ok("soundness", f"not checked ({facts.unchecked}); {before}")]


def _current(facts: IndexFacts, *, is_kept_up: bool) -> list[Check]:
    """Whether the index shows what the folder does, and whether this version has made it."""
    sync = f"Bring it up to date: {command('sync', project=facts.project)}."
    if facts.last_full_sync is None:
        return [warning("up to date", "the folder was never indexed as a whole", sync)]
    checks = []
    if facts.version is not None and facts.version < facts.current_version:
        said = "an older version of Memoranda made the index: every note is to be read again"
        checks.append(warning("version", said, sync))
    if facts.version is not None and facts.version > facts.current_version:
        said = "a newer version of Memoranda made the index"
        checks.append(warning("version", said, "Use that version with every client."))
    if tuple(facts.languages) != tuple(facts.wanted_languages):
        made, wanted = some(facts.languages) or "none", some(facts.wanted_languages) or "none"
        said = f"it is made for other languages ({made}) than search_languages says ({wanted})"
        checks.append(warning("languages", said, sync))
    synced = f"the last whole look was at {day_and_time(facts.last_full_sync)}"
    if facts.new is None:
        return checks
    parts = (("new", facts.new), ("changed", facts.changed), ("gone", facts.gone))
    behind = [f"{len(paths):,} {word} ({some(paths)})" for word, paths in parts if paths]
    if not behind:
        return [*checks, ok("up to date", synced)]
    said = f"not indexed yet: {', '.join(behind)}; {synced}"
    if is_kept_up:
        return [*checks, ok("up to date", f"{said}; the server does it in a moment")]
    return [*checks, warning("up to date", said, sync)]


def _left_out(facts: IndexFacts) -> list[Check]:
    checks = []
    if facts.failed:
        checks.append(
            warning(
                "failures",
                f"{counted(len(facts.failed), 'file')} could not be indexed: {some(facts.failed)}",
                f"The reasons: {command('status', project=facts.project)}.",
            )
        )
    if facts.counts and facts.counts.problems:
        several = counted(facts.counts.problems, "note")
        checks.append(
            warning(
                "headers",
                f"{several} not read whole or not for certain, indexed all the same",
                f"Which and why: {command('status', project=facts.project)}.",
            )
        )
    if facts.missing:
        why = f": {facts.missing_reason}" if facts.missing_reason else ""
        accept = command("sync", "--accept-deletions", project=facts.project)
        checks.append(
            warning(
                "kept",
                f"{counted(facts.missing, 'note')} without a file stay in the index{why}",
                f"Put the files back, or delete the notes: {accept}.",
            )
        )
    return checks


def _read(
    facts: IndexFacts, conn: Connection, project: Project, scan: Scan | None, now: datetime
) -> IndexFacts:
    """What the index says of itself, and what differs from the scan."""
    from memoranda.repositories.project import LAST_FULL_SYNC, ProjectRepository
    from memoranda.repositories.project_rows import id_of
    from memoranda.repositories.store import Tx
    from memoranda.sync.diff import diff
    from memoranda.sync.integrity import LAST_CHECK
    from memoranda.sync.memory import remember

    project_id = id_of(conn, project.permalink)
    if project_id is None:
        return replace(facts, counts=Counts())
    tx = Tx(conn, project_id, now.replace(tzinfo=None))
    memory, of_project = remember(tx), ProjectRepository(tx)
    counts, said = of_project.counts(), of_project.facts()
    missing = [file for file in memory.files if file.missing_since is not None]
    facts = replace(
        facts,
        counts=counts,
        version=memory.version,
        languages=memory.languages,
        last_full_sync=_time(said.get(LAST_FULL_SYNC)),
        last_check=_time(said.get(LAST_CHECK)),
        missing=len(missing),
        missing_reason=memory.hold.reason if memory.hold else "",
        failed=tuple(sorted(memory.failures)),
    )
    if scan is None:
        return facts
    if facts.is_shared:
        facts = replace(facts, other_folder=_other_folder(project, tx))
    delta = diff(memory.files, scan)
    return replace(
        facts,
        new=tuple(one.path for one in delta.new if one.path not in memory.failures),
        changed=tuple(one.state.path for one in delta.modified if _differs(one)),
        gone=tuple(
            one.path for one in (*delta.missing, *delta.left_out) if one.missing_since is None
        ),
    )


def _other_folder(project: Project, tx: Tx) -> str:
    from memoranda.files.state import inode_number
    from memoranda.services.root_identity import difference, known

    return difference(project.path, inode_number(project.path.stat()), *known(tx))


def _differs(one: Modified) -> bool:
    """Whether it shows: what is only to be read again, to be sure, is as indexed."""
    return (one.known.size, one.known.mtime_ns) != (one.state.size, one.state.mtime_ns)


def _checked(facts: IndexFacts, source: Source) -> IndexFacts:
    try:
        return replace(facts, findings=tuple(source.check()))
    except DatabaseBusy:
        return replace(facts, unchecked="another process is writing to it")
    except MemorandaError as error:
        return replace(facts, findings=(error.message,))


def _time(fact: object) -> datetime | None:
    return datetime.fromisoformat(fact).replace(tzinfo=UTC) if isinstance(fact, str) else None

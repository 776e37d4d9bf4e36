"""`memoranda status`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memoranda.cli.options import EveryProjectOption, JsonOption

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.model.sync import Scan, Skipped
    from memoranda.model.views import ProjectInfo
    from memoranda.render.live import Onlooker

_FEW = 5
_CAUSES = {  # in the order of how much it may surprise
    "unreadable": "unreadable",
    "rule": "rules not used",
    "name": "not named in Unicode",
    "link": "linked",
    "nothing": "linked to nothing",
    "ignored": "ignored",
    "hidden": "hidden",
    "kind": "no notes",
    "project": "of other projects",
}
_UNKNOWN_KEYS = (  # null when the index cannot be asked
    "entity_count",
    "observation_count",
    "relation_count",
    "unresolved_relation_count",
    "link_count",
    "database_bytes",
    "meaning",
)


@dataclass(frozen=True, slots=True)
class _Status:
    """What the index knows, and what the folder shows at this moment (None: `trouble` says why).

    Attributes:
        unknown: why nobody knows what the index knows, with `unknown_way_on`; "" when it is known.
    """

    info: ProjectInfo
    scan: Scan | None
    trouble: str = ""
    way_on: str = ""
    unknown: str = ""
    unknown_way_on: str = ""


def status(
    project: EveryProjectOption = None,
    skipped: Annotated[
        bool, typer.Option("--skipped", help="List all that is not indexed, with the reasons.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Say what is indexed, who keeps it up to date, what is embedded, and what is not indexed and why.

    Looks at the folder but indexes nothing. A folder that is missing makes the command fail, and so does an
    index that cannot be used.
    """
    return print_status([project] if project else None, as_json=as_json, skipped=skipped)


def print_status(
    names: Sequence[str | None] | None,
    *,
    as_json: bool,
    as_list: bool = True,
    skipped: bool = False,
) -> int:
    """Print what is known about these projects (None: the default one), or about all.

    Args:
        names: the projects; None for all.
        as_json: one JSON document.
        as_list: the JSON is a list of projects.
        skipped: print only what is not indexed, but all of it.

    Returns:
        The exit code: a folder or an index that cannot be looked at is a failure.
    """
    from memoranda.cli.command_line import command_line
    from memoranda.cli.errors import FAILED
    from memoranda.cli.keeping import onlooker
    from memoranda.cli.output import write_json, write_note, write_styled, write_text
    from memoranda.cli.selection import default_project
    from memoranda.cli.session import with_container
    from memoranda.cli.styles import status_lines

    async def work(container: Container) -> tuple[list[_Status], str]:
        wanted = names if names is not None else [each.name for each in container.projects()]
        container.choice.look_only()
        await container.choice.ready()  # else it could only say that nobody knows yet
        looks = [await _look(container, name) for name in wanted]
        return looks, default_project(container)[1]

    found, trouble = with_container(work)
    if as_json:
        me = onlooker()
        data = [_json(each, me) for each in found]
        write_json({"projects": data} if as_list else data[0])
    elif found:
        me = onlooker()
        texts = [_all_skipped(each) if skipped else _text(each, me) for each in found]
        write_styled(status_lines("\n\n".join(texts)))
        if trouble:
            write_note(f"note: {trouble}")
    else:
        write_text(f"No project is configured. Begin with: {command_line('up', 'PATH')}")
    return FAILED if any(each.trouble or each.unknown for each in found) else 0


async def _look(container: Container, name: str | None) -> _Status:
    import asyncio

    from memoranda.cli.errors import hint
    from memoranda.errors import DatabaseDamaged, DatabaseProblem, DiskFull, RootMissing

    project = container.find_project(name)
    try:
        status = _Status(await _info(container, project), None)
    except DatabaseDamaged:  # the next look opens one that is made anew
        raise
    except (DatabaseProblem, DiskFull) as error:
        info = _unknown_info(container, project, error.message)
        status = _Status(info, None, unknown=error.message, unknown_way_on=hint(error))
    if not project.is_active:
        return status
    try:
        return replace(status, scan=await asyncio.to_thread(_scan, project))
    except RootMissing as error:
        return replace(status, trouble=error.message, way_on=hint(error))


async def _info(container: Container, project: Project) -> ProjectInfo:
    """What is known; what a killed leader left is not told."""
    import asyncio

    info = await container.project_service.info(project.name)
    if info.leader is None or info.leader.is_alive:
        return info
    is_led = await asyncio.to_thread(container.places.is_led, project)
    return info if is_led else replace(info, leader=None)


def _unknown_info(container: Container, project: Project, why: str) -> ProjectInfo:
    from memoranda.model.project import Counts
    from memoranda.model.sync import SyncPhase, SyncState
    from memoranda.model.views import ProjectInfo

    state = SyncState(SyncPhase.FAILED, last_error=why)
    return ProjectInfo(
        project,
        Counts(),
        state,
        container.places.shown(project),
        0,
        is_shared=container.places.is_shared,
    )


def _scan(project: Project) -> Scan:
    from memoranda.files.scan import scan_folder

    return scan_folder(project.path, skips=project.skips)


def _json(status: _Status, me: Onlooker) -> dict[str, Any]:
    from memoranda.cli.reports import failure_json, skipped_json
    from memoranda.render.projects import info_data

    data = info_data(status.info, me, skipped=()) | {
        "database_path": status.info.database_path,
        "not_indexed": [
            {"path": failure.path}
            | {key: value for key, value in failure_json(failure).items() if key != "file_path"}
            for failure in status.info.failures
        ],
    }
    if status.scan is not None:
        skipped = status.scan.skipped
        data |= {
            "file_count": len(status.scan.files),
            "skipped": [skipped_json(item) for item in skipped],
            "skipped_by_cause": _by_cause(skipped),
            "skipped_total": len(skipped),
        }
    if status.trouble:
        data |= {"folder_error": status.trouble, "folder_hint": status.way_on}
    if status.unknown:
        data |= dict.fromkeys(_UNKNOWN_KEYS)
        data |= {"index_error": status.unknown, "index_hint": status.unknown_way_on}
    return data


def _text(status: _Status, me: Onlooker) -> str:
    from memoranda.cli.keeping import keeping_lines
    from memoranda.cli.output import listed
    from memoranda.cli.reports import failure_lines, held_lines
    from memoranda.render.meaning import meaning_texts
    from memoranda.render.notes import count

    info = status.info
    project, counts = info.project, info.counts
    lines = [
        f"{project.name}{' (default)' if project.is_default else ''}",
        f"  folder    {project.path}",
    ]
    if project.disabled:
        return "\n".join([*lines, f"  disabled  {project.disabled}"])
    if status.unknown:
        lines.append(f"  index     {info.database_path}")
        return "\n".join([*lines, *_errors(status)])
    synced = f"{info.last_full_sync:%Y-%m-%d %H:%M:%S} UTC" if info.last_full_sync else "never"
    lines += [
        f"  notes     {counts.notes:,}",
        f"  facts     {count(counts.observations, 'observation')}, "
        f"{count(counts.relations, 'relation')} "
        f"({counts.unresolved:,} unresolved)",
        f"  synced    {synced}",
        f"  index     {_place(info)}",
    ]
    if info.last_check:
        lines.append(f"  checked   {info.last_check:%Y-%m-%d %H:%M:%S} UTC, sound")
    if info.notice:
        lines.append(f"  notice    {info.notice}")
    lines += _errors(status)
    lines += keeping_lines(info.leader, me, known=[status.trouble])
    lines += [
        f"  meaning   {text}"
        for text in meaning_texts(info.provider, info.embedding, way_on=_embedding_way_on(info))
    ]
    lines += held_lines(info.missing, info.missing_reason, project.name, info.missing_total)
    lines += failure_lines(info.failures)
    if info.broken:
        which = count(len(info.broken), "note")
        lines.append(f"  faulty    {which} not read whole or not for certain, indexed all the same")
    lines += listed(
        "problem", [f"{ref.file_path}: {'; '.join(ref.problems)}" for ref in info.broken]
    )
    if status.scan is not None:
        lines += _few_skipped(status.scan.skipped, project.name)
        there_or_kept = counts.notes - info.missing_total + len(info.failures)
        if len(status.scan.files) != there_or_kept:
            there = count(len(status.scan.files), "note")
            lines.append(f"  behind    the folder has {there}; {_way_on(info)}")
    return "\n".join(lines)


def _place(info: ProjectInfo) -> str:
    from memoranda.cli.output import size

    bytes_ = size(info.database_bytes)
    if info.is_shared:
        return f"{info.database_path}, {bytes_} with all projects"
    return f"{info.database_path} ({bytes_})"


def _errors(status: _Status) -> list[str]:
    """Why index or folder cannot be looked at, and what to do."""
    found = ((status.unknown, status.unknown_way_on), (status.trouble, status.way_on))
    lines = []
    for trouble, way_on in found:
        if trouble:
            then = way_on.rstrip(".")
            lines.append(
                f"  error     {trouble}{f': {then[:1].lower()}{then[1:]}' if then else ''}"
            )
    return lines


def _way_on(info: ProjectInfo) -> str:
    """How an index that is behind gets on."""
    from memoranda.model.sync import SyncPhase

    leader = info.leader
    if leader is not None and leader.is_alive and leader.sync.phase is not SyncPhase.FAILED:
        return "the server indexes it in a moment"
    return _sync(info)


def _embedding_way_on(info: ProjectInfo) -> str:
    """Who embeds the notes that are not embedded yet."""
    if info.leader is not None and info.leader.is_alive:
        return "the server embeds the rest"
    return _sync(info)


def _sync(info: ProjectInfo) -> str:
    from memoranda.cli.command_line import command_line

    return f"run: {command_line('sync', project=info.project.name)}"


def _by_cause(skipped: Sequence[Skipped]) -> dict[str, int]:
    """How many things are left out for each cause, the most surprising first."""
    counts = Counter(item.cause.value for item in skipped)
    return {cause: counts[cause] for cause in _CAUSES if counts[cause]}


def _few_skipped(skipped: Sequence[Skipped], project: str) -> list[str]:
    """The first path of some reasons, how many there are of each cause, and how to see all."""
    from memoranda.cli.command_line import command_line

    order = list(_CAUSES)
    groups: dict[str, list[str]] = {}
    for item in sorted(skipped, key=lambda item: order.index(item.cause.value)):
        groups.setdefault(item.reason, []).append(item.path)
    lines = []
    for reason, paths in list(groups.items())[:_FEW]:
        more = f" (and {len(paths) - 1:,} more)" if len(paths) > 1 else ""
        lines.append(f"  skipped   {_one_line(paths[0])}: {reason}{more}")
    if len(skipped) > len(lines):
        counts = ", ".join(f"{n:,} {_CAUSES[cause]}" for cause, n in _by_cause(skipped).items())
        run = command_line("status", "--skipped", project=project)
        lines.append(f"  skipped   {counts}; to see all, run: {run}")
    return lines


def _all_skipped(status: _Status) -> str:
    """What is not indexed in one project: the paths below their reasons."""
    from memoranda.render.notes import count

    project = status.info.project
    groups: dict[str, list[str]] = {}
    for failure in status.info.failures:
        groups.setdefault(f"failed: {failure.reason}", []).append(failure.path)
    for item in status.scan.skipped if status.scan is not None else ():
        groups.setdefault(item.reason, []).append(item.path)
    if project.disabled:
        return f"{project.name}: {project.disabled}"
    total = sum(len(paths) for paths in groups.values())
    lines = [f"{project.name}: {count(total, 'path') if total else 'nothing'} left out"]
    lines += _errors(status)
    for reason, paths in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        lines.append(f"  {len(paths):,} {reason}")
        lines += [f"    {_one_line(path)}" for path in paths]
    return "\n".join(lines)


def _one_line(path: str) -> str:
    return path.replace("\n", "\\n").replace("\r", "\\r")

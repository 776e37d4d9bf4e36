"""`memoranda status`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memoranda.cli.options import EveryProjectOption, JsonOption

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.model.sync import Scan
    from memoranda.model.views import ProjectInfo

_MOST_SKIPPED = 100


@dataclass(frozen=True, slots=True)
class _Status:
    """What the index knows, and what the folder shows at this moment (None: `trouble` says why)."""

    info: ProjectInfo
    scan: Scan | None
    trouble: str = ""


def status(project: EveryProjectOption = None, as_json: JsonOption = False) -> None:
    """Say what is indexed, when it was brought up to date, and what is not indexed and why.

    Looks at the folder but indexes nothing.
    """
    print_status([project] if project else None, as_json=as_json)


def print_status(
    names: Sequence[str | None] | None, *, as_json: bool, as_list: bool = True
) -> None:
    """Print what is known about these projects (None: the default one), or about all."""
    from memoranda.cli.command_line import command_line
    from memoranda.cli.output import write_json, write_note, write_text
    from memoranda.cli.selection import default_project
    from memoranda.cli.session import with_container

    async def work(container: Container) -> tuple[list[_Status], str]:
        wanted = names if names is not None else [each.name for each in container.projects()]
        looks = [await _look(container, name) for name in wanted]
        return looks, default_project(container)[1]

    found, trouble = with_container(work)
    if as_json:
        data = [_json(each) for each in found]
        write_json({"projects": data} if as_list else data[0])
    elif found:
        write_text("\n\n".join(_text(each) for each in found))
        if trouble:
            write_note(f"note: {trouble}")
    else:
        write_text(f"No project is configured. Begin with: {command_line('up', 'PATH')}")


async def _look(container: Container, name: str | None) -> _Status:
    import asyncio

    from memoranda.errors import RootMissing

    info = await container.project_service.info(name)
    if not info.project.is_active:
        return _Status(info, None)
    try:
        return _Status(info, await asyncio.to_thread(_scan, info.project))
    except RootMissing as error:
        return _Status(info, None, error.message)


def _scan(project: Project) -> Scan:
    from memoranda.files.scan import scan_folder

    return scan_folder(project.path, skips=project.skips)


def _json(status: _Status) -> dict[str, Any]:
    from memoranda.cli.reports import skipped_json
    from memoranda.render.projects import info_data

    data = info_data(status.info) | {"database_path": status.info.database_path}
    if status.scan is not None:
        skipped = [skipped_json(item) for item in status.scan.skipped]
        data |= {
            "file_count": len(status.scan.files),
            "skipped": skipped[:_MOST_SKIPPED],
            "skipped_total": len(skipped),
        }
    if status.trouble:
        data["folder_error"] = status.trouble
    return data


def _text(status: _Status) -> str:
    from memoranda.cli.command_line import command_line
    from memoranda.cli.output import listed, size
    from memoranda.cli.reports import failure_lines
    from memoranda.render.notes import count

    info = status.info
    project, counts = info.project, info.counts
    lines = [
        f"{project.name}{' (default)' if project.is_default else ''}",
        f"  folder    {project.path}",
    ]
    if project.disabled:
        return "\n".join([*lines, f"  disabled  {project.disabled}"])
    synced = f"{info.last_full_sync:%Y-%m-%d %H:%M:%S} UTC" if info.last_full_sync else "never"
    lines += [
        f"  notes     {counts.notes:,}",
        f"  facts     {count(counts.observations, 'observation')}, "
        f"{count(counts.relations, 'relation')} "
        f"({counts.unresolved:,} unresolved)",
        f"  synced    {synced}",
        f"  index     {info.database_path} ({size(info.database_bytes)})",
    ]
    if info.notice:
        lines.append(f"  notice    {info.notice}")
    if status.trouble:
        lines.append(f"  error     {status.trouble}")
    lines += failure_lines(info.failures)
    if info.broken:
        which = count(len(info.broken), "note")
        lines.append(f"  faulty    {which} not read whole or not for certain, indexed all the same")
    lines += listed(
        "problem", [f"{ref.file_path}: {'; '.join(ref.problems)}" for ref in info.broken]
    )
    if status.scan is not None:
        lines += listed("skipped", [f"{item.path}: {item.reason}" for item in status.scan.skipped])
        missing = len(status.scan.files) - counts.notes - len(info.failures)
        if missing:
            there = count(len(status.scan.files), "note")
            run = command_line("sync", project=project.name)
            lines.append(f"  behind    the folder has {there}; run: {run}")
    return "\n".join(lines)

"""`memoranda searches`: what was searched in a project, and how to forget it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memoranda.cli.options import JsonOption, ProjectOption

if TYPE_CHECKING:
    from memoranda.config import Settings
    from memoranda.model.search_log import RecordedSearches, SearchRecord

_MOST_CHARS = 100


def searches(
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=100_000, help="Searches at most.")
    ] = 20,
    clear: Annotated[bool, typer.Option("--clear", help="Delete all that is recorded.")] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what you and your assistants searched, the newest first.

    Searches are recorded in the configuration folder of this machine and nowhere else; `memoranda doctor`
    tells from them what is slow and what finds nothing. The setting `search_log` switches it off.

    The client "memoranda" is this command line. Behind a query stands (filtered): with filters; (relaxed):
    not all that was demanded was found; (weak): nothing relevant was found; (degraded): it ran in a simpler
    way than asked, such as by words alone.
    """
    from memoranda.cli.output import size, write_json, write_note, write_text
    from memoranda.config import load_settings
    from memoranda.files.search_log import SearchLogFile
    from memoranda.render.search_log import searches_count

    settings = load_settings()
    name, path = _place(settings, project)
    log = SearchLogFile(path)
    found = log.read()
    total = len(found.records)
    if clear:
        log.clear()
        if as_json:
            write_json({"project": name, "cleared": total})
        else:
            write_text(f"{name}: {searches_count(total)} deleted")
        return
    shown = found.records[: -limit - 1 : -1]
    if as_json:
        write_json(_json(name, path, found, shown, is_recording=settings.search_log))
    elif not shown:
        why = "yet" if settings.search_log else "(the setting search_log is off)"
        write_text(f"{name}: no search is recorded {why}")
    else:
        _print_table(shown)
        off = "" if settings.search_log else "; new ones are not recorded (search_log is off)"
        write_note(
            f"note: {name}: {searches_count(total)}, {size(found.size_bytes)} in {path}{off}"
        )


def _place(settings: Settings, project: str | None) -> tuple[str, Path]:
    """The project's name and its log, also of a project that is not configured any more."""
    from memoranda.config import (
        SEARCH_LOG,
        config_dir,
        configured_projects,
        find_project,
        project_permalink,
        search_log_file,
    )
    from memoranda.errors import ProjectNotFound

    try:
        found = find_project(configured_projects(settings), project)
    except ProjectNotFound:
        left = config_dir() / project_permalink(project or "") / SEARCH_LOG
        if project and left.is_file():
            return project, left
        raise
    return found.name, search_log_file(found)


def _print_table(records: Sequence[SearchRecord]) -> None:
    from memoranda.cli.tables import Column, Cut, print_table
    from memoranda.render.bounds import one_line

    rows = [
        (
            f"{record.at:%Y-%m-%d %H:%M:%S}",
            round(record.latency_ms),
            record.total,
            record.client or "-",
            " ".join(filter(None, (one_line(record.query, _MOST_CHARS), _marks(record)))),
        )
        for record in records
    ]
    columns = (
        Column("WHEN (UTC)", "dim", spare=3),
        Column("MS", "dim", spare=1),
        Column("FOUND", spare=4),
        Column("CLIENT", spare=2),
        Column("QUERY", "bold", Cut.END),
    )
    print_table(columns, rows)


def _marks(record: SearchRecord) -> str:
    marks = [
        word
        for word, is_set in (
            ("filtered", record.is_filtered),
            ("relaxed", record.is_relaxed),
            ("weak", record.is_weak),
            ("degraded", record.is_degraded),
        )
        if is_set
    ]
    return f"({', '.join(marks)})" if marks else ""


def _json(
    name: str,
    path: Path,
    found: RecordedSearches,
    shown: Sequence[SearchRecord],
    *,
    is_recording: bool,
) -> dict[str, Any]:
    from memoranda.render.search_log import search_data

    return {
        "project": name,
        "file": str(path),
        "is_recording": is_recording,
        "total": len(found.records),
        "damaged_lines": found.damaged,
        "size_bytes": found.size_bytes,
        "searches": [search_data(record) for record in shown],
        "has_more": len(found.records) > len(shown),
    }

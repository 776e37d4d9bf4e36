"""`memoranda up`: from a folder to an assistant that knows it, in one command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import FolderArgument, JsonOption

if TYPE_CHECKING:
    from pathlib import Path

    from memoranda.container import Container, Workspace
    from memoranda.model.project import Counts, Project
    from memoranda.model.search import SearchResults
    from memoranda.model.sync import SyncReport

_NEWEST = 200


@dataclass(frozen=True, slots=True)
class _Done:
    project: Project
    created: bool
    report: SyncReport
    counts: Counts
    sample: SearchResults | None


def up(
    path: FolderArgument,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            "--project",
            "-p",
            metavar="NAME",
            help="Name of a new project; default: the folder's name.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Index a folder of notes and say how to connect an assistant.

    Adds the folder as a project if it is new, indexes it, prints what was found, a sample search
    and what to paste into a client. Run again, it brings the index up to date. No note is changed.
    """
    from memoranda.cli.connect import needed_environment, server_command
    from memoranda.cli.errors import FAILED
    from memoranda.cli.output import write_json, write_text
    from memoranda.cli.reports import nothing_read
    from memoranda.cli.selection import absolute_folder
    from memoranda.cli.session import with_container
    from memoranda.config import config_dir

    folder = absolute_folder(path)

    async def work(container: Container) -> _Done:
        return await _up(container, folder, name)

    done = with_container(work)
    command, environment = server_command(), needed_environment(config_dir())
    if as_json:
        write_json(_json(done, command, environment))
    else:
        write_text(_text(done, command, environment))
    return FAILED if nothing_read(done.report) else 0


async def _up(container: Container, folder: Path, name: str | None) -> _Done:
    from memoranda.cli.progress import progress_bar
    from memoranda.cli.selection import unique_name
    from memoranda.cli.session import opened

    known = [project for project in container.projects() if project.path == folder]
    if known:
        project = next((each for each in known if each.is_active), known[0])
    else:
        wanted = name or unique_name(folder.name, container.projects())
        project = (await container.project_service.create(wanted, str(folder)))[0].project
    workspace = await opened(container, project)
    with progress_bar(f"Indexing {project.name}") as progress:
        report = await workspace.sync.full_sync(progress=progress)
    return _Done(
        project, not known, report, await workspace.browse.counts(), await _sample(workspace)
    )


async def _sample(workspace: Workspace) -> SearchResults | None:
    """A search that finds something in these notes; None when there is nothing to find."""
    from datetime import UTC, datetime

    from memoranda.cli.sample import sample_word
    from memoranda.model.search import SearchQuery, SearchType

    newest = await workspace.browse.recent_activity(
        datetime.fromtimestamp(0, UTC), page_size=_NEWEST
    )
    word = sample_word(newest.results)
    if word is None:
        return None
    results = await workspace.search.search(SearchQuery(word, SearchType.FTS, limit=3))
    return results if results.hits else None


def _json(done: _Done, command: list[str], environment: dict[str, str]) -> dict[str, object]:
    from memoranda.cli.connect import claude_command, client_configuration
    from memoranda.cli.reports import report_json
    from memoranda.render.search import results_data

    return {
        "project": done.project.name,
        "path": str(done.project.path),
        "created": done.created,
        "counts": {
            "notes": done.counts.notes,
            "observations": done.counts.observations,
            "relations": done.counts.relations,
            "unresolved": done.counts.unresolved,
            "links": done.counts.links,
            "problems": done.counts.problems,
        },
        "sync": report_json(done.project.name, done.report),
        "sample": results_data(done.sample, done.project) if done.sample else None,
        "connect": {
            "claude_code": claude_command(command, environment),
            "configuration": client_configuration(command, environment),
        },
    }


def _text(done: _Done, command: list[str], environment: dict[str, str]) -> str:
    from memoranda.cli.connect import connect_text
    from memoranda.cli.reports import report_text

    counts, project = done.counts, done.project
    parts = [
        f"Project {project.name}{' (default)' if project.is_default else ''}: {project.path}",
        report_text(project.name, done.report, details=not done.created),
        f"Indexed: {counts.notes:,} notes, {counts.observations:,} observations, "
        f"{counts.links:,} links, {counts.relations:,} relations "
        f"({counts.unresolved:,} to notes that do not exist)",
    ]
    if counts.problems:
        parts.append(
            f"Header not usable: {counts.problems:,}, indexed all the same (see: memoranda status)"
        )
    if done.sample:
        from memoranda.render.search import results_text

        parts += ["", f'A sample: memoranda search "{done.sample.query}"']
        parts += [
            f"  {line}"
            for line in results_text(done.sample).splitlines()
            if not line.startswith("More: ")
        ]
    parts += ["", connect_text(command, environment)]
    if environment:
        folder = environment["BASIC_MEMORY_CONFIG_DIR"]
        parts.append(f"  The configuration and the index are in {folder}; hence the variable.")
    return "\n".join(parts)

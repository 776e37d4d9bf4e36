"""`memoranda up`: from a folder to an assistant that knows it, in one command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.commands.serve import HostOption, PortOption, serve
from memoranda.cli.options import FolderArgument, JsonOption

if TYPE_CHECKING:
    from pathlib import Path

    from memoranda.cli.vectors import Vectors
    from memoranda.container import Container
    from memoranda.model.project import Counts, Project
    from memoranda.model.search import SearchResults, SearchType
    from memoranda.model.sync import SyncReport
    from memoranda.workspace import Workspace

_NEWEST = 200


@dataclass(frozen=True, slots=True)
class _Done:
    """What was done. `notes` are sentences about what may surprise; `default` is how to change it."""

    project: Project
    created: bool
    report: SyncReport
    vectors: Vectors
    counts: Counts
    sample: SearchResults | None
    default_name: str | None
    default: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Connection:
    """What a client must be told."""

    command: list[str]
    environment: dict[str, str]
    entry: str


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
    entry: Annotated[
        str,
        typer.Option("--entry", metavar="NAME", help="What clients shall call the server."),
    ] = "memoranda",
    serving: Annotated[
        bool, typer.Option("--serve", help="Then serve over HTTP until Ctrl-C, as `serve` does.")
    ] = False,
    host: HostOption = None,
    port: PortOption = None,
    as_json: JsonOption = False,
) -> int:
    """Index a folder of notes and say how to connect an assistant.

    Adds the folder as a project if it is new, indexes it, prints what was found, a sample search
    and how to connect a client. Run again, it brings the index up to date. No note is changed.
    """
    from memoranda.cli.command_line import needed_environment
    from memoranda.cli.connect import server_command
    from memoranda.cli.errors import FAILED
    from memoranda.cli.output import write_json, write_note, write_text
    from memoranda.cli.reports import nothing_read
    from memoranda.cli.selection import absolute_folder
    from memoranda.cli.session import with_container
    from memoranda.config import config_dir

    if name is not None and not name.strip():
        raise typer.BadParameter("give the project a name", param_hint="--name")
    folder = absolute_folder(path)
    if serving:
        from memoranda.cli.commands.stdio import ignore_env_file

        ignore_env_file()
        from memoranda.http.plan import Asked
        from memoranda.http.prepared import prepared

        prepared(
            Asked(host=host, port=port)
        ).close()  # before the notes are indexed, which may take a while
    elif host is not None or port is not None:
        option = "--port" if host is None else "--host"
        raise typer.BadParameter("it needs --serve", param_hint=option)

    async def work(container: Container) -> _Done:
        return await _up(container, folder, name)

    done = with_container(work)
    connection = _Connection(server_command(), needed_environment(config_dir()), entry)
    if as_json:
        write_json(_json(done, connection))
    else:
        for note in done.notes:
            write_note(f"note: {note}")
        write_text(_text(done, None if serving else connection))
    if nothing_read(done.report):
        return FAILED
    if serving:
        serve(host=host, port=port, as_json=as_json)
    return 0


async def _up(container: Container, folder: Path, name: str | None) -> _Done:
    from memoranda.cli.freshness import ready_to_sync
    from memoranda.cli.progress import progress_bar
    from memoranda.cli.searching import usual_mode
    from memoranda.cli.selection import default_project, projects_at, unique_name
    from memoranda.cli.session import opened
    from memoranda.cli.vectors import embed_pending
    from memoranda.services.projects import nesting

    known = projects_at(folder, container.projects())
    if known:
        project = known[0]
        notes = _known_notes(project, name)
    else:
        wanted = name or unique_name(folder.name, container.projects())
        project = (await container.project_service.create(wanted, str(folder)))[0].project
        notes = _name_notes(project, folder, name) + nesting(project, container.projects())
    workspace = await opened(container, project)
    await ready_to_sync(workspace)
    with progress_bar(f"Indexing {project.name}") as progress:
        report = await workspace.sync.full_sync(progress=progress)
    vectors = await embed_pending(
        project.name, container.choice, workspace.coordinator, workspace.backfill
    )
    default, trouble = default_project(container)
    return _Done(
        project=project,
        created=not known,
        report=report,
        vectors=vectors,
        counts=await workspace.browse.counts(),
        sample=await _sample(workspace, usual_mode(container.settings)),
        default_name=default.name if default else None,
        default=_default_text(project, default, trouble),
        notes=tuple(notes),
    )


def _known_notes(project: Project, name: str | None) -> list[str]:
    from memoranda.config import project_permalink

    if name is None or project_permalink(name.strip()) == project.permalink:
        return []
    return [
        f"this folder is already the project {project.name}, and keeps that name "
        f"(to change it, remove the project and repeat this command)"
    ]


def _name_notes(project: Project, folder: Path, name: str | None) -> list[str]:
    if name is not None or project.name == folder.name:
        return []
    return [
        f"the folder's name {folder.name!r} is taken or cannot be used, so the project is called "
        f"{project.name} (to choose a name, remove the project and repeat this command with --name)"
    ]


def _default_text(project: Project, default: Project | None, trouble: str) -> str:
    from memoranda.cli.command_line import command_line

    if default is not None and default.name == project.name:
        return ""
    what = f"the default project is {default.name}" if default else trouble
    change = command_line("project", "default", project.name)
    return f"{what[:1].upper()}{what[1:]}; make this one the default with: {change}"


async def _sample(workspace: Workspace, mode: SearchType) -> SearchResults | None:
    """A search that finds something in these notes, as `memoranda search` does it; None: there is nothing."""
    from datetime import UTC, datetime

    from memoranda.cli.sample import sample_word
    from memoranda.model.search import SearchQuery

    newest = await workspace.browse.recent_activity(
        datetime.fromtimestamp(0, UTC), page_size=_NEWEST
    )
    word = sample_word(newest.results)
    if word is None:
        return None
    results = await workspace.search.search(SearchQuery(word, mode, limit=3))
    return results if results.hits else None


def _json(done: _Done, connection: _Connection) -> dict[str, object]:
    from memoranda.cli.connect import claude_command, client_configuration
    from memoranda.cli.reports import report_json
    from memoranda.cli.vectors import vectors_json
    from memoranda.render.search import results_data

    command, environment, entry = connection.command, connection.environment, connection.entry
    return {
        "project": done.project.name,
        "path": str(done.project.path),
        "created": done.created,
        "default_project": done.default_name,
        "notes": list(done.notes),
        "counts": {
            "notes": done.counts.notes,
            "observations": done.counts.observations,
            "relations": done.counts.relations,
            "unresolved": done.counts.unresolved,
            "links": done.counts.links,
            "problems": done.counts.problems,
        },
        "sync": report_json(done.project.name, done.report)
        | {"vectors": vectors_json(done.vectors)},
        "sample": results_data(done.sample, done.project) if done.sample else None,
        "connect": {
            "claude_code": claude_command(command, environment, entry),
            "configuration": client_configuration(command, environment, entry),
        },
    }


def _text(done: _Done, connection: _Connection | None) -> str:
    """What a person is told; how to connect is left to the server when one follows (None)."""
    from memoranda.cli.command_line import command_line
    from memoranda.cli.connect import connect_text
    from memoranda.cli.reports import report_text
    from memoranda.cli.vectors import vectors_text

    project = done.project
    option = None if not done.default else project.name
    parts = [
        f"Project {project.name}{'' if done.default else ' (default)'}: {project.path}",
        *([done.default] if done.default else []),
        report_text(project.name, done.report, details=not done.created),
        vectors_text(done.vectors),
        _indexed(done),
    ]
    if done.counts.problems:
        see = command_line("status", project=option)
        parts.append(f"Not read whole: {done.counts.problems:,}, indexed all the same (see: {see})")
    if done.sample:
        from memoranda.render.search import results_text

        sample = command_line("search", done.sample.query, project=option)
        parts += ["", f"A sample: {sample}"]
        parts += [
            f"  {line}"
            for line in results_text(done.sample).splitlines()
            if not line.startswith("More: ")
        ]
    if connection is not None:
        parts += ["", connect_text(connection.command, connection.environment, connection.entry)]
        if connection.environment:
            folder = connection.environment["BASIC_MEMORY_CONFIG_DIR"]
            parts.append(f"  The configuration and the index are in {folder}; hence the variable.")
    return "\n".join(parts)


def _indexed(done: _Done) -> str:
    from memoranda.render.notes import count

    counts = done.counts
    if not done.report.total_files and not counts.notes:
        return "No .md file is in this folder yet."
    missing = "a note that does not exist" if counts.unresolved == 1 else "notes that do not exist"
    return (
        f"Indexed: {count(counts.notes, 'note')}, {count(counts.observations, 'observation')}, "
        f"{count(counts.links, 'link')}, {count(counts.relations, 'relation')} "
        f"({counts.unresolved:,} to {missing})"
    )

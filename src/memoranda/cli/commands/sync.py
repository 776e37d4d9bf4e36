"""`memoranda sync`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import EveryProjectOption, JsonOption

if TYPE_CHECKING:
    from memoranda.cli.vectors import Vectors
    from memoranda.cli.watching import Happening
    from memoranda.container import Container
    from memoranda.errors import MemorandaError
    from memoranda.model.project import Project
    from memoranda.model.sync import SyncReport

    Done = tuple[Project, SyncReport, Vectors]

_CLOSING_PATIENCE_S = 1.5

_Verify = Annotated[
    bool,
    typer.Option(
        "--verify",
        help="Read every file and compare its bytes with what the index remembers, "
        "also where times and sizes are as before.",
    ),
]
_AcceptDeletions = Annotated[
    bool,
    typer.Option(
        "--accept-deletions",
        help="Notes whose files are missing are gone: delete them from the index at once, "
        "however many they are.",
    ),
]
_Watch = Annotated[
    bool,
    typer.Option(
        "--watch",
        help="Go on until Ctrl-C, as a server does, and say what is indexed; "
        "with --json one document a line.",
    ),
]


def sync(
    project: EveryProjectOption = None,
    watch: _Watch = False,
    verify: _Verify = False,
    accept_deletions: _AcceptDeletions = False,
    as_json: JsonOption = False,
) -> int:
    """Bring the index up to date with the files.

    Says what is new, modified, moved or deleted, and which files failed. When a folder is suddenly
    empty, is another one than before, or has lost more than 20 notes and 30 % of them, the notes are
    kept until a sync at least a minute later finds the same. Files that fail do not make the command
    fail; a folder that is missing does, and so does a folder of which no file could be read.

    Then notes without vectors of their present text are embedded, unless a server does it. Ctrl-C ends
    that without harm: what is embedded stays.

    A move or an undo of several files that was cut off in its middle is put back first.
    """
    from memoranda.cli.errors import FAILED, hint, report
    from memoranda.cli.output import write_json, write_text
    from memoranda.cli.reports import nothing_read, report_json, report_text
    from memoranda.cli.session import with_container
    from memoranda.cli.vectors import vectors_json, vectors_text

    if watch:
        if verify or accept_deletions:
            raise typer.BadParameter(
                "run it before, without --watch", param_hint="--verify, --accept-deletions"
            )
        return _watch(project, as_json=as_json)

    async def work(
        container: Container,
    ) -> tuple[list[Done], list[MemorandaError]]:
        return await _sync_all(container, project, verify=verify, accept=accept_deletions)

    done, errors = with_container(work)
    if len(errors) == 1 and not done:
        raise errors[0]
    if as_json:
        write_json(
            {
                "projects": [
                    report_json(synced.name, result) | {"vectors": vectors_json(vectors)}
                    for synced, result, vectors in done
                ],
                "errors": [
                    {"code": error.code, "message": error.message, "hint": hint(error)}
                    for error in errors
                ],
            }
        )
    else:
        for synced, result, vectors in done:
            write_text(f"{report_text(synced.name, result)}\n{vectors_text(vectors)}")
        distinct = {error.message: error for error in errors}  # all may have one trouble
        for error in distinct.values():
            report(error.code, error.message, hint=hint(error), as_json=False)
    failed = errors or any(nothing_read(result) for _, result, _ in done)
    return FAILED if failed else 0


async def _sync_all(
    container: Container, name: str | None, *, verify: bool, accept: bool
) -> tuple[list[Done], list[MemorandaError]]:
    """Sync and embed every selected project; one that fails does not keep the others from it."""
    from memoranda.cli.freshness import ready_to_sync
    from memoranda.cli.progress import progress_bar
    from memoranda.cli.selection import selected
    from memoranda.cli.session import opened
    from memoranda.cli.vectors import embed_pending
    from memoranda.errors import DatabaseDamaged, MemorandaError

    async def sync_one(project: Project) -> Done:
        workspace = await opened(container, project)
        await ready_to_sync(workspace)
        with progress_bar(project.name) as progress:
            report = await workspace.sync.full_sync(
                progress=progress, verify=verify, accept_deletions=accept
            )
        vectors = await embed_pending(
            project.name, container.choice, workspace.coordinator, workspace.backfill
        )
        return project, report, vectors

    done: list[Done] = []
    errors: list[MemorandaError] = []
    for project in selected(container, name):
        try:
            try:
                done.append(await sync_one(project))
            except DatabaseDamaged:  # the next look opens one that is made anew
                done.append(await sync_one(project))
        except MemorandaError as error:
            errors.append(error)
    return done, errors


def _watch(name: str | None, *, as_json: bool) -> int:
    """Keep projects up to date until Ctrl-C or SIGTERM, which is no failure."""
    from memoranda.cli.session import with_container

    async def work(container: Container) -> None:
        await _watch_until_told(container, name, as_json=as_json)

    try:
        with_container(work)
    except KeyboardInterrupt:  # where, or when, there is no other way to be told
        pass
    return 0


async def _watch_until_told(container: Container, name: str | None, *, as_json: bool) -> None:
    """Returns only when the projects cannot be kept; when told, the process ends with code 0.

    As a server does, it does not wait for threads that are deep in a file system.
    """
    import asyncio
    import contextlib
    import os
    import signal
    import sys
    from functools import partial

    from memoranda.cli.progress import progress_bar
    from memoranda.cli.selection import selected
    from memoranda.cli.session import opened
    from memoranda.cli.watching import Troubled, Watching
    from memoranda.errors import MemorandaError
    from memoranda.files.clock import SystemClock

    projects = selected(container, name)
    only = projects[0].permalink if name else None
    watching = Watching(container, only, SystemClock(), partial(_tell, as_json=as_json))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, watching.stop)
    for project in projects:
        try:
            await opened(container, project)
        except MemorandaError as error:
            if len(projects) == 1:
                raise
            _tell(Troubled(project.name, error.message), as_json=as_json)
    await watching.run(partial(progress_bar, "Indexing"))
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_CLOSING_PATIENCE_S):
            await container.aclose()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def _tell(happening: Happening, *, as_json: bool) -> None:
    import sys

    from memoranda.cli.keeping import onlooker
    from memoranda.cli.output import OutputLost, ReaderGone, write_note, write_text
    from memoranda.cli.watch_lines import happening_data, happening_text
    from memoranda.cli.watching import Synced
    from memoranda.render.bounds import compact

    me = onlooker()
    if as_json:
        write_text(compact(happening_data(happening, me)))
    elif text := happening_text(happening, me.now.astimezone()):
        (write_text if isinstance(happening, Synced) else write_note)(text)
    try:
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise ReaderGone from error
    except OSError as error:
        raise OutputLost from error

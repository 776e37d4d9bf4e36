"""`memoranda sync`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import EveryProjectOption, JsonOption

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.errors import MemorandaError
    from memoranda.model.project import Project
    from memoranda.model.sync import SyncReport


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


def sync(
    project: EveryProjectOption = None,
    verify: _Verify = False,
    accept_deletions: _AcceptDeletions = False,
    as_json: JsonOption = False,
) -> int:
    """Bring the index up to date with the files.

    Says what is new, modified, moved or deleted, and which files failed. When a folder is suddenly
    empty, is another one than before, or has lost more than 20 notes and 30 % of them, the notes are
    kept until a sync at least a minute later finds the same. Files that fail do not make the command
    fail; a folder that is missing does, and so does a folder of which no file could be read.
    """
    from memoranda.cli.errors import FAILED, hint, report
    from memoranda.cli.output import write_json, write_text
    from memoranda.cli.reports import nothing_read, report_json, report_text
    from memoranda.cli.session import with_container

    async def work(
        container: Container,
    ) -> tuple[list[tuple[Project, SyncReport]], list[MemorandaError]]:
        return await _sync_all(container, project, verify=verify, accept=accept_deletions)

    done, errors = with_container(work)
    if len(errors) == 1 and not done:
        raise errors[0]
    if as_json:
        write_json(
            {
                "projects": [report_json(synced.name, result) for synced, result in done],
                "errors": [
                    {"code": error.code, "message": error.message, "hint": hint(error)}
                    for error in errors
                ],
            }
        )
    else:
        for synced, result in done:
            write_text(report_text(synced.name, result))
        for error in errors:
            report(error.code, error.message, hint=hint(error), as_json=False)
    failed = errors or any(nothing_read(result) for _, result in done)
    return FAILED if failed else 0


async def _sync_all(
    container: Container, name: str | None, *, verify: bool, accept: bool
) -> tuple[list[tuple[Project, SyncReport]], list[MemorandaError]]:
    """Sync every selected project; one that fails does not keep the others from it."""
    from memoranda.cli.progress import progress_bar
    from memoranda.cli.selection import selected
    from memoranda.cli.session import opened
    from memoranda.errors import DatabaseDamaged, MemorandaError

    async def sync_one(project: Project) -> SyncReport:
        workspace = await opened(container, project)
        with progress_bar(project.name) as progress:
            return await workspace.sync.full_sync(
                progress=progress, verify=verify, accept_deletions=accept
            )

    done: list[tuple[Project, SyncReport]] = []
    errors: list[MemorandaError] = []
    for project in selected(container, name):
        try:
            try:
                done.append((project, await sync_one(project)))
            except DatabaseDamaged:  # the next look opens one that is made anew
                done.append((project, await sync_one(project)))
        except MemorandaError as error:
            errors.append(error)
    return done, errors

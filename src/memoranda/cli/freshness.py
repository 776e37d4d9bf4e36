"""Commands that answer from the index first bring it up to date, so that no answer is stale."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memoranda.model.sync import SyncReport
    from memoranda.workspace import Workspace

WHOLE = 1_000_000_000
"""Characters of an answer: a person asked for it, so nothing is cut."""


async def put_right(workspace: Workspace) -> None:
    """Put back what a process left half done that died while it changed several files; said on stderr.

    Not where only reading is allowed. Costs one query when there is nothing.
    """
    from memoranda.cli.command_line import command_line
    from memoranda.cli.output import write_note

    if await workspace.coordinator.put_right():
        history = command_line("history", "list", project=workspace.project.name)
        write_note(
            "note: a change of several files had been cut off in its middle; its files are whole again: "
            f"{history}"
        )


async def ready_to_sync(workspace: Workspace) -> None:
    """Before a sync: what was cut off in its middle is put back.

    Raises:
        OtherFolder: the index, which servers share, is of another folder: nothing may get into it.
        DatabaseProblem: or a subclass: nobody can tell.
    """
    await workspace.coordinator.require_root()
    await put_right(workspace)


async def brought_up_to_date(workspace: Workspace) -> SyncReport | None:
    """Index what changed in the folder; costs a look at each file when nothing did.

    What was cut off in its middle is put back first.

    Returns:
        What was done, None when the index cannot be written just now: another process is at it, the
        disk is full, it is read-only (said on stderr; the answer then comes from what is indexed so far).

    Raises:
        RootMissing: the project's folder is not there.
        OtherFolder: the index is of another one.
        DatabaseDamaged: the index is damaged.
    """
    from memoranda.cli.output import write_note
    from memoranda.cli.progress import progress_bar
    from memoranda.errors import DatabaseBusy, DatabaseDamaged, DatabaseProblem, DiskFull

    try:
        await ready_to_sync(workspace)
        with progress_bar(workspace.project.name) as progress:
            return await workspace.sync.full_sync(progress=progress)
    except DatabaseBusy:
        write_note(f"note: {await _who_is_in_the_way(workspace)}")
        return None
    except DatabaseDamaged:
        raise
    except (DatabaseProblem, DiskFull) as error:
        write_note(f"note: the index is not brought up to date: {error.message}")
        return None


async def _who_is_in_the_way(workspace: Workspace) -> str:
    import asyncio

    leader = workspace.coordinator.leader
    if leader is None or leader.is_alive or not await asyncio.to_thread(_is_led, workspace):
        return "another process is indexing this project; the answer may not be complete"
    end = f"end it on {leader.host}" if leader.host else f"kill {leader.pid}"
    return (
        f"process {leader.pid} hangs in the middle of a write, and nothing can be indexed until it "
        f"ends: {end}"
    )


def _is_led(workspace: Workspace) -> bool:
    """Whether somebody leads; not when nobody can tell."""
    from memoranda.errors import DatabaseProblem

    try:
        return workspace.index.is_led()
    except DatabaseProblem:
        return False

"""`memoranda history ...`: what tools changed in the notes, and how to get it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import JsonOption, ProjectOption

if TYPE_CHECKING:
    from datetime import datetime

    from memoranda.cli.histories import OpenHistory
    from memoranda.model.address import NotePath
    from memoranda.model.history import HistorySummary, RecordedChange

commands = typer.Typer(
    help="See and take back what tools changed in the notes.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


_OLD_PATH = (
    "hint: The history knows a note by the path it had; after a rename look for the old path."
)


@commands.command("list")
def list_changes(
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="PATH",
            help="Only changes of this note, or of the notes in this folder.",
            show_default=False,
        ),
    ] = None,
    client: Annotated[
        str | None, typer.Option("--client", metavar="NAME", help="Only changes by this client.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="DATE", help="Only changes since: 2026-03-01, 7d, ..."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=10_000, help="Changes at most.")
    ] = 20,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what assistants and other tools changed, the newest first."""
    from memoranda.cli.change_lines import change_json, changes_table
    from memoranda.cli.histories import history_of, note_path, recorded_paths
    from memoranda.cli.output import write_json, write_note, write_text

    begun = _moment(since) if since else None
    with history_of(project) as history:
        wanted = note_path(path, history) if path else None
        paths = recorded_paths(history, wanted) if wanted else None
        found = history.store.changes(paths=paths, client=client, since=begun, limit=limit + 1)
        summary = history.store.summary()
    shown = found[:limit]
    if as_json:
        write_json(
            {
                "project": history.name,
                "changes": [change_json(change) for change in shown],
                "has_more": len(found) > limit,
                "total_changes": summary.changes,
                "size_bytes": summary.size_bytes,
                "set_aside": list(summary.set_aside),
            }
        )
        return
    for file in summary.set_aside:
        write_note(f"note: a history that could not be used is kept as {file}")
    if not shown:
        write_text(_nothing(history, wanted, is_filtered=bool(client or since)))
        if wanted and summary.changes and not paths:
            write_note(_OLD_PATH)
        return
    write_text(changes_table(shown))
    if len(found) > limit:
        write_note(f"note: there are older changes; to see more, give --limit {limit * 10}")


@commands.command()
def show(
    change_id: Annotated[
        int, typer.Argument(metavar="ID", help="The change, as `history list` numbers it.")
    ],
    before: Annotated[
        bool, typer.Option("--before", help="Print the note as it was before, byte by byte.")
    ] = False,
    after: Annotated[
        bool, typer.Option("--after", help="Print the note as it was after, byte by byte.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the note of --before or --after to this file, whole or not at all.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file of --output if it is there.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one change: who, when, and the difference; or the note before or after it."""
    from memoranda.cli.change_lines import (
        about,
        change_json,
        content_json,
        difference,
        is_changed_since,
    )
    from memoranda.cli.histories import content, found_change, history_of
    from memoranda.cli.output import write_json, write_raw, write_text

    if before and after:
        raise typer.BadParameter("give --before or --after, not both", param_hint="--before")
    if output is not None and not (output.strip() and (before or after)):
        raise typer.BadParameter(
            "name a file, and give --before or --after as well", param_hint="--output"
        )
    if force and output is None:
        raise typer.BadParameter("it is for --output", param_hint="--force")
    with history_of(project) as history:
        change = found_change(history, change_id)
        if before or after:
            data = content(history, change, is_before=before)
            if output is not None:
                _write_out(change, data, output, is_before=before, is_forced=force, as_json=as_json)
            elif as_json:
                write_json(content_json(change, data, is_before=before))
            else:
                write_raw(data)
            return
        text = difference(history, change)
    if as_json:
        more = {"diff": text, "is_changed_since": is_changed_since(change)}
        write_json(change_json(change) | {"project": history.name} | more)
    else:
        write_text("\n".join([*about(history, change), "", text or "(no text differs)"]))


@commands.command()
def purge(
    older_than: Annotated[
        int | None,
        typer.Option("--older-than", metavar="DAYS", min=0, help="Delete what is older than that."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Delete everything.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Delete recorded changes for good, or only the old ones. No note is touched.

    What is deleted here cannot be taken back any more. Asks before it deletes; where nobody can
    answer, --yes must be given.
    """
    from datetime import timedelta

    from memoranda.cli.errors import FAILED
    from memoranda.cli.histories import history_of, now
    from memoranda.cli.output import size, write_json, write_note, write_text

    if everything == (older_than is not None):
        raise typer.BadParameter("give either --older-than DAYS or --all", param_hint="--all")
    border = None if older_than is None else now() - timedelta(days=older_than)
    with history_of(project) as history:
        summary = history.store.summary()
        is_empty = summary.oldest is None or (border is not None and summary.oldest >= border)
        if not (yes or is_empty or _is_confirmed(history, summary, older_than)):
            write_note("Nothing was deleted.")
            return FAILED
        done = history.store.purge(older_than=border)
    if as_json:
        write_json(
            {
                "project": history.name,
                "deleted_changes": done.changes,
                "freed_bytes": done.freed_bytes,
                "left_changes": done.left.changes,
                "set_aside": list(done.left.set_aside),
            }
        )
        return 0
    from memoranda.render.notes import count

    if done.changes:
        freed = f" ({size(done.freed_bytes)} freed)" if done.freed_bytes else ""
        write_text(
            f"Deleted {count(done.changes, 'change')} of {history.name}{freed}, "
            f"{done.left.changes:,} are left."
        )
    else:
        write_text(f"There was nothing to delete in the history of {history.name}.")
    for file in done.left.set_aside:
        write_note(f"note: an older history that could not be used is still there: {file}")
    return 0


def _is_confirmed(history: OpenHistory, summary: HistorySummary, older_than: int | None) -> bool:
    """Ask on the terminal.

    Raises:
        typer.BadParameter: nobody can answer.
    """
    import sys

    from memoranda.cli.output import size
    from memoranda.render.notes import count

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise typer.BadParameter("nobody can be asked here: give --yes", param_hint="--yes")
    what = (
        f"all {count(summary.changes, 'change')} ({size(summary.size_bytes)})"
        if older_than is None
        else f"the changes older than {count(older_than, 'day')}"
    )
    return typer.confirm(
        f"Delete {what} from the history of {history.name}? They cannot be taken back then.",
        err=True,
    )


def _write_out(
    change: RecordedChange,
    data: bytes,
    output: str,
    *,
    is_before: bool,
    is_forced: bool,
    as_json: bool,
) -> None:
    from memoranda.cli.change_lines import one_line
    from memoranda.cli.output import size, write_json, write_text
    from memoranda.cli.output_file import write_file

    file = write_file(output, data, is_forced=is_forced)
    side = "before" if is_before else "after"
    if as_json:
        written = {"output": str(file), "bytes": len(data)}
        write_json({"id": change.change_id, "file_path": change.path, "side": side} | written)
    else:
        write_text(
            f"Wrote {one_line(change.path)} as it was {side} change {change.change_id} "
            f"to {one_line(str(file))} ({size(len(data))})."
        )


def _nothing(history: OpenHistory, path: NotePath | None, *, is_filtered: bool) -> str:
    from memoranda.cli.change_lines import one_line

    note = f" of {one_line(path)}" if path else ""
    fits = " that fits" if is_filtered else ""
    return f"No change{note}{fits} is recorded for {history.name}."


def _moment(text: str) -> datetime:
    from memoranda.cli.histories import now
    from memoranda.services.timeframe import parse_timeframe

    return parse_timeframe(text, now(), parameter="--since")

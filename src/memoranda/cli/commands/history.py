"""`memoranda history ...`: what tools changed in the notes, and how to get it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import JsonOption, ProjectOption

if TYPE_CHECKING:
    from memoranda.cli.histories import OpenHistory
    from memoranda.model.address import NotePath
    from memoranda.model.history import HistorySummary, RecordedChange

commands = typer.Typer(
    help="See what tools changed in the notes; `memoranda undo` takes it back.",
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
        typer.Option("--since", metavar="WHEN", help="Only changes since: 2026-03-01, 7d, ..."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=10_000, help="Changes at most.")
    ] = 20,
    before_id: Annotated[
        int | None,
        typer.Option("--before-id", metavar="ID", min=1, help="Only changes older than this one."),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what assistants and other tools changed, the newest first."""
    from memoranda.cli.change_lines import COLUMNS, rows
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.histories import history_of, note_path
    from memoranda.cli.output import write_json, write_note, write_text
    from memoranda.cli.tables import print_table
    from memoranda.cli.when import since_when
    from memoranda.model.undoing import HistoryPage
    from memoranda.render.history import page_data
    from memoranda.services.recorded import history_page, recorded_paths

    begun = since_when(since) if since else None
    with history_of(project) as history:
        wanted = note_path(path, history) if path else None
        paths = recorded_paths(history.store, wanted) if wanted else None
        changes, next_id = history_page(
            history.store, paths, client=client, since=begun, limit=limit, before_id=before_id
        )
        summary = history.store.summary()
    if as_json:
        about_all = {
            "project": history.name,
            "total_changes": summary.changes,
            "size_bytes": summary.size_bytes,
            "set_aside": list(summary.set_aside),
        }
        write_json(page_data(HistoryPage(changes, wanted, next_id), WHOLE) | about_all)
        return
    for file in summary.set_aside:
        write_note(f"note: a history that could not be used is kept as {file}")
    if not changes:
        write_text(_nothing(history, wanted, is_filtered=bool(client or since or before_id)))
        if wanted and summary.changes and not paths:
            write_note(_OLD_PATH)
        return
    print_table(COLUMNS, rows(changes))
    if next_id is not None:
        write_note(f"note: there are older changes; go on with --before-id {next_id}")


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
    from memoranda.cli.change_lines import about, content_json
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.histories import current_bytes, history_of
    from memoranda.cli.output import write_json, write_raw, write_styled
    from memoranda.render.history import shown_data
    from memoranda.services.recorded import find_change, shown_change, version

    if before and after:
        raise typer.BadParameter("give --before or --after, not both", param_hint="--before")
    if output is not None and not (output.strip() and (before or after)):
        raise typer.BadParameter(
            "name a file, and give --before or --after as well", param_hint="--output"
        )
    if force and output is None:
        raise typer.BadParameter("it is for --output", param_hint="--force")
    with history_of(project) as history:
        change = find_change(history.store, change_id)
        if before or after:
            data = version(history.store, change, is_before=before)
            if output is not None:
                _write_out(change, data, output, is_before=before, is_forced=force, as_json=as_json)
            elif as_json:
                write_json(content_json(change, data, is_before=before))
            else:
                write_raw(data)
            return
        shown = shown_change(history.store, change, current_bytes(change))
    if as_json:
        write_json(shown_data(shown, 1, WHOLE) | {"project": history.name})
    else:
        write_styled(about(history, shown))


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
    from memoranda.cli.output import size
    from memoranda.cli.questions import can_ask, is_confirmed
    from memoranda.render.notes import count

    if not can_ask():
        raise typer.BadParameter("nobody can be asked here: give --yes", param_hint="--yes")
    what = (
        f"all {count(summary.changes, 'change')} ({size(summary.size_bytes)})"
        if older_than is None
        else f"the changes older than {count(older_than, 'day')}"
    )
    return is_confirmed(
        f"Delete {what} from the history of {history.name}? They cannot be taken back then."
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

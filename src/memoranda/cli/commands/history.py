"""`memoranda history ...`: what tools changed in the notes, and how to get it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

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


@commands.command("list")
def list_changes(
    path: Annotated[
        str | None,
        typer.Argument(metavar="PATH", help="Only changes of this note.", show_default=False),
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
    from memoranda.cli.histories import history_of, note_path
    from memoranda.cli.output import write_json, write_note, write_text

    begun = _moment(since) if since else None
    with history_of(project) as history:
        wanted = note_path(path, history) if path else None
        found = history.store.changes(path=wanted, client=client, since=begun, limit=limit + 1)
        summary = history.store.summary()
    shown = found[:limit]
    if as_json:
        write_json(
            {
                "project": history.name,
                "changes": [_change_json(change) for change in shown],
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
        write_text(_nothing(history, wanted, is_filtered=bool(client or since), of=summary))
        return
    write_text(_table(shown))
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
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one change: who, when, and the difference; or the note before or after it."""
    from memoranda.cli.histories import content, found_change, history_of
    from memoranda.cli.output import write_json, write_raw, write_text

    if before and after:
        raise typer.BadParameter("give --before or --after, not both", param_hint="--before")
    with history_of(project) as history:
        change = found_change(history, change_id)
        if before or after:
            data = content(history, change, is_before=before)
            if as_json:
                write_json(_content_json(change, data, is_before=before))
            else:
                write_raw(data)
            return
        difference = _difference(history, change)
    if as_json:
        write_json(_change_json(change) | {"project": history.name, "diff": difference})
    else:
        write_text("\n".join([*_about(history, change), "", difference or "(no text differs)"]))


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
        write_text(
            f"Deleted {count(done.changes, 'change')} of {history.name} "
            f"({size(done.freed_bytes)} freed), {done.left.changes:,} are left."
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


def _table(changes: Sequence[RecordedChange]) -> str:
    from memoranda.cli.output import table

    rows = [
        (
            change.change_id,
            f"{change.at:%Y-%m-%d %H:%M:%S}",
            _one_line(change.author.client) or "-",
            _one_line(change.author.tool) or "-",
            _what(change),
            _one_line(change.path),
        )
        for change in changes
    ]
    return table(("ID", "WHEN (UTC)", "CLIENT", "TOOL", "WHAT", "NOTE"), rows)


def _about(history: OpenHistory, change: RecordedChange) -> list[str]:
    """Everything about a change but its difference."""
    import shlex

    from memoranda.cli.command_line import command_line
    from memoranda.cli.output import size

    author = change.author
    who = " ".join(filter(None, [_one_line(author.client), _one_line(author.version)])) or "unknown"
    tool = f" with {_one_line(author.tool)}" if author.tool else ""
    lines = [
        f"change {change.change_id}",
        f"  what      {_what(change)}",
        f"  note      {_one_line(change.path)}",
        f"  folder    {_one_line(change.root)}",
        f"  by        {who}{tool}",
        f"  when      {change.at:%Y-%m-%d %H:%M:%S} UTC",
    ]
    for label, checksum, n_bytes in (
        ("before", change.before, change.before_bytes),
        ("after", change.after, change.after_bytes),
    ):
        lines.append(
            f"  {label:<9} {f'{size(n_bytes)}, {checksum[:12]}' if checksum else 'no file'}"
        )
    if change.before:
        run = command_line(
            "history", "show", str(change.change_id), "--before", project=history.name
        )
        note, new = (
            shlex.quote(f"{change.root}/{change.path}{suffix}") for suffix in ("", ".before")
        )
        lines.append(f"  restore   {run} > {new} && mv {new} {note}")
    return lines


def _difference(history: OpenHistory, change: RecordedChange) -> str:
    """The unified diff, or in a sentence why there is none."""
    import sys

    from memoranda.cli.histories import Missing, side
    from memoranda.markdown.diff import diff
    from memoranda.markdown.source import decode

    texts = []
    for checksum in (change.before, change.after):
        data = side(history, checksum)
        if isinstance(data, Missing):
            return "(the text is lost, it was damaged)"
        if b"\0" in data:
            return "(not text; see --before and --after)"
        texts.append(decode(data).text)
    return diff(texts[0], texts[1], change.path, max_chars=sys.maxsize)


def _what(change: RecordedChange) -> str:
    from memoranda.model.history import ChangeState

    match change.state:
        case ChangeState.DONE:
            return change.kind.value
        case ChangeState.PENDING:
            return f"{change.kind.value} (under way, or cut off)"
        case ChangeState.UNSURE:
            return f"{change.kind.value} (cut off, unsure)"


def _nothing(
    history: OpenHistory, path: NotePath | None, *, is_filtered: bool, of: HistorySummary
) -> str:
    if not of.changes:
        return f"No change is recorded for {history.name}: no tool has changed a note yet."
    note = f" of {path}" if path else ""
    fits = " that fits" if is_filtered or not path else ""
    return f"No change{note}{fits} is recorded for {history.name}."


def _change_json(change: RecordedChange) -> dict[str, Any]:
    return {
        "id": change.change_id,
        "at": change.at.isoformat(timespec="milliseconds"),
        "client": change.author.client,
        "client_version": change.author.version,
        "tool": change.author.tool,
        "kind": change.kind.value,
        "state": change.state.value,
        "file_path": change.path,
        "project_path": change.root,
        "before": change.before,
        "after": change.after,
        "before_bytes": change.before_bytes,
        "after_bytes": change.after_bytes,
    }


def _content_json(change: RecordedChange, data: bytes, *, is_before: bool) -> dict[str, Any]:
    """The bytes as text where they are UTF-8, else in base64."""
    import base64

    try:
        text, encoding = data.decode(), "utf-8"
    except UnicodeDecodeError:
        text, encoding = base64.b64encode(data).decode(), "base64"
    return {
        "id": change.change_id,
        "file_path": change.path,
        "side": "before" if is_before else "after",
        "encoding": encoding,
        "content": text,
    }


def _moment(text: str) -> datetime:
    from memoranda.cli.histories import now
    from memoranda.services.timeframe import parse_timeframe

    return parse_timeframe(text, now(), parameter="--since")


def _one_line(text: str) -> str:
    return " ".join(text.split())

"""What `memoranda history` says of a change."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from memoranda.cli.command_line import command_line
from memoranda.cli.histories import OpenHistory
from memoranda.cli.output import size, table
from memoranda.cli.styles import diff_lines
from memoranda.cli.tables import Column, Cut
from memoranda.model.history import ChangeState, RecordedChange
from memoranda.model.undoing import ShownChange

COLUMNS = (
    Column("ID", "cyan"),
    Column("WHEN (UTC)", "dim", spare=3),
    Column("CLIENT", "", Cut.END, spare=2),
    Column("TOOL", spare=1),
    Column("WHAT", spare=4),
    Column("NOTE", "bold", Cut.START),
)
_MERGED = "the note has been changed since; an undo keeps that where it does not overlap"
_REFUSED = "the note has been changed since, and an undo of this change alone is refused"
_REPLACED = (
    "the note has been changed since; this line puts all of that back too, and what was not written "
    "by a tool is kept nowhere: copy the note first"
)


def rows(changes: Sequence[RecordedChange]) -> list[tuple[object, ...]]:
    """One row a change, for `COLUMNS`."""
    return [
        (
            change.change_id,
            f"{change.at:%Y-%m-%d %H:%M:%S}",
            one_line(change.author.client) or "-",
            one_line(change.author.tool) or "-",
            _what(change),
            _note(change),
        )
        for change in changes
    ]


def changes_text(changes: Sequence[RecordedChange], *, most: int = 10) -> str:
    """The first changes as a plain table, and how many more there are."""
    text = table([column.heading for column in COLUMNS], rows(changes[:most]))
    more = len(changes) - most
    return f"{text}\n... and {more:,} more" if more > 0 else text


def about(history: OpenHistory, shown: ShownChange) -> Iterator[tuple[str, str]]:
    """Everything about a change, and the command that takes it back."""
    change = shown.change
    author = change.author
    who = " ".join(filter(None, [one_line(author.client), one_line(author.version)])) or "unknown"
    tool = f" with {one_line(author.tool)}" if author.tool else ""
    yield f"change {change.change_id}", "bold"
    yield f"  what      {_what(change)}", ""
    yield f"  note      {_note(change)}", "cyan"
    yield f"  folder    {one_line(change.root)}", ""
    yield f"  by        {who}{tool}", ""
    yield f"  when      {change.at:%Y-%m-%d %H:%M:%S} UTC", ""
    for label, digest, n_bytes in (
        ("before", change.before, change.before_bytes),
        ("after", change.after, change.after_bytes),
    ):
        yield f"  {label:<9} {f'{size(n_bytes)}, {digest[:12]}' if digest else 'no file'}", ""
    yield from _way_back(history, shown)
    yield "", ""
    if shown.diff:
        yield from diff_lines(shown.diff)
    else:
        yield f"({shown.notice or 'no text differs'})", "dim"


def content_json(change: RecordedChange, data: bytes, *, is_before: bool) -> dict[str, Any]:
    """The bytes as text where they are UTF-8, else in base64."""
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


def one_line(text: str) -> str:
    """A name with each run of blanks and line ends as one blank."""
    return " ".join(text.split())


def _way_back(history: OpenHistory, shown: ShownChange) -> Iterator[tuple[str, str]]:
    """An undo where the project is still what it was; else its old text can be written anywhere."""
    change = shown.change
    if history.root is not None and str(history.root) == change.root:
        if shown.first:
            yield f"  now       {_REFUSED}: {one_line(shown.first)}", "yellow"
        elif shown.is_changed_since:
            yield f"  now       {_MERGED}", "yellow"
        undo = command_line("undo", str(change.change_id), project=history.name)
        yield f"  undo      {undo}", "dim"
    elif change.before:
        if shown.is_changed_since:
            yield f"  now       {_REPLACED}", "yellow"
        file = Path(change.root) / (change.moved_from or change.path)
        words = ["history", "show", str(change.change_id), "--before", "--output", str(file)]
        words += ["--force"] if file.exists() else []
        yield f"  restore   {command_line(*words, project=history.name)}", "dim"


def _note(change: RecordedChange) -> str:
    came = f"{one_line(change.moved_from)} -> " if change.moved_from else ""
    return f"{came}{one_line(change.path)}"


def _what(change: RecordedChange) -> str:
    beside = [f"with {change.batch}"] if change.batch not in (0, change.change_id) else []
    match change.state:
        case ChangeState.DONE:
            pass
        case ChangeState.PENDING:
            beside.append("under way, or cut off")
        case ChangeState.UNSURE:
            beside.append("cut off, unsure")
    return f"{change.kind.value} ({'; '.join(beside)})" if beside else change.kind.value

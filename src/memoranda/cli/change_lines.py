"""What `memoranda history` says of a change, as JSON and as text."""

from __future__ import annotations

import base64
import sys
from collections.abc import Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Any

from memoranda.cli.command_line import command_line
from memoranda.cli.histories import Missing, OpenHistory, side
from memoranda.cli.output import size, table
from memoranda.files.file_service import checksum
from memoranda.markdown.diff import diff
from memoranda.markdown.source import decode
from memoranda.model.history import ChangeState, RecordedChange

_CHANGED_SINCE = (
    "the note has been changed since; this line puts all of that back too, and what was not written "
    "by a tool is kept nowhere: copy the note first"
)


class _Now(Enum):
    """A note beside the two sides of a change."""

    KNOWN = auto()
    """It has the bytes of one of them."""
    OTHER = auto()
    GONE = auto()


def changes_table(changes: Sequence[RecordedChange]) -> str:
    """One line a change under headings."""
    rows = [
        (
            change.change_id,
            f"{change.at:%Y-%m-%d %H:%M:%S}",
            one_line(change.author.client) or "-",
            one_line(change.author.tool) or "-",
            _what(change),
            one_line(change.path),
        )
        for change in changes
    ]
    return table(("ID", "WHEN (UTC)", "CLIENT", "TOOL", "WHAT", "NOTE"), rows)


def about(history: OpenHistory, change: RecordedChange) -> list[str]:
    """Everything about a change but its difference."""
    author = change.author
    who = " ".join(filter(None, [one_line(author.client), one_line(author.version)])) or "unknown"
    tool = f" with {one_line(author.tool)}" if author.tool else ""
    lines = [
        f"change {change.change_id}",
        f"  what      {_what(change)}",
        f"  note      {one_line(change.path)}",
        f"  folder    {one_line(change.root)}",
        f"  by        {who}{tool}",
        f"  when      {change.at:%Y-%m-%d %H:%M:%S} UTC",
    ]
    for label, digest, n_bytes in (
        ("before", change.before, change.before_bytes),
        ("after", change.after, change.after_bytes),
    ):
        lines.append(f"  {label:<9} {f'{size(n_bytes)}, {digest[:12]}' if digest else 'no file'}")
    if change.before:
        state = _state(change)
        if state is _Now.OTHER:
            lines.append(f"  now       {_CHANGED_SINCE}")
        words = ["history", "show", str(change.change_id), "--before", "--output"]
        words += [f"{change.root}/{change.path}", *([] if state is _Now.GONE else ["--force"])]
        lines.append(f"  restore   {command_line(*words, project=history.name)}")
    return lines


def difference(history: OpenHistory, change: RecordedChange) -> str:
    """The unified diff, or in a sentence why there is none."""
    texts = []
    for digest in (change.before, change.after):
        data = side(history, digest)
        if isinstance(data, Missing):
            return "(the text is lost, it was damaged)"
        if b"\0" in data:
            return "(not text; see --before and --after)"
        texts.append(decode(data).text)
    return diff(texts[0], texts[1], change.path, max_chars=sys.maxsize)


def change_json(change: RecordedChange) -> dict[str, Any]:
    """All about a change but its contents."""
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


def is_changed_since(change: RecordedChange) -> bool:
    """Whether the note is there and has the bytes of neither side of the change."""
    return _state(change) is _Now.OTHER


def one_line(text: str) -> str:
    """A name with each run of blanks and line ends as one blank."""
    return " ".join(text.split())


def _state(change: RecordedChange) -> _Now:
    """What has become of the note since the change."""
    try:
        data = (Path(change.root) / change.path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return _Now.GONE
    except OSError:  # nobody can tell, so be careful
        return _Now.OTHER
    return _Now.KNOWN if checksum(data) in (change.before, change.after) else _Now.OTHER


def _what(change: RecordedChange) -> str:
    match change.state:
        case ChangeState.DONE:
            return change.kind.value
        case ChangeState.PENDING:
            return f"{change.kind.value} (under way, or cut off)"
        case ChangeState.UNSURE:
            return f"{change.kind.value} (cut off, unsure)"

"""What tools changed, and what taking it back did, as JSON values and as short text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memoranda.model.history import ChangeState, RecordedChange
from memoranda.model.undoing import HistoryPage, ShownChange, UndoAction, UndoneFile, UndoResult
from memoranda.render.bounds import (
    ANSWER_CHARS,
    compact,
    first_that_fit,
    lines_of,
    lines_that_fit,
    one_line,
)
from memoranda.render.notes import bounded_lists, count

_LABEL_CHARS = 200
_SENTENCE_CHARS = 600
_LATE_CHARS = 120
_LEAST_DIFF_CHARS = 300
_MOST_DIFFS = 20


@dataclass(frozen=True, slots=True)
class Part:
    """Some lines of a text that may be too long for one answer.

    Attributes:
        first, last: lines of the whole, 1-based and inclusive.
        is_line_cut: the only line is longer than there is room.
    """

    text: str
    first: int
    last: int
    total: int
    is_line_cut: bool = False

    @property
    def next_line(self) -> int | None:
        """Where to go on, None at the end."""
        return self.last + 1 if self.last < self.total else None

    def data(self) -> dict[str, Any]:
        """The place of the part in the whole."""
        data: dict[str, Any] = {
            "start_line": self.first,
            "end_line": self.last,
            "total_lines": self.total,
            "next_line": self.next_line,
        }
        return data | ({"line_cut": True} if self.is_line_cut else {})


def part_of(text: str, start_line: int, limit: int, *, as_json: bool = False) -> Part:
    """The lines from there on that fit; behind the end there are none."""
    lines = lines_of(text)
    rest = lines[start_line - 1 :]
    shown, number = lines_that_fit(rest, limit, as_json=as_json)
    return Part(
        shown,
        min(start_line, len(lines) + 1),
        min(start_line - 1, len(lines)) + number,
        len(lines),
        is_line_cut=number == 1 and len(shown) < len(rest[0]),
    )


def change_data(change: RecordedChange) -> dict[str, Any]:
    """One change without its contents. `batch` is the same for all changes of one call."""
    data: dict[str, Any] = {
        "id": change.change_id,
        "at": change.at.isoformat(timespec="milliseconds"),
        "client": change.author.client,
        "client_version": change.author.version,
        "tool": change.author.tool,
        "kind": change.kind.value,
        "state": change.state.value,
        "file_path": change.path,
        "before": change.before,
        "after": change.after,
        "before_bytes": change.before_bytes,
        "after_bytes": change.after_bytes,
        "batch": change.batch or change.change_id,
    }
    return data | ({"moved_from": change.moved_from} if change.moved_from else {})


def change_text(change: RecordedChange) -> str:
    """One line: number, when, what of which note, how large, and by whom."""
    author = change.author
    who = one_line(f"{author.client} {author.version}", _LABEL_CHARS) or "unknown"
    tool = f" ({one_line(author.tool, _LABEL_CHARS)})" if author.tool else ""
    call = f" · call {change.batch}" if change.batch not in (0, change.change_id) else ""
    return (
        f"{change.change_id} · {change.at:%Y-%m-%d %H:%M:%S} UTC · {_what(change)} · "
        f"{_size(change)} · {who}{tool}{call}"
    )


def page_data(page: HistoryPage, limit: int = ANSWER_CHARS) -> dict[str, Any]:
    """Changes, newest first; `next_before_id` is where to go on with `before_id`."""
    changes = [change_data(change) for change in page.changes]
    shown = max(1, first_that_fit((len(compact(one)) + 1 for one in changes), limit - 400))
    next_id = _next_id(page, shown)
    return {
        "path": page.path,
        "changes": changes[:shown],
        "has_more": next_id is not None,
        "next_before_id": next_id,
    }


def page_text(page: HistoryPage, limit: int = ANSWER_CHARS) -> str:
    """A line a change, newest first."""
    if not page.changes:
        return "No change by a tool is recorded here."
    lines = [change_text(change) for change in page.changes]
    shown = max(1, first_that_fit((len(line) + 1 for line in lines), limit - 400))
    more = _next_id(page, shown)
    going_on = [] if more is None else [f"Older changes: before_id={more}"]
    return "\n".join([*lines[:shown], *going_on])


def shown_data(shown: ShownChange, start_line: int, limit: int = ANSWER_CHARS) -> dict[str, Any]:
    """One change with its difference, from a line of it on."""
    data = change_data(shown.change) | {
        "diff": "",
        "notice": one_line(shown.notice, _SENTENCE_CHARS),
        "is_changed_since": shown.is_changed_since,
    }
    if shown.first:
        data["undo_needs"] = one_line(shown.first, _SENTENCE_CHARS)
    part = part_of(shown.diff, start_line, limit - len(compact(data)) - _LATE_CHARS, as_json=True)
    return data | {"diff": part.text} | part.data()


def shown_text(shown: ShownChange, start_line: int, limit: int = ANSWER_CHARS) -> tuple[str, ...]:
    """What is known about a change, and its difference in a block of its own."""
    about = [change_text(shown.change)]
    if shown.is_changed_since:
        refused = " This change alone cannot be taken back: " if shown.first else ""
        about.append(f"The note has been changed since.{refused}{shown.first}")
    if shown.notice:
        about.append(one_line(shown.notice, _SENTENCE_CHARS))
    room = limit - sum(len(line) + 1 for line in about) - _LATE_CHARS
    return _blocks(about, part_of(shown.diff, start_line, room), "No text differs.")


def version_data(
    shown: ShownChange, version: str, text: str, start_line: int, limit: int = ANSWER_CHARS
) -> dict[str, Any]:
    """The note before or after a change, from a line of it on."""
    data = {
        "id": shown.change.change_id,
        "file_path": shown.change.path,
        "version": version,
        "is_changed_since": shown.is_changed_since,
        "content": "",
    }
    part = part_of(text, start_line, limit - len(compact(data)) - _LATE_CHARS, as_json=True)
    return data | {"content": part.text} | part.data()


def version_text(
    shown: ShownChange, version: str, text: str, start_line: int, limit: int = ANSWER_CHARS
) -> tuple[str, ...]:
    """What version it is, and its text in a block of its own."""
    change = shown.change
    about = [f"{change.path} {version} change {change.change_id}:"]
    room = limit - len(about[0]) - _LATE_CHARS
    return _blocks(about, part_of(text, start_line, room), "It was empty.")


def undo_data(result: UndoResult, limit: int = ANSWER_CHARS) -> dict[str, Any]:
    """What was taken back; of many files the differences are cut or left out (`diff_cut`)."""
    data: dict[str, Any] = {
        "dry_run": result.is_dry_run,
        "change_id": result.change_id,
    }
    room = _diff_room(result, limit)
    lists = {
        "changes": [_brief(change) for change in result.changes],
        "files": [_file_data(file, room) for file in result.files],
    }
    return data | bounded_lists(lists, limit - len(compact(data)) - 200)


def undo_text(result: UndoResult, limit: int = ANSWER_CHARS) -> str:
    """What was taken back in a few lines, with the differences as far as they fit."""
    changes = count(len(result.changes), "change")
    if all(file.action is UndoAction.UNCHANGED for file in result.files):
        head = f"Nothing to do: {changes} had been taken back already."
    else:
        head = f"{'Dry run, would take back' if result.is_dry_run else 'Took back'} {changes}."
    last = (
        ""
        if result.change_id is None
        else f"This is change {result.change_id}; undo_change with it brings everything back."
    )
    left = limit - len(head) - len(last) - 60
    room = _diff_room(result, limit)
    lines = [head]
    for number, file in enumerate(result.files):
        block = _file_text(file, room)
        if len(block) + 1 > left:
            lines.append(f"- and {count(len(result.files) - number, 'more file')}")
            break
        lines.append(block)
        left -= len(block) + 1
    return "\n".join([*lines, *([last] if last else [])])


def _blocks(about: list[str], part: Part, nothing: str) -> tuple[str, ...]:
    if part.is_line_cut:
        about.append(f"Line {part.last} is longer than an answer may be and is cut.")
    if part.next_line is not None:
        about.append(
            f"Lines {part.first}-{part.last} of {part.total}. Go on with start_line={part.next_line}."
        )
    if not part.text:
        about.append(nothing if not part.total else f"There are {part.total} lines.")
    return ("\n".join(about), *([part.text] if part.text else []))


def _next_id(page: HistoryPage, shown: int) -> int | None:
    """Where to go on; earlier than the page does, if not all of it is shown."""
    return page.changes[shown - 1].change_id if shown < len(page.changes) else page.next_before_id


def _what(change: RecordedChange) -> str:
    moved = f" from {one_line(change.moved_from, _LABEL_CHARS)}" if change.moved_from else ""
    doubt = {
        ChangeState.DONE: "",
        ChangeState.PENDING: ", under way or cut off",
        ChangeState.UNSURE: ", cut off and unsure",
    }[change.state]
    return f"{change.kind.value} {one_line(change.path, _LABEL_CHARS)}{moved}{doubt}"


def _size(change: RecordedChange) -> str:
    if change.before is None or change.after is None:
        return f"{max(change.before_bytes, change.after_bytes):,} bytes"
    return f"{change.before_bytes:,} → {change.after_bytes:,} bytes"


def _brief(change: RecordedChange) -> dict[str, Any]:
    return {
        "id": change.change_id,
        "at": change.at.isoformat(timespec="milliseconds"),
        "client": change.author.client,
        "tool": change.author.tool,
        "kind": change.kind.value,
        "file_path": change.path,
    }


def _diff_room(result: UndoResult, limit: int) -> int:
    """Characters for one difference: less of each, the more there are; none of very many."""
    number = sum(bool(file.diff) for file in result.files)
    if number > _MOST_DIFFS:
        return 0
    return max(_LEAST_DIFF_CHARS, limit // 2 // max(number, 1))


def _file_data(file: UndoneFile, room: int) -> dict[str, Any]:
    data: dict[str, Any] = {"path": file.path, "action": file.action.value}
    if file.moved_from:
        data["moved_from"] = file.moved_from
    if file.is_merged:
        data["is_merged"] = True
    if file.diff and room:
        data["diff"], _ = lines_that_fit(lines_of(file.diff), room, as_json=True)
    if file.diff and data.get("diff") != file.diff:
        data["diff_cut"] = True
    return data


def _file_text(file: UndoneFile, room: int) -> str:
    moved = f" (was {one_line(file.moved_from, _LABEL_CHARS)})" if file.moved_from else ""
    merged = ", later changes are kept" if file.is_merged else ""
    line = f"- {one_line(file.path, _LABEL_CHARS)}{moved}: {file.action.value}{merged}"
    if not file.diff or not room:
        return line
    lines = lines_of(file.diff)
    text, shown = lines_that_fit(lines, room)
    rest = f"... {len(lines) - shown} more lines\n" if shown < len(lines) else ""
    return f"{line}\n{text}{rest}".rstrip("\n")

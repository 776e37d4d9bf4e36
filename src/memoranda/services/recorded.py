"""What the history knows: of which notes, of which change. Without the index, so that it works at any time.

A note is known to the history by the paths it had. All functions are synchronous and read the history.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from memoranda.errors import ChangeNotFound, FileProblem, InvalidArgument
from memoranda.files.file_service import checksum
from memoranda.history.store import HistoryStore
from memoranda.markdown.diff import diff
from memoranda.markdown.merge import Clash, merge
from memoranda.markdown.source import decode
from memoranda.model.address import NotePath, declared_permalink, natural_permalink, stem
from memoranda.model.history import ChangeKind, RecordedChange
from memoranda.model.undoing import ShownChange

_PAGE = 1000
_NAMED = 10
_MOVES = 100
"""So many times a note is followed back to where it came from."""


def recorded_paths(history: HistoryStore, wanted: str) -> tuple[NotePath, ...]:
    """The notes of the history that a name means, the nearest meaning alone.

    First the path as it is, then without its `.md` or as a folder, then as a permalink of one of these.
    """
    known = history.paths()
    if wanted in known:
        return (NotePath(wanted),)
    if wanted == ".":
        return tuple(known)
    found = tuple(path for path in known if path == f"{wanted}.md" or path.startswith(f"{wanted}/"))
    if found or (permalink := declared_permalink(wanted)) is None:
        return found
    spelled = {path: natural_permalink(path, stem(path)) for path in known}
    return tuple(
        path
        for path, each in spelled.items()
        if each == permalink or each.startswith(f"{permalink}/")
    )


def history_page(
    history: HistoryStore,
    paths: Sequence[NotePath] | None,
    *,
    client: str | None = None,
    since: datetime | None = None,
    limit: int,
    before_id: int | None = None,
) -> tuple[tuple[RecordedChange, ...], int | None]:
    """A page of changes, newest first.

    Args:
        history: where they are recorded.
        paths: of these notes; of a single one also what was done to it where it was before it was moved.
            None: of all.
        client: as `HistoryStore.changes`.
        since: the same.
        limit: at most so many, at least 1.
        before_id: only older ones than this.

    Returns:
        The changes, and `before_id` of the next page, None at the end.
    """
    found: dict[int, RecordedChange] = {}
    for number, span in enumerate(_spans(history, paths, is_there=False)):
        first_id = span.first_id if number else 0  # of the place itself everything
        for change in history.changes(
            paths=span.paths,
            client=client,
            since=since,
            before_id=_earlier(span.before_id, before_id),
            limit=limit + 1,
        ):
            if change.change_id >= first_id:
                found[change.change_id] = change
    newest = _newest_first(found)
    shown = tuple(newest[:limit])
    return shown, shown[-1].change_id if len(newest) > limit else None


def changes_of(
    history: HistoryStore,
    paths: Sequence[NotePath] | None,
    *,
    client: str | None = None,
    since: datetime | None = None,
    before_id: int | None = None,
    is_there: bool = False,
) -> list[RecordedChange]:
    """All changes, newest first; of a single path those of one note, wherever it was.

    Args:
        history: where they are recorded.
        paths: as `history_page`.
        client: the same.
        since: the same.
        before_id: as it was before this change.
        is_there: whether a note is at that path (then): it is the one that is meant. Else it is the last one
            that was there. What other notes did there is not among the changes.
    """
    found: dict[int, RecordedChange] = {}
    for span in _spans(history, paths, is_there=is_there, before_id=before_id):
        for change in all_changes(
            history, paths=span.paths, client=client, since=since, before_id=span.before_id
        ):
            if change.change_id < span.first_id:
                break
            found[change.change_id] = change
    return _newest_first(found)


def _earlier(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _newest_first(found: Mapping[int, RecordedChange]) -> list[RecordedChange]:
    return sorted(found.values(), key=lambda change: -change.change_id)


@dataclass(frozen=True, slots=True)
class _Span:
    """Changes of files: from the one on to, and without, the other."""

    paths: Sequence[NotePath] | None
    before_id: int | None = None
    first_id: int = 0


def _spans(
    history: HistoryStore,
    paths: Sequence[NotePath] | None,
    *,
    is_there: bool,
    before_id: int | None = None,
) -> Iterator[_Span]:
    """Of a single path the times of one note, at that place and where it was before; else all."""
    if paths is None or len(paths) != 1:
        yield _Span(paths, before_id)
        return
    path = paths[0]
    for _ in range(_MOVES):
        span, arrival = _stay(history, path, before_id, is_there=is_there)
        yield span
        if arrival is None or arrival.moved_from is None:
            return
        path, before_id, is_there = arrival.moved_from, arrival.batch, True


def _stay(
    history: HistoryStore, path: NotePath, before_id: int | None, *, is_there: bool
) -> tuple[_Span, RecordedChange | None]:
    """The time of the note that was last at a place, before that change, and what brought it there.

    It begins where the note was created or moved there; or after another one was deleted or moved away.
    """
    first_id = 0
    rows = all_changes(history, paths=(path,), before_id=before_id)
    for _, call in groupby(rows, key=lambda change: change.batch):
        changes = list(call)
        arrival = next((one for one in changes if is_arrival(one, path)), None)
        if arrival is not None:
            return _Span((path,), before_id, changes[-1].change_id), arrival
        if is_there and any(is_departure(one, path) for one in changes):
            return _Span((path,), before_id, first_id or changes[0].change_id + 1), None
        is_there, first_id = True, changes[-1].change_id
    return _Span((path,), before_id), None


def is_arrival(change: RecordedChange, path: str) -> bool:
    """Whether another file is at a place after the change."""
    return change.path == path and change.kind in (ChangeKind.CREATED, ChangeKind.MOVED)


def is_departure(change: RecordedChange, path: str) -> bool:
    """Whether the file that was at a place is not there after the change."""
    return change.moved_from == path or (change.path == path and change.kind is ChangeKind.DELETED)


def all_changes(
    history: HistoryStore,
    *,
    paths: Sequence[NotePath] | None = None,
    client: str | None = None,
    since: datetime | None = None,
    before_id: int | None = None,
) -> Iterator[RecordedChange]:
    """Every change that fits, newest first, read a page at a time."""
    while True:
        page = history.changes(
            paths=paths, client=client, since=since, before_id=before_id, limit=_PAGE
        )
        yield from page
        if not page:  # a short one may have lost a damaged row
            return
        before_id = page[-1].change_id


def find_change(history: HistoryStore, change_id: int) -> RecordedChange:
    """The change of that number.

    Raises:
        ChangeNotFound: there is none, or not any more.
    """
    if not 0 < change_id < 2**63 or (change := history.change(change_id)) is None:
        raise ChangeNotFound(change_id)
    return change


def version(history: HistoryStore, change: RecordedChange, *, is_before: bool) -> bytes:
    """The bytes of a note at one side of a change.

    Raises:
        InvalidArgument: there was no file, or none of a note.
        FileProblem: the bytes are lost.
    """
    side = "before" if is_before else "after"
    digest = change.before if is_before else change.after
    if digest is None:
        match change.kind:
            case ChangeKind.MOVED:
                hint = "It is no note: the history knows that it was moved, and not its bytes."
            case ChangeKind.CREATED:
                hint = "The change created it."
            case _:
                hint = "The change deleted it."
        raise InvalidArgument(
            side,
            f"There is no content of {change.path} {side} change {change.change_id}",
            hint=hint,
        )
    return content(history, change, digest)


def content(history: HistoryStore, change: RecordedChange, digest: str) -> bytes:
    """The bytes of that checksum, which a change has at one of its sides.

    Raises:
        FileProblem: they are lost, or damaged.
    """
    data = history.content(digest)
    if data is None:
        side = "before" if digest == change.before else "after"
        if history.change(change.change_id) is None:  # forgotten meanwhile
            raise FileProblem(
                change.path,
                f"The content of {change.path} {side} change {change.change_id} is not kept any more",
                hint="How much the history keeps is set with history_days and history_megabytes.",
            )
        raise FileProblem(
            change.path,
            f"The content of {change.path} {side} change {change.change_id} is lost",
            hint="The history was damaged. Other changes are not concerned.",
        )
    return data


def shown_change(
    history: HistoryStore, change: RecordedChange, current: bytes | None
) -> ShownChange:
    """A change with its difference.

    Args:
        history: where it is recorded.
        change: the change.
        current: the note's bytes now, None when there is no file at its path.
    """
    known = {change.before, change.after}
    now = None if current is None else checksum(current)
    text, notice = _difference(history, change)
    is_changed = now is not None and now not in known
    if current is None or not is_changed or not _is_refused(history, change, current):
        return ShownChange(change, text, notice, is_changed)
    later = [
        each
        for each in all_changes(history, paths=(change.path,))
        if each.change_id > change.change_id and each.root == change.root
    ]
    return ShownChange(change, text, notice, is_changed, what_first(later))


def _is_refused(history: HistoryStore, change: RecordedChange, current: bytes) -> bool:
    """Whether this change cannot be taken back alone, since the note is another one now."""
    if change.before is None or change.after is None:
        return change.before != change.after
    before, after = history.content(change.before), history.content(change.after)
    if before is None or after is None or before == after:
        return False
    if not isinstance(merge(after, before, current), Clash):
        return False
    older = changes_of(history, (change.path,), before_id=change.change_id)
    return all(checksum(current) != each.before for each in older)


def what_first(later: Sequence[RecordedChange]) -> str:
    """What to do before a change is taken back that later ones of its file are in the way of; newest first."""
    if not later:
        return "A person or another program did it: edit the note."
    named = [f"{one.change_id} (by {one.author.client or 'a tool'})" for one in later[:_NAMED]]
    more = f" and {len(later) - _NAMED} older ones" if len(later) > _NAMED else ""
    then = f", then if need be {', '.join(named[1:])}{more}" if named[1:] else ""
    return f"Take back change {named[0]} first{then}."


def _difference(history: HistoryStore, change: RecordedChange) -> tuple[str, str]:
    """The difference, and what stands in its way."""
    if change.before is None and change.after is None:
        return "", "It is no note: only its place changed."
    texts = []
    for digest in (change.before, change.after):
        data = b"" if digest is None else history.content(digest)
        if data is None:
            return "", "The text is lost: the history was damaged."
        if b"\0" in data:
            return "", "It is not text."
        texts.append(decode(data).text)
    return text_diff(texts[0], texts[1], change.path), ""


def bytes_diff(before: bytes | None, after: bytes | None, path: str) -> str:
    """The unified diff of two contents, not bounded; "" when one of them is no text."""
    sides = [before or b"", after or b""]
    if any(b"\0" in side for side in sides):
        return ""
    old, new = (decode(side).text for side in sides)
    return text_diff(old, new, path)


def text_diff(before: str, after: str, path: str) -> str:
    """The unified diff, not bounded."""
    return diff(before, after, NotePath(path), max_chars=sys.maxsize)

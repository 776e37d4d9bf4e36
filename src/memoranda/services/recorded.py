"""What the history knows: of which notes, of which change. Without the index, so that it works at any time.

A note is known to the history by the paths it had. All functions are synchronous and read the history.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from memoranda.errors import ChangeNotFound, FileProblem, InvalidArgument
from memoranda.files.file_service import checksum
from memoranda.history.store import HistoryStore
from memoranda.markdown.diff import diff
from memoranda.markdown.source import decode
from memoranda.model.address import NotePath, declared_permalink, natural_permalink, stem
from memoranda.model.history import ChangeKind, RecordedChange
from memoranda.model.undoing import ShownChange

_PAGE = 1000
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
    for span, end in _spans(history, paths):
        for change in history.changes(
            paths=span,
            client=client,
            since=since,
            before_id=_earlier(end, before_id),
            limit=limit + 1,
        ):
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
) -> list[RecordedChange]:
    """All changes that `history_page` would show, newest first."""
    found = {
        change.change_id: change
        for span, end in _spans(history, paths)
        for change in all_changes(
            history,
            paths=span,
            client=client,
            since=since,
            before_id=_earlier(end, before_id),
        )
    }
    return _newest_first(found)


def _earlier(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _newest_first(found: Mapping[int, RecordedChange]) -> list[RecordedChange]:
    return sorted(found.values(), key=lambda change: -change.change_id)


def _spans(
    history: HistoryStore, paths: Sequence[NotePath] | None
) -> Iterator[tuple[Sequence[NotePath] | None, int | None]]:
    """Paths, with the change before which they count; None for all of them."""
    yield paths, None
    if paths is None or len(paths) != 1:
        return
    path, before_id = paths[0], None
    for _ in range(_MOVES):
        move = _arrival(history, path, before_id)
        if move is None or move.moved_from is None:
            return
        path, before_id = move.moved_from, move.change_id
        yield (path,), before_id


def _arrival(history: HistoryStore, path: NotePath, before_id: int | None) -> RecordedChange | None:
    """The move that brought the note there that was the last one at that path, before that change."""
    for change in all_changes(history, paths=(path,), before_id=before_id):
        if change.path == path and change.kind is ChangeKind.MOVED:
            return change
        if change.path == path and change.kind is ChangeKind.CREATED:
            return None  # what was there earlier was another note
    return None


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
    return ShownChange(change, text, notice, now is not None and now not in known)


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

"""Taking changes back in the mind first: the folder as it would be without them.

Nothing is written here. Changes are taken back newest first over a picture of the files concerned, which
are looked at when they are first needed. In the end the picture is compared with what was seen, and the
difference is one plan for `FileChanges`. So hundreds of changes of one file cost one write, and what is in
the way of one of them stops all of them before a file is touched.

What a change did is taken back exactly where the file has the bytes it left. Where it has others, what was
done since is kept by a merge of lines, or the undo is refused. A refusal does not end the work: the rest is
tried as well, so that the refusal can say how many files are in the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar, assert_never

from memoranda.errors import FileProblem, UndoConflict
from memoranda.markdown.merge import Clash, Merged, merge
from memoranda.model.file_change import PlannedChange
from memoranda.model.history import ChangeKind, RecordedChange
from memoranda.model.undoing import UndoneFile
from memoranda.services.folder_picture import Folder, FolderPicture, PicturedFile
from memoranda.services.recorded import bytes_diff, what_first

T = TypeVar("T")

_SPANS = 5
_NAMED = 5
_BY_HAND = "A person or another program moved or deleted it: put the file back there first."


class Records(Protocol):
    """What the history tells about the changes that are not taken back."""

    def content(self, change: RecordedChange, digest: str, /) -> bytes:
        """The bytes of that checksum. Raises FileProblem when they are lost."""
        ...

    def later(self, path: str, change_id: int, /) -> Sequence[RecordedChange]:
        """The changes after that one that stay: of a path, and of what was moved away from it; oldest first."""
        ...

    def was_older(self, change: RecordedChange, digest: str, /) -> bool:
        """Whether the file of a change had the bytes of that checksum before an older change."""
        ...

    def departure(self, path: str, change: RecordedChange, /) -> RecordedChange | None:
        """The first later change, of those that stay, after which the file of a change is not there any more.

        It was moved away or deleted; or another file came there, and nobody knows what became of it.
        """
        ...


class Reversal:
    """The files without some changes. Not thread-safe; looks at files and history when it must."""

    def __init__(self, folder: Folder, records: Records) -> None:
        self._picture = FolderPicture(folder)
        self._records = records
        self._gone: dict[str, UndoConflict] = {}
        self._refused: list[UndoConflict] = []
        self._spoilt: set[str] = set()

    def take_back(self, call: Sequence[RecordedChange]) -> None:
        """Take back what one call did, newest first; calls must come newest first too.

        A call deletes first, then moves everything at once, then writes; so it is taken back the other way
        round. What is in the way is raised by `require_complete`.

        Raises:
            FileProblem: a content that is needed is lost, or a file cannot be read.
        """
        try:
            self._take_back(call)
        except FileProblem:
            if not self._refused:  # else that is said
                raise

    def require_complete(self) -> None:
        """After the last change.

        Raises:
            UndoConflict: what was done since is in the way; or a file that was to be changed is not there,
                and was not made by one of the changes. Its hint says which other files are concerned.
        """
        conflicts = [*self._refused, *self._gone.values()]
        if not conflicts:
            return
        first = conflicts[0]
        others = sorted({one.path for one in conflicts} - {first.path})
        if others:
            first.hint = f"{first.hint} {_too(others)}"
        raise first

    def _take_back(self, call: Sequence[RecordedChange]) -> None:
        moves = [change for change in call if change.kind is ChangeKind.MOVED]
        lifted = [self._tried(self._lifted, change) for change in moves]
        before = len(self._refused)
        for change in call:
            if change.kind is ChangeKind.CREATED:
                self._tried(self._unmake, change)
            elif change.kind is ChangeKind.UPDATED:
                self._tried(self._restore, change)
        if self._refused[before:]:
            gone = [self._gone.pop(old) for one in moves if (old := one.moved_from) in self._gone]
            if gone:  # says more than what follows from it
                self._refused[before:] = gone
        self._put_back(
            [(one, file) for one, file in zip(moves, lifted, strict=True) if file is not None]
        )
        for change in call:
            if change.kind is ChangeKind.DELETED:
                self._tried(self._make_again, change)

    def _tried(self, step: Callable[[RecordedChange], T], change: RecordedChange) -> T | None:
        """Take one step; one that cannot be taken spoils its places for older changes, which follow from it."""
        places = {str(place) for place in (change.path, change.moved_from) if place}
        if not self._spoilt.isdisjoint(places):
            self._spoilt |= places
            return None
        try:
            return step(change)
        except UndoConflict as conflict:
            self._spoilt |= places
            self._refused.append(conflict)
            return None

    def _unmake(self, change: RecordedChange) -> None:
        path = change.path
        self._picture.to_name.add(path)
        file = self._at(path, change)
        place, lost = self._followed(change)
        if place != path and lost is None and self._at(place, change) is not None:
            raise self._conflict(change, f"it was moved to {place} since")
        if file is None or lost is not None:  # gone, whatever is there now
            self._gone.pop(path, None)
        elif file.digest == change.after:
            self._picture.put(path, None)
        else:
            raise self._conflict(change, "it was changed after it was created", file)

    def _restore(self, change: RecordedChange) -> None:
        place, lost = self._followed(change)
        file = self._at(place, change)
        if file is None or lost is not None:
            if change.path not in self._gone:
                self._gone[change.path] = self._absent(change, place, lost)
            return
        self._picture.put(place, self._without(change, file))

    def _make_again(self, change: RecordedChange) -> None:
        path = change.path
        file = self._at(path, change)
        if file is None:
            self._gone.pop(path, None)
            self._picture.put(path, PicturedFile(None, self._side(change, change.before)))
        elif file.digest != change.before:
            raise self._conflict(change, "there is another file by that name now", file)

    def _put_back(self, lifted: Sequence[tuple[RecordedChange, PicturedFile]]) -> None:
        """Give all their old places at once, since they may have changed places with each other."""
        for change, _ in lifted:
            self._picture.put(change.path, None)
        for change, file in lifted:
            old = change.moved_from or change.path
            self._tried(partial(self._put_at, old, file), change)

    def _put_at(self, old: str, file: PicturedFile, change: RecordedChange) -> None:
        if self._at(old, change) is not None:
            taken = f"{old}, where it was, is taken by another file"
            raise self._conflict(change, taken, at=old)
        self._picture.put(old, file)

    def _lifted(self, change: RecordedChange) -> PicturedFile | None:
        """The moved file without what its move did to it; None when there is nothing to move back."""
        path, old = change.path, change.moved_from or change.path
        file = self._at(path, change)
        if file is not None and self._at(old, change) is not None:
            self._picture.tell_apart(path, old)
        before = self._at(old, change)
        place, lost = self._followed(change)
        if place == old or _is_back(change, before, file):
            self._gone.pop(path, None)
            return None
        if place == path and file is not None and lost is None:
            return self._without(change, file)
        if path in self._gone:
            self._gone[old] = self._gone.pop(path)
        elif place == path or lost is not None:
            self._gone[old] = self._absent(change, place, lost)
        else:
            self._gone[old] = self._conflict(change, f"it was moved on to {place}")
        return None

    def _without(self, change: RecordedChange, file: PicturedFile) -> PicturedFile:
        """The file without what the change did to its bytes."""
        if file.digest in (change.before, None) or change.before == change.after:
            return file
        before = self._side(change, change.before)
        if file.digest == change.after:
            return PicturedFile(file.origin, before, file.is_merged)
        match merge(self._side(change, change.after), before, file.data or b""):
            case Merged(data):
                is_new = data != file.data
                return PicturedFile(file.origin, data, file.is_merged or is_new) if is_new else file
            case Clash() if self._records.was_older(change, file.digest or ""):
                return file  # an older version came back: nothing of the change is in it
            case Clash(places, reason):
                raise self._conflict(change, reason or _lines(places), file)
            case unknown:
                assert_never(unknown)

    def _side(self, change: RecordedChange, digest: str | None) -> bytes:
        return b"" if digest is None else self._records.content(change, digest)

    def _followed(self, change: RecordedChange) -> tuple[str, RecordedChange | None]:
        """Where later changes that stay have moved the file of a change, and which of them lost it there.

        Lost: it was deleted, or another file is there.
        """
        place, last = str(change.path), change
        while (left := self._records.departure(place, last)) is not None:
            if left.moved_from != place:
                return place, left
            place, last = str(left.path), left
        return place, None

    def _at(self, path: str, change: RecordedChange) -> PicturedFile | None:
        is_note = change.before is not None or change.after is not None
        return self._picture.at(path, is_note=is_note)

    def _absent(
        self, change: RecordedChange, place: str, lost: RecordedChange | None
    ) -> UndoConflict:
        """The file of a change is not at the place where it should be by now."""
        if lost is None:
            reason = "the file is gone" if place == change.path else f"it is gone from {place}"
            return self._conflict(change, reason, hint=_BY_HAND)
        what = "deleted it" if lost.kind is ChangeKind.DELETED else f"put another file at {place}"
        where = "" if place == change.path or what != "deleted it" else f" at {place}"
        who = lost.author.client or "a tool"
        return self._conflict(change, f"change {lost.change_id} (by {who}) {what}{where}")

    def _conflict(
        self,
        change: RecordedChange,
        reason: str,
        file: PicturedFile | None = None,
        *,
        at: str = "",
        hint: str = "",
    ) -> UndoConflict:
        if self._refused:  # only the first is shown
            return UndoConflict(change.path, reason)
        later = self._records.later(at or change.path, change.change_id)
        newest_first = later[::-1]
        return UndoConflict(
            change.path,
            f"{reason} (found while taking back change {change.change_id})",
            changes=[each.change_id for each in newest_first],
            clients=[each.author.client for each in newest_first],
            diff=self._since(change, file),
            hint=f"Nothing was changed. {hint or what_first(newest_first)}",
        )

    def _since(self, change: RecordedChange, file: PicturedFile | None) -> str:
        """What was done to a file after a change; "" when nobody knows."""
        if file is None or file.data is None or change.after is None:
            return ""
        try:
            return bytes_diff(self._side(change, change.after), file.data, change.path)
        except FileProblem:
            return ""

    def planned(self) -> list[PlannedChange]:
        """What leads from the files as they are to the picture. Raises UndoConflict if nothing can."""
        return self._picture.planned()

    def files(self) -> tuple[UndoneFile, ...]:
        """What becomes of every file concerned, by path."""
        return self._picture.files()


def _is_back(
    change: RecordedChange, before: PicturedFile | None, file: PicturedFile | None
) -> bool:
    """Whether a note is at its old place as it was, and no longer at the new one."""
    if before is None or before.digest != change.before:
        return False
    return file is None or (file.digest is not None and file.digest != change.after)


def _lines(places: Sequence[tuple[int, int]]) -> str:
    spans = [f"{first}-{last}" if last > first else f"{first}" for first, last in places]
    if spans == [str(places[0][0])]:
        return f"line {spans[0]} of it was changed since"
    more = f" and {len(spans) - _SPANS} more places" if len(spans) > _SPANS else ""
    return f"lines {', '.join(spans[:_SPANS])}{more} of it were changed since"


def _too(paths: Sequence[str]) -> str:
    """Which other files cannot be put back."""
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    number = "1 more file" if len(paths) == 1 else f"{len(paths)} more files"
    return f"{number} cannot be put back either: {', '.join(paths[:_NAMED])}{more}."

"""What only some file systems and some accidents show, over files that are not on a disk."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from memoranda.errors import FileProblem, UndoConflict
from memoranda.files.file_service import checksum
from memoranda.model.address import NotePath
from memoranda.model.file_change import NoteChange
from memoranda.model.history import NOBODY, ChangeKind, ChangeState, RecordedChange
from memoranda.model.undoing import UndoAction
from memoranda.services.reversal import Reversal


class Disk:
    """Files by path; case does not tell two of them apart."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = {path.casefold(): data for path, data in files.items()}

    def current(self, path: NotePath) -> bytes | None:
        return self.files.get(path.casefold())

    def has(self, path: str) -> bool:
        return path.casefold() in self.files

    def is_one_file(self, one: str, other: str) -> bool:
        return self.has(one) and one.casefold() == other.casefold()


class Records:
    """A history without other changes. `contents`: what it kept."""

    def __init__(self, *contents: bytes) -> None:
        self.contents = {checksum(data): data for data in contents}

    def content(self, change: RecordedChange, digest: str) -> bytes:
        if digest not in self.contents:
            raise FileProblem(change.path, "lost")
        return self.contents[digest]

    def later(self, path: str, change_id: int) -> Sequence[RecordedChange]:
        return ()

    def was_older(self, change: RecordedChange, digest: str) -> bool:
        return False

    def departure(self, path: str, change: RecordedChange) -> RecordedChange | None:
        return None


def recorded(
    path: str, before: bytes | None, after: bytes | None, moved_from: str | None = None
) -> RecordedChange:
    kind = ChangeKind.UPDATED
    if moved_from is not None:
        kind = ChangeKind.MOVED
    elif before is None or after is None:
        kind = ChangeKind.CREATED if before is None else ChangeKind.DELETED
    return RecordedChange(
        change_id=1,
        at=datetime(2026, 1, 1, tzinfo=UTC),
        author=NOBODY,
        root="/notes",
        path=NotePath(path),
        kind=kind,
        state=ChangeState.DONE,
        before=None if before is None else checksum(before),
        after=None if after is None else checksum(after),
        before_bytes=0,
        after_bytes=0,
        batch=1,
        moved_from=None if moved_from is None else NotePath(moved_from),
    )


def test_another_case_of_letters_goes_back_where_case_makes_no_difference() -> None:
    reversal = Reversal(Disk({"Plan.md": b"text\n"}), Records(b"text\n"))
    reversal.take_back([recorded("Plan.md", b"text\n", b"text\n", "plan.md")])
    assert reversal.planned() == [
        NoteChange(NotePath("plan.md"), b"text\n", b"text\n", NotePath("Plan.md"))
    ]
    (file,) = reversal.files()
    assert (file.path, file.moved_from, file.action) == ("plan.md", "Plan.md", UndoAction.MOVED)


def test_only_the_content_that_is_needed_is_asked_for() -> None:
    reversal = Reversal(Disk({"a.md": b"new\n"}), Records(b"old\n"))
    reversal.take_back([recorded("a.md", b"old\n", b"new\n")])
    assert reversal.planned() == [NoteChange(NotePath("a.md"), b"new\n", b"old\n")]
    done = Reversal(Disk({"a.md": b"old\n"}), Records())
    done.take_back([recorded("a.md", b"old\n", b"new\n")])
    assert done.planned() == []
    merged = Reversal(Disk({"a.md": b"other\n"}), Records(b"old\n"))
    with pytest.raises(FileProblem, match="lost"):
        merged.take_back([recorded("a.md", b"old\n", b"new\n")])


def test_a_refusal_needs_no_content_that_is_lost() -> None:
    reversal = Reversal(Disk({"a.md": b"other\n"}), Records())
    reversal.take_back([recorded("a.md", None, b"new\n")])
    reversal.take_back([recorded("b.md", None, b"new\n"), recorded("c.md", b"gone\n", None)])
    with pytest.raises(UndoConflict) as refused:
        reversal.require_complete()
    assert refused.value.diff == ""


def test_many_places_are_named_in_short() -> None:
    lines = [b"%d\n" % number for number in range(40)]
    base, mine, theirs = list(lines), list(lines), list(lines)
    for number in range(0, 40, 4):
        mine[number], theirs[number] = b"mine\n", b"%d theirs\n" % number
    old, new, now = (b"".join(side) for side in (mine, base, theirs))
    reversal = Reversal(Disk({"a.md": now}), Records(old, new))
    reversal.take_back([recorded("a.md", old, new)])
    with pytest.raises(UndoConflict) as refused:
        reversal.require_complete()
    assert "lines 1, 5, 9, 13, 17 and 5 more places of it were changed" in refused.value.reason

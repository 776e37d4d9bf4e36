"""Several files changed in one piece."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memoranda.errors import (
    Conflict,
    DiskFull,
    FileProblem,
    InvalidArgument,
    NoteExists,
    NoteNotFound,
)
from memoranda.files import atomic
from memoranda.files.clock import SystemClock
from memoranda.files.file_service import FileService
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.file_change import NoteChange, OtherFileMove, PlannedChange
from memoranda.model.history import Author, ChangeKind, ChangeState, HistoryLimits
from memoranda.services.file_changes import FileChanges

BY = Author("tester", "1", "try")


class World:
    """A folder with files, and what changes them."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "notes"
        self.root.mkdir()
        self.files = FileService(self.root, folder / "locks")
        self.history = HistoryStore(folder / "history", self.root, SystemClock(), HistoryLimits())
        self.changes = FileChanges(self.files, self.history)
        self.put("a.md", b"a\n")
        self.put("b.md", b"b\n")
        self.put("x/c.md", b"c\n")
        self.put("x/pic.png", b"\x89")

    def close(self) -> None:
        self.history.close()

    def put(self, path: str, data: bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def apply(self, *changes: PlannedChange) -> int:
        return self.changes.apply(changes, BY).change_id

    @property
    def all(self) -> dict[str, bytes]:
        """Every file, whatever its name, and empty folders."""
        return {
            str(path.relative_to(self.root)): path.read_bytes() if path.is_file() else b"(folder)"
            for path in self.root.rglob("*")
            if path.is_file() or not any(path.iterdir())
        }


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path)) as made:
        yield made


def change(
    path: str, before: bytes | None, after: bytes | None, moved_from: str | None = None
) -> NoteChange:
    return NoteChange(
        NotePath(path), before, after, None if moved_from is None else NotePath(moved_from)
    )


def test_files_are_made_changed_deleted_and_moved_in_one_piece(world: World) -> None:
    world.apply(
        change("a.md", b"a\n", None),
        change("b.md", b"b\n", b"B\n"),
        change("new/d.md", None, b"d\n"),
        change("y/c.md", b"c\n", b"C\n", "x/c.md"),
        OtherFileMove("y/pic.png", "x/pic.png"),
    )
    assert world.all == {
        "b.md": b"B\n",
        "new/d.md": b"d\n",
        "y/c.md": b"C\n",
        "y/pic.png": b"\x89",
    }


def test_the_history_has_them_as_one_batch(world: World) -> None:
    batch = world.apply(
        change("a.md", b"a\n", None),
        change("y/c.md", b"c\n", b"C\n", "x/c.md"),
        OtherFileMove("y/pic.png", "x/pic.png"),
    )
    found = world.history.batch(batch)
    assert [(each.kind, each.path, each.moved_from) for each in found] == [
        (ChangeKind.DELETED, "a.md", None),
        (ChangeKind.MOVED, "y/c.md", "x/c.md"),
        (ChangeKind.MOVED, "y/pic.png", "x/pic.png"),
    ]
    assert {(each.state, each.batch, each.author) for each in found} == {
        (ChangeState.DONE, batch, BY)
    }
    assert [each.change_id for each in world.history.changes(paths=[NotePath("x/c.md")])] == [
        found[1].change_id
    ]
    assert world.history.paths() == ["a.md", "x/c.md", "x/pic.png", "y/c.md", "y/pic.png"]
    assert world.history.pending() == []


def test_one_change_is_a_batch_of_its_own(world: World) -> None:
    batch = world.apply(change("a.md", b"a\n", b"A\n"))
    assert [each.change_id for each in world.history.batch(batch)] == [batch]


def test_files_swap_places(world: World) -> None:
    world.apply(change("b.md", b"a\n", b"a\n", "a.md"), change("a.md", b"b\n", b"b!\n", "b.md"))
    assert world.all == {
        "a.md": b"b!\n",
        "b.md": b"a\n",
        "x/c.md": b"c\n",
        "x/pic.png": b"\x89",
    }


def test_three_files_move_in_a_chain_whatever_the_order(world: World) -> None:
    world.apply(
        change("b.md", b"a\n", b"a\n", "a.md"),
        change("d.md", b"c\n", b"c\n", "x/c.md"),
        change("x/c.md", b"b\n", b"b\n", "b.md"),
    )
    assert world.all == {
        "b.md": b"a\n",
        "x/c.md": b"b\n",
        "d.md": b"c\n",
        "x/pic.png": b"\x89",
    }


def test_a_deleted_file_makes_room(world: World) -> None:
    world.apply(change("a.md", b"a\n", None), change("y.md", b"b\n", b"b\n", "b.md"))
    world.apply(change("y.md", b"b\n", None), change("b.md", None, b"again\n"))
    assert world.all["b.md"] == b"again\n"
    assert "y.md" not in world.all


def test_a_moved_file_is_the_same_file_with_its_mode(world: World) -> None:
    old = world.root / "a.md"
    old.chmod(0o640)
    inode = old.stat().st_ino
    world.apply(change("z/a.md", b"a\n", b"a\n", "a.md"))
    new = world.root / "z/a.md"
    assert (new.stat().st_ino, new.stat().st_mode & 0o777) == (inode, 0o640)


def test_folders_that_a_move_leaves_empty_go_and_others_stay(world: World) -> None:
    (world.root / "x/deep").mkdir()
    world.put("p/q/n.md", b"n\n")
    world.apply(
        change("n.md", b"n\n", b"n\n", "p/q/n.md"), change("c.md", b"c\n", b"c\n", "x/c.md")
    )
    assert not (world.root / "p").exists()
    assert (world.root / "x/deep").is_dir()


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ([change("a.md", b"other\n", b"A\n")], Conflict),
        ([change("z.md", b"other\n", b"A\n", "a.md")], Conflict),
        ([change("z.md", b"z\n", b"A\n")], NoteNotFound),
        ([OtherFileMove("p.png", "x/no.png")], NoteNotFound),
        ([change("b.md", None, b"new\n")], NoteExists),
        ([change("b.md", b"a\n", b"a\n", "a.md")], NoteExists),
        ([OtherFileMove("a.md", "x/pic.png")], NoteExists),
        ([change(".hidden/a.md", b"a\n", b"a\n", "a.md")], InvalidArgument),
        ([change("a.md/c.md", b"c\n", b"c\n", "x/c.md")], InvalidArgument),
    ],
)
def test_what_cannot_be_done_changes_nothing_at_all(
    world: World, changes: list[PlannedChange], error: type[Exception]
) -> None:
    before = world.all
    with pytest.raises(error):
        world.apply(change("n.md", None, b"first\n"), *changes)
    assert world.all == before
    assert world.history.changes() == []


@pytest.mark.parametrize("last", range(4))
def test_a_failure_in_the_middle_puts_everything_back(
    world: World, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full at one of the writes: what was done before it is put back, the last first."""
    plan: list[PlannedChange] = [
        change("a.md", b"a\n", None),
        change("b.md", b"b\n", b"B\n"),
        change("new/d.md", None, b"d\n"),
        change("y/c.md", b"c\n", b"C\n", "x/c.md"),
        OtherFileMove("y/pic.png", "x/pic.png"),
        change("e.md", None, b"e\n"),
    ]
    before, modes = world.all, (world.root / "a.md").stat()
    create, replace = world.files.create, world.files.replace
    writes = iter(range(100))

    def failing(real: object) -> object:
        def write(*args: object, **kwargs: object) -> object:
            if next(writes) == last:
                raise DiskFull("d.md")
            return real(*args, **kwargs)  # type: ignore[operator]

        return write

    monkeypatch.setattr(world.files, "create", failing(create))
    monkeypatch.setattr(world.files, "replace", failing(replace))
    with pytest.raises(DiskFull):
        world.apply(*plan)
    assert world.all == before
    assert (world.root / "a.md").stat().st_ino == modes.st_ino
    assert not (world.root / "y").exists()
    assert not (world.root / "new").exists()
    assert world.history.changes() == []


def test_what_cannot_be_put_back_leaves_the_batch_pending(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> object:
        world.put("a.md", b"somebody else\n")
        raise DiskFull("b.md")

    monkeypatch.setattr(world.files, "replace", broken)
    with pytest.raises(DiskFull):
        world.apply(change("z.md", b"a\n", b"a\n", "a.md"), change("b.md", b"b\n", b"B\n"))
    assert world.all["a.md"] == b"somebody else\n"
    assert world.all["z.md"] == b"a\n"
    assert {each.is_in_batch for each in world.history.pending()} == {True}


def test_without_hard_links_files_move_all_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(next(iter(atomic._NO_HARD_LINKS)), "no links")

    monkeypatch.setattr(os, "link", refuse)
    world.apply(change("z.md", b"a\n", b"a\n", "a.md"))
    assert world.all["z.md"] == b"a\n"
    with pytest.raises(NoteExists):
        world.apply(change("b.md", b"a\n", b"a\n", "z.md"))


def test_an_old_name_that_cannot_be_removed_is_the_only_one_left(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path.name == "a.md":
            raise PermissionError(13, "not yours")
        real(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    before = world.all
    with pytest.raises(Exception, match="read-only"):
        world.apply(change("z.md", b"a\n", b"a\n", "a.md"))
    assert world.all == before


def test_two_names_of_one_file_are_two_places(world: World) -> None:
    (world.root / "hard.md").hardlink_to(world.root / "a.md")
    with pytest.raises(NoteExists):
        world.apply(change("hard.md", b"a\n", b"a\n", "a.md"))


@pytest.mark.parametrize(
    "plan",
    [
        [],
        [change("a.md", b"a\n", b"a\n")],
        [change("z.md", None, b"a\n", "a.md")],
        [change("z.md", b"a\n", b"a\n", "a.md"), change("z.md", b"b\n", b"b\n", "b.md")],
        [change("z.md", b"a\n", b"a\n", "a.md"), change("y.md", b"a\n", b"a\n", "a.md")],
    ],
)
def test_a_plan_without_sense_is_a_fault_of_the_caller(
    world: World, plan: list[PlannedChange]
) -> None:
    with pytest.raises(ValueError, match=r"two changes|nothing|before and after"):
        world.apply(*plan)


def test_a_large_batch_takes_every_lock_once(world: World) -> None:
    for number in range(400):
        world.put(f"many/{number}.md", b"n\n")
    world.apply(*(change(f"more/{n}.md", b"n\n", b"n\n", f"many/{n}.md") for n in range(400)))
    assert len(list((world.root / "more").iterdir())) == 400
    assert not (world.root / "many").exists()


def test_a_history_that_cannot_be_kept_means_no_change(world: World, tmp_path: Path) -> None:
    (tmp_path / "history").write_text("not a folder")
    before = world.all
    with pytest.raises(FileProblem):
        world.apply(change("z.md", b"a\n", b"a\n", "a.md"))
    assert world.all == before

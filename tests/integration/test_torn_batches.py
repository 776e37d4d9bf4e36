"""A call that changes several files and whose process dies in its middle is put back as a whole."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from loguru import logger

from memoranda.errors import FileProblem, NoteNotFound
from memoranda.files.clock import SystemClock
from memoranda.files.file_service import FileService
from memoranda.history import store
from memoranda.history.settle import settle
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.edit import Append
from memoranda.model.file_change import NoteChange, OtherFileMove, PlannedChange
from memoranda.model.history import Author, ChangeState, HistoryLimits, RecordedChange
from memoranda.services import file_changes, torn_batches
from memoranda.services.changes import NoteChanges
from memoranda.services.file_changes import AppliedChanges, FileChanges
from memoranda.services.torn_batches import put_back_before, put_back_torn
from memoranda.workspace import _tidy

BY = Author("claude", "1", "move_note")
FILES = {
    "a.md": b"a\n",
    "b.md": b"b\n",
    "c.md": b"c\n",
    "d.md": b"d\n",
    "e.md": b"e\n",
    "f.md": b"f\n",
    "g.md": b"g\n",
    "pics/one.png": b"\x891",
    "pics/two.png": b"\x892",
    "pics/three.png": b"\x893",
}


def change(
    path: str, before: bytes | None, after: bytes | None, moved_from: str | None = None
) -> NoteChange:
    return NoteChange(
        NotePath(path), before, after, None if moved_from is None else NotePath(moved_from)
    )


PLAN: tuple[PlannedChange, ...] = (
    change("a.md", b"a\n", None),
    change("b.md", b"b\n", b"B\n", None),
    change("c.md", b"d\n", b"D\n", "d.md"),  # two change places
    change("d.md", b"c\n", b"c\n", "c.md"),
    change("deep/er/e.md", b"e\n", b"E\n", "e.md"),
    change("e.md", b"f\n", b"f\n", "f.md"),  # takes the place that is left
    change("f.md", None, b"new\n"),
    change("g.md", b"g\n", None),
    OtherFileMove("pics/two.png", "pics/three.png"),
    OtherFileMove("deep/two.png", "pics/two.png"),
    OtherFileMove("deep/one.png", "pics/one.png"),
)


class World:
    """A folder with files, and what changes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "notes"
        self.root.mkdir()
        self.files = FileService(self.root, folder / "locks")
        self.history = HistoryStore(folder / "history", self.root, SystemClock(), HistoryLimits())
        for path, data in FILES.items():
            self.put(path, data)

    def put(self, path: str, data: bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    @property
    def all(self) -> dict[str, bytes]:
        """Every file, whatever its name."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file()
        }

    @property
    def changes(self) -> list[RecordedChange]:
        return self.history.changes(limit=1000)

    def put_back(self) -> int:
        return put_back_torn(self.history, self.files)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.history.close()


class Died(BaseException):
    """The process is gone at this point."""


@pytest.fixture
def torn(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Carry out a plan, but die before its step of that number; whether it came that far."""

    def tear(step: int, plan: tuple[PlannedChange, ...] = PLAN) -> bool:
        done = 0
        with monkeypatch.context() as patch:

            def counted(real: Callable[..., Any]) -> Callable[..., Any]:
                def one(*args: object) -> Any:
                    nonlocal done
                    if done == step:
                        raise Died
                    done += 1
                    return real(*args)

                return one

            work = file_changes._Work
            patch.setattr(work, "_rename", counted(work._rename))
            patch.setattr(work, "_write", counted(work._write))
            patch.setattr(work, "put_back", lambda _: False)
            try:
                FileChanges(world.files, world.history).apply(plan, BY)
            except Died:
                return True
        return False

    return tear


STEPS = 16


@pytest.mark.parametrize("step", range(STEPS))
def test_wherever_it_died_everything_is_as_before(
    world: World, torn: Callable[..., bool], step: int
) -> None:
    assert torn(step)
    assert {each.state for each in world.changes} == {ChangeState.PENDING}
    assert settle(world.history, world.files).waiting == len(PLAN)
    assert world.put_back() == 1
    assert world.all == FILES
    assert not world.history.pending()
    assert world.put_back() == 0

    mine = [each for each in world.changes if each.author == BY]
    repair = [each for each in world.changes if each.author != BY]
    assert {each.state for each in world.changes} <= {ChangeState.DONE}
    assert len(mine) <= len(repair) if mine else not repair
    assert {each.author.tool for each in repair} <= {"tidy"}


def test_there_are_so_many_steps(world: World, torn: Callable[..., bool]) -> None:
    assert not torn(STEPS)


def test_a_call_that_was_done_is_marked_as_done(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = _done_but_pending(world, monkeypatch)
    (world.root / f".{world.history.pending()[0].token}.tmp").write_bytes(b"a\n")  # not yet removed
    assert world.put_back() == 1
    assert world.all == after
    assert {each.state for each in world.changes} == {ChangeState.DONE}


def _done_but_pending(world: World, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    with monkeypatch.context() as patch:
        patch.setattr(store, "end", lambda *_: None)
        FileChanges(world.files, world.history).apply(PLAN, BY)
    assert len(world.history.pending()) == len(PLAN)
    return world.all


@pytest.mark.parametrize("step", range(13))
def test_a_repair_that_was_cut_off_itself_is_repaired(
    world: World, torn: Callable[..., bool], monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    assert torn(14)

    class Dying(FileChanges):
        def apply(self, changes: Sequence[PlannedChange], by: Author) -> AppliedChanges:
            assert torn(step, tuple(changes))
            raise FileProblem("", "died")

    with monkeypatch.context() as patch:
        patch.setattr(torn_batches, "FileChanges", Dying)
        assert world.put_back() == 0
    assert len(world.history.pending()) > len(PLAN)
    assert world.put_back() == 2
    assert world.all == FILES
    assert not world.history.pending()


def test_a_name_that_was_given_and_not_yet_taken_away_is_no_second_file(
    world: World, torn: Callable[..., bool]
) -> None:
    plan = (change("new.md", b"a\n", b"a\n", "a.md"), OtherFileMove("x.png", "pics/one.png"))
    assert torn(0, plan)
    os.link(world.root / "a.md", world.root / "new.md")
    os.link(world.root / "pics/one.png", world.root / "x.png")
    assert world.put_back() == 1
    assert world.all == FILES
    assert not world.changes


@pytest.mark.parametrize("step", [0, 1])
def test_a_single_move_is_settled_too(world: World, torn: Callable[..., bool], step: int) -> None:
    plan = (change("new.md", b"a\n", b"A\n", "a.md"),)
    assert torn(step, plan)
    assert settle(world.history, world.files).waiting == 1
    with world.files.locked(NotePath("new.md")):
        assert world.history.resolve(NotePath("new.md"), lambda: None) == []
    assert world.put_back() == 1
    assert world.all == FILES  # with the new name and the old bytes it had not happened as a whole
    assert not world.history.pending()


def test_what_somebody_changed_since_is_left_and_the_rest_is_put_back(
    world: World, torn: Callable[..., bool]
) -> None:
    assert torn(15)
    world.put("b.md", b"by hand\n")
    world.put("deep/er/e.md", b"moved and changed\n")
    assert world.put_back() == 1
    assert world.all == FILES | {"b.md": b"by hand\n", "e.md": b"moved and changed\n"}


def test_a_place_that_somebody_took_is_theirs(world: World, torn: Callable[..., bool]) -> None:
    assert torn(4)
    world.put("a.md", b"new one\n")
    assert world.put_back() == 1
    assert world.all == FILES | {"a.md": b"new one\n"}
    assert not world.history.pending()


def test_nothing_is_put_back_while_it_may_be_under_way_or_the_folder_is_not_there(
    world: World, torn: Callable[..., bool], tmp_path: Path
) -> None:
    assert torn(9)
    half = world.all
    with world.files.locked(NotePath("g.md")):
        assert world.put_back() == 0
    assert world.all == half
    world.root.rename(tmp_path / "away")
    world.root.mkdir()
    assert world.put_back() == 0
    assert len(world.history.pending()) == len(PLAN)
    world.root.rmdir()
    (tmp_path / "away").rename(world.root)
    assert world.put_back() == 1
    assert world.all == FILES


@pytest.mark.parametrize(("step", "is_said"), [(0, False), (9, True)])
def test_what_was_put_back_is_logged(
    world: World, torn: Callable[..., bool], step: int, is_said: bool
) -> None:
    assert torn(step)
    lines: list[str] = []
    sink = logger.add(lines.append, format="{message}")
    try:
        world.put_back()
    finally:
        logger.remove(sink)
    said = [line for line in lines if "A call of claude was cut off in its middle" in line]
    assert bool(said) is is_said


def test_what_cannot_be_put_back_is_not_said_to_be(world: World, torn: Callable[..., bool]) -> None:
    assert torn(1, (change("new.md", b"a\n", b"A\n", "a.md"), change("b.md", b"b\n", b"B\n")))
    world.put("a.md", b"another\n")
    lines: list[str] = []
    sink = logger.add(lines.append, format="{message}")
    try:
        world.put_back()
    finally:
        logger.remove(sink)
    (said,) = (line for line in lines if "was cut off in its middle" in line)
    assert "1 of its 2 changes had happened and stay, since they cannot be put back" in said
    assert world.all == FILES | {"a.md": b"another\n", "new.md": b"a\n"}


def disk_without_case(patch: pytest.MonkeyPatch) -> None:
    """Let `Path` look at files as on a disk that keeps the case of names, but finds them in any."""

    def listed(path: Path) -> Path:
        names = os.listdir(path.parent) if path.parent.is_dir() else []  # noqa: PTH208
        found = [name for name in names if name.casefold() == path.name.casefold()]
        return path.parent / found[0] if len(found) == 1 else path

    samefile, lstat = Path.samefile, Path.lstat
    patch.setattr(Path, "samefile", lambda one, other: samefile(listed(one), listed(Path(other))))
    patch.setattr(Path, "lstat", lambda path: lstat(listed(path)))


@pytest.mark.parametrize("after", [b"a\n", b"A\n"])
@pytest.mark.parametrize("step", range(3))
def test_a_note_that_was_only_spelled_anew_is_never_lost(
    world: World,
    torn: Callable[..., bool],
    monkeypatch: pytest.MonkeyPatch,
    step: int,
    after: bytes,
) -> None:
    disk_without_case(monkeypatch)
    assert torn(step, (change("A.md", b"a\n", after, "a.md"), change("b.md", b"b\n", b"B\n")))
    assert world.put_back() == 1
    assert world.all == FILES
    assert not world.history.pending()


def test_a_note_that_was_only_spelled_anew_when_it_ended_is_done(
    world: World, torn: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    disk_without_case(monkeypatch)
    assert torn(0, (change("A.md", b"a\n", b"a\n", "a.md"),))
    (world.root / "a.md").rename(world.root / "A.md")
    assert world.put_back() == 1
    assert world.all == {p: data for p, data in FILES.items() if p != "a.md"} | {"A.md": b"a\n"}
    assert [one.state for one in world.changes] == [ChangeState.DONE]


def test_a_name_that_is_taken_at_the_last_moment_is_not_replaced(
    world: World, torn: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert torn(1)
    rename = file_changes.renamed

    def disturbed(old: Path, new: Path) -> None:
        new.write_bytes(b"theirs\n")
        rename(old, new)

    monkeypatch.setattr(torn_batches, "renamed", disturbed)
    assert world.put_back() == 1
    assert world.all["a.md"] == b"theirs\n"
    assert b"a\n" in world.all.values(), "what stepped aside is there"


MOVE = (change("new.md", b"a\n", b"a\n", "a.md"), change("b.md", b"b\n", b"B\n"))


def test_a_write_first_puts_back_what_a_dead_process_left(
    world: World, torn: Callable[..., bool]
) -> None:
    notes = NoteChanges(world.files, world.history)
    for path in ("new.md", "a.md", "b.md"):
        assert torn(1, MOVE)
        with contextlib.suppress(NoteNotFound):
            notes.edit(NotePath(path), [Append("x\n")], None, dry_run=False, by=BY)
        assert not world.history.pending()
        appended = {} if path == "new.md" else {path: FILES[path] + b"x\n"}
        assert world.all == FILES | appended
        world.put(path, FILES[path]) if appended else None


def test_a_write_elsewhere_leaves_a_call_alone_and_so_does_one_under_way(
    world: World, torn: Callable[..., bool]
) -> None:
    notes = NoteChanges(world.files, world.history)
    assert torn(1, MOVE)
    notes.edit(NotePath("c.md"), [Append("x\n")], None, dry_run=False, by=BY)
    notes.edit(NotePath("new.md"), [Append("x\n")], None, dry_run=True, by=BY)
    with world.files.locked(NotePath("b.md")):
        notes.edit(NotePath("new.md"), [Append("x\n")], None, dry_run=False, by=BY)
    assert len(world.history.pending()) == len(MOVE)
    assert world.put_back() == 1
    assert world.all == FILES | {"c.md": b"c\nx\n", "a.md": b"a\nx\n"}, "with what was written"


def test_a_change_of_several_files_puts_back_first_too(
    world: World, torn: Callable[..., bool]
) -> None:
    assert torn(1, MOVE)
    changes = FileChanges(
        world.files,
        world.history,
        prepare=partial(put_back_before, world.history, world.files),
    )
    changes.apply([change("more.md", b"a\n", b"A\n", "a.md")], BY)
    assert not world.history.pending()
    assert world.all == {p: data for p, data in FILES.items() if p != "a.md"} | {"more.md": b"A\n"}


def test_a_server_puts_it_back_when_it_tidies_up(world: World, torn: Callable[..., bool]) -> None:
    assert torn(9)
    _tidy(world.history, world.files)
    assert world.all == FILES
    assert not world.history.pending()


CHILD = """
import os, signal, sys
from pathlib import Path
from memoranda.files.clock import SystemClock
from memoranda.files.file_service import FileService
from memoranda.history.store import HistoryStore
from memoranda.model.file_change import NoteChange, OtherFileMove
from memoranda.model.history import Author, HistoryLimits
from memoranda.services import file_changes

folder = Path(sys.argv[1])
root = folder / "notes"
history = HistoryStore(folder / "history", root, SystemClock(), HistoryLimits())
files = FileService(root, folder / "locks")
link, links = os.link, []
def dying(*args):
    links.append(args)
    if len(links) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    link(*args)
os.link = dying
file_changes.FileChanges(files, history).apply(
    [
        NoteChange("a.md", b"a\\n", None),
        NoteChange("new/b.md", b"b\\n", b"B\\n", "b.md"),
        OtherFileMove("new/one.png", "pics/one.png"),
        NoteChange("made.md", None, b"made\\n"),
        NoteChange("c.md", b"c\\n", b"C\\n"),
    ],
    Author("claude", "1", "move_note"),
)
"""


def test_a_killed_process_is_cleaned_up_after(world: World) -> None:
    """Killed by the system in the middle of writing: after the deletion and the moves."""
    process = subprocess.run(
        [sys.executable, "-c", CHILD, str(world.folder)], timeout=50, check=False
    )
    assert process.returncode == -signal.SIGKILL
    assert "new/b.md" in world.all
    assert "a.md" not in world.all
    assert world.put_back() == 1
    assert world.all == FILES
    assert not world.history.pending()

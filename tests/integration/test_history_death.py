"""A process that is killed in the middle of a change leaves a history that can be settled.

Real processes and SIGKILL, at the places where it makes a difference.
"""

from __future__ import annotations

import itertools
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from loguru import logger
from tests.integration.history_world import NOTE, DrivenClock, World

from memoranda.files.file_service import checksum
from memoranda.history.settle import settle
from memoranda.model.history import ChangeState, HistoryLimits, Settled

OLD, NEW = b"old text\n", b"new text\n"

DIES = """
place_of_death, kind = sys.argv[2:]
OLD, NEW = b"old text\\n", b"new text\\n"
path = NotePath("folder/Note.md")
before, after = {"create": (None, NEW), "replace": (OLD, NEW), "delete": (OLD, None)}[kind]

with files.locked(path):
    with store.recording(
        path, before=before, after=after, by=Author("claude", "1", "edit_note"),
        current=lambda: files.current(path),
    ) as token:
        if place_of_death == "before the file":
            die()
        if place_of_death == "before the rename":  # the temporary file is whole
            os.fsync = lambda fd: die()
        if kind == "create":
            files.create(path, after, token=token)
        elif kind == "replace":
            files.replace(path, after, expected_checksum=checksum(before), token=token)
        else:
            files.delete(path)
        die()
"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path, DrivenClock(), HistoryLimits())
    (world.root / "folder").mkdir()
    (world.root / "another.md").write_text("another\n")
    yield world
    world.close()


def die(world: World, where: str, kind: str) -> None:
    """A process begins a change and is killed there."""
    if kind != "create":
        (world.root / NOTE).write_bytes(OLD)
    process = world.python(DIES, where, kind)
    process.communicate(timeout=50)
    assert process.returncode == -signal.SIGKILL


def temporary(world: World) -> list[Path]:
    return list(world.root.rglob(".*.tmp"))


@pytest.mark.parametrize("kind", ["create", "replace", "delete"])
def test_killed_before_the_file_changed_nothing_happened(world: World, kind: str) -> None:
    die(world, "before the file", kind)
    (pending,) = world.store.pending()
    assert pending.change.state is ChangeState.PENDING
    lines: list[str] = []
    sink = logger.add(lines.append, format="{message}")
    try:
        assert settle(world.store, world.files) == Settled(dropped=1)
    finally:
        logger.remove(sink)
    assert "Changes that were cut off: 1 had not happened, 0 had, 0 are unsure\n" in lines
    assert world.store.changes() == []
    assert world.store.content(checksum(NEW)) is None


@pytest.mark.parametrize("kind", ["create", "replace"])
def test_killed_before_the_rename_the_temporary_file_goes(world: World, kind: str) -> None:
    die(world, "before the rename", kind)
    (pending,) = world.store.pending()
    (left,) = temporary(world)
    assert left == world.root / "folder" / f".{pending.token}.tmp"
    assert settle(world.store, world.files) == Settled(dropped=1)
    assert temporary(world) == []
    assert world.files.current(NOTE) == (None if kind == "create" else OLD)


@pytest.mark.parametrize("kind", ["create", "replace", "delete"])
def test_killed_after_the_file_changed_the_change_is_known(world: World, kind: str) -> None:
    die(world, "after the file", kind)
    assert settle(world.store, world.files) == Settled(done=1)
    (change,) = world.store.changes()
    assert change.state is ChangeState.DONE
    for side, data in ((change.before, OLD), (change.after, NEW)):
        assert side is None or world.store.content(side) == data
    assert world.store.pending() == []
    assert temporary(world) == []


def test_a_later_edit_by_hand_leaves_it_unsure(world: World) -> None:
    die(world, "before the file", "replace")
    (world.root / NOTE).write_text("by hand\n")
    assert settle(world.store, world.files) == Settled(unsure=1)
    (change,) = world.store.changes()
    assert change.state is ChangeState.UNSURE
    assert world.store.content(checksum(NEW)) == NEW


def test_a_folder_that_is_gone_leaves_it_unsure(world: World) -> None:
    die(world, "before the rename", "replace")
    shutil.rmtree(world.root / "folder")
    assert settle(world.store, world.files) == Settled(unsure=1)


@pytest.mark.parametrize("is_mounted", [False, True])
def test_without_the_project_folder_nothing_is_settled(world: World, is_mounted: bool) -> None:
    die(world, "after the file", "replace")
    world.root.rename(world.place / "away")
    if is_mounted:  # where a drive belongs there is an empty folder
        world.root.mkdir()
    assert settle(world.store, world.files) == Settled(waiting=1)
    if is_mounted:
        world.root.rmdir()
    (world.place / "away").rename(world.root)
    assert settle(world.store, world.files) == Settled(done=1)


def test_what_cannot_be_read_waits(world: World) -> None:
    die(world, "after the file", "replace")
    (world.root / NOTE).unlink()
    (world.root / NOTE).mkdir()
    assert settle(world.store, world.files) == Settled(waiting=1)
    assert len(world.store.pending()) == 1


def test_a_change_that_is_under_way_is_left_alone(world: World) -> None:
    program = DIES.replace("            die()", "            print(flush=True); sys.stdin.read()")
    living = world.python(program, "before the file", "create")
    assert living.stdout
    living.stdout.readline()
    assert settle(world.store, world.files) == Settled(waiting=1)
    living.kill()
    living.communicate(timeout=50)
    assert settle(world.store, world.files) == Settled(dropped=1)


def test_settling_touches_nothing_when_there_is_nothing(world: World) -> None:
    assert settle(world.store, world.files) == Settled()
    assert not world.folder.exists()
    assert not (world.place / "config").exists()


@pytest.mark.parametrize("round_", range(3))
def test_killed_at_random_the_history_knows_every_change(world: World, round_: int) -> None:
    program = """
path = NotePath("folder/Note.md")
number = 0
while True:
    number += 1
    with files.locked(path):
        before, after = files.current(path), f"version {number}\\n".encode()
        with store.recording(
            path, before=before, after=after, by=Author("claude", "1", "edit_note"),
            current=lambda: files.current(path),
        ) as token:
            if before is None:
                files.create(path, after, token=token)
            else:
                files.replace(path, after, expected_checksum=checksum(before), token=token)
    print(number, flush=True)
"""
    process = world.python(program)
    assert process.stdout
    for _ in range(20 + 7 * round_):
        process.stdout.readline()
    process.kill()
    told = process.communicate(timeout=50)[0].split()
    settle(world.store, world.files)
    data = world.files.current(NOTE)
    assert data
    changes = world.store.changes(limit=10_000)
    assert {change.state for change in changes} == {ChangeState.DONE}
    assert changes[0].after == checksum(data)
    for newer, older in itertools.pairwise(changes):
        assert newer.before == older.after
    assert not told or len(changes) >= int(told[-1])
    assert temporary(world) == []

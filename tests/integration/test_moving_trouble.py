"""Moves while files change, a disk is full or the index cannot follow: nothing is ever half done."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.integration.conftest import Index
from tests.integration.moving_world import World

from memoranda.errors import (
    Conflict,
    DatabaseBusy,
    DiskFull,
    FileProblem,
    MemorandaError,
    NoteNotFound,
    NotIndexed,
)
from memoranda.model.address import NotePath
from memoranda.model.file_change import NoteChange, PlannedChange
from memoranda.model.history import NOBODY, Author
from memoranda.services import change_indexing, moving
from memoranda.services.file_changes import AppliedChanges


@pytest.fixture
def here(index: Index) -> World:
    return World(index.root, index.store, index.files, index.history, index.sync)


def before_each_apply(
    here: World, monkeypatch: pytest.MonkeyPatch, do: Callable[[int], object]
) -> None:
    """Something that happens between the plan and the change of the files; told how often before."""
    real = here.changes.apply
    times = 0

    def apply(changes: Sequence[PlannedChange], by: Author) -> AppliedChanges:
        nonlocal times
        times += 1
        do(times - 1)
        return real(changes, by)

    monkeypatch.setattr(here.changes, "apply", apply)


def test_what_was_edited_by_hand_since_the_last_sync_is_seen(here: World) -> None:
    here.write({"a/n.md": "n\n", "m.md": "m\n", "b.md": "[[a/n]]\n"})
    here.write(
        {
            "a/n.md": "new [m](../m.md)\n",
            "a/new.md": "[[./n]]\n",
            "b.md": "- [[nowhere]]\n- [[a/n]]\n",
        },
        is_indexed=False,
    )
    result = here.move("a/", "c/d")
    assert [note.to_path for note in result.notes] == ["c/d/n.md", "c/d/new.md"]
    assert here.text("c/d/n.md") == "new [m](../../m.md)\n"
    assert here.text("c/d/new.md") == "[[./n]]\n"
    assert here.text("b.md") == "- [[nowhere]]\n- [[c/d/n]]\n"
    assert not here.run_sync().changes


def test_a_place_is_free_when_its_note_was_deleted_since_the_last_sync(here: World) -> None:
    here.write({"a.md": "[[b]] [[c]]\n", "b.md": "b\n", "c.md": "[[b]] [[a]]\n"})
    ids = here.identities()
    (here.root / "b.md").unlink()
    here.move("a", "b")
    assert here.identities() == {"b.md": ids["a.md"], "c.md": ids["c.md"]}
    assert here.text("c.md") == "[[b]] [[b]]\n"
    assert not here.run_sync().changes


def test_a_note_that_the_index_does_not_know_yet_can_be_moved_by_its_path(here: World) -> None:
    here.write({"a.md": "a\n"})
    here.write({"x/new.md": "[[../a]]\n"}, is_indexed=False)
    assert here.move("x/new", "y").destination == "y.md"
    assert here.text("y.md") == "[[./a]]\n"


def test_an_edit_in_the_middle_is_kept_and_its_links_are_rewritten(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write({"a.md": "a\n", "b.md": "[[a]]\n"})

    def edit(times: int) -> None:
        if times == 0:
            here.write({"b.md": "edited [[a]] and ![[a]]\n"}, is_indexed=False)
        if times == 1:
            here.write({"a.md": "edited [[b]]\n"}, is_indexed=False)

    before_each_apply(here, monkeypatch, edit)
    here.move("a", "x/c")
    assert here.text("b.md") == "edited [[c]] and ![[c]]\n"
    assert here.text("x/c.md") == "edited [[b]]\n"
    assert not here.run_sync().changes


def test_a_file_that_does_not_stop_changing_is_a_conflict_and_nothing_moves(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write({"a.md": "a\n", "b.md": "[[a]]\n"})
    before_each_apply(
        here,
        monkeypatch,
        lambda times: here.write({"b.md": f"{times} [[a]]\n"}, is_indexed=False),
    )
    with pytest.raises(Conflict):
        here.move("a", "c")
    assert here.text("a.md") == "a\n"
    assert "[[a]]" in here.text("b.md")
    assert not (here.root / "c.md").exists()
    assert not here.history.changes(limit=10)


def test_a_place_taken_in_the_middle_is_not_replaced(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write({"a.md": "a\n", "b.md": "[[a]]\n"})
    before_each_apply(here, monkeypatch, lambda _: here.write({"c.md": "mine\n"}, is_indexed=False))
    with pytest.raises(MemorandaError) as caught:
        here.move("a", "c")
    assert caught.value.code == "NOTE_EXISTS"
    assert here.tree() == {"a.md": b"a\n", "b.md": b"[[a]]\n", "c.md": b"mine\n"}


def test_of_two_moves_of_one_note_one_happens(here: World) -> None:
    here.write({"a.md": "a\n", "b.md": "[[a]]\n"})

    async def both() -> list[object]:
        moves = (here.service.move("a.md", "x/c.md"), here.service.move("a.md", "y/d.md"))
        return list(await asyncio.gather(*moves, return_exceptions=True))

    first, second = asyncio.run(both())
    assert isinstance(second, NoteNotFound)
    assert not isinstance(first, BaseException)
    assert here.tree() == {"b.md": b"[[c]]\n", "x": None, "x/c.md": b"a\n"}


def test_moves_by_two_processes_keep_each_others_links(here: World) -> None:
    here.write({"a.md": "[b](b.md)\n", "b.md": "[a](a.md)\n", "c.md": "[[a]] [[b]]\n"})
    meanings = here.meanings()
    other = World(here.root, here.store, here.files, here.history, here.sync)

    async def both() -> None:
        await asyncio.gather(
            here.service.move("a.md", "x/d.md"), other.service.move("b.md", "y/z/e.md")
        )

    asyncio.run(both())
    assert here.text("x/d.md") == "[b](../y/z/e.md)\n"
    assert here.text("y/z/e.md") == "[a](../../x/d.md)\n"
    assert here.text("c.md") == "[[d]] [[e]]\n"
    assert here.meanings() == meanings


@pytest.mark.parametrize("fails_at", range(5))
def test_a_full_disk_leaves_everything_as_it_was(
    here: World, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    here.write({"a/n.md": "[[../m]]\n", "a/p.png": b"p", "m.md": "[[a/n]]\n", "o.md": "[[a/n]]\n"})
    before, meanings = here.tree(), here.meanings()
    steps = 0

    def full(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **how: Any) -> Any:
            nonlocal steps
            steps += 1
            if steps == fails_at + 1:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(*args, **how)

        return step

    with monkeypatch.context() as broken:
        broken.setattr("memoranda.files.atomic.os.link", full(os.link))
        broken.setattr("memoranda.files.atomic.os.write", full(os.write))
        with pytest.raises(DiskFull):
            here.move("a/", "x/y/z")
    assert here.tree() == before
    assert here.meanings() == meanings
    assert not here.run_sync().changes
    assert not here.history.changes(limit=10)
    here.move("a/", "x/y/z")
    assert here.meanings() == meanings


def test_when_the_index_cannot_follow_all_files_stand_and_the_next_sync_catches_up(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write({"a.md": "- [fact] a\n[b](b.md)\n", "b.md": "[[a]]\n"})
    meanings, ids = here.meanings(), here.identities()
    real, calls = here.store.write, 0

    async def write(fn: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:  # the first one is the simulation
            raise DatabaseBusy("busy")
        return await real(fn)

    with monkeypatch.context() as busy:
        busy.setattr(here.store, "write", write)
        with pytest.raises(NotIndexed):
            here.move("a", "x/c")
    assert here.tree() == {
        "b.md": b"[[c]]\n",
        "x": None,
        "x/c.md": b"- [fact] a\n[b](../b.md)\n",
    }
    here.run_sync()
    assert here.meanings() == meanings
    assert here.identities() == {"b.md": ids["b.md"], "x/c.md": ids["a.md"]}


def test_a_sync_in_the_middle_costs_no_note_its_identity(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "[n](n.md) [m](../m.md)\n"  # it changes with the move, so that a sync knows it not
    here.write({"a/n.md": other, "a/o.md": other, "m.md": "[[a/n]] [[a/o]]\n"})
    ids, meanings = here.identities(), here.meanings()
    real = change_indexing.index_changes

    async def late(*args: Any) -> None:
        await here.sync.full_sync()
        await real(*args)

    monkeypatch.setattr(moving, "index_changes", late)
    here.move("a/", "x/y/z")
    assert here.text("x/y/z/n.md") == "[n](n.md) [m](../../../m.md)\n"
    assert here.identities() == {
        "m.md": ids["m.md"],
        "x/y/z/n.md": ids["a/n.md"],
        "x/y/z/o.md": ids["a/o.md"],
    }
    assert here.meanings() == meanings


def test_an_edit_right_after_the_move_is_indexed_and_the_note_is_the_same(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write({"a.md": "a\n", "b.md": "[[a]]\n"})
    ids = here.identities()
    real = change_indexing._read

    def read(*args: Any) -> Any:
        notes = real(*args)
        here.write({"c.md": "edited [[b]]\n", "b.md": "edited [[c]]\n"}, is_indexed=False)
        return notes

    monkeypatch.setattr(change_indexing, "_read", read)
    here.move("a", "c")
    assert here.identities() == {"c.md": ids["a.md"], "b.md": ids["b.md"]}
    assert not here.run_sync().changes


def test_links_in_a_note_that_cannot_be_read_are_reported(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "[[a]]\n" + "x" * 100
    here.write({"a.md": "a\n", "b.md": "[[a]]\n", "long.md": f"\n{long}\n"})
    monkeypatch.setattr("memoranda.files.file_service.MAX_NOTE_BYTES", 50)
    (left,) = here.move("a", "c").left
    assert (left.path, left.line, left.target) == ("long.md", 2, "a")
    assert "larger than" in left.reason
    assert here.text("b.md") == "[[c]]\n"


def test_a_note_that_cannot_be_read_is_not_moved(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write({"a.md": "a\n"})
    monkeypatch.setattr("memoranda.files.file_service.MAX_NOTE_BYTES", 1)
    with pytest.raises(FileProblem):
        here.move("a", "c")
    assert set(here.tree()) == {"a.md"}


def test_a_move_looks_at_what_it_concerns_alone(here: World) -> None:
    here.write({f"{n}.md": f"[[{n + 1}]]\n" for n in range(5)})
    real, opened = here.files.read, []

    def read(path: Any) -> Any:
        opened.append(path)
        return real(path)

    here.files.read = read  # type: ignore[method-assign]
    here.move("3.md", "x/y.md")
    assert set(opened) == {"3.md", "2.md", "x/y.md"}


def test_a_note_that_was_moved_twice_since_the_last_sync_is_found_by_the_history(
    here: World,
) -> None:
    here.write({"a.md": "a\n", "b.md": "b\n"})
    ids = here.identities()

    def change(path: str, before: bytes, after: bytes, moved_from: str) -> None:
        one = NoteChange(NotePath(path), before, after, moved_from=NotePath(moved_from))
        here.changes.apply([one], NOBODY)

    change("x.md", b"a\n", b"other\n", "a.md")
    change("y/z.md", b"other\n", b"third\n", "x.md")
    change("q.md", b"b\n", b"b\n", "b.md")
    change("b.md", b"b\n", b"changed\n", "q.md")
    here.run_sync()
    assert here.identities() == {"y/z.md": ids["a.md"], "b.md": ids["b.md"]}


def test_what_came_into_a_folder_while_it_moved_is_named(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write({"a/n.md": "n\n", "a/in/m.md": "m\n"})
    before_each_apply(
        here,
        monkeypatch,
        lambda _: here.write({f"a/in/{i}.txt": "late" for i in range(7)}, is_indexed=False),
    )
    result = here.move("a/", "b")
    assert here.text("a/in/0.txt") == "late"
    (said,) = result.warnings
    assert "a/in/0.txt, a/in/1.txt" in said
    assert said.endswith("a/in/4.txt and 2 more.")
    assert not here.move("b", "c").warnings

"""What tools change in files: never without a way back, and never over what another program saved."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.integration.conftest import Index

from memoranda.errors import (
    Conflict,
    DiskFull,
    EditMismatch,
    FileProblem,
    NoteExists,
    NoteNotFound,
    NotReady,
)
from memoranda.files.clock import SystemClock
from memoranda.files.file_service import FileService, checksum
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.edit import Append, FindReplace, Replace
from memoranda.model.history import Author, ChangeKind, ChangeState, HistoryLimits
from memoranda.services.changes import NoteChanges

ME = Author("claude", "1.2", "edit_note")
CHILD = """
import os, sys
from pathlib import Path
from memoranda.files import file_service
from memoranda.files.clock import SystemClock
from memoranda.history.store import HistoryStore
from memoranda.model.edit import Append
from memoranda.model.history import Author, HistoryLimits
from memoranda.services.changes import NoteChanges
root, locks, history = map(Path, sys.argv[1:4])
files = file_service.FileService(root, locks)
store = HistoryStore(history, root, SystemClock(), HistoryLimits())
changes = NoteChanges(files, store)
def append(line):
    changes.edit("n.md", [Append(line)], None, dry_run=False, by=Author("child"))
"""


@dataclass(frozen=True)
class Note:
    """The file of an indexed note, as other programs see it."""

    file: Path

    @property
    def data(self) -> bytes:
        return self.file.read_bytes()

    def save(self, data: bytes) -> None:
        self.file.write_bytes(data)

    def remove(self) -> None:
        self.file.unlink()


@pytest.fixture
def note(index: Index) -> Note:
    """A note that both the folder and the index have."""
    note = Note(index.write("n.md", "old\n"))
    index.run_sync()
    return note


def child(index: Index, code: str) -> subprocess.Popen[bytes]:
    """A process that changes notes of the same project."""
    home = index.root.parent / "config" / "main"
    return subprocess.Popen(
        [sys.executable, "-c", CHILD + code, index.root, home / "locks", home / "history"]
    )


def another_store(index: Index) -> HistoryStore:
    """The history as another process sees it."""
    folder = index.root.parent / "config" / "main" / "history"
    return HistoryStore(folder, index.root, SystemClock(), HistoryLimits())


def saving_before(
    monkeypatch: pytest.MonkeyPatch, step: str, save: Callable[[], object], times: int = 1
) -> None:
    """Another program saves after the note was read, before a step of `FileService`."""
    real, left = getattr(FileService, step), [save] * times

    def stepping(*given: object, **how: object) -> object:
        if left:
            left.pop()()
        return real(*given, **how)

    monkeypatch.setattr(FileService, step, stepping)


# The way back


async def test_every_change_is_kept_with_who_made_it_and_the_bytes_of_both_sides(
    index: Index,
) -> None:
    written = await index.notes.write(title="N", content="one\n", by=Author("a", "1", "write_note"))
    created = (index.root / "n.md").read_bytes()
    await index.notes.edit("n.md", Append("two\n"), by=ME)
    edited = (index.root / "n.md").read_bytes()
    await index.notes.write(title="N", content="three\n", overwrite=True, by=ME)
    replaced = (index.root / "n.md").read_bytes()
    await index.notes.delete("n.md", by=Author("b", "2", "delete_note"))
    changes = index.history.changes()[::-1]
    sides = [(None, created), (created, edited), (edited, replaced), (replaced, None)]
    for change, side in zip(changes, sides, strict=True):
        sums = (change.before, change.after)
        assert tuple(one and index.history.content(one) for one in sums) == side
    assert [change.author for change in changes] == [
        Author("a", "1", "write_note"),
        ME,
        ME,
        Author("b", "2", "delete_note"),
    ]
    assert {(change.path, change.state) for change in changes} == {("n.md", ChangeState.DONE)}
    assert written.ref.checksum == changes[0].after


async def test_what_changes_nothing_is_not_kept(index: Index, note: Note) -> None:
    await index.notes.edit("n.md", Append("more\n"), dry_run=True)
    await index.notes.edit("n.md", FindReplace("old", "old"))
    for refused, edit in [
        (EditMismatch, index.notes.edit("n.md", FindReplace("gone", "x"))),
        (Conflict, index.notes.edit("n.md", Append("x\n"), expected_checksum="0" * 64)),
        (NoteExists, index.notes.write(title="N", content="x\n")),
        (Conflict, index.notes.write(title="N", content="x\n", expected_checksum="0" * 64)),
        (NoteNotFound, index.notes.write(title="O", content="x\n", expected_checksum="0" * 64)),
        (NoteNotFound, index.notes.delete("o.md")),
    ]:
        with pytest.raises(refused):
            await edit
    assert index.history.changes() == []
    first = await index.notes.write(title="Same", content="x\n")
    await index.notes.write(title="Same", content="x\n", overwrite=True)
    assert [change.after for change in index.history.changes()] == [first.ref.checksum]


async def test_the_old_bytes_are_safe_before_the_file_changes(
    index: Index, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[ChangeState, bytes | None, list[str]]] = []

    def watched(real: Callable[..., object]) -> Callable[..., object]:
        def step(*given: object, **how: object) -> object:
            if str(given[0]).startswith(str(index.root)) and not seen:
                other = another_store(index)
                (begun,) = other.pending()
                before = begun.change.before
                kept = None if before is None else other.content(before)
                temporary = [f".{begun.token}.tmp"]
                found = [path.name for path in index.root.iterdir() if path.suffix == ".tmp"]
                assert found in (temporary, [])  # a deletion needs none
                seen.append((begun.change.state, kept, found))
                other.close()
            return real(*given, **how)

        return step

    monkeypatch.setattr(Path, "replace", watched(Path.replace))
    monkeypatch.setattr(Path, "unlink", watched(Path.unlink))
    monkeypatch.setattr(os, "link", watched(os.link))
    await index.notes.edit("n.md", Append("new\n"))
    assert [(state, kept, len(found)) for state, kept, found in seen] == [
        (ChangeState.PENDING, b"old\n", 1)
    ]
    seen.clear()
    await index.notes.write(title="Other", content="x\n")
    assert [(state, kept, len(found)) for state, kept, found in seen] == [
        (ChangeState.PENDING, None, 1)
    ]
    seen.clear()
    await index.notes.delete("n.md")
    assert seen == [(ChangeState.PENDING, b"old\nnew\n", [])]
    assert index.history.pending() == []


async def test_what_is_kept_and_what_is_changed_are_told_under_the_lock_of_the_file(
    index: Index, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, held = index.history.recording, []

    def recording(path: NotePath, **how: Any) -> AbstractContextManager[str]:
        with pytest.raises(NotReady), index.files.locked(path, timeout_s=0):
            pass
        held.append(path)
        return real(path, **how)

    monkeypatch.setattr(index.history, "recording", recording)
    await index.notes.write(title="New", content="x\n")
    await index.notes.write(title="N", content="x\n", overwrite=True)
    await index.notes.edit("n.md", Append("more\n"))
    await index.notes.delete("n.md")
    assert held == ["new.md", "n.md", "n.md", "n.md"]


@pytest.mark.parametrize("trouble", ["no folder", "full"])
async def test_without_a_way_back_nothing_is_changed(
    index: Index, note: Note, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    if trouble == "no folder":
        (index.root.parent / "config" / "main" / "history").write_bytes(b"a file")
    else:

        def full(*_: object, **__: object) -> None:
            raise DiskFull("history.db")

        monkeypatch.setattr("memoranda.history.database.HistoryFile.write", full)
    for change in (
        index.notes.edit("n.md", Append("new\n")),
        index.notes.write(title="N", content="new\n", overwrite=True),
        index.notes.write(title="New", content="new\n", directory="a/b"),
        index.notes.delete("n.md"),
    ):
        with pytest.raises(DiskFull if trouble == "full" else FileProblem) as caught:
            await change
        assert caught.value.hint
    assert [path.name for path in index.root.iterdir()] == ["n.md"]
    assert note.data == b"old\n"
    assert index.rows("SELECT content FROM entity") == [("old\n",)]


@pytest.mark.parametrize("step", ["replace", "link", "unlink"])
async def test_a_change_that_the_disk_refuses_is_not_kept(
    index: Index, note: Note, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "broken")

    change: Callable[[], Awaitable[object]] = {
        "replace": lambda: index.notes.edit("n.md", Append("new\n")),
        "link": lambda: index.notes.write(title="New", content="new\n"),
        "unlink": lambda: index.notes.delete("n.md"),
    }[step]
    monkeypatch.setattr(os if step == "link" else Path, step, fail)
    with pytest.raises(FileProblem):
        await change()
    monkeypatch.undo()
    assert index.history.changes() == []
    assert note.data == b"old\n"


@pytest.mark.parametrize("moment", ["before the rename", "after the rename"])
async def test_the_next_change_tells_what_became_of_one_that_died(
    index: Index, note: Note, moment: str
) -> None:
    death = {
        "before the rename": "Path.replace = lambda *_: os._exit(9)\n",
        "after the rename": "file_service.sync_folder = lambda *_: os._exit(9)\n",
    }[moment]
    assert child(index, f"{death}append('dead\\n')").wait() == 9
    ((begun,), left) = index.history.pending(), list(index.root.glob(".*.tmp"))
    assert [path.name for path in left] == (
        [f".{begun.token}.tmp"] if moment == "before the rename" else []
    )
    await index.notes.edit("n.md", Append("next\n"), by=ME)
    assert list(index.root.glob(".*.tmp")) == []
    is_done = moment == "after the rename"
    assert note.data == (b"old\ndead\nnext\n" if is_done else b"old\nnext\n")
    changes = index.history.changes()
    assert [change.author.client for change in changes] == ["claude", "child"][: 1 + is_done]
    assert {change.state for change in changes} == {ChangeState.DONE}


async def test_a_damaged_row_of_the_history_is_no_hindrance_to_the_next_change(
    index: Index, note: Note
) -> None:
    await index.notes.edit("n.md", Append("one\n"), by=ME)
    database = index.root.parent / "config" / "main" / "history" / "history.db"
    with closing(sqlite3.connect(database)) as conn:
        conn.execute("UPDATE change SET kind = 'odd', state = 'pending'")
        conn.commit()
    await index.notes.edit("n.md", Append("two\n"), by=ME)
    assert note.data == b"old\none\ntwo\n"
    (change,) = index.history.changes()
    assert index.history.content(change.before or "") == b"old\none\n"


async def test_of_a_link_the_link_goes_and_the_note_is_kept(index: Index) -> None:
    index.write("text.txt", "linked\n")
    (index.root / "n.md").symlink_to("text.txt")
    await index.sync.full_sync()
    await index.notes.delete("n.md")
    assert [path.name for path in index.root.iterdir()] == ["text.txt"]
    (change,) = index.history.changes()
    assert change.kind is ChangeKind.DELETED
    assert index.history.content(change.before or "") == b"linked\n"


# Other programs


async def test_an_append_lands_on_what_an_editor_saved_in_its_middle(
    index: Index, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    saving_before(monkeypatch, "replace", lambda: note.save(b"by hand\n"))
    result = await index.notes.edit("n.md", Append("mine\n"))
    assert note.data == b"by hand\nmine\n"
    assert "-old" not in result.diff
    (change,) = index.history.changes()
    assert change.before == checksum(b"by hand\n")
    assert index.rows("SELECT content FROM entity") == [("by hand\nmine\n",)]


async def test_an_edit_that_no_longer_fits_what_an_editor_saved_is_refused(
    index: Index, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    saving_before(monkeypatch, "replace", lambda: note.save(b"by hand\n"))
    with pytest.raises(EditMismatch):
        await index.notes.edit("n.md", FindReplace("old", "new"))
    assert note.data == b"by hand\n"
    assert index.history.changes() == []


async def test_who_says_what_to_expect_is_refused_after_a_save(
    index: Index, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = checksum(b"old\n")
    changes: list[Callable[[], Awaitable[object]]] = [
        lambda: index.notes.edit("n.md", Replace("mine\n"), expected_checksum=seen),
        lambda: index.notes.write(title="N", content="mine\n", expected_checksum=seen),
    ]
    for change in changes:
        note.save(b"old\n")
        with monkeypatch.context() as patch:
            saving_before(patch, "replace", lambda: note.save(b"by hand\n"))
            with pytest.raises(Conflict) as caught:
                await change()
        assert caught.value.checksum == checksum(b"by hand\n")
        assert note.data == b"by hand\n"
    assert index.history.changes() == []


async def test_an_edit_gives_up_when_the_file_is_saved_again_and_again(
    index: Index, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    saves: list[bytes] = []

    def save() -> None:
        saves.append(b"%d\n" % len(saves))
        note.save(saves[-1])

    saving_before(monkeypatch, "replace", save, times=9)
    with pytest.raises(Conflict):
        await index.notes.edit("n.md", Append("mine\n"))
    assert len(saves) == 4
    assert note.data == saves[-1]
    assert index.history.changes() == []


async def test_an_overwrite_keeps_what_it_replaced_though_it_had_not_seen_it(
    index: Index, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    saving_before(monkeypatch, "replace", lambda: note.save(b"by hand\n"))
    await index.notes.write(title="N", content="mine\n", overwrite=True)
    assert b"mine" in note.data
    (change,) = index.history.changes()
    assert index.history.content(change.before or "") == b"by hand\n"


async def test_an_overwrite_gets_over_a_file_that_comes_or_goes_meanwhile(
    index: Index, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        saving_before(patch, "replace", note.remove)
        await index.notes.write(title="N", content="mine\n", overwrite=True)
    assert b"mine" in note.data
    note.remove()
    with monkeypatch.context() as patch:
        saving_before(patch, "create", lambda: note.save(b"by hand\n"))
        await index.notes.write(title="N", content="again\n", overwrite=True)
    assert b"again" in note.data
    change, first = index.history.changes()
    assert (first.kind, change.before) == (ChangeKind.CREATED, checksum(b"by hand\n"))


async def test_a_deletion_keeps_exactly_what_was_removed(
    index: Index, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    saving_before(monkeypatch, "delete", lambda: note.save(b"saved just now\n"))
    await index.notes.delete("n.md")
    assert list(index.root.iterdir()) == []
    (change,) = index.history.changes()
    assert index.history.content(change.before or "") == b"saved just now\n"


async def test_appends_of_several_processes_all_land_and_are_all_kept(
    index: Index, note: Note
) -> None:
    code = "for i in range(25): append(f'{os.getpid()} {i}\\n')"
    processes = [child(index, code) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    lines = note.data.decode().splitlines()
    assert sorted(lines[1:]) == sorted(
        f"{process.pid} {i}" for process in processes for i in range(25)
    )
    changes = index.history.changes(limit=1000)[::-1]
    assert [change.state for change in changes] == [ChangeState.DONE] * 100
    assert [change.before for change in changes[1:]] == [change.after for change in changes[:-1]]
    assert changes[-1].after == checksum(note.data)
    assert (await index.sync.full_sync()).modified_files == ("n.md",)
    assert list(index.root.iterdir()) == [note.file]


def test_changes_of_notes_need_no_index(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    files = FileService(tmp_path / "notes", tmp_path / "locks")
    store = HistoryStore(tmp_path / "h", tmp_path / "notes", SystemClock(), HistoryLimits())
    changes, path = NoteChanges(files, store), NotePath("a/b.md")
    put = changes.put(path, "text\n", None, replace=False, by=ME)
    assert (put.before, put.after, put.data, put.is_changed) == (None, "text\n", b"text\n", True)
    again = changes.put(path, "text\n", None, replace=True, by=ME)
    assert (again.before, again.is_changed) == ("text\n", False)
    assert again.state == put.state
    assert [change.kind for change in store.changes()] == [ChangeKind.CREATED]
    store.close()


@pytest.mark.parametrize("kind", ["folder", "pipe", "circle"])
@pytest.mark.parametrize("overwrite", [False, True])
async def test_what_is_no_file_is_not_written_and_leaves_no_record(index, kind, overwrite):
    place = index.root / "odd.md"
    match kind:
        case "folder":
            place.mkdir()
        case "pipe":
            os.mkfifo(place)
        case _:
            place.symlink_to("odd.md")
    with pytest.raises(FileProblem, match="not a regular file"):
        await index.notes.write(title="odd", content="x", overwrite=overwrite)
    assert index.history.changes() == []

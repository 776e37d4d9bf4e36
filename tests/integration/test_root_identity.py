"""Servers that share an index must see the folder it was made of."""

from __future__ import annotations

import os
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from tests.integration.conftest import Index

from memoranda.errors import OtherFolder
from memoranda.repositories.root_sample import EACH, PLACES, RootSampleRepository, SampledFile
from memoranda.services import root_identity as module
from memoranda.services.root_identity import ROOT_IDENTITY, RootCheck

MANY = 3 * PLACES * EACH


def check_of(index: Index, root: Path | None = None) -> RootCheck:
    return RootCheck(index.store, root or index.root, "main")


@pytest.fixture
def synced(index) -> Index:
    """An index of some notes, which knows its folder."""
    check_of(index).check()
    for number in range(20):
        index.write(f"{number % 3}/{number}.md", f"{number}\n")
    index.run_sync()
    check_of(index).check()
    return index


def remembered(index: Index) -> object:
    return index.rows("SELECT value FROM index_meta WHERE key = :key", key=ROOT_IDENTITY)


def test_the_first_folder_is_taken_and_stays(index, tmp_path):
    check_of(index).check()
    inode = index.root.stat().st_ino
    assert remembered(index) == [(f'{{"inode": {inode}}}',)]
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(OtherFolder) as refusal:
        check_of(index, other).check()
    assert str(other) in refusal.value.message
    assert "memoranda reindex --project main" in refusal.value.hint
    assert refusal.value.code == "INVALID_ARGUMENT"
    assert remembered(index) == [(f'{{"inode": {inode}}}',)]


def test_of_two_first_ones_with_other_folders_one_is_refused(index, tmp_path, monkeypatch):
    """Both saw an index that knows no folder."""
    other = tmp_path / "other"
    other.mkdir()
    check_of(index).check()
    monkeypatch.setattr(module, "known", lambda _tx: (None, ()))
    with pytest.raises(OtherFolder):
        check_of(index, other).check()
    check_of(index).check()


def test_a_folder_with_other_notes_is_another(synced, tmp_path):
    other = tmp_path / "other"
    (other / "0").mkdir(parents=True)
    (other / "0" / "x.md").write_text("x\n")
    with pytest.raises(OtherFolder, match="itself"):
        check_of(synced, other).check()


@pytest.mark.parametrize("same_root", [False, True], ids=["plain", "root of a file system"])
def test_a_clone_is_another(synced, tmp_path, monkeypatch, same_root):
    """The same texts, written just now."""
    other = tmp_path / "other"
    shutil.copytree(synced.root, other, copy_function=shutil.copyfile)
    if same_root:
        pretend(monkeypatch, 128)
        check_of(synced).adopt()
    with pytest.raises(OtherFolder, match="the file it was" if same_root else "itself"):
        check_of(synced, other).check()


@pytest.mark.parametrize("inode", [None, 2, 5000], ids=str)
def test_a_copy_with_its_times_is_another(synced, tmp_path, monkeypatch, inode):
    other = tmp_path / "other"
    shutil.copytree(synced.root, other)  # as rsync -a
    if inode:
        pretend(monkeypatch, inode)
        check_of(synced).adopt()
    with pytest.raises(OtherFolder, match="20 of 20 notes are copies" if inode else "itself"):
        check_of(synced, other).check()


def test_the_same_folder_by_another_path_is_the_same(synced, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(synced.root, target_is_directory=True)
    check_of(synced, link).check()


def test_a_folder_that_was_moved_is_the_same(synced, tmp_path):
    moved = tmp_path / "moved"
    synced.root.rename(moved)
    check_of(synced, moved).check()


@pytest.mark.parametrize("change", ["edited", "deleted", "all moved"])
def test_a_folder_whose_every_note_was_changed_is_the_same(synced, change):
    for file in synced.root.rglob("*.md"):
        if change == "edited":  # as editors do that are careful
            new = file.with_suffix(".new")
            new.write_text(f"edited {file.name}\n")
            os.utime(new, ns=(1, 1))
            new.replace(file)
        elif change == "deleted":
            file.unlink()
        else:
            file.rename(synced.root / f"moved {file.name}")
    check_of(synced).check()


def test_some_restored_notes_are_no_other_folder(synced):
    """A backup put them back with their times."""
    for file in list(synced.root.rglob("*.md"))[:8]:
        copy = file.with_suffix(".copy")
        shutil.copy2(file, copy)
        copy.replace(file)
    check_of(synced).check()


def test_an_empty_root_of_a_file_system_may_be_the_same(synced, monkeypatch, tmp_path):
    pretend(monkeypatch, 128)
    check_of(synced).adopt()
    (tmp_path / "empty").mkdir()
    check_of(synced, tmp_path / "empty").check()
    check_of(synced).check()


def test_a_folder_that_is_not_there_is_not_judged(synced, tmp_path):
    before = remembered(synced)
    check_of(synced, tmp_path / "gone").check()
    check_of(synced, tmp_path / "gone").adopt()
    assert remembered(synced) == before


def test_another_folder_can_be_made_the_projects(synced, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(synced.root, other)
    check_of(synced, other).adopt()
    with pytest.raises(OtherFolder):
        check_of(synced).check()


def test_an_index_that_knows_no_folder_takes_the_one_of_its_notes(synced, tmp_path):
    """Of an earlier version."""
    other = tmp_path / "other"
    shutil.copytree(synced.root, other)
    synced.store.write_now(
        lambda tx: module.ProjectRepository(tx).set_fact(ROOT_IDENTITY, "unreadable")
    )
    with pytest.raises(OtherFolder, match="copies"):
        check_of(synced, other).check()
    check_of(synced).check()
    assert remembered(synced) == [(f'{{"inode": {synced.root.stat().st_ino}}}',)]


def test_the_sample_is_spread_and_small(index):
    for number in range(MANY):
        index.write(f"{number:04}.md", f"{number}\n")
    index.run_sync()
    files = index.store.read_now(lambda tx: RootSampleRepository(tx).sample())
    assert len(files) == PLACES * EACH
    numbers = sorted(int(file.path[:4]) for file in files)
    assert numbers[-1] > MANY * 0.8
    assert max(b - a for a, b in pairwise(numbers)) <= MANY // PLACES + 1
    status = (index.root / files[0].path).stat()
    assert files[0] == SampledFile(files[0].path, status.st_ino, status.st_size, status.st_mtime_ns)


def pretend(monkeypatch: pytest.MonkeyPatch, inode: int) -> None:
    """Every root has this number, as roots of file systems have."""
    monkeypatch.setattr(module, "_inode", lambda root: inode if root.is_dir() else None)

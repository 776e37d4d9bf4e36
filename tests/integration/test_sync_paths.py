"""A look at a few paths does what a full sync would do there, or says that one is needed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.conftest import Index

from memoranda.files import scan_paths
from memoranda.model.sync import SyncReport
from memoranda.services.reading import read_note
from memoranda.sync.sync_service import INDEX_VERSION


def look(index: Index, *paths: str) -> SyncReport | None:
    return asyncio.run(index.sync.sync_paths(paths))


def titles(index: Index) -> list[object]:
    return [row[0] for row in index.rows("SELECT title FROM entity ORDER BY file_path")]


@pytest.fixture
def known(index: Index) -> Index:
    index.write("a.md", "# A\n\nSee [[new]].\n")
    index.write("x/b.md", "# B\n")
    index.run_sync()
    return index


def test_new_and_modified_files_are_indexed_and_links_resolved(known):
    known.write("a.md", "# A2\n\nSee [[new]].\n")
    known.write("x/new.md", "# N\n")
    report = look(known, "a.md", "x/new.md")
    assert (report.new_files, report.modified_files) == (("x/new.md",), ("a.md",))
    assert titles(known) == ["a", "b", "new"]
    assert known.rows("SELECT count(*) FROM link WHERE to_id IS NOT NULL") == [(1,)]
    assert known.run_sync().changes == 0


def test_only_the_named_paths_are_looked_at(known):
    known.write("a.md", "changed\n")
    known.write("x/b.md", "changed too\n")
    assert look(known, "a.md").modified_files == ("a.md",)
    assert known.run_sync().modified_files == ("x/b.md",)


def test_what_did_not_change_costs_no_reading(settled, known, unread):
    known.write("a.md", "changed\n")
    look(known, "a.md")
    unread()
    report = look(known, "a.md", "x/b.md")
    assert (report.changes, report.touched) == (0, 0)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda root: (root / "a.md").unlink(), ["a.md"]),
        (lambda root: (root / "a.md").rename(root / "c.md"), ["c.md", "a.md"]),
        (lambda root: (root / "x").rename(root / "y"), ["x", "y"]),
        (lambda root: (root / "x").rename(root / "y"), ["x"]),
        (lambda root: (root / "z").mkdir(), ["z"]),
        (lambda root: (root / ".gitignore").write_text("x/\n"), [".gitignore"]),
        (lambda root: (root / "x" / ".bmignore").write_text("*\n"), ["x/.bmignore"]),
        (lambda root: (root / "l.md").symlink_to("a.md"), ["l.md"]),
        (lambda root: (root / "l").symlink_to("x"), ["l/b.md"]),
        (lambda root: (root / "l").symlink_to("x"), ["l"]),
        (lambda _root: None, [""]),
    ],
    ids=[
        "a deleted note",
        "a moved note",
        "a moved folder",
        "a folder that is gone",
        "a new folder",
        "an ignore file",
        "an ignore file in a folder",
        "a link to a note",
        "a note behind a link",
        "a link to a folder",
        "the root",
    ],
)
def test_what_the_paths_alone_do_not_tell_needs_a_full_sync(known, change, named):
    before = known.snapshot()
    change(known.root)
    assert look(known, *named) is None
    assert known.snapshot() == before


def test_a_file_in_the_place_of_a_folder_of_notes_needs_one(known):
    (known.root / "x/b.md").unlink()
    (known.root / "x").rmdir()
    known.write("x", "no note\n")
    assert look(known, "x") is None


def test_a_folder_named_as_a_note_that_went_away_needs_one(known, tmp_path):
    known.write("project.md/c.md", "# C\n")
    known.run_sync()
    (known.root / "project.md").rename(tmp_path / "away")
    assert look(known, "project.md") is None


def test_a_name_that_is_found_under_another_spelling_needs_one(known, monkeypatch):
    """Where case is ignored both names of a renamed file are found."""
    real = scan_paths._lstat

    def ignoring_case(path: str) -> os.stat_result | None:
        named = Path(path)
        spellings = [
            each for each in named.parent.iterdir() if each.name.lower() == named.name.lower()
        ]
        return real(str(spellings[0] if spellings else named))

    before = known.rows("SELECT id FROM entity WHERE file_path='a.md'")
    (known.root / "a.md").rename(known.root / "A.md")
    monkeypatch.setattr(scan_paths, "_lstat", ignoring_case)
    assert look(known, "a.md", "A.md") is None
    monkeypatch.undo()
    known.run_sync()
    assert known.rows("SELECT id FROM entity WHERE file_path='A.md'") == before


def test_another_root_needs_one(known, tmp_path):
    known.root.rename(tmp_path / "away")
    known.root.mkdir()
    known.write("a.md", "# A3\n")
    assert look(known, "a.md") is None


def test_a_missing_root_needs_one(known, tmp_path):
    known.root.rename(tmp_path / "away")
    assert look(known, "a.md") is None


def test_an_index_that_was_never_synced_needs_one(index):
    index.write("a.md", "a\n")
    assert look(index, "a.md") is None


def test_an_index_of_an_older_version_needs_one(known):
    known.store.write_now(
        lambda tx: tx.conn.exec_driver_sql(
            "UPDATE index_meta SET value='1' WHERE key='index_version'"
        )
    )
    known.write("a.md", "changed\n")
    assert look(known, "a.md") is None


def test_an_index_of_a_newer_version_is_left_alone(known):
    known.store.write_now(
        lambda tx: tx.conn.exec_driver_sql(
            f"UPDATE index_meta SET value='{INDEX_VERSION + 1}' WHERE key='index_version'"
        )
    )
    known.write("a.md", "changed\n")
    before = known.snapshot()
    assert look(known, "a.md") is None
    assert known.sync.is_outdated
    assert known.snapshot() == before


@pytest.mark.parametrize("name", ["_write", "_write_singly"])
async def test_a_file_that_another_writer_brought_in_meanwhile_is_said_to_be_late(
    make_index, monkeypatch, name
):
    """The other had read it before it was changed again, and wrote it after this one had looked."""
    one, other = make_index(), make_index()
    one.write("a.md", "one\n")
    await one.sync.full_sync()
    one.write("a.md", "one two\n")
    real, write = one.sync._applying._write, getattr(other.sync._applying, name)
    has_read, may_write = asyncio.Event(), asyncio.Event()

    async def late(*given, **how):
        has_read.set()
        await may_write.wait()
        return await real(*given, **how)

    async def between(*batch, resolve):
        may_write.set()
        await first
        await (write(*batch, resolve=resolve) if name == "_write" else write(*batch))

    monkeypatch.setattr(one.sync._applying, "_write", late)
    monkeypatch.setattr(other.sync._applying, "_write", between)
    first = asyncio.create_task(one.sync.full_sync())
    await has_read.wait()
    one.write("a.md", "one two three\n")
    report = await other.sync.sync_paths(["a.md"])
    assert (report.late_files, report.changes) == (("a.md",), 0)
    await other.sync.sync_paths(report.late_files)
    assert other.rows("SELECT content FROM entity") == [("one two three\n",)]


@pytest.mark.parametrize(
    "name", ["4913", "a.png", ".a.md", "a.md~", "x/.#b.md", "node_modules/c.md"]
)
def test_what_is_no_note_is_nothing(known, name):
    known.write(name, "text\n")
    before = known.snapshot()
    assert look(known, name).changes == 0
    (known.root / name).unlink()
    assert look(known, name).changes == 0
    assert known.snapshot() == before


def test_a_note_of_another_project_is_nothing(make_index, tmp_path):
    index = make_index(tmp_path / "notes", skips=("inner",))
    index.write("a.md", "a\n")
    index.run_sync()
    index.write("inner/b.md", "b\n")
    assert look(index, "inner/b.md").changes == 0


def test_an_ignored_file_stays_out(known):
    known.write(".gitignore", "secret*\n")
    known.run_sync()
    known.write("secret.md", "s\n")
    assert look(known, "secret.md").changes == 0
    assert titles(known) == ["a", "b"]


def test_equal_files_that_change_places_keep_their_identity(known):
    ids = known.rows("SELECT title, id FROM entity ORDER BY title")
    a, b = known.root / "a.md", known.root / "x/b.md"
    a.rename(known.root / "t")
    b.rename(a)
    (known.root / "t").rename(b)
    report = look(known, "a.md", "x/b.md", "t")
    assert len(report.moved_files) == 2
    assert known.rows("SELECT id FROM entity WHERE file_path='a.md'") == [(ids[1][1],)]


def test_a_broken_file_counts_as_a_strike_and_a_good_one_clears_it(make_index):
    def faulty(data, state):
        if b"poison" in data:
            raise ValueError("poisoned")
        return read_note(data, state)

    index = make_index(read=faulty)
    index.write("a.md", "a\n")
    index.write("other.md", "poison too\n")
    index.run_sync()
    index.write("a.md", "poison\n")
    assert [one.count for one in look(index, "a.md").failures] == [1]
    assert [one.count for one in look(index, "a.md").failures] == [2]
    assert len(index.rows("SELECT * FROM file_failure")) == 2
    index.write("a.md", "good again\n")
    assert look(index, "a.md").failures == ()
    assert index.rows("SELECT file_path FROM file_failure") == [("other.md",)]


def test_notes_that_are_held_stay_held(make_index, tmp_path):
    index = make_index()
    for number in range(30):
        index.write(f"n{number}.md", f"{number}\n")
    index.run_sync()
    for number in range(29):
        (index.root / f"n{number}.md").unlink()
    assert len(index.run_sync().held) == 29
    hold = index.rows("SELECT value FROM index_meta WHERE key='hold'")
    index.write("n29.md", "changed\n")
    assert look(index, "n29.md").modified_files == ("n29.md",)
    assert index.rows("SELECT value FROM index_meta WHERE key='hold'") == hold
    index.write("n3.md", "3\n")
    assert look(index, "n3.md") is not None
    assert index.rows("SELECT missing_since FROM entity WHERE file_path='n3.md'") == [(None,)]


def test_the_time_of_the_last_full_sync_stays(known):
    fact = "SELECT value FROM index_meta WHERE key='last_full_sync'"
    before = known.rows(fact)
    known.write("a.md", "changed\n")
    look(known, "a.md")
    assert known.rows(fact) == before


def test_a_file_that_cannot_be_read_is_reported(known, monkeypatch):
    real = os.open

    def refuse(path: object, *args: int, **how: int) -> int:
        if str(path).endswith("a.md"):
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **how)  # type: ignore[arg-type]

    known.write("a.md", "changed\n")
    monkeypatch.setattr(os, "open", refuse)
    assert [one.path for one in look(known, "a.md").failures] == ["a.md"]


def test_no_paths_are_nothing(known: Index, unread: Callable[[], None]) -> None:
    unread()
    assert look(known).changes == 0

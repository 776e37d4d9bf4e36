"""Large losses are held: architecture row 10."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from tests.integration.conftest import DrivenClock

from memoranda.model.search import SearchQuery

NOTES = 30


@pytest.fixture
def clock():
    return DrivenClock()


@pytest.fixture
async def index(make_index, clock, settled):
    """A project with some notes, indexed."""
    one = make_index(clock=clock)
    for i in range(NOTES):
        one.write(f"n{i}.md", f"number {i} of the notes, see [[n{i - 1}]]\n")
    await one.sync.full_sync()
    return one


def identities(index) -> list[tuple[object, ...]]:
    return index.rows("SELECT file_path, id, external_id FROM entity ORDER BY id")


def marked(index) -> int:
    [(count,)] = index.rows("SELECT count(*) FROM entity WHERE missing_since IS NOT NULL")
    return count


def put_away(index, tmp_path: Path, *, keep: int = 0) -> Path:
    """Move the notes out of the folder, but for some."""
    away = tmp_path / "away"
    away.mkdir()
    for i in range(keep, NOTES):
        (index.root / f"n{i}.md").rename(away / f"n{i}.md")
    return away


def put_back(index, away: Path) -> None:
    for file in away.iterdir():
        file.rename(index.root / file.name)


async def test_an_emptied_folder_deletes_nothing_and_comes_back_whole(index, tmp_path):
    before = identities(index)
    away = put_away(index, tmp_path)
    report = await index.sync.full_sync()
    assert len(report.held) == NOTES
    assert (report.deleted_files, report.held_reason) == ((), "the folder is empty")
    assert marked(index) == NOTES
    put_back(index, away)
    report = await index.sync.full_sync()
    assert (report.held, report.deleted_files, report.new_files) == ((), (), ())
    assert identities(index) == before
    assert marked(index) == 0


async def test_a_hit_whose_file_is_missing_says_so(index, tmp_path):
    put_away(index, tmp_path)
    await index.sync.full_sync()
    results = await index.search.search(SearchQuery("number 7"))
    assert results.hits
    assert all(hit.ref.missing_since for hit in results.hits)


async def test_another_folder_of_that_name_deletes_nothing(index, tmp_path):
    before = identities(index)
    index.root.rename(tmp_path / "real")
    index.root.mkdir()
    for minutes in (0, 2, 2):
        index_clock(index).ahead += timedelta(minutes=minutes)
        report = await index.sync.full_sync()
        assert (len(report.held), report.deleted_files) == (NOTES, ())
    index.root.rmdir()
    (tmp_path / "real").rename(index.root)
    report = await index.sync.full_sync()
    assert (report.held, report.changes) == ((), 0)
    assert identities(index) == before


async def test_what_is_still_missing_a_minute_later_is_deleted(index, tmp_path, clock):
    put_away(index, tmp_path, keep=5)
    report = await index.sync.full_sync()
    assert len(report.held) == NOTES - 5
    assert report.held_reason == "25 of 30 notes are missing"
    clock.ahead += timedelta(seconds=30)
    assert len((await index.sync.full_sync()).held) == NOTES - 5
    clock.ahead += timedelta(seconds=31)
    report = await index.sync.full_sync()
    assert (len(report.deleted_files), report.held) == (NOTES - 5, ())
    assert index.rows("SELECT count(*) FROM entity") == [(5,)]


async def test_a_restart_does_not_begin_the_minute_anew(index, tmp_path, make_index, clock):
    put_away(index, tmp_path, keep=5)
    await index.sync.full_sync()
    clock.ahead += timedelta(seconds=61)
    report = await make_index(clock=clock).sync.full_sync()
    assert len(report.deleted_files) == NOTES - 5


async def test_the_user_may_say_that_they_are_gone(index, tmp_path):
    put_away(index, tmp_path)
    await index.sync.full_sync()
    report = await index.sync.full_sync(accept_deletions=True)
    assert (len(report.deleted_files), report.held) == (NOTES, ())
    assert (await index.sync.full_sync()).held == ()


async def test_a_few_deletions_are_done_at_once(index, tmp_path):
    put_away(index, tmp_path, keep=NOTES - 20)
    report = await index.sync.full_sync()
    assert (len(report.deleted_files), report.held) == (20, ())


async def test_notes_that_moved_are_not_missing(index, tmp_path):
    before = {path: one for path, *one in identities(index)}
    for i in range(NOTES):
        index.write(f"new/n{i}.md", (index.root / f"n{i}.md").read_text())
        (index.root / f"n{i}.md").unlink()
    report = await index.sync.full_sync()
    assert (len(report.moved_files), report.held) == (NOTES, ())
    assert {path[4:]: one for path, *one in identities(index)} == before


async def test_held_notes_that_turn_up_elsewhere_keep_their_identity(index, tmp_path):
    before = {path: one for path, *one in identities(index)}
    away = put_away(index, tmp_path)
    await index.sync.full_sync()
    away.rename(index.root / "back")
    report = await index.sync.full_sync()
    assert (len(report.moved_files), report.held) == (NOTES, ())
    assert {path[5:]: one for path, *one in identities(index)} == before
    assert marked(index) == 0


async def test_a_held_note_that_comes_back_changed_is_indexed(index, tmp_path):
    put_away(index, tmp_path)
    await index.sync.full_sync()
    index.write("n3.md", "back with other words\n")
    await index.sync.full_sync()
    assert index.rows("SELECT content, missing_since FROM entity WHERE file_path = 'n3.md'") == [
        ("back with other words\n", None)
    ]
    assert marked(index) == NOTES - 1


async def test_a_held_index_is_written_once(index, tmp_path, monkeypatch):
    put_away(index, tmp_path)
    await index.sync.full_sync()
    monkeypatch.setattr(index.store, "write", lambda fn: pytest.fail("something was written"))
    assert len((await index.sync.full_sync()).held) == NOTES


async def test_what_lies_below_an_unreadable_folder_is_kept_and_marked(index, monkeypatch):
    index.write("dir/a.md", "in the folder\n")
    await index.sync.full_sync()
    before = identities(index)
    real = os.scandir

    def refuse(path):
        if str(path).rstrip("/").endswith("/dir"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refuse)
        report = await index.sync.full_sync()
        assert (report.held, report.deleted_files) == ((), ())
        assert marked(index) == 1
        monkeypatch.setattr(index.store, "write", lambda fn: pytest.fail("written again"))
        await index.sync.full_sync()
    monkeypatch.undo()
    await index.sync.full_sync()
    assert identities(index) == before
    assert marked(index) == 0


def index_clock(index) -> DrivenClock:
    clock = index.sync._clock
    assert isinstance(clock, DrivenClock)
    return clock


async def test_the_reason_for_a_hold_is_the_one_of_the_last_look(index, tmp_path):
    put_away(index, tmp_path)
    await index.sync.full_sync()
    index.write("a picture.png", b"png")
    report = await index.sync.full_sync()
    assert report.held_reason == "30 of 30 notes are missing"
    [(fact,)] = index.rows("SELECT value FROM index_meta WHERE key = 'hold'")
    assert "30 of 30 notes are missing" in fact


async def test_a_held_note_that_comes_back_and_cannot_be_read_is_not_missing(
    index, tmp_path, monkeypatch
):
    put_away(index, tmp_path)
    await index.sync.full_sync()
    index.write("n3.md", "back with other words\n")
    real = os.open

    def refuse(path, *args, **how):
        if str(path).endswith("n3.md"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *args, **how)

    monkeypatch.setattr(os, "open", refuse)
    report = await index.sync.full_sync()
    assert [failure.path for failure in report.failures] == ["n3.md"]
    assert index.rows("SELECT missing_since FROM entity WHERE file_path = 'n3.md'") == [(None,)]

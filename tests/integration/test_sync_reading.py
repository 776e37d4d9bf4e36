"""What a sync reads and what it leaves alone; what it does when it is cut short."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

import pytest
from sqlalchemy import update

from memoranda.db.tables import entity
from memoranda.files import file_service
from memoranda.files import scan as scan_module
from memoranda.services.reading import read_note
from memoranda.sync import sync_service


@pytest.fixture
def parsed(make_index):
    """An index, and the paths that were parsed."""
    paths: list[str] = []

    def counting(data, state):
        paths.append(state.path)
        return read_note(data, state)

    return make_index(read=counting), paths


@pytest.mark.usefixtures("settled")
async def test_a_file_whose_bytes_are_as_before_is_not_parsed(parsed, unread):
    index, paths = parsed
    file = index.write("a.md", "text\n")
    await index.sync.full_sync()
    paths.clear()
    file.chmod(0o600)  # another ctime
    report = await index.sync.full_sync()
    assert (report.touched, report.changes, paths) == (1, 0, [])
    unread()
    await index.sync.full_sync()


async def test_a_file_that_is_fresh_is_read_once_more(index, monkeypatch):
    """The clock of a file system ticks every few milliseconds: a second edit may bear the same times."""

    def frozen(state):
        return replace(state, mtime_ns=1, ctime_ns=1, inode=1)

    scan, state_of = scan_module.scan_folder, file_service.state_of

    def frozen_scan(root, **how):
        found = scan(root, **how)
        return replace(found, files=tuple(map(frozen, found.files)))

    def frozen_state(path, status, **how):
        return replace(frozen(state := state_of(path, status, **how)), is_fresh=state.is_fresh)

    monkeypatch.setattr(sync_service, "scan_folder", frozen_scan)
    monkeypatch.setattr(file_service, "state_of", frozen_state)
    index.write("a.md", "one\n")
    await index.sync.full_sync()
    index.write("a.md", "two\n")
    await index.sync.full_sync()
    assert index.rows("SELECT content FROM entity") == [("two\n",)]


@pytest.mark.usefixtures("settled")
async def test_verify_finds_what_no_time_tells(index):
    file = index.write("a.md", "one\n")
    index.write("b.md", "same\n")
    await index.sync.full_sync()
    file.write_text("two\n")
    status = file.stat()
    index.store.write_now(
        lambda tx: tx.conn.execute(
            update(entity)
            .where(entity.c.file_path == "a.md")
            .values(mtime_ns=status.st_mtime_ns, ctime_ns=status.st_ctime_ns, inode=status.st_ino)
        )
    )
    assert (await index.sync.full_sync()).changes == 0
    report = await index.sync.full_sync(verify=True)
    assert (report.modified_files, report.touched) == (("a.md",), 1)
    assert index.rows("SELECT content FROM entity WHERE file_path = 'a.md'") == [("two\n",)]


@pytest.mark.usefixtures("settled")
async def test_verify_of_a_sound_index_parses_nothing(parsed):
    index, paths = parsed
    for i in range(5):
        index.write(f"{i}.md", f"text {i}\n")
    await index.sync.full_sync()
    paths.clear()
    report = await index.sync.full_sync(verify=True)
    assert (report.touched, report.changes, paths) == (5, 0, [])


async def test_a_file_whose_time_was_set_back_is_noticed(index):
    file = index.write("a.md", "one\n")
    await index.sync.full_sync()
    before = file.stat()
    file.write_text("two\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    await index.sync.full_sync()
    assert index.rows("SELECT content FROM entity") == [("two\n",)]


@pytest.mark.usefixtures("settled")
async def test_a_file_that_cannot_be_read_is_written_down_once(index, monkeypatch):
    index.write("ok.md", "text\n")
    index.write("n.md", "text\n")
    real = os.open

    def refuse(path, *args, **kwargs):
        if str(path).endswith("n.md"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    assert len((await index.sync.full_sync()).failures) == 1
    await index.sync.full_sync()
    monkeypatch.setattr(index.store, "write", lambda fn: pytest.fail("something was written"))
    assert len((await index.sync.full_sync()).failures) == 1


async def test_a_sync_that_is_cancelled_goes_on_where_it_stopped(index, make_index, monkeypatch):
    monkeypatch.setattr("memoranda.sync.work.BATCH_FILES", 4)
    monkeypatch.setattr("memoranda.sync.work.SMALL_BATCH_FILES", 4)
    for i in range(20):
        index.write(f"{i}.md", f"text {i} to [[{(i + 7) % 20}]]\n- [fact] {i}\n")
    steps: list[int] = []

    def stop(step):
        steps.append(step.done)
        if step.done == 8:
            task.cancel()

    task = asyncio.create_task(index.sync.full_sync(progress=stop))
    with pytest.raises(asyncio.CancelledError):
        await task
    [(count,)] = index.rows("SELECT count(*) FROM entity")
    assert 8 <= count < 20
    report = await index.sync.full_sync()
    assert len(report.new_files) == 20 - count
    fresh = make_index(name="fresh")
    await fresh.sync.full_sync()
    assert index.snapshot() == fresh.snapshot()


async def test_progress_says_how_fast_and_how_long(index, monkeypatch):
    monkeypatch.setattr("memoranda.sync.work.BATCH_FILES", 4)
    monkeypatch.setattr("memoranda.sync.work.SMALL_BATCH_FILES", 4)
    for i in range(10):
        index.write(f"{i}.md", "text\n")
    steps = []
    await index.sync.full_sync(progress=steps.append)
    assert [(step.done, step.total) for step in steps] == [(0, 10), (4, 10), (8, 10), (10, 10)]
    assert (steps[0].files_per_s, steps[0].left_s) == (None, None)
    assert all(step.files_per_s > 0 for step in steps[1:])
    assert steps[1].left_s > 0
    assert steps[-1].left_s == 0

"""The search log on a real disk: bounded, private, shared, and never in the way."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from loguru import logger

from memoranda.errors import FileProblem
from memoranda.files import search_log
from memoranda.files.locks import take
from memoranda.files.search_log import SearchLogFile, line_of
from memoranda.model.search import SearchType
from memoranda.model.search_log import RecordedSearches, SearchRecord

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ONE = SearchRecord(AT, "the heap", SearchType.FTS, 3, 4.5, "memoranda")
LINE_BYTES = len(line_of(ONE))

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from memoranda.files.search_log import SearchLogFile
from memoranda.model.search import SearchType
from memoranda.model.search_log import SearchRecord
path, name, most, bound = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
log = SearchLogFile(path, most_bytes=bound)
sys.stdin.readline()
for number in range(most):
    at = datetime(2026, 1, 1, tzinfo=UTC)
    log.record(SearchRecord(at, f"{number} " + "長い " * (number % 90), SearchType.FTS, number, 1.0, name))
"""


@pytest.fixture
def log(tmp_path: Path) -> SearchLogFile:
    return SearchLogFile(tmp_path / "config" / "notes" / "searches.jsonl")


@pytest.fixture
def said() -> Iterator[list[str]]:
    """What goes to Memoranda's own log."""
    lines: list[str] = []
    logger.remove()
    logger.add(lines.append, level="TRACE", format="{level} {message}")
    yield lines
    logger.remove()


def numbered(number: int) -> SearchRecord:
    return replace(ONE, total=number)


def test_what_was_recorded_is_read_back_in_order(log: SearchLogFile) -> None:
    assert log.read() == RecordedSearches()
    log.record(numbered(1))
    log.record(numbered(2))
    assert log.read() == RecordedSearches((numbered(1), numbered(2)), 0, 2 * LINE_BYTES)


def test_making_and_reading_it_touches_nothing(log: SearchLogFile) -> None:
    log.read()
    log.clear()
    assert not log.path.parent.exists()


def test_files_and_folder_are_private(log: SearchLogFile) -> None:
    small = SearchLogFile(log.path, most_bytes=4 * LINE_BYTES)
    for number in range(5):
        small.record(numbered(number))
    files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in log.path.parent.iterdir()}
    assert files == {"searches.jsonl": 0o600, "searches.1.jsonl": 0o600, "searches.lock": 0o600}
    assert stat.S_IMODE(log.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("written", [1, 9, 10, 11, 19, 20, 21, 55, 200])
def test_the_newest_are_kept_within_the_bound(log: SearchLogFile, written: int) -> None:
    bounded = SearchLogFile(log.path, most_bytes=20 * LINE_BYTES + 20)  # 10 lines a file
    for number in range(written):
        bounded.record(numbered(number % 10))
    found = bounded.read()
    assert found.size_bytes <= 20 * LINE_BYTES + 20
    assert min(written, 10) <= len(found.records) <= 20
    kept = [record.total for record in found.records]
    assert kept == [number % 10 for number in range(written - len(kept), written)]


def test_a_record_larger_than_the_bound_is_recorded_all_the_same(log: SearchLogFile) -> None:
    tiny = SearchLogFile(log.path, most_bytes=10)
    tiny.record(numbered(1))
    tiny.record(numbered(2))
    assert [record.total for record in tiny.read().records] == [1, 2]


def test_damaged_lines_are_skipped_and_counted(log: SearchLogFile) -> None:
    log.record(numbered(1))
    with log.path.open("ab") as file:
        file.write(b'{"at":"2026-\n\n\xff\xfe\n')
    log.record(numbered(2))
    assert [record.total for record in log.read().records] == [1, 2]
    assert log.read().damaged == 2


def test_a_line_that_was_cut_costs_itself_alone(log: SearchLogFile) -> None:
    log.record(numbered(1))
    with log.path.open("ab") as file:
        file.write(line_of(numbered(2))[:-30])  # the disk was full
    assert [record.total for record in log.read().records] == [1]
    assert log.read().damaged == 0  # it may be in the middle of being written
    log.record(numbered(3))
    assert [record.total for record in log.read().records] == [1, 3]
    assert log.read().damaged == 1


def test_clearing_deletes_both_files(log: SearchLogFile) -> None:
    small = SearchLogFile(log.path, most_bytes=4 * LINE_BYTES)
    for number in range(5):
        small.record(numbered(number))
    small.clear()
    assert small.read() == RecordedSearches()
    assert not log.path.exists()
    assert not log.older.exists()
    small.record(numbered(7))
    assert [record.total for record in small.read().records] == [7]


def test_what_cannot_be_read_or_deleted_is_an_error_that_says_so(log: SearchLogFile) -> None:
    log.path.mkdir(parents=True)
    with pytest.raises(FileProblem, match=r"searches\.jsonl cannot be read: "):
        log.read()
    with pytest.raises(FileProblem, match=r"searches\.jsonl cannot be deleted: "):
        log.clear()


def test_a_failure_is_logged_once_without_the_query(
    log: SearchLogFile, said: list[str], tmp_path: Path
) -> None:
    (tmp_path / "config").write_text("a file where the folder should be")
    for _ in range(3):
        log.record(replace(ONE, query="my secret question"))
    (line,) = said
    assert line.startswith(f"WARNING Searches are not recorded in {log.path}: ")
    assert "secret" not in line


def test_what_cannot_be_rotated_does_not_grow(log: SearchLogFile, said: list[str]) -> None:
    small = SearchLogFile(log.path, most_bytes=4 * LINE_BYTES)
    small.record(numbered(1))
    small.record(numbered(2))
    log.older.mkdir()
    small.record(numbered(3))
    assert log.path.stat().st_size == 2 * LINE_BYTES
    assert len(said) == 1


def test_a_record_is_written_again_when_its_file_was_dropped_meanwhile(
    log: SearchLogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.record(numbered(1))
    write, is_dropped = os.write, False

    def late(fd: int, data: bytes) -> int:
        nonlocal is_dropped
        if not is_dropped:
            is_dropped = True
            log.path.unlink()
        return write(fd, data)

    monkeypatch.setattr(os, "write", late)
    log.record(numbered(2))
    assert [record.total for record in log.read().records] == [2]


def test_of_two_that_find_it_full_one_makes_room(
    log: SearchLogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = (SearchLogFile(log.path, most_bytes=4 * LINE_BYTES) for _ in range(2))
    mine.record(numbered(1))
    mine.record(numbered(2))

    def after_the_other(file: Path, timeout_s: float) -> int:
        monkeypatch.setattr(search_log, "take", take)
        other.record(numbered(3))
        return take(file, timeout_s)

    monkeypatch.setattr(search_log, "take", after_the_other)
    mine.record(numbered(4))
    assert [record.total for record in log.read().records] == [1, 2, 3, 4]


@pytest.mark.parametrize("bound", [10_000_000, 60_000])
def test_four_processes_append_at_once_without_tearing(log: SearchLogFile, bound: int) -> None:
    most = 250
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(log.path), f"writer {n}", str(most), str(bound)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for n in range(4)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    for writer in writers:
        _, errors = writer.communicate(timeout=50)
        assert (writer.returncode, errors) == (0, b"")
    found = SearchLogFile(log.path, most_bytes=bound).read()
    assert found.damaged == 0
    for n in range(4):
        mine = [record.total for record in found.records if record.client == f"writer {n}"]
        assert mine == list(range(most - len(mine), most))  # the newest, none missing
        assert len(mine) == most or bound < 100_000
    assert found.size_bytes <= bound + 8 * 1000
    assert found.size_bytes > min(bound, 100_000) // 3

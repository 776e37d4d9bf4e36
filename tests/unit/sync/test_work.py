from __future__ import annotations

import pytest

from memoranda.model.address import NotePath
from memoranda.model.sync import FORGOTTEN_NS, FileState, KnownFile
from memoranda.sync import work as module
from memoranda.sync.work import Work, batches


def state(path: str, size: int = 1) -> FileState:
    return FileState(NotePath(path), size, 5, 1, 1)


def known(path: str, ctime: int = 1) -> KnownFile:
    return KnownFile(1, NotePath(path), 1, 5, ctime, 1, "c")


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(module, "BATCH_BYTES", 10)


def paths(work: list[Work]) -> list[list[str]]:
    return [[one.state.path for one in batch] for batch in batches(work, 3)]


def test_a_batch_is_bounded_by_files_and_bytes():
    assert paths([Work(state(name)) for name in "abcd"]) == [["a", "b", "c"], ["d"]]
    assert paths([Work(state(name, 6)) for name in "ab"]) == [["a"], ["b"]]
    assert paths([Work(state("a", 99)), Work(state("b"))]) == [["a"], ["b"]]
    assert paths([]) == []


def test_files_that_change_places_are_one_batch():
    ring = [Work(state(after), known(before)) for before, after in ("ea", "de", "cd", "bc", "ab")]
    [batch] = paths(ring)
    assert len(batch) == 5
    apart = [Work(state(after), known(before)) for before, after in ("vw", "tu", "rs", "pq")]
    assert [len(batch) for batch in batches(apart, 3)] == [3, 1]


def test_a_long_ring_is_cut(monkeypatch):
    monkeypatch.setattr(module, "_MOST_IN_A_RING", 4)
    ring = [Work(state(after), known(before)) for before, after in ("ea", "de", "cd", "bc", "ab")]
    assert [len(batch) for batch in batches(ring, 3)] == [4, 1]


def test_only_what_is_remembered_at_this_path_may_be_the_same():
    assert Work(state("a"), known("a")).task(None).same == ("c", 5)
    assert Work(state("a")).task(None).same is None
    assert Work(state("a"), known("b")).task(None).same is None
    assert Work(state("a"), known("a", FORGOTTEN_NS)).task(None).same is None

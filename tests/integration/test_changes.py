"""Whether anybody changed the database, told by a mark."""

from __future__ import annotations

from collections.abc import Callable

from tests.integration.conftest import Index

from memoranda.repositories.changes import change_mark


def _mark(index: Index) -> tuple[int, int, int]:
    return index.store.read_now(change_mark)


def test_without_a_change_it_is_the_same(index: Index) -> None:
    index.rows("SELECT count(*) FROM entity")
    assert _mark(index) == _mark(index)


def test_it_is_another_after_a_change_of_this_process(index: Index) -> None:
    before = _mark(index)
    index.write("a.md", "One.\n")
    index.run_sync()
    assert _mark(index) != before


def test_it_is_another_after_a_change_of_another_process(
    make_index: Callable[..., Index],
) -> None:
    index, other = make_index(), make_index()
    before = _mark(index)
    other.write("a.md", "One.\n")
    other.run_sync()
    assert _mark(index)[0] == before[0]
    assert _mark(index) != before

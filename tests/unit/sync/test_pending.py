from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.sync.pending import EVERYTHING, MAX_PATHS, PendingPaths

DELAY = 1.0
PATIENCE = 10.0


def pending(*paths: str, at: float = 0.0, delay_s: float = DELAY) -> PendingPaths:
    found = PendingPaths(delay_s)
    found.add(paths, at)
    return found


def test_a_path_is_due_when_it_was_quiet_for_the_delay() -> None:
    waiting = pending("a.md")
    assert waiting.due(0.99) == frozenset()
    assert waiting.due(1.0) == {"a.md"}


def test_each_change_of_a_path_begins_its_quiet_time_anew() -> None:
    waiting = pending("a.md", "b.md")
    waiting.add(["a.md"], 0.6)
    assert waiting.due(1.0) == {"b.md"}
    assert waiting.due(1.59) == {"b.md"}
    assert waiting.due(1.6) == {"a.md", "b.md"}


def test_what_is_due_stays_until_it_is_taken_and_is_taken_once() -> None:
    waiting = pending("a.md")
    waiting.add(["b.md"], 0.5)
    assert waiting.due(1.0) == waiting.due(1.2) == {"a.md"}
    assert waiting.take(1.2) == {"a.md"}
    assert waiting.take(1.2) == frozenset()
    assert len(waiting) == 1


def test_a_path_that_keeps_changing_is_due_after_ten_delays() -> None:
    waiting = pending("log.md")
    for tenth in range(99):
        waiting.add(["log.md"], tenth / 10)
        assert waiting.due(tenth / 10) == frozenset()
    waiting.add(["log.md"], 9.95)
    assert waiting.next_at() == PATIENCE
    assert waiting.take(PATIENCE) == {"log.md"}


def test_a_short_delay_still_waits_five_seconds_for_a_path_that_keeps_changing() -> None:
    waiting = pending("log.md", delay_s=0.1)
    for twentieth in range(1, 100):
        waiting.add(["log.md"], twentieth / 20)
    assert waiting.due(4.99) == frozenset()
    assert waiting.due(5.0) == {"log.md"}


def test_after_it_was_taken_a_path_has_all_its_patience_again() -> None:
    waiting = pending("log.md")
    waiting.add(["log.md"], 9.9)
    waiting.take(PATIENCE)
    waiting.add(["log.md"], 10.1)
    waiting.add(["log.md"], 11.0)
    assert waiting.next_at() == 12.0


def test_the_next_moment_is_that_of_the_first_path_that_becomes_due() -> None:
    assert PendingPaths(DELAY).next_at() is None
    waiting = pending("a.md")
    waiting.add(["b.md"], 0.3)
    assert waiting.next_at() == 1.0
    waiting.take(1.0)
    assert waiting.next_at() == 1.3


def test_without_a_delay_a_change_is_due_at_once() -> None:
    assert pending("a.md", at=7.0, delay_s=0.0).take(7.0) == {"a.md"}


def test_a_path_whose_sync_failed_is_due_again_after_the_given_time() -> None:
    waiting = pending("a.md")
    waiting.retry(waiting.take(1.0), 1.0, after_s=30.0)
    assert waiting.due(30.9) == frozenset()
    assert waiting.due(31.0) == {"a.md"}


def test_a_path_that_changed_while_its_sync_failed_keeps_its_own_time() -> None:
    waiting = pending("a.md")
    taken = waiting.take(1.0)
    waiting.add(["a.md"], 1.5)
    waiting.retry(taken, 2.0, after_s=30.0)
    assert waiting.next_at() == 2.5


def test_a_path_that_changes_before_its_retry_need_not_wait_for_it() -> None:
    waiting = pending("a.md")
    waiting.retry(waiting.take(1.0), 1.0, after_s=30.0)
    waiting.add(["a.md"], 2.0)
    assert waiting.next_at() == 3.0


def test_a_path_that_changes_just_before_its_retry_gets_its_quiet_time() -> None:
    waiting = pending("a.md")
    waiting.retry(waiting.take(1.0), 1.0, after_s=30.0)
    waiting.add(["a.md"], 30.9)
    assert waiting.next_at() == 31.9


def test_too_many_paths_are_remembered_as_everything() -> None:
    waiting = pending(*(f"{number}.md" for number in range(MAX_PATHS)))
    assert len(waiting) == MAX_PATHS
    assert not waiting.is_overflowing
    waiting.add(["one-more.md"], 0.5)
    assert waiting.is_overflowing
    assert len(waiting) == 1
    waiting.add((f"more/{number}.md" for number in range(50_000)), 0.6)
    waiting.retry(["failed.md"], 0.6, after_s=0.0)
    assert len(waiting) == 1
    assert waiting.due(1.59) == frozenset()
    assert waiting.take(1.6) == {EVERYTHING}
    assert not waiting
    assert not waiting.is_overflowing


def test_paths_are_remembered_one_by_one_again_once_everything_was_taken() -> None:
    waiting = pending(*(f"{number}.md" for number in range(MAX_PATHS + 1)))
    waiting.take(2.0)
    waiting.add(["a.md", "b.md"], 3.0)
    assert waiting.take(4.0) == {"a.md", "b.md"}


def test_a_burst_without_an_end_is_due_when_its_first_path_would_be() -> None:
    waiting = pending("first.md")
    waiting.add((f"{number}.md" for number in range(MAX_PATHS - 1)), 5.0)
    assert not waiting.is_overflowing
    waiting.add(["last.md"], PATIENCE - 0.1)
    assert waiting.is_overflowing
    assert waiting.take(PATIENCE) == {EVERYTHING}


def test_nothing_is_left_after_clear() -> None:
    waiting = pending(*(f"{number}.md" for number in range(MAX_PATHS + 1)))
    waiting.clear()
    assert not waiting
    assert not waiting.is_overflowing
    assert waiting.next_at() is None


@pytest.mark.parametrize("delay_s", [0.0, 0.2, 1.0, 3.0])
@given(data=st.data())
def test_no_path_is_lost_and_none_waits_longer_than_its_patience(
    delay_s: float, data: st.DataObject
) -> None:
    waiting = PendingPaths(delay_s)
    patience = max(10 * delay_s, 5.0)
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    now = 0.0
    steps = st.lists(st.tuples(st.floats(0, 3), st.sampled_from(["add", "take"])), max_size=40)
    for wait_s, step in data.draw(steps):
        now += wait_s
        if step == "add":
            path = data.draw(st.sampled_from(["a.md", "b.md", ""]))
            waiting.add([path], now)
            first.setdefault(path, now)
            last[path] = now
            continue
        expected = {
            path for path in first if last[path] + delay_s <= now or first[path] + patience <= now
        }
        assert waiting.take(now) == expected
        for path in expected:
            del first[path], last[path]
    assert len(waiting) == len(first)

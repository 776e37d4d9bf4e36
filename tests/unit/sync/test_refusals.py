"""When a note that could not be embedded is tried again."""

from __future__ import annotations

import math

import pytest

from memoranda.sync.refusals import FIRST_RETRY_S, LONGEST_RETRY_S, Refusals, pause_s

A, B = (1, "x"), (2, "x")


def test_a_note_is_put_off_until_its_time_has_come() -> None:
    refusals = Refusals()
    refusals.add(A, "too long", 100.0)
    assert refusals.put_off(100.0) == {A}
    assert refusals.next_at == 100.0 + FIRST_RETRY_S
    assert refusals.put_off(100.0 + FIRST_RETRY_S) == frozenset()
    assert len(refusals) == 1


def test_it_is_put_off_longer_every_time() -> None:
    refusals = Refusals()
    waits = []
    for _ in range(20):
        refusals.add(A, "too long", 0.0)
        waits.append(refusals.next_at)
    assert waits[:3] == [FIRST_RETRY_S, 2 * FIRST_RETRY_S, 4 * FIRST_RETRY_S]
    assert waits[-1] == LONGEST_RETRY_S


def test_at_once_counts_for_the_first_time_alone() -> None:
    refusals = Refusals()
    refusals.add(A, "not found", 0.0, is_at_once=True)
    assert refusals.put_off(0.0) == frozenset()
    refusals.add(A, "not found", 0.0, is_at_once=True)
    assert refusals.put_off(0.0) == {A}


def test_other_bytes_of_a_note_are_another_matter() -> None:
    refusals = Refusals()
    refusals.add(A, "too long", 0.0)
    assert (1, "y") not in refusals.put_off(0.0)


def test_the_reason_is_that_of_the_last_one() -> None:
    refusals = Refusals()
    assert (refusals.reason, refusals.next_at) == ("", math.inf)
    refusals.add(A, "first", 0.0)
    refusals.add(B, "second", 0.0)
    refusals.add(A, "again", 0.0)
    assert refusals.reason == "again"


def test_what_is_not_pending_any_more_is_forgotten() -> None:
    refusals = Refusals()
    refusals.add(A, "first", 0.0)
    refusals.add(B, "second", 0.0)
    refusals.keep({A})
    assert (len(refusals), refusals.reason) == (1, "first")


@pytest.mark.parametrize("failures", [1, 2, 10, 10_000])
def test_pauses_stay_within_their_bounds(failures: int) -> None:
    assert FIRST_RETRY_S <= pause_s(failures) <= LONGEST_RETRY_S

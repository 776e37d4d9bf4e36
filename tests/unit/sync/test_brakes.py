from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from memoranda.model.address import NotePath
from memoranda.model.sync import KnownFile, RootIdentity
from memoranda.sync.brakes import Hold, Verdict, judge

NOON = datetime.fromisoformat("2026-01-01T12:00")
ROOT = RootIdentity(1, 7)


def files(count: int) -> list[KnownFile]:
    return [KnownFile(i, NotePath(f"{i}.md"), 1, 1, 1, 1, "c") for i in range(count)]


def first(
    missing: int, known: int, root: RootIdentity = ROOT, remembered: int | None = 7
) -> Verdict:
    return judge(files(missing), known, root, remembered=remembered, standing=None, now=NOON)


def again(
    before: Verdict,
    known: int,
    seconds: float,
    root: RootIdentity = ROOT,
    missing: list[KnownFile] | None = None,
    remembered: int | None = 7,
) -> Verdict:
    marked = [replace(one, missing_since=NOON) for one in before.hold]
    return judge(
        marked if missing is None else missing,
        known,
        root,
        remembered=remembered,
        standing=before.standing,
        now=NOON + timedelta(seconds=seconds),
    )


@pytest.mark.parametrize(
    ("missing", "known", "held"),
    [(1, 100, 0), (20, 25, 0), (21, 25, 21), (30, 100, 0), (31, 100, 31), (300, 1000, 0)],
)
def test_more_than_twenty_and_thirty_percent_are_held(missing, known, held):
    verdict = first(missing, known)
    assert (len(verdict.hold), len(verdict.delete)) == (held, missing - held)
    assert (verdict.standing is not None) == bool(held)


def test_an_empty_root_holds_the_only_note():
    verdict = first(1, 1, RootIdentity(1, 7, is_empty=True))
    assert len(verdict.hold) == 1
    assert verdict.standing == Hold("the folder is empty", NOON, 7)


def test_another_root_holds_a_single_note():
    verdict = first(1, 100, RootIdentity(1, 8))
    assert len(verdict.hold) == 1
    assert verdict.root == 7, "the root of the good days is not forgotten"


def test_another_root_with_all_notes_is_the_root_from_now_on():
    assert first(0, 100, RootIdentity(1, 8)).root == 8


def test_a_first_root_is_no_other_root():
    assert first(1, 100, ROOT, remembered=None).hold == ()


def test_a_minute_later_the_same_is_believed():
    held = first(50, 100)
    assert len(again(held, 100, 59).hold) == 50
    later = again(held, 100, 60)
    assert (len(later.delete), later.hold, later.standing, later.root) == (50, (), None, 7)


def test_the_minute_counts_from_the_first_look():
    held = first(50, 100)
    between = again(held, 100, 30)
    assert between.standing == held.standing


def test_what_is_missing_later_waits_longer():
    held = first(50, 100)
    late = KnownFile(99, NotePath("late.md"), 1, 1, 1, 1, "c")
    marked = [replace(one, missing_since=NOON) for one in held.hold]
    verdict = again(held, 100, 61, missing=[*marked, late])
    assert len(verdict.delete) == 50
    assert verdict.hold == (late,)


def test_a_note_marked_for_another_reason_waits_for_the_hold():
    """It lay in an unreadable folder for an hour; that nobody saw it then says nothing."""
    marked = [replace(one, missing_since=NOON - timedelta(hours=1)) for one in files(50)]
    verdict = judge(marked, 100, ROOT, remembered=7, standing=None, now=NOON)
    assert len(verdict.hold) == 50
    assert len(again(verdict, 100, 30, missing=marked).hold) == 50


def test_few_missing_in_the_middle_of_a_hold_wait_too():
    """A drive that comes back file by file."""
    held = first(50, 100)
    assert len(again(held, 100, 10, missing=list(held.hold[:3])).hold) == 3


def test_when_all_is_back_the_hold_is_over():
    held = first(50, 100)
    verdict = again(held, 100, 10, missing=[])
    assert (verdict.standing, verdict.root) == (None, 7)


def test_an_empty_folder_is_believed_only_if_it_is_the_one_it_was():
    empty = RootIdentity(1, 7, is_empty=True)
    assert len(again(first(5, 5, empty), 5, 60, empty).delete) == 5
    other = RootIdentity(1, 8, is_empty=True)
    assert len(again(first(5, 5, other), 5, 9999, other).hold) == 5


def test_another_folder_is_believed_only_if_it_has_most_of_the_notes():
    other = RootIdentity(1, 8)
    few = again(first(5, 100, other), 100, 60, other)
    assert (len(few.delete), few.root) == (5, 8)
    assert len(again(first(50, 100, other), 100, 9999, other).hold) == 50


def test_yet_another_folder_begins_the_minute_anew():
    held = first(5, 100, RootIdentity(1, 8))
    third = RootIdentity(1, 9)
    verdict = again(held, 100, 61, third)
    assert len(verdict.hold) == 5
    assert verdict.standing is not None
    assert verdict.standing.since == NOON + timedelta(seconds=61)


def test_the_user_decides():
    verdict = judge(
        files(50),
        50,
        RootIdentity(1, 8, is_empty=True),
        remembered=7,
        standing=Hold("", NOON, 8),
        now=NOON,
        accept=True,
    )
    assert (len(verdict.delete), verdict.hold, verdict.standing, verdict.root) == (50, (), None, 8)

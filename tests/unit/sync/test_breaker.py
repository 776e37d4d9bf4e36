from __future__ import annotations

import pytest

from memoranda.model.address import NotePath
from memoranda.model.sync import FailureKind
from memoranda.sync.breaker import STRIKES, is_tripped, strike

PATH = NotePath("n.md")


def after(times: int, kind: FailureKind = FailureKind.FAULT, checksum: str = "x"):
    failure = None
    for _ in range(times):
        failure = strike(failure, PATH, "reason", kind, checksum)
    return failure


@pytest.mark.spec("4.3")
def test_three_failures_in_a_row_trip_it():
    assert not is_tripped(after(STRIKES - 1), "x")
    assert is_tripped(after(STRIKES), "x")
    assert after(STRIKES).tripped


@pytest.mark.spec("4.3")
def test_other_bytes_start_again():
    assert not is_tripped(after(STRIKES), "y")
    assert strike(after(STRIKES), PATH, "reason", FailureKind.FAULT, "y").count == 1


def test_what_the_disk_refuses_never_trips_it():
    assert not is_tripped(after(10, FailureKind.IO, ""), "")


def test_a_fault_after_a_refusal_is_the_first():
    assert strike(after(5, FailureKind.IO, "x"), PATH, "r", FailureKind.FAULT, "x").count == 1

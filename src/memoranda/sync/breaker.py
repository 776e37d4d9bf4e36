"""The circuit breaker: a file that fails three times in a row is left alone until its bytes change. Pure.

Strikes are faults (an unexpected exception, bytes that cannot be decoded), counted per checksum. What
the disk, permissions or a lock refuse is retried at every sync and never trips it: a chmod does not
change a checksum. Source: spec 4.3, architecture row 22.
"""

from __future__ import annotations

from dataclasses import replace

from memoranda.model.address import NotePath
from memoranda.model.sync import FailureKind, FileFailure

STRIKES = 3


def is_tripped(failure: FileFailure | None, checksum: str) -> bool:
    """Whether a file with these bytes is to be left alone."""
    return (
        failure is not None
        and failure.kind is FailureKind.FAULT
        and failure.checksum == checksum
        and failure.count >= STRIKES
    )


def strike(
    before: FileFailure | None,
    path: NotePath,
    reason: str,
    kind: FailureKind,
    checksum: str = "",
    *,
    is_fatal: bool = False,
) -> FileFailure:
    """The failure to remember after one more; a fatal one counts as all of them."""
    again = before is not None and before.kind is kind and before.checksum == checksum
    count = before.count + 1 if before is not None and again else 1
    if is_fatal:
        count = max(count, STRIKES)
    failure = FileFailure(path, reason, kind, checksum, count)
    return replace(failure, tripped=is_tripped(failure, checksum))

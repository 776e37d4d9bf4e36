"""Files that are missing are not always deleted: when a scan is not to be believed at once. Pure.

A folder that is empty, a folder that is another one than before (a drive that is not mounted, a sync
folder not yet filled), and a loss of more than `max(20, 30 %)` of the notes may be somebody's wish or
somebody's accident. The notes are then held: kept, and marked as missing, until a scan at least a minute
later agrees and the folder is intact, or until the user says that it is right. Intact is the folder that it
was when all was well, or another one that holds most of the notes.

Source: architecture row 10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memoranda.model.sync import KnownFile, RootIdentity

FEW = 20
SHARE = 0.3
CONFIRMED_AFTER = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Hold:
    """Why notes are held, since when (naive UTC), and the inode of the root at that time."""

    reason: str
    since: datetime
    root: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to the notes whose files are missing.

    Attributes:
        delete: they are gone.
        hold: they are kept.
        standing: the hold that is in force from now on, None when nothing is held.
        root: the inode of the root to remember.
    """

    delete: tuple[KnownFile, ...]
    hold: tuple[KnownFile, ...]
    standing: Hold | None
    root: int | None


def judge(
    missing: Sequence[KnownFile],
    known: int,
    root: RootIdentity,
    *,
    remembered: int | None,
    standing: Hold | None,
    now: datetime,
    accept: bool = False,
) -> Verdict:
    """Decide on the notes whose files are missing.

    Args:
        missing: notes of which the scan saw neither the file nor anything that may hide it.
        known: how many notes the index has.
        root: the root as the scan saw it.
        remembered: the inode of the root when all was well; None if that never was.
        standing: the hold in force.
        now: naive UTC.
        accept: the user says that the files are gone.
    """
    if not missing or accept:
        return Verdict(tuple(missing), (), None, root.inode)
    reason = _suspicion(len(missing), known, root, remembered)
    still = reason or f"{len(missing):,} of {known:,} notes are missing"
    if standing is None:
        if not reason:
            return Verdict(tuple(missing), (), None, root.inode)
        return Verdict((), tuple(missing), Hold(reason, now, root.inode), remembered)
    if root.inode not in (standing.root, remembered):  # yet another folder: the minute begins anew
        hold = Hold(still, now, root.inode)
        return Verdict((), tuple(missing), hold, remembered)
    is_intact = root.inode == remembered or not (root.is_empty or _is_large(len(missing), known))
    delete: list[KnownFile] = []
    hold_on: list[KnownFile] = []
    for file in missing:
        since = max(standing.since, file.missing_since or now)
        confirmed = is_intact and now - since >= CONFIRMED_AFTER
        (delete if confirmed else hold_on).append(file)
    if not hold_on:
        return Verdict(tuple(delete), (), None, root.inode)
    return Verdict(
        tuple(delete),
        tuple(hold_on),
        Hold(still, standing.since, standing.root),
        remembered,
    )


def _suspicion(missing: int, known: int, root: RootIdentity, remembered: int | None) -> str:
    """Why this scan is not to be believed at once; "" if it is."""
    if root.is_empty:
        return "the folder is empty"
    if remembered is not None and root.inode != remembered:
        return "the folder is another one than before"
    if _is_large(missing, known):
        return f"{missing:,} of {known:,} notes are missing"
    return ""


def _is_large(missing: int, known: int) -> bool:
    return missing > max(FEW, SHARE * known)

"""What was done to a client's file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Action(StrEnum):
    """What was done to a client's file."""

    CREATED = "created"
    """It was made."""
    ADDED = "added"
    """The entry was put in."""
    UPDATED = "updated"
    """The entry was there with other values."""
    UNCHANGED = "unchanged"
    """Nothing was to do."""
    RESTORED = "restored"
    """It has the bytes of before again."""
    REMOVED = "removed"
    """It is gone, as it was before."""
    TAKEN_OUT = "taken_out"
    """The entry alone was taken out; the rest had changed and stays."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    Attributes:
        backup: the copy of the file as it was before; None: none was needed, or it is not needed now.
        reason: why nothing was to do, or what a person should know; "" for nothing.
    """

    action: Action
    file: Path
    backup: Path | None = None
    reason: str = ""

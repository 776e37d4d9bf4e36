"""What is remembered of an edit, so that it can be taken back when the rest of the file has changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath


class Unusable(Exception):
    """A text that cannot be edited; nothing was done.

    Attributes:
        line: where, counted from 1; None when it is about the whole.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line

    def of(self, file: PurePath) -> str:
        """The same with the name of the file."""
        return f"{file}{f', line {self.line},' if self.line else ''} {self.reason}"


@dataclass(frozen=True, slots=True)
class Trace:
    """How an entry came into a text.

    Attributes:
        previous: the text of the value that it took the place of; None: there was none.
        gap: what stood between the brackets that it was put into, when they were empty.
        is_table_new: its table was made for it, so these brackets are the outermost.
        blank: the whole text when it held no value.
        lead: what was put between the text and the entry (TOML).
    """

    previous: str | None = None
    gap: str | None = None
    is_table_new: bool = False
    blank: str | None = None
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Edited:
    """A text with an entry, and how it came into it."""

    text: str
    trace: Trace

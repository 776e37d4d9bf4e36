"""The edits of one note, as a closed union. Sections follow with the format's outline."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Append:
    """Add text at the end of the file."""

    text: str


@dataclass(frozen=True, slots=True)
class Prepend:
    """Add text at the start of the body, after the frontmatter."""

    text: str


@dataclass(frozen=True, slots=True)
class FindReplace:
    """Replace text that occurs exactly `expected` times in the file."""

    find: str
    replacement: str
    expected: int = 1


@dataclass(frozen=True, slots=True)
class Replace:
    """Replace the whole body; the frontmatter stays byte for byte."""

    text: str


Edit = Append | Prepend | FindReplace | Replace

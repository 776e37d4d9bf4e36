"""How a note stands among others, whatever is searched for: its age, its importance, its status. Pure.

What people and tools write about a note is read with care: a value that is missing or means nothing
known is neutral, never an error. `ranking.recency` makes a factor of it.

    importance: high            # or critical, medium, low, trivial; P0 to P4; 0.8; 80%; 4/5; 1 to 10
    status: superseded by [[ADR 12]]    # or deprecated, obsolete, archived, stale, outdated
    superseded_by: "[[ADR 12]]"
    archived: true
    tags: [status/deprecated]
    pinned: true

Source: `docs/reference/configuration.md`, "Age, importance and status in a search".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memoranda.model.note import MetadataValue

NEUTRAL: Final = 0.5
"""The importance of a note that says nothing of it."""

_LEVELS: Final = {
    "critical": 1.0, "urgent": 1.0, "highest": 1.0, "p0": 1.0,
    "high": 0.8, "important": 0.8, "p1": 0.8,
    "medium": 0.5, "normal": 0.5, "moderate": 0.5, "p2": 0.5,
    "low": 0.2, "minor": 0.2, "p3": 0.2,
    "lowest": 0.0, "trivial": 0.0, "p4": 0.0,
}  # fmt: skip
_OUTDATED: Final = frozenset(
    {"deprecated", "superseded", "archived", "obsolete", "stale", "outdated"}
)
_KEYS: Final = _OUTDATED | {"importance", "priority", "status", "superseded_by", "pinned"}
_LASTING_TYPES: Final = frozenset({"decision", "adr"})
_TRUE: Final = frozenset({"true", "yes", "on", "y", "1"})
_NOTHING: Final = frozenset({"", "-", "[]", "{}", "false", "no", "none", "null", "n/a", "~"})
_WORD: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})\s*(?:%|/\s*(\d{1,9}))?", re.ASCII)
_MOST: Final = 10
_READ_CHARS: Final = 200
"""What of a value is looked at: a sentence about the status begins with it."""


@dataclass(frozen=True, slots=True)
class NoteStanding:
    """What is known of a note.

    Attributes:
        modified: aware; when the note was last changed, as it says itself or as its file does.
        importance: 0 (least) to 1 (most).
        is_lasting: a decision or pinned; it does not lose with age.
        is_outdated: something else holds now, or it was put away.
    """

    modified: datetime
    importance: float = NEUTRAL
    is_lasting: bool = False
    is_outdated: bool = False


def note_standing(
    modified: datetime,
    note_type: str,
    tags: Iterable[str],
    metadata: Mapping[str, MetadataValue],
    *,
    is_superseded: bool = False,
) -> NoteStanding:
    """Read a note's standing from its type, tags and frontmatter.

    Keys count in any case, with `-` or a blank for `_`. `is_superseded`: a relation says so.
    """
    values = {
        known: _text(value) for key, value in metadata.items() if (known := _key(key)) in _KEYS
    }
    return NoteStanding(
        modified=modified,
        importance=_importance(values),
        is_lasting=note_type.casefold() in _LASTING_TYPES or values.get("pinned") in _TRUE,
        is_outdated=is_superseded or _is_outdated(values) or any(map(_is_outdated_tag, tags)),
    )


def _key(key: str) -> str:
    return key.strip().casefold().replace("-", "_").replace(" ", "_")


def _text(value: MetadataValue) -> str:
    """A value as one folded line; of a list the first element."""
    if isinstance(value, list):
        value = value[0] if value else ""
    return value[:_READ_CHARS].strip().casefold()


def _is_outdated(values: Mapping[str, str]) -> bool:
    status = _WORD.search(values.get("status", ""))
    return (
        (status is not None and status[0] in _OUTDATED)
        or values.get("superseded_by", "") not in _NOTHING
        or any(key in _OUTDATED and text in _TRUE for key, text in values.items())
    )


def _is_outdated_tag(tag: str) -> bool:
    """The tag itself, or the last part of a nested one (`status/archived`)."""
    return tag.strip("#/ ").rpartition("/")[2].casefold() in _OUTDATED


def _importance(values: Mapping[str, str]) -> float:
    """`importance`, or the words of `priority`: there, a number may count from either end."""
    text = values.get("importance", "")
    for found in (_share(text), _level(text), _level(values.get("priority", ""))):
        if found is not None:
            return found
    return NEUTRAL


def _level(text: str) -> float | None:
    """The first known word: `1 - High` is high."""
    return next((_LEVELS[word] for word in _WORD.findall(text) if word in _LEVELS), None)


def _share(text: str) -> float | None:
    """A number as a share of the most.

    A fraction, a percentage and `4/5` say what they are a share of. A whole number counts from 1 up to 5
    or 10; which, the note does not say: one curve serves both, with 3 about neutral.
    """
    if (match := _NUMBER.fullmatch(text)) is None:
        return None
    number, of = float(match[1]), match[2]
    if of is not None:
        return _within(number / int(of)) if int(of) else None
    if text.endswith("%"):
        return _within(number / 100)
    if "." in match[1] and number <= 1:
        return number
    return 0.0 if number < 1 else _within(math.sqrt((number - 1) / (_MOST - 1)))


def _within(share: float) -> float | None:
    return share if share <= 1 else None

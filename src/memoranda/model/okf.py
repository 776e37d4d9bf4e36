"""What the keys of an Open Knowledge Format bundle say about a note: where it is from, and its trust.

Read from the stored metadata, in which a nested map is JSON text. Pure; no metadata makes it fail: what
is not understood is left out here and stays in the metadata.

Source: FORMAT "OKF keys" (OKF v0.2).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum, StrEnum

from memoranda.model.dates import parse_date, parse_day
from memoranda.model.note import MetadataValue


class Status(StrEnum):
    """How far a note is; OKF takes a missing one for stable."""

    DRAFT = "draft"
    STABLE = "stable"
    DEPRECATED = "deprecated"


class Trust(IntEnum):
    """Who verified a note: a higher one is worth more."""

    UNVERIFIED = 0
    VERIFIED = 1
    HUMAN = 2


@dataclass(frozen=True, slots=True)
class Verification:
    """One check of the note. `by` is as written, `human:mira` or the name of a program; `at` is UTC."""

    by: str
    at: datetime | None = None

    @property
    def is_human(self) -> bool:
        """Whether a person checked it."""
        return self.by.lower().startswith("human:")


@dataclass(frozen=True, slots=True)
class Source:
    """One source; "" and None for what it does not say."""

    id: str = ""
    resource: str = ""
    title: str = ""
    author: str = ""
    last_modified: datetime | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """`Provenance()` is a note that says nothing.

    Attributes:
        status: stable unless one of the other two is written; a word of another vocabulary counts for nothing.
        generated_by, generated_at: who wrote it, and its last meaningful change (UTC).
        stale_after: the first day on which it is stale.
        resource: what the note is about, an address or a path.
    """

    status: Status = Status.STABLE
    generated_by: str = ""
    generated_at: datetime | None = None
    verified: tuple[Verification, ...] = ()
    sources: tuple[Source, ...] = ()
    stale_after: date | None = None
    description: str = ""
    resource: str = ""

    @property
    def trust(self) -> Trust:
        """A person above anything else above nothing."""
        if any(each.is_human for each in self.verified):
            return Trust.HUMAN
        return Trust.VERIFIED if self.verified else Trust.UNVERIFIED

    def is_stale(self, on: date) -> bool:
        """Whether it is out of date on this day."""
        return self.stale_after is not None and on >= self.stale_after


def provenance(metadata: Mapping[str, MetadataValue]) -> Provenance:
    """What the OKF keys of a note's metadata say. Never raises."""
    generated = next(iter(_maps(metadata.get("generated"))), {})
    return Provenance(
        status=_status(metadata.get("status")),
        generated_by=_text(generated.get("by")),
        generated_at=parse_date(_text(generated.get("at"))),
        verified=tuple(
            Verification(_text(each.get("by")), parse_date(_text(each.get("at"))))
            for each in _maps(metadata.get("verified"))
            if _text(each.get("by")) or _text(each.get("at"))
        ),
        sources=_sources(metadata.get("sources")),
        stale_after=parse_day(_text(metadata.get("stale_after"))),
        description=_text(metadata.get("description")),
        resource=_text(metadata.get("resource")),
    )


def _status(value: object) -> Status:
    try:
        return Status(_text(value).lower())
    except ValueError:
        return Status.STABLE


def _sources(value: MetadataValue | None) -> tuple[Source, ...]:
    """Maps; a plain text in the list is the resource of a source."""
    found = []
    for item in [value] if isinstance(value, str) else value or ():
        fields = _map(item)
        if fields is None:
            source = Source(resource=_text(item))
        else:
            source = Source(
                id=_text(fields.get("id")),
                resource=_text(fields.get("resource")),
                title=_text(fields.get("title")),
                author=_text(fields.get("author")),
                last_modified=parse_date(_text(fields.get("last_modified"))),
            )
        if source != Source():
            found.append(source)
    return tuple(found)


def _maps(value: MetadataValue | None) -> list[dict[str, object]]:
    """The maps of a list, or the one map."""
    items = [value] if isinstance(value, str) else value or ()
    return [fields for item in items if (fields := _map(item)) is not None]


def _map(item: str) -> dict[str, object] | None:
    if not item.startswith("{"):
        return None
    try:
        fields = json.loads(item)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _text(value: object) -> str:
    """On one line; a list of texts joined by commas; anything else is no text."""
    if isinstance(value, list):
        value = ", ".join(item for item in value if isinstance(item, str))
    return " ".join(value.split()) if isinstance(value, str) else ""

"""The edits of one note, as a closed union, and what they write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from memoranda.model.note import Link


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


class Place(StrEnum):
    """Where text goes at a section."""

    INSTEAD = "instead"
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class EditSection:
    """Put text in place of a section's text, before its heading, or after its end.

    Attributes:
        section: as `model.outline.find_section` takes it.
        text: in place of a section the heading stays, unless the text begins with that heading.
    """

    section: str
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class SetMetadata:
    """Set frontmatter keys; None deletes a key. All other bytes of the header stay.

    Attributes:
        values: texts, numbers, booleans, dates, lists and maps of them.
    """

    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class FactText:
    """An observation to be written; fields as in `model.note.Observation`."""

    category: str
    content: str
    tags: tuple[str, ...] = ()
    context: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    block_id: str | None = None


@dataclass(frozen=True, slots=True)
class RelationText:
    """An explicit relation to be written: `type [[target]] (context)`.

    Attributes:
        relation_type: as a person writes it (`part of`); quoted where it is more than four words.
        target: a name, with `#heading` or `|label` where wanted.
    """

    relation_type: str
    target: str
    context: str | None = None


ItemText = FactText | RelationText


@dataclass(frozen=True, slots=True)
class AddItem:
    """Add a list item behind the last of its kind in the section, in the note where none is given."""

    item: ItemText
    section: str | None = None


@dataclass(frozen=True, slots=True)
class ReplaceItem:
    """Write an observation or explicit relation anew; its bullet, indentation and children stay.

    Attributes:
        line: 1-based line where the item begins, as its observation or relation says.
        item: the block id of the old item stays when a fact here has None; "" drops it.
    """

    line: int
    item: ItemText


@dataclass(frozen=True, slots=True)
class RemoveItem:
    """Remove the observation or explicit relation that begins on this line."""

    line: int


@dataclass(frozen=True, slots=True)
class RetargetLink:
    """Let one occurrence of a link point at another name; label, anchor and form stay.

    Attributes:
        link: as read from this very text.
        target: the new name; for a Markdown link a path as it shall stand there, not encoded.
    """

    link: Link
    target: str


Edit = (
    Append
    | Prepend
    | FindReplace
    | Replace
    | EditSection
    | SetMetadata
    | AddItem
    | ReplaceItem
    | RemoveItem
    | RetargetLink
)

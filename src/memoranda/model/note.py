"""A note as values: what the parser reads out of one file. Frozen, no I/O.

`ParsedNote` is the spec's ParsedEntity. Lines are 1-based lines of the file; byte ranges are
half-open offsets into the UTF-8 encoding of the decoded text after its byte order mark (for a UTF-8
file without one: offsets into the file itself).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memoranda.model.address import NotePath, Permalink, normalized_target

MetadataValue = str | list[str]
"""A frontmatter value after spec 3.2: text, a list of texts, or a nested map as JSON text."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """A decoded file: enough to write it back byte for byte.

    Attributes:
        text: without the byte order mark, line endings as in the file.
        encoding: Python codec name: "utf-8", a UTF-16 or UTF-32 form, "cp1252", "latin-1", or one that
            `markdown.legacy_encoding` recognised.
        bom: whether the file began with a byte order mark.
    """

    text: str
    encoding: str = "utf-8"
    bom: bool = False


class LinkForm(StrEnum):
    """How a link is written."""

    WIKI = "wiki"
    EMBED = "embed"
    MARKDOWN = "markdown"
    FRONTMATTER = "frontmatter"


@dataclass(frozen=True, slots=True)
class Link:
    """One occurrence of a link to a note (or, if `is_attachment`, to a file that is no note).

    Attributes:
        target: the name as written, before `|` and `#`, percent-decoded for Markdown links.
        anchor: heading or `^block` after `#`, without the `#`; "" if none.
        label: the text shown; "" if none.
        relation_type: lower case with underscores; "links_to" for prose.
        context: the `( )` after an explicit relation, without the brackets; None if none.
        start, end: byte range of the whole link.
    """

    form: LinkForm
    target: str
    relation_type: str
    line: int
    start: int
    end: int
    anchor: str = ""
    label: str = ""
    context: str | None = None
    is_attachment: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """One (target, type) of a note: what its links say, without doubles. Spec's Relation."""

    relation_type: str
    target: str
    context: str | None
    line: int

    @property
    def to_name(self) -> str:
        """The normalised name (spec 3.4)."""
        return normalized_target(self.target)


@dataclass(frozen=True, slots=True)
class Observation:
    """A categorised fact in a list item (spec 3.3).

    Attributes:
        content: the text without category, trailing tags, fields, context and block id; lines joined by
            one blank.
        tags: in order of appearance, without `#`, no doubles.
        attributes: Dataview inline fields, key -> value.
        heading_path: the headings above it, outermost first.
        start, end: byte range of the list item's own lines (without nested lists).
        parent: the text of the list item it is nested in, on one line; "" at the top.
        parent_line: where that item begins; 0 at the top.
    """

    category: str
    content: str
    line: int
    end_line: int
    start: int
    end: int
    tags: tuple[str, ...] = ()
    context: str | None = None
    block_id: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    heading_path: tuple[str, ...] = ()
    parent: str = ""
    parent_line: int = 0


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading of the outline, in document order. What its section holds: `model.outline`.

    Attributes:
        text: without markup, on one line.
        start: the byte where its line begins.
        end: the byte after its last line (of two, if it is underlined), where its text begins.
    """

    level: int
    text: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a note's text for full-text search: whole blocks of one section.

    The text of observations and explicit relations is left out (they are indexed as items of their own).
    """

    text: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class ParsedNote:
    """Everything the index knows of one file's text (spec 3.5 ParsedEntity).

    Attributes:
        title: frontmatter title, else the file name without `.md`.
        note_type: frontmatter type, else "note".
        frontmatter: all keys that have a value, spec 3.2.
        content: the body after the frontmatter, as written.
        body_start: byte offset of the body; `body_line` its first line.
        declared_permalink: usable permalink from frontmatter, else None.
        tags, aliases: of the frontmatter, cleaned, no doubles.
        created, modified: aware UTC datetimes from frontmatter; None if absent or unusable.
        raw_frontmatter: the header's text when it is broken (so that it stays searchable), else "".
        problems: what is wrong with the frontmatter, one short sentence each; empty if nothing.
    """

    path: NotePath
    title: str
    note_type: str
    frontmatter: Mapping[str, MetadataValue]
    content: str
    body_start: int
    body_line: int
    observations: tuple[Observation, ...]
    links: tuple[Link, ...]
    outline: tuple[Heading, ...]
    passages: tuple[Passage, ...]
    declared_permalink: Permalink | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    created: datetime | None = None
    modified: datetime | None = None
    raw_frontmatter: str = ""
    problems: tuple[str, ...] = ()

    @property
    def relations(self) -> tuple[Relation, ...]:
        """One per (target name, type) in order of appearance, attachments left out."""
        seen: dict[tuple[str, str], Relation] = {}
        for link in self.links:
            if not link.is_attachment:
                key = (link.relation_type, normalized_target(link.target))
                if key not in seen:
                    seen[key] = Relation(link.relation_type, link.target, link.context, link.line)
        return tuple(seen.values())


@dataclass(frozen=True, slots=True)
class NoteRef:
    """A note as results name it (tool contract: note reference). Dates are aware UTC.

    Attributes:
        missing_since: the file is not there since then, and the note is kept for now (`sync.brakes`).
    """

    entity_id: int
    external_id: str
    title: str
    permalink: Permalink
    file_path: NotePath
    note_type: str
    tags: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    checksum: str
    size_bytes: int = 0
    problems: tuple[str, ...] = ()
    missing_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class ObservationItem:
    """A stored observation with its permalink (spec 14.2)."""

    observation: Observation
    permalink: str


@dataclass(frozen=True, slots=True)
class OutgoingRelation:
    """A relation of a note; `to` fields are None while it is unresolved."""

    relation_type: str
    to_name: str
    target: str
    to_title: str | None
    to_permalink: Permalink | None
    context: str | None
    line: int

    @property
    def resolved(self) -> bool:
        """Whether the target is a note of the index."""
        return self.to_permalink is not None


@dataclass(frozen=True, slots=True)
class IncomingRelation:
    """A backlink: who links here, as what, on which line of that note."""

    relation_type: str
    from_title: str
    from_permalink: Permalink
    from_path: NotePath
    context: str | None
    line: int


@dataclass(frozen=True, slots=True)
class RelatedNote:
    """A note near another one in the graph.

    Attributes:
        distance: how many steps away.
        why: the links on the way: `implements, links_to (2)`, `<- requires` for one that points here,
            `requires > Title of the note between > <- implements` for two steps.
        summary: what it is about, on one line; "" for an empty note.
        via: the permalinks of the notes between.
    """

    ref: NoteRef
    distance: int
    why: str
    summary: str
    via: tuple[Permalink, ...] = ()

"""What the use cases answer with, as values: front ends turn them into text or JSON (`render`)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from memoranda.model.address import NotePath, Permalink
from memoranda.model.embedding import EmbeddingProgress, ProviderState
from memoranda.model.live import LeaderState
from memoranda.model.note import (
    IncomingRelation,
    NoteRef,
    ObservationItem,
    OutgoingRelation,
    ParsedNote,
    RelatedNote,
)
from memoranda.model.project import Counts, Project
from memoranda.model.sync import FileFailure, SyncPhase, SyncState


@dataclass(frozen=True, slots=True)
class NoteView:
    """A note read from its file, with what the index knows around it.

    Attributes:
        text: the requested lines of the file's text (frontmatter included when they cover it).
        start_line, end_line: 1-based, inclusive; the lines `text` holds (end < start when empty).
        total_lines: lines of the whole file.
        next_line: the line to go on with when `text` was cut, else None.
        backlinks: the first of them by path; `backlink_total` is how many there are.
    """

    ref: NoteRef
    parsed: ParsedNote
    text: str
    start_line: int
    end_line: int
    total_lines: int
    next_line: int | None
    observations: tuple[ObservationItem, ...]
    relations: tuple[OutgoingRelation, ...]
    backlinks: tuple[IncomingRelation, ...]
    related: tuple[RelatedNote, ...] = ()
    backlink_total: int = 0


class WriteAction(StrEnum):
    """What a write did to the file."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class WriteResult:
    """A written note, as parsed back from its new bytes.

    Attributes:
        warnings: one sentence each, e.g. a link that was read as prose.
        similar: up to three other notes with a near title (created notes only).
        diff: unified diff, bounded; "" for a created note.
    """

    ref: NoteRef
    action: WriteAction
    observations: tuple[ObservationItem, ...]
    relations: tuple[OutgoingRelation, ...]
    warnings: tuple[str, ...] = ()
    similar: tuple[NoteRef, ...] = ()
    diff: str = ""


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """A deleted note; `unresolved_backlinks` are the relations that now have no target."""

    ref: NoteRef
    unresolved_backlinks: tuple[IncomingRelation, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The notes around a note, the most relevant first.

    Attributes:
        total: how many there are, with those that are not among `notes`.
        is_exact: whether all were counted; else there are at least `total`.
    """

    notes: tuple[RelatedNote, ...] = ()
    total: int = 0
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Context:
    """A note and its neighbourhood (spec 8.6 ContextResult)."""

    view: NoteView
    around: Neighbourhood = Neighbourhood()


@dataclass(frozen=True, slots=True)
class ContextResult:
    """Contexts of the notes that matched, in path order.

    Attributes:
        path: as asked.
        others: the permalinks of further notes that matched, the next ones first, not all of them.
        total: how many matched.
        depth, max_related: what was asked for.
    """

    path: str
    contexts: tuple[Context, ...]
    total: int
    others: tuple[Permalink, ...] = ()
    depth: int = 1
    max_related: int = 10


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """A file or folder in a listing. Folders: `count` notes below. Files: note fields."""

    name: str
    path: str
    is_directory: bool
    count: int = 0
    title: str | None = None
    permalink: str | None = None
    updated_at: datetime | None = None
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class DirectoryListing:
    """Folders first, then files, each by name (case-blind).

    Attributes:
        path: the folder as it is written on disk, also where it was asked for by another spelling.
        total: how many entries there are on all pages, `folder_total` of them folders.
        glob: the pattern that they match, None for all.
    """

    path: str
    entries: tuple[DirectoryEntry, ...]
    page: int
    page_size: int
    total: int
    folder_total: int = 0
    glob: str | None = None


@dataclass(frozen=True, slots=True)
class Activity:
    """Recently modified notes (file time), newest first, ties by path.

    Attributes:
        changed_at: the time of each result's file, aware UTC.
        note_types: what was asked for.
        newest: where nothing was found at all: the note of these types changed last, and `newest_at` when.
        known_types: where there is no note of these types at any time: types that notes have.
    """

    since: datetime
    results: tuple[NoteRef, ...]
    page: int
    page_size: int
    total: int
    changed_at: tuple[datetime, ...] = ()
    note_types: tuple[str, ...] = ()
    newest: NoteRef | None = None
    newest_at: datetime | None = None
    known_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectInfo:
    """Everything `status` and the project_info resource say about one project.

    Attributes:
        database_path: where the index is (absolute), or for PostgreSQL its address without a password.
        database_bytes: with its write-ahead log; of all projects together if `is_shared`.
        last_full_sync: end of the last sync of any process that changed or first checked something.
        broken: notes with a fault in their frontmatter, by path.
        notice: what happened to the database at opening ("" if nothing): set aside and why.
        missing: notes that are kept although their files are missing, the longest first, at most 100 of
            `missing_total`; `missing_reason` says why they are kept ("": their folder cannot be read).
        last_check: when the whole database was last found sound.
        leader: the process that watches and syncs the project, None: nobody does.
        provider: what turns text into vectors in this process, None: nobody has asked.
        embedding: how far the vectors are in the provider's space, None: there is none.
    """

    project: Project
    counts: Counts
    state: SyncState
    database_path: str
    database_bytes: int
    last_full_sync: datetime | None = None
    broken: tuple[NoteRef, ...] = ()
    failures: tuple[FileFailure, ...] = ()
    notice: str = ""
    missing: tuple[NotePath, ...] = ()
    missing_total: int = 0
    missing_reason: str = ""
    last_check: datetime | None = None
    leader: LeaderState | None = None
    provider: ProviderState | None = None
    embedding: EmbeddingProgress | None = None
    is_shared: bool = False

    @property
    def status(self) -> str:
        """Where the index stands, in a few words."""
        match self.state.phase:
            case _ if self.project.disabled:
                return f"disabled: {self.project.disabled}"
            case SyncPhase.READY:
                return "ready"
            case SyncPhase.FAILED:
                return f"failed: {self.state.last_error}"
            case SyncPhase.INDEXING if self.state.total:
                return f"indexing: {self.state.done:,} of {self.state.total:,} files"
            case SyncPhase.INDEXING:
                return "indexing"
            case SyncPhase.STARTING:
                return "indexed" if self.last_full_sync else "not indexed yet"
            case _:
                assert_never(self.state.phase)

"""What moving a note or a folder did, as values."""

from __future__ import annotations

from dataclasses import dataclass

from memoranda.model.address import NotePath, Permalink


@dataclass(frozen=True, slots=True)
class MovedNote:
    """One note at its new place; of a dry run, where it would be."""

    title: str
    from_path: NotePath
    to_path: NotePath
    from_permalink: Permalink
    to_permalink: Permalink


@dataclass(frozen=True, slots=True)
class RewrittenLink:
    """A link that would have meant nothing, or another note, after the move.

    Attributes:
        path: of the note that has the link, after the move.
        line: of that note.
        before, after: the whole link as written (of one in the header, its target).
    """

    path: NotePath
    line: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class LinkLeft:
    """A link that the move breaks and that could not be rewritten, with the reason in a sentence."""

    path: NotePath
    line: int
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class MoveResult:
    """What a move did, or of a dry run would do.

    Attributes:
        source, destination: paths in the project, of a note or a folder.
        notes: by their old path.
        other_files: how many files that are no notes moved along.
        links: by path and line.
        change_id: the batch in the history that undoes it; None of a dry run.
        warnings: what else the caller should know, in sentences.
    """

    source: str
    destination: str
    is_folder: bool
    notes: tuple[MovedNote, ...]
    other_files: int
    links: tuple[RewrittenLink, ...]
    left: tuple[LinkLeft, ...]
    is_dry_run: bool
    change_id: int | None
    warnings: tuple[str, ...] = ()

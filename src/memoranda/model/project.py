"""A project: one folder of notes with its own index."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Project:
    """A configured project.

    Attributes:
        name: as configured; looked up case-blind.
        permalink: slug of the name; names the database folder.
        path: absolute folder of the notes (may be missing at the moment).
        disabled: why it is not synced ("" = active): second name for one folder or permalink,
            cloud mode, switched off.
        skips: folders of other projects inside this one, relative POSIX; the scan leaves them out.
    """

    name: str
    permalink: str
    path: Path
    is_default: bool = False
    disabled: str = ""
    skips: tuple[str, ...] = ()

    @property
    def is_active(self) -> bool:
        """Whether it is synced and served."""
        return not self.disabled


@dataclass(frozen=True, slots=True)
class Counts:
    """Row counts of one project's index."""

    notes: int = 0
    observations: int = 0
    relations: int = 0
    unresolved: int = 0
    links: int = 0
    problems: int = 0


@dataclass(frozen=True, slots=True)
class ProjectSummary:
    """A project with its counts; `status` is one short phrase for people ("ready", "indexing", ...)."""

    project: Project
    counts: Counts
    status: str

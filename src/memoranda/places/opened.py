"""The value that a back end gives for a project, and the seam to the back ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from memoranda.model.project import Project
from memoranda.ports import Clock, Database, FullTextIndex, PathLocks, VectorIndex
from memoranda.sync.integrity import PERIOD, FullCheck
from memoranda.sync.lease import ProjectLease
from memoranda.text.analysis import Languages


def _always() -> bool:
    return True


def _never() -> bool:
    return False


def _nothing(_: str) -> None:
    pass


def _unknown() -> int:
    return 0


@dataclass(frozen=True, slots=True)
class OpenIndex:
    """An open index of one project.

    Attributes:
        shown: where it is, for people; without secrets.
        check: what is wrong with it, see `sync.integrity`.
        lease: the leadership of the project; None: nobody leads.
        path_locks: those of notes among servers of other machines; None: the lock files do.
        notice: what happened to it when it was opened, "" if nothing.
        check_every: how old its last check may be.
        is_there: whether it is still the one that was opened.
        size: how many bytes it takes.
        is_led: whether some process leads the project, also one that hangs.
        embedded: told the space when all notes have their vectors in it; does not wait.
        is_shared: other projects are in it too, and `size` is of all.
    """

    database: Database
    project_id: int
    fulltext: FullTextIndex
    vectors: VectorIndex
    shown: str
    check: FullCheck
    lease: ProjectLease | None = None
    path_locks: PathLocks | None = None
    notice: str = ""
    check_every: timedelta = PERIOD
    is_there: Callable[[], bool] = _always
    size: Callable[[], int] = _unknown
    is_led: Callable[[], bool] = _never
    embedded: Callable[[str], None] = _nothing
    is_shared: bool = False


class Places(Protocol):
    """Opens the indexes of a process's projects. Blocks: call it in a thread.

    Attributes:
        is_shared: all projects are in one place, which other machines may use as well.
    """

    @property
    def is_shared(self) -> bool: ...

    def open(
        self,
        project: Project,
        clock: Clock,
        languages: Languages,
        *,
        before: OpenIndex | None = None,
        damage: str = "",
    ) -> OpenIndex:
        """Make sure of a usable, current index, and open it.

        Args:
            project: whose index.
            clock: for times.
            languages: of its notes.
            before: the one that was open, closed by now, and could not be used any more.
            damage: what is wrong with that, as the second half of a sentence; "" if nothing is known.

        Raises:
            DatabaseProblem: or a subclass: it cannot be used.
            OtherFolder: it is of another folder.
        """
        ...

    def shown(self, project: Project) -> str:
        """Where the index of a project is or would be, for people."""
        ...

    def size(self, project: Project) -> int:
        """How many bytes it takes, 0 if that is not known; opens nothing."""
        ...

    def is_led(self, project: Project) -> bool:
        """Whether some process leads the project: a killed one leaves only what it said.

        Raises:
            DatabaseProblem: or a subclass: nobody can tell.
        """
        ...

    def remove(self, project: Project) -> bool:
        """Delete the index of a project that nothing has open; returns whether there was one.

        Raises:
            ProjectConflict: the place is shared, and somebody leads the project.
            DatabaseProblem: or a subclass: it cannot be deleted, and is as it was.
        """
        ...

    def close(self) -> None:
        """Let go of what all projects share; idempotent."""
        ...
